//! Names, directories and links that are too long, too many, too deep, or lead in circles.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use crate::case::{Case, Place, battery, case};

pub fn cases() -> Vec<Case> {
    let mut cases = vec![
        battery("files::odd names", texts(&[
            "ls", "ls -la", "ls -Q", "ls -b", "ls -R", "echo *", "for f in *; do [ -e \"$f\" ] || echo missing; stat -c %n \"$f\" > /dev/null || exit 9; done", "find . -print0 | xargs -0 ls -d > /dev/null || exit 9", "find . -ls", "find . -printf '%f\\n'",
            "for f in *; do cat -- \"$f\" || exit 9; cp -- \"$f\" /tmp/copy || exit 9; mv -- \"$f\" /tmp/moved || exit 9; mv -- /tmp/moved \"$f\" || exit 9; done", "wc -- *", "sort -- *", "grep -r x .", "rm -- * && echo removed", "ls .trash", "printf '%q\\n' .trash/*", "declare -p x; x=(.trash/*); declare -p x",
        ])).prepare(odd_names),
        battery("files::a hundred thousand files", texts(&[
            "ls | wc -l", "ls -l many | wc -l", "cd many; echo * | wc -w", "cd many; set -- *; echo $#", "find many -type f | wc -l", "find many -name '*9' | wc -l", "cd many; ls -U | head -n 1", "grep -rc x many | head -n 1", "cd many; cat * | wc -c", "rm -rf many/*1", "rm -r many && ls .trash | wc -l",
        ])).prepare(|root| many(root, 100_000)).memory(400),
        case("files::copying ten thousand files", "cp -r many copy; ls copy | wc -l; chmod -R 700 copy; mv copy moved; rm -r moved; find many -delete; ls").prepare(|root| many(root, 10_000)).stdout("10000\n"),
        battery("files::circles of links", texts(&[
            "ls -R", "ls -RL", "ls -lR", "ls -LR loop", "find .", "find -L .", "find -H loop", "find -L loop -type d", "grep -r x .", "grep -R x .", "grep -r x loop", "cp -r . /tmp/a", "cp -rL . /tmp/b", "cp -rH loop /tmp/c", "cp -a . /tmp/d", "realpath loop", "realpath a", "realpath -m a/b/c", "realpath -e d/up/d/up", "chmod -R 700 .", "chmod 700 a",
            "cat a", "echo x > a", "cd a", "cd loop", "cd d/up/d/up/d; pwd", "[ -e a ]", "[ a -ef b ]", "stat -L a", "touch a", "shopt -s globstar; echo ** > /dev/null", "echo */*/*/*/*/* > /dev/null", "mkdir -p a/b", "mv a e; mv e a", "ln -s a a/x", "rm -r loop; ls", "rm a b; ls -R",
        ])).prepare(circles),
        battery("files::deep trees", texts(&[
            "find . | wc -l", "find . -depth | tail -n 1", "ls -R | wc -l", "grep -r x . | wc -l", "chmod -R 700 .", "shopt -s globstar; echo ** | wc -w", "cp -r t copy && find copy | wc -l", "cp -a t again; mv again moved; rm -r moved; ls", "find t -type f -exec cat {} +", "rm -r t && find .trash -type f | wc -l", "find copy -delete; ls",
        ])).prepare(deep).memory(500),
        case("files::a deep tree of the script's own", "for i in {1..2000}; do mkdir d && cd d || break; done; echo $i; pwd | wc -c; echo x > f; cat f; cd ..; ls; cd; find . | wc -l; rm -r d; ls").may_meet_limit().memory(400),
        case("files::long paths", "p=$(printf 'a/%.0s' {1..3000}); mkdir -p $p; cd $p; pwd | wc -c; cd -; cat $p/x; ls $p; touch $p/f; rm -r a; n=$(printf '%256s' | tr ' ' n); touch $n; mkdir $n; echo x > $n; cat $n; mv d $n; ln -s x $n; cp d $n; ls $n; cd $n; [ -e $n ]; ln -s $(printf '%5000s' | tr ' ' n) l; ln -s $(printf 'x/%.0s' {1..2000}) m; ls -l m | wc -c; cat m")
            // Three thousand paths of up to 6 KB are in its undo record.
            .memory(400),
        battery("files::binary content", texts(&[
            "cat f | wc -c", "sort f | wc -c", "sort -u f | wc -c", "sort -n f > /dev/null", "sort -V f > /dev/null", "sort -h f > /dev/null", "sort -M f > /dev/null", "sort -g f > /dev/null", "sort -f -k2 f > /dev/null", "uniq f | wc -c", "uniq -c -i f > /dev/null", "cut -c1-3 f > /dev/null", "cut -f1 f > /dev/null", "cut -b2 f > /dev/null", "head -c 100 f | wc -c", "tail -c 100 f | wc -c", "tail -n 3 f > /dev/null", "wc f",
            "wc -L -m f", "tr '\\0-\\377' '\\377-\\0' < f; tr '\\0-\\377' a < f | wc -c", "tr -d '[:alpha:]' < f > /dev/null", "tr -s '\\0-\\377' < f > /dev/null", "grep -c x f", "grep -a x f > /dev/null", "grep -ao . f > /dev/null", "grep -i \u{e9} f", "grep -P x f", "cat -A f > /dev/null", "tee < f > /dev/null", "while IFS= read -r x; do :; done < f", "mapfile x < f; echo ${#x[@]} > /dev/null", "x=$(cat f); echo ${#x} > /dev/null", "xargs -0 true < f", "xargs true < f", ". ./f", "bash f", "bash < f", "printf '%s' \"$(< f)\" > /dev/null",
            "x=$(< f); printf '%q' \"$x\" > /dev/null; printf '%b' \"$x\" > /dev/null; echo -e \"$x\" > /dev/null; y=${x@Q}; y=${x^^}; y=${x//[a-z]/}; [[ $x =~ [a-z]+ ]]; set -- $x; declare -p x > /dev/null", "date -f f > /dev/null", "find . -newer f", "grep -f f f > /dev/null", "sort --files0-from=f", "wc --files0-from=f", "xargs -a f true", "printf \"$(< f)\" > /dev/null", "$(< f)", "eval \"$(< f)\"", "[ -e \"$(< f)\" ]", "cd \"$(< f)\"", "echo $(< f) > /dev/null", "IFS=$(< f) read -r x y <<< abc", "PS4=$(< f); set -x; :; set +x", "trap \"$(< f)\" EXIT",
        ])).prepare(binary),
        battery("files::what may not be read", texts(&[
            "cat no; echo $?", "ls closed; echo $?", "ls -lR .; find .; grep -r x .; cp -r . /tmp/copy; chmod -R u+r closed/; cat closed/f", "echo x > no; echo x >> no; cd closed; cat closed/f; [ -r no ]; echo $?; [ -e closed/f ]; echo $?", "source no; bash no; ./no; wc no; sort no; head no; tail no; cp no x; mv closed/f x; ln no hard; stat closed/f; realpath closed/f; echo closed/*; mkdir closed/x; touch closed/x; rm closed/f; rm -rf closed",
        ])).prepare(|root| {
            fs::write(root.join("no"), "x").expect("a file");
            fs::create_dir(root.join("closed")).expect("a directory");
            fs::write(root.join("closed/f"), "x").expect("a file");
            for path in ["no", "closed"] {
                fs::set_permissions(root.join(path), fs::Permissions::from_mode(0o0)).expect("a mode");
            }
        }).place(Place::Unprivileged),
    ];
    cases.push(case("files::what is no file", "for f in fifo d; do [ -f $f ] && echo file; done; cat d; cat < d; echo x > d; . ./d; ./d; bash d; head d; sort d; grep x d; cp d e; tee d < /dev/null; wc d; tail d; uniq d; cut -c1 d; mapfile x < d; read x < d; x=$(< d); date -f d; xargs -a d; cd f; ls f/; cat f/x; mkdir f/x; touch f/; echo x > f/; rm f/; mv f f/; cp f f; cp f/ g; mv d d/e; cp -r d d/e; mv d/. x; rmdir f; ln -s f f; ln f d/../f; cat ''; echo x > ''; cd ''; ls ''; rm ''; mkdir ''; touch ''; [ -e '' ]; . ''; '' ; cp '' x; cp f ''; mv f ''; ln -s '' x; find ''; realpath ''; stat ''; chmod 700 ''").prepare(|root| {
        fs::create_dir(root.join("d")).expect("a directory");
        fs::write(root.join("f"), "x\n").expect("a file");
    }));
    cases
}

