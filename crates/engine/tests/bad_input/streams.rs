//! Standard streams that are closed, and descriptors that are nothing.

use crate::case::{Case, battery, case};

const COMMANDS: &[&str] = &[
    "cat",
    "cat -",
    "cat f",
    "head",
    "tail",
    "wc",
    "sort",
    "uniq",
    "cut -c1",
    "tr a b",
    "tee",
    "tee g",
    "grep x",
    "grep x f",
    "find .",
    "ls",
    "ls absent",
    "stat f",
    "date",
    "date -f -",
    "xargs echo",
    "env",
    "seq 3",
    "yes | head -n 1",
    "basename a",
    "dirname a",
    "realpath f",
    "mktemp -u",
    "which ls",
    "sleep 0",
    "cp f g",
    "cp -v f g",
    "mv -v f g; mv g f",
    "rm -v absent",
    "mkdir -v d",
    "rmdir -v d",
    "touch f",
    "ln -sv f l",
    "chmod -v 600 f",
    "rm -i f",
    "cp -i f l",
    "echo x",
    "printf x",
    "pwd",
    "cd absent",
    "read x",
    "mapfile x",
    "type ls",
    "set",
    "declare -p",
    "export -p",
    "alias",
    "trap -p",
    "umask",
    "ulimit -a",
    "times",
    "jobs",
    "help",
    "shopt",
    "hash",
    "history",
    "let x=1",
    "test -t 1",
    "[[ -t 0 ]]",
    "eval echo x",
    ". ./f",
    "bash -c 'echo x'",
    "bash",
    "(echo x)",
    "{ echo x; }",
    "x=$(echo y); echo $x",
    "cat <(echo x)",
    "echo x | cat",
    "cat <<< x",
    "echo x > g",
    "coproc cat; wait",
    "select x in a; do break; done",
    "time true",
    "nosuch",
    "exec echo x",
    "set -x; :",
    "echo ${x?unset}",
    "kill -l",
    "getopts a x -z",
    "wait",
    "true &",
    "yes",
];

pub fn cases() -> Vec<Case> {
    let closing = [
        "exec <&-",
        "exec >&-",
        "exec 2>&-",
        "exec <&- >&-",
        "exec >&- 2>&-",
        "exec <&- >&- 2>&-",
        "exec > /dev/full",
        "exec 2> /dev/full",
        "exec > /dev/full 2>&1",
        "exec 0>&1 1<&0",
        "exec < f",
        "exec > f",
        "exec 1< f",
        "exec 0> g",
    ];
    let mut cases: Vec<Case> = closing
        .iter()
        .map(|closing| {
            let scripts =
                COMMANDS.iter().map(|command| format!("{closing}; {command}").into_bytes());
            battery(format!("streams::{closing}"), scripts.collect()).endless().prepare(|root| {
                std::fs::write(root.join("f"), "x\n").expect("a file");
            })
        })
        .collect();
    cases.extend([
        case("streams::a full device is told of", "echo x > /dev/full; echo $?; printf x > /dev/full; echo $?; cat /dev/zero > /dev/full; echo $?; seq 3 > /dev/full; echo $?; ls > /dev/full; echo $?; sort < /dev/null > /dev/full; echo $?").says("No space left on device"),
        case("streams::a closed output is told of", "(echo x >&-); echo $?; (cat <<< x >&-); echo $?; (ls >&-); echo $?").says("Bad file descriptor"),
        case("streams::a reader that goes", "yes | head -n 1; seq 1 10000000 | head -n 1; cat /dev/zero | head -c 1 | wc -c; while echo x; do :; done | head -n 1; find / . | head -n 1; set -o pipefail; yes | true; echo ${PIPESTATUS[0]}").stdout("y\n1\n1\nx\n.\n141\n"),
        case("streams::redirects in circles", "cat < f > f; cat f >> f; cat f | tee f > /dev/null; exec 3>&1 4>&3 1>&4; echo a; exec 5<> f 6>&5 5>&6; echo b >&5; exec 1>&1; exec 2>&1 1>&2; echo c; exec 3>&- 4>&- 5>&- 6>&-; cat <&3").prepare(|root| {
            std::fs::write(root.join("f"), "x\n").expect("a file");
        }),
        case("streams::copies onto itself", "cp f f; mv f f; cat f > g; cat g g > h; sort -o f f; sort f -o f; uniq f f; tee f < f; cp -r . d; mv d d; ln -f f f; cat < f >> f").prepare(|root| {
            std::fs::write(root.join("f"), "x\n").expect("a file");
            std::fs::create_dir(root.join("d")).expect("a directory");
        }),
        case("streams::input that is not text", "cat | wc -c; read x; echo $?").stdin(vec![0xff; 1 << 20]).stdout("1048576\n1\n"),
        case("streams::input without newline", "while read x; do echo \"<$x>\"; done; echo \"<$x>\"").stdin("a\nb").stdout("<a>\n<b>\n"),
    ]);
    cases
}
