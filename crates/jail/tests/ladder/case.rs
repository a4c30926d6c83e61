//! One situation from inside: the best jail that can be had here, a program in it, and what it finds.

use std::fs;
use std::process::ExitCode;
use std::time::Duration;

use exacta_jail::plan::{Access, Limits, Tree};
use exacta_jail::{Cell, Level, Plan, Running, Spawner};

use crate::filter;
use crate::support::{Project, descendants, eventually, spawner};

pub const WORD: &str = "case";

/// What a program finds, one fact a line.
pub const SCRIPT: &str = r#"
echo "outside: $(cat /tmp/outside/secret 2>&1)"
echo "blocked: $(/usr/bin/tac --version 2>&1 | head -n 1)"
echo "write: $( (echo x >file) 2>&1 && echo done)"
echo "write outside: $( (echo x >/tmp/outside/file) 2>&1 && echo done)"
echo "home: $( (echo x >$HOME/file) 2>&1 && echo done)"
echo "processors: $(grep -q ^processor /proc/cpuinfo && echo known)"
echo "processes: $(cat /proc/self/comm 2>/dev/null || echo none)"
echo "socket: $(perl -e 'use Socket; print socket(S, PF_INET, SOCK_STREAM, 0) ? "made" : "refused"')"
(setsid sh -c 'sleep 300 & sleep 300' &)
"#;

/// What uses more than it may: of tasks, memory and time.
const BURDENS: [(&str, &str); 3] = [
    ("tasks", "i=0; while [ $i -lt 60 ]; do sleep 20 & i=$((i+1)); done; wait"),
    ("memory", "tail /dev/zero"),
    ("time", "while :; do :; done"),
];

/// How it ended, and for which limits.
fn burden(project: &Project, spawner: &Spawner, least: Level, script: &str) -> String {
    let limits = Limits {
        tasks: Some(40),
        memory: Some(64 << 20),
        processor_time: Some(Duration::from_secs(1)),
        ..Limits::default()
    };
    let plan = Plan { limits, ..project.plan(Limits::default()) };
    let mut cell = spawner.build_at_least(&plan, least).expect("a jail");
    let running = project.start(&mut cell, script);
    let ending = running.wait().expect("an end");
    let finished = cell.finished(ending);
    let hits: Vec<String> = finished.limits_hit.iter().map(|hit| format!("{hit:?}")).collect();
    cell.end().expect("an end");
    assert!(descendants(spawner.process()).is_empty());
    format!("{ending:?} {}", hits.join(" "))
}

/// Prints what stands and what is found.
pub fn run() -> ExitCode {
    let mut words = std::env::args().skip(2);
    let least = words.next().and_then(|name| Level::from_name(&name)).expect("a level");
    let calls = words.next().unwrap_or_default();
    let outside = std::path::Path::new("/tmp/outside");
    let _it_may_be_there = fs::create_dir(outside);
    fs::write(outside.join("secret"), "secret\n").expect("a file outside");
    filter::install(calls.split(',').filter(|name| !name.is_empty()));
    let (project, spawner) = (Project::new(), spawner());
    // Ordered before anybody knows what will stand: on every rung it must come to the same.
    let variables = [("HOME", "/home/somebody")];
    match project.start_first((&spawner, &plan(&project), least), SCRIPT, &variables, |_| {}) {
        Ok((cell, running)) => {
            look(&project, &spawner, cell, running);
            for (name, script) in BURDENS {
                println!("{name}: {}", burden(&project, &spawner, least, script));
            }
        }
        Err(failure) => println!("level: {failure}"),
    }
    ExitCode::SUCCESS
}

/// With a program that is hidden, a home that is elsewhere on the host, and some state.
fn plan(project: &Project) -> Plan {
    let mut plan = project.plan(Limits { tasks: Some(64), ..Limits::default() });
    for name in [".state", "home"] {
        fs::create_dir(project.0.join(name)).expect("a directory");
    }
    for tree in &mut plan.view.trees {
        match tree.access {
            Access::Read => tree.hidden.push("bin/tac".into()),
            _ => tree.hidden.push(".state".into()),
        }
    }
    plan.view.trees.insert(
        1,
        Tree {
            source: project.0.join("home"),
            target: "/home/somebody".into(),
            access: Access::Write,
            hidden: Vec::new(),
        },
    );
    plan
}

fn look(project: &Project, spawner: &Spawner, mut cell: Cell, running: Running) {
    let walls = cell.walls().clone();
    println!("level: {}", walls.level.name());
    let missing: Vec<&str> = walls.missing.iter().map(|missing| missing.wall.name()).collect();
    println!("missing: {}", missing.join(" "));
    for missing in &walls.missing {
        println!("failure: {}: {}", missing.wall.name(), missing.failure);
    }
    running.wait().expect("an end");
    print!("{}", project.output());
    cell.sweep().expect("a swept jail");
    // The warden and the init.
    let left = descendants(spawner.process()).len();
    println!("tree: {}", if left == 2 { "gone".to_owned() } else { format!("{left} processes") });
    let running = project.start(&mut cell, "(setsid sleep 300 &); echo ready; sleep 300");
    project.await_word("ready");
    std::mem::forget(running);
    cell.end().expect("an end");
    eventually("nothing left", Duration::from_secs(2), || {
        descendants(spawner.process()).is_empty()
    });
    println!("left: nothing");
}
