//! The process that runs the script is no way out either: its descriptors, its environment, its names, its state, the
//! other processes and the network.

use std::collections::BTreeSet;
use std::fs;
use std::net::{TcpListener, UdpSocket};
use std::process::{Command, Stdio};

use libtest_mimic::{Failed, Trial};

use crate::scene::{Scene, show, wrong};

type Test = fn() -> Result<(), Failed>;

pub fn trials() -> Vec<Trial> {
    let table: [(&str, Test); 7] = [
        ("descriptors", descriptors),
        ("environment", environment),
        ("names of the machine", names),
        ("state of the process", state),
        ("signals", signals),
        ("network", network),
        ("races", races),
    ];
    table.into_iter().map(|(name, test)| Trial::test(format!("process::{name}"), test)).collect()
}

/// Runs a script and checks what must always hold; gives all it printed.
fn run(scene: &Scene, script: &str) -> Result<String, Failed> {
    let before = scene.forbidden();
    let outcome = scene.run(&scene.fill(script), "");
    let problem = wrong(&before, scene, &outcome);
    if !problem.is_empty() {
        return Err(format!("{problem}{script}\n{}", show(&outcome)).into());
    }
    Ok(show(&outcome))
}

fn expect(condition: bool, problem: impl Into<String>) -> Result<(), Failed> {
    if condition { Ok(()) } else { Err(problem.into().into()) }
}

/// Only 0, 1 and 2 are open for a script, whatever is open here; the canary is (see [`Scene`]).
fn descriptors() -> Result<(), Failed> {
    let scene = Scene::new(&[]);
    let script = "for n in {3..300}; do
        for path in /dev/fd/$n /proc/self/fd/$n /proc/$$/fd/$n /proc/1/fd/$n; do
            [ -e $path ] && echo seen $path
            { cat < $path && echo read $path; } 2>/dev/null
            { echo x > $path && echo written $path; } 2>/dev/null
        done
        { cat <&$n && echo read $n; } 2>/dev/null
        { echo x >&$n && echo written $n; } 2>/dev/null
        { : <&$n- && echo moved $n; } 2>/dev/null
        read -u $n x 2>/dev/null && echo read $n
    done; echo done; cat <&HELD; cat /dev/fd/HELD";
    let shown = run(&scene, script)?;
    for word in ["seen", "read", "written", "moved"] {
        expect(!shown.contains(word), shown.clone())?;
    }
    expect(shown.contains("done"), shown)
}

/// Neither names nor values of the variables of this process.
fn environment() -> Result<(), Failed> {
    let scene = Scene::new(&[]);
    let script = "env; export -p; set; declare -p; declare -x; compgen -v; compgen -e; printenv
        bash -c env; sh -c set; env -0; xargs env < inside; find inside -exec env \\;
        cat /proc/self/environ /proc/$$/environ /proc/$PPID/environ
        echo ${!A*} ${!C*} ${!P*} ${!R*} ${!S*} ${!X*} ${!_*}";
    let shown = run(&scene, script)?;
    let root = scene.root().display().to_string();
    for (name, value) in std::env::vars() {
        let ours = root.contains(&value) || "/usr/local/bin:/usr/bin:/bin/bash".contains(&value);
        expect(value.len() < 6 || ours || !shown.contains(&value), format!("{name}\n{shown}"))?;
    }
    let exported = run(&scene, "env")?;
    let names: BTreeSet<&str> = exported
        .lines()
        .filter_map(|line| line.trim_start_matches("stdout: ").split_once('='))
        .map(|(name, _)| name)
        .collect();
    let known = BTreeSet::from(["HOME", "PATH", "PWD", "SHLVL", "_"]);
    expect(names.is_subset(&known), format!("{names:?}"))
}

