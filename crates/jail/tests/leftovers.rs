//! Many jails, started and ended at random: no process, mount, control group, file or descriptor is left. Alone in its
//! binary, for descriptors and mounts are the whole process's.
//!
//! `EXACTA_JAILS=1000` makes it a thousand.
#![expect(clippy::disallowed_methods, reason = "tests look at the host")]
#![expect(clippy::expect_used, reason = "a test that cannot go on says so")]

mod support;

use std::collections::BTreeSet;
use std::time::Duration;

use exacta_jail::plan::Limits;
use exacta_jail::{Cell, Running};

use support::{Project, descendants, descriptors, eventually, groups, mounts, spawner};

const SCRIPTS: [&str; 5] = [
    "exit 0",
    "sleep 60",
    "setsid sh -c 'sleep 60 & sleep 60' & (sleep 60 &); sleep 60",
    "trap '' TERM HUP; i=0; while [ $i -lt 1000 ]; do /bin/true; echo x >file$i; i=$((i+1)); done",
    "head -c 4m /dev/zero | tail -c 4m >/tmp/file; kill -STOP $$",
];

/// The same for the same seed: a failure can be had again.
struct Chance(u64);

impl Chance {
    fn below(&mut self, most: u64) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % most).expect("a small number")
    }
}

/// Names in temporary directories: what a jail might leave there.
fn temporary() -> BTreeSet<String> {
    let entries = std::fs::read_dir(std::env::temp_dir()).expect("a temporary directory").flatten();
    let names = entries.map(|it| it.file_name().to_string_lossy().into_owned());
    names.filter(|name| name.contains(&std::process::id().to_string())).collect()
}

/// One of the ways a jail can end.
fn end(mut cell: Cell, running: Vec<Running>, chance: &mut Chance) {
    match chance.below(5) {
        0 => drop(cell),
        1 => {
            drop(running);
            drop(cell);
        }
        2 => cell.end().expect("an end"),
        3 => {
            cell.kill();
            let _it_may_be_gone = cell.sweep();
        }
        _ => {
            cell.sweep().expect("a swept jail");
            for program in &running {
                program.wait().expect("an end");
            }
        }
    }
}

#[test]
fn nothing_is_left() {
    let count = std::env::var("EXACTA_JAILS").ok().and_then(|it| it.parse().ok()).unwrap_or(60);
    let seed = u64::from(std::process::id()) + 1;
    println!("seed {seed}");
    let mut chance = Chance(seed);
    let project = Project::new();
    // One jail first: what the process itself makes once is no leftover.
    drop(spawner().build(&project.plan(Limits::default())).expect("a jail"));
    std::thread::sleep(Duration::from_millis(100));
    let before = (mounts(), descriptors(), temporary());
    let mut numbers = Vec::new();
    {
        let mut makers = [spawner(), spawner()];
        let mut alive: Vec<(Cell, Vec<Running>)> = Vec::new();
        for _ in 0..count {
            let maker = &makers[chance.below(2)];
            let limits = Limits { memory: Some(64 << 20), tasks: Some(32), ..Limits::default() };
            match maker.build(&project.plan(limits)) {
                Ok(mut cell) => {
                    let programs = (0..chance.below(3))
                        .map(|_| project.start(&mut cell, SCRIPTS[chance.below(5)]))
                        .collect();
                    alive.push((cell, programs));
                }
                Err(failure) => panic!("{failure}"),
            }
            while alive.len() > 12 || chance.below(3) == 0 && !alive.is_empty() {
                let (cell, programs) = alive.swap_remove(chance.below(alive.len() as u64));
                end(cell, programs, &mut chance);
            }
            if chance.below(100) == 0 {
                // With all its jails, whatever they do.
                let old = std::mem::replace(&mut makers[0], spawner());
                numbers.push(old.process());
                drop(old);
                alive.retain(|(cell, _)| cell.is_alive());
            }
        }
        numbers.extend(makers.iter().map(exacta_jail::Spawner::process));
        for (cell, programs) in alive {
            end(cell, programs, &mut chance);
        }
    }
    for number in numbers {
        assert_eq!(descendants(number), [], "processes of {number}");
        assert_eq!(groups(number), BTreeSet::new(), "control groups of {number}");
    }
    assert_eq!(descendants(std::process::id()), [], "our own processes");
    assert_eq!(mounts(), before.0, "mounts");
    assert_eq!(temporary(), before.2, "files");
    // The watch may be looking at the last one.
    eventually("no more descriptors than before", Duration::from_secs(2), || {
        descriptors() == before.1
    });
}
