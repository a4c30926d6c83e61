//! A jail around a directory of its own.

use std::ffi::OsStr;
use std::io::Read;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use bstr::{BString, ByteSlice};
use exacta_jail::plan::{
    Access, Limits, Network, Person, Scratch, SyntheticFile, SyntheticLink, Tree, View,
};
use exacta_jail::{Cell, Ending, Plan, Program, Spawner};

pub struct Prison {
    pub cell: Cell,
    pub directory: Directory,
    /// Dropped last: it ends all that it made.
    _spawner: Spawner,
}

/// A directory of the test's own, removed with it.
pub struct Directory(pub PathBuf);

impl Directory {
    pub fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("exacta-walls-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir(&path).expect("a directory");
        Directory(path)
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _it_may_be_gone = std::fs::remove_dir_all(&self.0);
    }
}

/// What came of a program.
#[derive(Debug)]
pub struct Done {
    pub ending: Ending,
    pub output: String,
}

impl Prison {
    pub fn new() -> Self {
        Self::with(Limits::default(), false)
    }

    pub fn with(limits: Limits, debugging: bool) -> Self {
        Self::around(&[], limits, debugging)
    }

    /// With further trees to be read.
    pub fn around(trees: &[&Path], limits: Limits, debugging: bool) -> Self {
        let directory = Directory::new();
        let mut plan = plan(&directory.0, limits, debugging);
        let tree = |path: &&Path| Tree {
            source: path.into(),
            target: path.into(),
            access: Access::Read,
            hidden: Vec::new(),
        };
        plan.view.trees.extend(trees.iter().map(tree));
        let spawner = Spawner::start().expect("a spawner");
        let cell = spawner.build(&plan).expect("a jail: the tests need user namespaces");
        assert!(cell.walls().counted, "the kernel answers no questions about calls");
        assert!(cell.walls().landlock > 0, "the kernel has no Landlock");
        Prison { cell, directory, _spawner: spawner }
    }

    /// Compiles a C program into the directory.
    pub fn compile(&self, name: &str, source: &str) -> String {
        let path = self.directory.0.join(name);
        let file = path.with_extension("c");
        std::fs::write(&file, source).expect("a source file");
        let arguments =
            [OsStr::new("-pthread"), OsStr::new("-o"), path.as_os_str(), file.as_os_str()];
        let compiled = Command::new("cc").args(arguments).output().expect("a C compiler");
        assert!(compiled.status.success(), "{}", compiled.stderr.as_bstr());
        path.to_str().expect("an ordinary path").to_owned()
    }

    pub fn run(&mut self, argv: &[&str]) -> Done {
        self.run_with(argv, &[])
    }

    pub fn shell(&mut self, script: &str) -> Done {
        self.run(&["/bin/sh", "-c", script])
    }

    /// Output and errors together, and further descriptors.
    pub fn run_with(&mut self, argv: &[&str], more: &[(u32, BorrowedFd<'_>)]) -> Done {
        let (mut reader, writer) = std::io::pipe().expect("a pipe");
        let nothing = std::fs::File::open("/dev/null").expect("/dev/null");
        let mut given = vec![(0, nothing.as_fd()), (1, writer.as_fd()), (2, writer.as_fd())];
        given.extend(more);
        let program = self.program(argv);
        let running = self.cell.start(&program, &given).expect("a program that starts");
        drop(writer);
        let mut output = Vec::new();
        reader.read_to_end(&mut output).expect("its output");
        let ending = running.wait().expect("its end");
        Done { ending, output: String::from_utf8_lossy(&output).into_owned() }
    }

    pub fn program(&self, argv: &[&str]) -> Program {
        let home = self.directory.0.to_str().expect("an ordinary path");
        Program {
            path: argv[0].into(),
            argv: argv.iter().map(|word| BString::from(*word)).collect(),
            environment: vec![
                ("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into()),
                ("HOME".into(), home.into()),
            ],
            directory: home.into(),
            file_mode_mask: 0o022,
        }
    }
}

fn plan(directory: &Path, limits: Limits, debugging: bool) -> Plan {
    let tree = |path: &Path, access| Tree {
        source: path.into(),
        target: path.into(),
        access,
        hidden: Vec::new(),
    };
    let trees = vec![tree(Path::new("/usr"), Access::Read), tree(directory, Access::Write)];
    let files = vec![SyntheticFile {
        target: "/etc/passwd".into(),
        content: "agent:x:1000:1000::/:/bin/sh\n".into(),
    }];
    let links = ["bin", "sbin", "lib", "lib64"].map(|name| SyntheticLink {
        target: format!("/{name}").into(),
        text: format!("usr/{name}").into(),
    });
    let scratch = ["/tmp", "/dev/shm"];
    let scratch = scratch.map(|target| Scratch { target: target.into(), bytes: 256 << 20 });
    Plan {
        view: View {
            trees,
            files,
            copies: Vec::new(),
            links: links.into(),
            scratch: scratch.into(),
        },
        person: Person { user_id: 1000, group_id: 1000, host_name: "jail".into() },
        limits,
        network: Network::Off,
        debugging,
    }
}