/// Who and where we are, by every name a shell has for it.
fn names() -> Result<(), Failed> {
    let scene = Scene::new(&[]);
    let script = r#"echo "$USER $LOGNAME $HOSTNAME $HOME $SHELL $MAIL $UID $EUID $GROUPS $PPID $BASH $0 $_"
        echo "$MACHTYPE $HOSTTYPE $OSTYPE $BASH_SOURCE $BASH_ARGV0 $TMPDIR $DIRSTACK $HISTFILE $TTY"
        p='\h \H \u \w \W \l \s \v \V \j \d \t \$ \!'; echo "${p@P}"
        echo ~ ~root ~nobody ~daemon ~+ ~- ~1
        ls -la . / ~ ; ls -ln; stat inside; stat -c '%U %G %u %g' inside; find . -ls; find . -printf '%u %g\n'
        hostname; whoami; id; uname -a; logname; who; users; groups; getent passwd; tty
        compgen -u; compgen -g; compgen -A hostname; type -a bash ls id; which -a bash ls id; command -v sh
        cat /etc/hostname /etc/passwd /proc/sys/kernel/hostname /etc/machine-id; pwd -P; dirs -l; times
        cd /nowhere; . /nowhere; /nowhere; exec /nowhere"#;
    let shown = run(&scene, script)?;
    let file = |path: &str| fs::read_to_string(path).unwrap_or_default().trim().to_owned();
    let mut secrets = vec![file("/proc/sys/kernel/hostname"), file("/etc/machine-id")];
    secrets.push(file("/proc/sys/kernel/osrelease"));
    for name in ["HOME", "USER", "LOGNAME"] {
        secrets.push(std::env::var(name).unwrap_or_default());
    }
    // `~root` and the like are names of the script's own.
    let shown = shown.replace("~root", "").replace("ROOT", "").replace(&scene.fill("ROOT"), "");
    for secret in secrets.iter().filter(|secret| secret.len() > 1) {
        let found = shown
            .split(|character: char| !character.is_alphanumeric() && !"._-/".contains(character));
        expect(found.into_iter().all(|word| word != secret), format!("{secret:?} in\n{shown}"))?;
    }
    Ok(())
}

/// What a script changes about itself it does not change about us.
fn state() -> Result<(), Failed> {
    let here = || {
        let limits = fs::read_to_string("/proc/self/limits").unwrap_or_default();
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let wanted = ["Umask:", "SigBlk:", "SigIgn:", "SigCgt:", "Uid:", "TracerPid:", "State:\tT"];
        let mut lines: Vec<String> = status
            .lines()
            .filter(|line| wanted.iter().any(|start| line.starts_with(start)))
            .map(str::to_owned)
            .collect();
        lines.push(limits);
        lines.push(std::env::current_dir().unwrap_or_default().display().to_string());
        lines.extend(std::env::vars().map(|(name, value)| format!("{name}={value}")));
        lines
    };
    let before = here();
    for script in [
        "cd d; umask 077; ulimit -n 10; ulimit -c 0; ulimit -S -v 100000; export PATH=/x HOME=/y A=b",
        "trap 'echo' INT TERM HUP CHLD; trap '' PIPE QUIT; set -m; set -o monitor; disown -a",
        "exec true",
        "exec cat inside",
        "exec bash -c 'exit 3'",
        "exec /bin/sh",
        "exec >/dev/null 2>&1 <&-; exec 0<&- 1>&- 2>&-",
        "suspend",
        "suspend -f",
        "logout",
        "exit 3",
        "enable -f OUT/directory/program x",
        "enable -f /usr/lib/bash/sleep sleep",
        "kill -STOP $$",
        "kill -TSTP 0",
        "coproc cat; kill %1",
        "set -o errexit; false",
        "TZ=America/New_York date; LC_ALL=de_DE.UTF-8 ls; export LC_ALL=tr_TR TZ=:/etc/passwd; date",
    ] {
        let scene = Scene::new(&[]);
        let before = scene.forbidden();
        let outcome = scene.run(&scene.fill(script), "");
        // A script may stop itself; then it is stopped, and we are not.
        let problem = wrong(&before, &scene, &outcome);
        expect(
            problem.lines().all(|line| line.starts_with("was stopped")),
            format!("{script}\n{problem}{}", show(&outcome)),
        )?;
    }
    let after = here();
    expect(before == after, format!("{before:?}\n{after:?}"))
}

