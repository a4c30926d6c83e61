//! One task of an agent at a time, in four processes and two projects, in the order in which they were asked for.

use std::collections::HashMap;

use crate::child::Process;
use crate::scene::{Scene, advance, create, step};
use exacta::tasks::State;

pub const ALL: &[(&str, fn())] = &[
    ("two_agents_with_ten_tasks_in_four_processes", two_agents_with_ten_tasks_in_four_processes),
    ("who_has_died_is_not_waited_for", who_has_died_is_not_waited_for),
];

fn two_agents_with_ten_tasks_in_four_processes() {
    let (scene, other) = (Scene::new(), Scene::new());
    let roots = [&scene.root, &other.root];
    let mut processes: Vec<Process> =
        (0..4).map(|number| Process::start(&scene, roots[number % 2], "in-turn")).collect();
    for mark in 0..10 {
        for (at, agent) in ["one", "two"].iter().enumerate() {
            let process = &mut processes[(mark * 3 + at) % 4];
            process.tell(&format!("{agent} {mark:02}"));
            assert_eq!(process.hear().as_deref(), Some("made"));
        }
    }
    for process in &mut processes {
        process.tell("go");
    }
    for mut process in processes {
        while let Some(line) = process.hear() {
            assert_eq!(line, "over completed");
        }
        process.end();
    }
    for agent in ["one", "two"] {
        let logs = [&scene, &other].map(|scene| scene.read(&format!("{agent}.log"))).concat();
        let mut times: HashMap<&str, (u128, u128)> = HashMap::new();
        for line in logs.lines() {
            let words: Vec<&str> = line.split(' ').collect();
            let (time, stamps) = (words[2].parse().unwrap(), times.entry(words[1]).or_default());
            if words[0] == "b" { stamps.0 = time } else { stamps.1 = time }
        }
        let mut all: Vec<_> = times.into_iter().collect();
        all.sort_by_key(|(_, (begun, _))| *begun);
        assert_eq!(all.len(), 10);
        let order: Vec<&str> = all.iter().map(|(mark, _)| *mark).collect();
        assert!(order.is_sorted(), "{agent}: {order:?}");
        for pair in all.windows(2) {
            assert!(pair[0].1.1 <= pair[1].1.0, "{agent}: two at once: {pair:?}");
        }
    }
}

fn who_has_died_is_not_waited_for() {
    let scene = Scene::new();
    let mut process = Process::start(&scene, &scene.root, "in-turn");
    process.tell("agent 1");
    assert_eq!(process.hear().as_deref(), Some("made"));
    let tasks = scene.tasks();
    let task = create(&tasks, vec![step("touch a")]);
    process.kill();
    assert_eq!(advance(&tasks, &task.id).state, State::Completed);
}
