//! One attempt, in namespaces of its own: lays out the scene, brings up a victim, lets the actor act, and looks at what
//! has come of it.

use std::env;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use crate::attempt::{Identity, Task, Way};
use crate::pieces;
use crate::record::Success;
use crate::scene::SECRET;

/// For the attack itself.
pub const PATIENCE: Duration = Duration::from_secs(20);

pub fn play() -> ExitCode {
    let task = Task::of_this_process();
    task.scene.lay_out(&task.attack, task.identity.number());
    let mut victim = start_victim(&task);
    let environment = environment(&task, victim.id());
    if let Some(script) = &task.attack.prepare {
        let prepared =
            as_attacker(&task, "/bin/sh").args(["-ec", script]).envs(environment.clone()).status();
        assert!(prepared.expect("sh").success(), "what comes before the attack failed");
    }
    let before = task.scene.snapshot();
    let status = act(&task, &environment);
    let output = fs::read(task.scene.output()).expect("the output");
    let output = String::from_utf8_lossy(&output).into_owned();
    let succeeded = match &task.attack.observe {
        Some(script) => observe(script, &environment),
        None => match task.attack.success {
            Success::Secret => output.contains(SECRET),
            Success::Word => output.lines().any(|line| line.trim_end() == "GOT"),
        },
    };
    let mut wrong = Vec::new();
    if task.way == Way::Jail {
        let after = task.scene.snapshot();
        for (path, state) in &before {
            if after.get(path) != Some(state) {
                wrong.push(format!(
                    "changed {}: {state} -> {:?};",
                    path.display(),
                    after.get(path)
                ));
            }
        }
        let new = after.keys().filter(|path| !before.contains_key(*path));
        wrong.extend(new.map(|path| format!("made {};", path.display())));
        if output.contains(SECRET) {
            wrong.push("shows the secret;".to_owned());
        }
    }
    let refused = task.attack.refused_with.as_ref().filter(|_| task.way == Way::Jail);
    let as_expected = match refused {
        Some(words) => output.contains(words),
        None => output.starts_with("begun\n"),
    };
    if !as_expected {
        wrong.push("it never began;".to_owned());
    }
    let _it_may_be_dead_already = victim.kill();
    victim.wait().expect("the end of the victim");
    let verdict = if succeeded { "succeeded" } else { "failed" };
    println!("{verdict}\n{}\n{output}\n({status})", wrong.concat());
    ExitCode::SUCCESS
}

/// Nothing but what is said.
fn as_attacker(task: &Task, program: impl AsRef<Path>) -> Command {
    let mut command = Command::new(program.as_ref());
    let number = task.identity.number();
    command.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin");
    command.current_dir(task.scene.project()).stdin(Stdio::null());
    if task.identity == Identity::User {
        command.uid(number).gid(number);
    }
    command
}

/// Another process of the attacker's user, with secrets, and with doors at which it tells them.
fn start_victim(task: &Task) -> Child {
    let mut victim = as_attacker(task, pieces::folder().join("victim"));
    victim.arg(format!("--token={SECRET}")).arg(task.scene.outside()).env("TOKEN", SECRET);
    let mut victim = victim.process_group(0).stdout(Stdio::piped()).spawn().expect("a victim");
    let mut line = String::new();
    let output = victim.stdout.take().expect("its output");
    BufReader::new(output).read_line(&mut line).expect("a word of the victim");
    assert_eq!(line, "ready\n", "the victim is not ready");
    victim
}

/// All that an attacker could want to know is known.
fn environment(task: &Task, victim: u32) -> Vec<(String, String)> {
    let text = |path: &Path| path.to_str().expect("a path in UTF-8").to_owned();
    let stage = std::process::id();
    vec![
        ("OUT".to_owned(), text(&task.scene.outside())),
        ("ROOT".to_owned(), text(&task.scene.project())),
        ("VICTIM".to_owned(), victim.to_string()),
        ("STAGE".to_owned(), stage.to_string()),
    ]
}

/// The words that attack.
pub fn words(task: &Task) -> Vec<String> {
    let own = if let Some(words) = &task.attack.c {
        let mut words = words.clone();
        if let Some(first) = words.first_mut() {
            first.insert_str(0, "./");
        }
        words
    } else if task.attack.python.is_some() {
        ["/usr/bin/python3", "-S", "attack.py"].map(str::to_owned).to_vec()
    } else {
        ["/bin/sh", "attack.sh"].map(str::to_owned).to_vec()
    };
    ["./launch".to_owned()].into_iter().chain(own).collect()
}

/// Whoever acts has what callers have: a terminal, keys, open files and a secret in its environment.
fn act(task: &Task, environment: &[(String, String)]) -> String {
    let mut actor = as_attacker(task, pieces::folder().join("burden"));
    actor.arg(task.scene.outside()).arg(SECRET).envs(environment.iter().cloned());
    match task.way {
        Way::Bare => {
            actor.args(words(task));
        }
        Way::Jail => {
            actor.arg(env::current_exe().expect("this program"));
            task.tell(&mut actor, "actor");
            let world = env::vars().filter(|(name, _)| name.starts_with("EXACTA_WORLD"));
            actor.envs(world);
        }
    }
    let output = fs::OpenOptions::new().append(true).open(task.scene.output());
    let output = output.expect("the output");
    let errors = output.try_clone().expect("the output once more");
    let mut actor = actor.stdout(output).stderr(errors).spawn().expect("an actor");
    let begun = Instant::now();
    loop {
        if let Some(status) = actor.try_wait().expect("the actor") {
            return status.to_string();
        }
        if begun.elapsed() > PATIENCE + Duration::from_secs(5) {
            actor.kill().expect("the actor");
            actor.wait().expect("the actor");
            return "it took too long".to_owned();
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn observe(script: &str, environment: &[(String, String)]) -> bool {
    let mut observer = Command::new("/bin/sh");
    observer.args(["-c", script]).envs(environment.iter().cloned()).stdin(Stdio::null());
    observer.current_dir("/").stdout(Stdio::null()).stderr(Stdio::null());
    observer.status().expect("sh").success()
}