/// A process of the machine is nobody a script can signal.
fn signals() -> Result<(), Failed> {
    let mut child = Command::new("sleep").arg("60").stdin(Stdio::null()).spawn()?;
    let (number, ours) = (child.id(), std::process::id());
    let scene = Scene::new(&[]);
    let mut verdict = Ok(());
    for signal in ["-9", "-TERM", "-s KILL", "-STOP", "-n 15", "-0", "-CONT"] {
        for target in [format!("{number}"), format!("-{number}"), "-1".into(), "1".into()] {
            let shown = run(&scene, &format!("kill {signal} -- {target} && echo done"))?;
            if shown.contains("done") {
                verdict = Err(format!("kill {signal} {target}\n{shown}").into());
            }
        }
    }
    run(&scene, &format!("wait {number}; disown {number}; jobs -p; kill -9 $PPID; kill -l 9"))?;
    let own = scene.run(&format!("kill -9 {ours} 0 $$ $BASHPID; kill -TERM -- -$$"), "");
    if child.try_wait()?.is_some() {
        verdict = Err(format!("the child is dead\n{}", show(&own)).into());
    }
    child.kill()?;
    child.wait()?;
    verdict
}

/// Nothing arrives, and the answer is that of any missing file.
fn network() -> Result<(), Failed> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    listener.set_nonblocking(true)?;
    let socket = UdpSocket::bind("127.0.0.1:0")?;
    socket.set_nonblocking(true)?;
    let (tcp, udp) = (listener.local_addr()?.port(), socket.local_addr()?.port());
    let scene = Scene::new(&[]);
    for (kind, port) in [("tcp", tcp), ("udp", udp)] {
        for host in ["127.0.0.1", "localhost", "0.0.0.0", "::1"] {
            let path = format!("/dev/{kind}/{host}/{port}");
            for script in [
                format!("echo x > {path}"),
                format!("exec 3<> {path} && echo x >&3"),
                format!("cat < {path}"),
                format!("cat {path}"),
                format!("echo x | tee {path}"),
                format!("echo x &> {path}"),
                format!("p={path}; echo x > $p"),
                format!("ln -s {path} socket; echo x > socket"),
                format!("cp inside {path}"),
            ] {
                let scene_of_link = Scene::new(&[]);
                let shown = run(&scene_of_link, &script)?;
                let words = "No such file or directory";
                expect(shown.contains(words), format!("{script}\n{shown}"))?;
            }
        }
    }
    run(&scene, &format!("curl http://127.0.0.1:{tcp}; wget 127.0.0.1:{tcp}; nc 127.0.0.1 {tcp}"))?;
    expect(listener.accept().is_err(), "something connected")?;
    let mut buffer = [0; 16];
    expect(socket.recv(&mut buffer).is_err(), "something was sent")
}

/// A link that changes while it is used, from inside one script.
fn races() -> Result<(), Failed> {
    let swaps = [
        "ln -sfn OUT/directory l; ln -sfn d l",
        "rm -rf l; mkdir l; rm -rf l; ln -s ../outside/directory l",
        "ln -sfn ../outside l; ln -sfn d/../.. l; ln -sfn .clada l",
        "mv d /tmp/d; mv /tmp/d d; ln -sfn d l",
    ];
    let uses = [
        "cat l/secret l/file",
        "echo x > l/secret",
        "cp l/secret got; cat got",
        "cd l && cat secret; cd ROOT",
        "find -L l -type f -exec cat {} +",
        "grep -rs . l/",
        "cat d/../../secret l/../../secret d/../tmp/../secret",
        "rm -rf l/secret; mkdir -p l/made; chmod -R 777 l/",
    ];
    for swap in swaps {
        for usage in uses {
            let scene = Scene::new(&[]);
            let script = format!(
                "for i in {{1..40}}; do {swap}; done > /dev/null 2>&1 & 
                 for i in {{1..40}}; do {usage}; done 2>/dev/null; wait"
            );
            run(&scene, &script)?;
        }
    }
    Ok(())
}