fn texts(scripts: &[&str]) -> Vec<Vec<u8>> {
    scripts.iter().map(|script| script.as_bytes().to_vec()).collect()
}

fn odd_names(root: &Path) {
    let longest = [b'n'; 255];
    let wide = "\u{e9}".repeat(127);
    let names: [&[u8]; 22] = [
        b"\n",
        b"a\nb",
        b" ",
        b" a ",
        b"\t",
        b"-",
        b"-rf",
        b"--help",
        b"*",
        b"[a]",
        b"\\",
        b"\"",
        b"'",
        b"$x",
        b"`x`",
        b"\xff\xfe",
        b"\xc3",
        b"\x1b[31m",
        b"\x7f",
        &longest,
        wide.as_bytes(),
        b"\xe2\x80\xae",
    ];
    for name in names {
        fs::write(root.join(std::ffi::OsStr::from_bytes(name)), "x\n").expect("a file");
    }
}

fn many(root: &Path, count: u32) {
    if root.join("many").is_dir() {
        return;
    }
    fs::create_dir(root.join("many")).expect("a directory");
    for number in 0..count {
        fs::write(root.join(format!("many/file-{number}")), "").expect("a file");
    }
}

fn circles(root: &Path) {
    fs::create_dir_all(root.join("d/e")).expect("a directory");
    fs::write(root.join("d/e/f"), "x\n").expect("a file");
    for (name, target) in [
        ("a", "b"),
        ("b", "a"),
        ("c", "c"),
        ("loop", "."),
        ("d/up", ".."),
        ("d/e/top", "../.."),
        ("d/self", "../d"),
        ("d/e/f2", "f2/x"),
    ] {
        symlink(target, root.join(name)).expect("a link");
    }
}

/// Two thousand levels, made from the inside out: no path of that length can be named.
fn deep(root: &Path) {
    if root.join("t").exists() {
        return;
    }
    fs::create_dir(root.join("t")).expect("a directory");
    fs::write(root.join("t/f"), "x\n").expect("a file");
    for _ in 0..2000 {
        fs::create_dir(root.join("u")).expect("a directory");
        fs::rename(root.join("t"), root.join("u/t")).expect("a move");
        fs::rename(root.join("u"), root.join("t")).expect("a move");
    }
}

fn binary(root: &Path) {
    let mut state = 88_172_645_463_325_252_u64;
    let bytes: Vec<u8> = (0..200_000)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 32) as u8
        })
        .collect();
    fs::write(root.join("f"), bytes).expect("a file");
}
