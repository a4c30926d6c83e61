//! Sockets in the project: those of programs are theirs, those of the host's services lead nowhere.

use std::os::unix::net::UnixListener;

use exacta::Request;
use libtest_mimic::{Failed, Trial};

use crate::scene::Scene;

pub fn trials() -> Vec<Trial> {
    type Check = fn() -> Result<(), Failed>;
    let all: [(&str, Check); 3] = [
        ("a service that was there before", before),
        ("a service that came between two requests", between),
        ("a service of the programs themselves", own),
    ];
    all.into_iter().map(|(name, check)| Trial::test(format!("doors::{name}"), check)).collect()
}

const CONNECT: &str = "perl -MIO::Socket::UNIX -e 'print IO::Socket::UNIX->new(Peer => shift) ? qq(in\\n) : qq(out\\n)' ";

fn expect(scene: &mut exacta::Session, script: &str, expected: &str) -> Result<(), Failed> {
    let outcome = scene.run(&Request::new(script));
    let found = String::from_utf8_lossy(&outcome.stdout);
    let errors = String::from_utf8_lossy(&outcome.stderr);
    if found == expected { Ok(()) } else { Err(format!("{found:?} {errors:?}").into()) }
}

fn before() -> Result<(), Failed> {
    let scene = Scene::new();
    let _service = UnixListener::bind(scene.project.join("door"))?;
    let mut session = Scene::session(scene.options());
    expect(&mut session, &format!("{CONNECT} door"), "out\n")?;
    // Another one at the same place is another door.
    std::fs::remove_file(scene.project.join("door"))?;
    let _again = UnixListener::bind(scene.project.join("door"))?;
    expect(&mut session, &format!("{CONNECT} door"), "out\n")
}

fn between() -> Result<(), Failed> {
    let scene = Scene::new();
    let mut session = Scene::session(scene.options());
    expect(&mut session, "perl -e 'print qq(warm\\n)'", "warm\n")?;
    let _service = UnixListener::bind(scene.project.join("door"))?;
    expect(&mut session, &format!("{CONNECT} door; {CONNECT} $PWD/door"), "out\nout\n")?;
    drop(std::fs::remove_file(scene.project.join("door")));
    expect(&mut session, "ls; perl -e 'print -e q(door) ? 1 : 0'", "0")
}

fn own() -> Result<(), Failed> {
    let scene = Scene::new();
    let mut session = Scene::session(scene.options());
    let listen = "perl -MIO::Socket::UNIX -e '$s = IO::Socket::UNIX->new(Local => q(own), Listen => 5) or die $!; sleep 9' &";
    let wait = "while ! test -e own; do sleep 0.02; done";
    expect(&mut session, &format!("{listen} {wait}; {CONNECT} own"), "in\n")
}
