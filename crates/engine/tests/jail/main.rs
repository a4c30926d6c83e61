//! Attacks on the jail, as data: `crates/jail/tests/attacks/CLASS.toml`, with their pieces in C beside them.
//!
//! Each attack is proven to be one: without the jail it succeeds. Inside it must not, in the same disposable world, with
//! the same secrets, sockets and processes around it, as the world's root and as an ordinary user. The jail is the one
//! that a session makes, with nobody judging what runs in it.
//!
//! Three processes take part (see `stage.rs`): this one, for each attempt a *stage* in namespaces of its own, and on it
//! an *actor*, who is whoever attacks, or who has a session and attacks in that.

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test lays out what is attacked, and says what it finds"
)]

mod actor;
mod attempt;
mod pieces;
mod record;
mod scene;
mod stage;

use std::path::Path;
use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

use attempt::Identity;
use record::Attack;

/// At most this share of attacks may be taken on trust, in percent.
const MOST_UNPROVEN: usize = 15;
/// Fewer would be no battery.
const LEAST_ATTACKS: usize = 120;

fn main() -> ExitCode {
    match attempt::role().as_deref() {
        Some("stage") => {
            exacta_world::require();
            stage::play()
        }
        Some("actor") => {
            exacta_world::require();
            actor::act()
        }
        _ => exacta_world::within(&exacta_world::here!(), run),
    }
}

fn folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../jail/tests/attacks"))
}

fn run(world: &exacta_world::World) -> ExitCode {
    let mut arguments = Arguments::from_args();
    // Many of them wait for something.
    arguments.test_threads = arguments.test_threads.or(Some(4));
    let identities: &[Identity] = match world.other_user() {
        Some(_) => &[Identity::Root, Identity::User],
        None => {
            println!("this world has one user, an ordinary one on the machine: tried as that");
            &[Identity::Root]
        }
    };
    pieces::compile_all();
    let attacks = record::load_all(folder());
    let mut trials: Vec<Trial> = attacks
        .iter()
        .map(|attack| {
            let attack = attack.clone();
            Trial::test(attack.full_name(), move || attempt::try_out(&attack, identities))
        })
        .collect();
    trials.push(Trial::test("battery", move || weigh(&attacks)));
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// Whether this is a battery, and how much of it is proven.
fn weigh(attacks: &[Attack]) -> Result<(), libtest_mimic::Failed> {
    let unproven = attacks.iter().filter(|attack| attack.not_provable.is_some()).count();
    println!("{} attacks, {unproven} of them not provable here", attacks.len());
    for class in record::classes(attacks) {
        let all: Vec<_> = attacks.iter().filter(|attack| attack.class == class).collect();
        let unproven = all.iter().filter(|attack| attack.not_provable.is_some()).count();
        println!("  {class}: {} ({unproven} not provable)", all.len());
    }
    if attacks.len() < LEAST_ATTACKS || unproven * 100 > attacks.len() * MOST_UNPROVEN {
        return Err("too few attacks, or too many of them taken on trust".into());
    }
    Ok(())
}
