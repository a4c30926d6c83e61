//! Runs a program in a jail around a directory: `enter DIRECTORY PROGRAM [ARGUMENT]…`.

use std::os::fd::AsFd;

use exacta_jail::plan::{
    Access, Limits, Network, Person, Scratch, SyntheticFile, SyntheticLink, Tree, View,
};
use exacta_jail::{Plan, Program, Spawner};

#[expect(clippy::print_stderr, clippy::disallowed_methods, reason = "to try things by hand")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let directory = words.next().ok_or("which directory?")?;
    let argv: Vec<bstr::BString> = words.map(Into::into).collect();
    let path = argv.first().ok_or("which program?")?.clone();
    let read = |path: &str, hidden: &[&str]| Tree {
        source: path.into(),
        target: path.into(),
        access: Access::Read,
        hidden: hidden.iter().map(Into::into).collect(),
    };
    let write = Tree {
        source: (&directory).into(),
        target: (&directory).into(),
        access: std::env::var_os("LAYER")
            .map_or(Access::Write, |folder| Access::Layer(folder.into())),
        hidden: vec![".clada".into()],
    };
    let passwd = "agent:x:1000:1000::/:/bin/sh\n".into();
    let view = View {
        trees: vec![read("/usr", &["bin/curl", "bin/wget", "bin/sudo"]), write],
        files: vec![SyntheticFile { target: "/etc/passwd".into(), content: passwd }],
        links: ["bin", "sbin", "lib", "lib64"]
            .map(|name| SyntheticLink {
                target: format!("/{name}").into(),
                text: format!("usr/{name}").into(),
            })
            .into(),
        scratch: vec![Scratch { target: "/tmp".into(), bytes: 64 << 20 }],
        ..View::default()
    };
    let plan = Plan {
        view,
        person: Person { user_id: 1000, group_id: 1000, host_name: "jail".into() },
        limits: Limits::default(),
        network: Network::Off,
        debugging: false,
    };
    let begun = std::time::Instant::now();
    let spawner = Spawner::start()?;
    let started = begun.elapsed();
    let mut cell = spawner.build(&plan)?;
    let built = begun.elapsed();
    cell.parts().iter().for_each(|part| eprintln!("{:>9.1?} {}", part.took, part.name));
    for _ in 0..5 {
        let begun = std::time::Instant::now();
        let program = Program {
            path: path.clone(),
            argv: argv.clone(),
            environment: vec![("PATH".into(), "/usr/bin:/bin".into())],
            directory: directory.clone().into(),
            file_mode_mask: 0o022,
        };
        let (input, output, errors) = (std::io::stdin(), std::io::stdout(), std::io::stderr());
        let running =
            cell.start(&program, &[(0, input.as_fd()), (1, output.as_fd()), (2, errors.as_fd())])?;
        let ending = running.wait()?;
        eprintln!("{ending:?} {:?} {started:?} {built:?} {:?}", cell.walls(), begun.elapsed());
    }
    Ok(())
}
