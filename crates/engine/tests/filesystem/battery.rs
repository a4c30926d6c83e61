//! One behaviour, every file system. Each case is a setup and a list of lines with what they must give.

use bstr::BStr;

use crate::operations::run;
use crate::scratch::{Backend, backends};
use crate::there_and_back::Before;

struct Case {
    name: &'static str,
    /// Runs in the lower tree where there is one.
    setup: &'static str,
    lines: &'static str,
}

const CASES: &[Case] = &[
    Case {
        name: "writing, appending, overwriting",
        setup: "write a hello",
        lines: "read a => hello
            write a hi
            read a => hi
            append a -there
            read a => hi-there
            overwrite a HO
            read a => HO-there
            stat a => File 644 8
            overwrite missing x => ENOENT
            append new x
            read new => x
            create new y => EEXIST
            create newer y
            stat newer => File 600 1
            read . => EISDIR
            write . x => EISDIR
            write new/ x => EISDIR
            write missing/ x => EISDIR
            write missing/file x => ENOENT
            write a/file x => ENOTDIR
            read a/ => ENOTDIR
            read a/. => ENOTDIR
            read a/.. => ENOTDIR
            read missing/.. => ENOENT
            read => ENOENT",
    },
    Case {
        name: "directories",
        setup: "mkdir d
            mkdir d/e
            write d/f x",
        lines: "list d => e f
            mkdir d => EEXIST
            mkdir d/ => EEXIST
            mkdir d/f => EEXIST
            mkdir d/f/g => ENOTDIR
            mkdir n/m => ENOENT
            mkdir d/g/
            list d/ => e f g
            list d/. => e f g
            list d/e/.. => e f g
            list d/f => ENOTDIR
            list missing => ENOENT
            nlink d => 4
            rmdir d => ENOTEMPTY
            rmdir d/f => ENOTDIR
            rmdir d/f/ => ENOTDIR
            rmdir missing => ENOENT
            rmdir d/. => EINVAL
            rmdir d/g/
            rmdir d/e
            nlink d => 2
            list d => f
            stat d => Directory 755
            walk ~ => d/ d/f=x",
    },
    Case {
        name: "symbolic links",
        setup: "mkdir d
            write d/f text
            symlink dl d
            symlink fl d/f
            symlink abs ~/d
            symlink up d/../d/./f
            symlink d/back ../fl
            symlink dangling nowhere
            symlink loop loop
            symlink slash d/f/
            symlink chain dl/back",
        lines: "read dl/f => text
            read fl => text
            read abs/f => text
            read up => text
            read d/back => text
            read chain => text
            read dangling => ENOENT
            read loop => ELOOP
            stat loop/x => ELOOP
            read slash => ENOTDIR
            nofollow fl => ELOOP
            nofollow dl/f => text
            lstat fl => Symlink 777 3
            stat fl => File 644 4
            lstat dl/ => Directory 755
            lstat fl/ => ENOTDIR
            stat dangling => ENOENT
            lstat dangling => Symlink 777 7
            readlink fl => d/f
            readlink d/f => EINVAL
            readlink d => EINVAL
            readlink missing => ENOENT
            list dl => back f
            write dl/n new
            read d/n => new
            write fl other
            read d/f => other
            lstat fl => Symlink 777 3
            append dangling made
            read nowhere => made
            create dl x => EEXIST
            mkdir dangling => EEXIST
            mkdir dl/sub
            rmdir dl => ENOTDIR
            rmdir dl/ => ENOTDIR
            symlink fl x => EEXIST
            symlink new/ x => ENOENT
            symlink dl/link f
            read dl/link => other
            rm abs
            lstat abs => ENOENT
            stat d => Directory 755
            chmod fl 600
            stat d/f => File 600 5",
    },
    Case {
        name: "links through many links end somewhere",
        setup: "write f x
            symlink l1 f
            symlink l2 l1
            symlink l3 l2
            symlink l4 l3
            mkdir d
            symlink d/deep ../l4
            symlink ping pong
            symlink pong ping",
        lines: "read d/deep => x
            real d/deep => ~/f
            read ping => ELOOP
            write ping x => ELOOP
            real ping => ELOOP
            lstat ping => Symlink 777 4",
    },
    Case {
        name: "hard links",
        setup: "write a one
            link a b
            mkdir d
            symlink l a",
        lines: "same a b => true
            nlink a => 2
            write b two
            read a => two
            append a !
            read b => two!
            link a d/c
            nlink b => 3
            link d e => EPERM
            link a b => EEXIST
            link missing x => ENOENT
            link a x/ => ENOENT
            link a/ x => ENOTDIR
            link l m
            readlink m => a
            rm a
            read b => two!
            mv b d/c
            same b d/c => true
            chmod d/c 600
            stat b => File 600 4",
    },
    Case {
        name: "renaming",
        setup: "write a one
            write b two
            mkdir d
            write d/f three
            mkdir e
            mkdir e/sub
            mkdir empty
            symlink l a",
        lines: "mvn a b => EEXIST
            mv a b
            read b => one
            read a => ENOENT
            mv missing x => ENOENT
            mv b d => EISDIR
            mv d b => ENOTDIR
            mv d e => ENOTEMPTY
            mv d d/sub => EINVAL
            mv d d/x/y => ENOENT
            mv e/sub e => ENOTEMPTY
            mv d empty
            read empty/f => three
            list ~ => b e empty l
            mv e moved
            list moved => sub
            mv moved/sub ~/sub
            list moved => 
            mv b b
            mv b/ c => ENOTDIR
            mv b c/ => ENOTDIR
            mv moved renamed/
            mv l renamed/l
            readlink renamed/l => a
            mv b renamed/l
            read renamed/l => one
            mv . x => EBUSY
            mv renamed/. x => EBUSY
            mv renamed .. => ENOENT
            mvn renamed/l new
            read new => one",
    },
    Case {
        name: "a renamed directory keeps what is in it",
        setup: "mkdir d
            mkdir d/deep
            write d/deep/f x
            write d/g y",
        lines: "mv d n
            walk n => deep/ deep/f=x g=y
            write n/deep/f changed
            mv n/deep deep
            walk ~ => deep/ deep/f=changed n/ n/g=y
            mkdir d
            list d => 
            write d/g new
            read n/g => y
            rm n/g
            list n => 
            mv deep d/deep
            walk d => deep/ deep/f=changed g=new",
    },
    Case {
        name: "deleted names stay deleted",
        setup: "mkdir d
            write d/f x
            write d/g y
            write top z",
        lines: "rm d/f
            read d/f => ENOENT
            list d => g
            mkdir d/f
            list d/f => 
            rm d
            mkdir d
            list d => 
            rm top
            symlink top d
            list top => 
            list .trash => TIME_d TIME_f TIME_top",
    },
    Case {
        name: "trash",
        setup: "mkdir d
            write d/f x
            symlink l d
            write s y",
        lines: "rm missing => ENOENT
            rm s/ => ENOTDIR
            rm s
            stat .trash => Directory 700
            list .trash => TIME_s
            rm l/ => ENOTDIR
            rm l
            list .trash => TIME_l TIME_s
            rm d/
            walk .trash => TIME_d/ TIME_d/f=x TIME_l@d TIME_s=y
            rm .trash => EPERM
            rm .trash/x => ENOENT
            rm ~ => EBUSY
            rm . => EBUSY
            write t/../t x => ENOENT
            mkdir t
            rm t/. => EINVAL
            rm /tmp => EBUSY
            rm /dev/null => EPERM",
    },
    Case {
        name: "modes and times",
        setup: "write f x
            mkdir d
            symlink l f
            symlink dangling no",
        lines: "chmod f 755
            stat f => File 755 1
            execute f
            chmod d 1700
            stat d => Directory 1700
            chmod missing 700 => ENOENT
            chmod dangling 700 => ENOENT
            utime f 1000000000
            mtime f => 1000000000
            utime l 1100000000
            mtime f => 1100000000
            utime d 5
            mtime d => 5
            utime missing => ENOENT
            chown f
            access f
            access missing => ENOENT
            access dangling => ENOENT
            access d
            execute d
            chmod f 644
            execute f => EACCES",
    },
    Case {
        name: "canonical paths",
        setup: "mkdir d
            mkdir d/e
            write d/f x
            symlink l d/e
            symlink d/e/up ..
            symlink abs ~/d
            symlink tmp /tmp
            symlink null /dev/null
            symlink dangling d/no",
        lines: "real . => ~
            real d/./e/../f => ~/d/f
            real l => ~/d/e
            real l/up => ~/d
            real abs/f => ~/d/f
            real l/../f => ~/d/f
            real tmp => /tmp
            real null => /dev/null
            real /dev//./null => /dev/null
            real dangling => ENOENT
            real missing => ENOENT
            real d/f/ => ENOTDIR
            real d/f/.. => ENOTDIR
            reale dangling => ~/d/no
            reale missing => ~/missing
            reale missing/ => ~/missing
            reale missing/x => ENOENT
            reale d/e => ~/d/e
            realm missing/x/../y => ~/missing/y
            realm l/x/y => ~/d/e/x/y
            realm d/f/x => ~/d/f/x
            realm /nowhere/../x => /x",
    },
    Case {
        name: "the private temporary directory",
        setup: "write /tmp/t x
            mkdir /tmp/d
            write /tmp/d/f y
            write f project",
        lines: "list /tmp => d t
            read /tmp/t => x
            stat /tmp/.. => ENOENT
            mv f /tmp/f
            read /tmp/f => project
            mv /tmp/f f
            read f => project
            symlink /tmp/l ~/f
            read /tmp/l => project
            symlink l /tmp/d
            read l/f => y
            rm /tmp/t
            rm /tmp/d
            walk /tmp => l@TEXT
            rmdir /tmp => EBUSY
            list ~ => f l",
    },
    Case {
        name: "devices",
        setup: "symlink n /dev/null",
        lines: "read /dev/null => 
            write /dev/null x
            append n x
            write /dev/full x => ENOSPC
            write /dev/zero x
            stat /dev/urandom => CharacterDevice 666
            stat n => CharacterDevice 666
            lstat n => Symlink 777 9
            list /dev/null => ENOTDIR
            list /dev => ENOENT
            read /dev/null/ => ENOTDIR
            read /dev/null/x => ENOTDIR
            mkdir /dev/null => EEXIST
            create /dev/null x => EEXIST
            mkdir /dev/x => ENOENT
            rm /dev/null => EPERM
            mv /dev/null x => EPERM
            chmod /dev/null 777 => EPERM
            readlink /dev/null => EINVAL
            rmdir /dev/null => ENOTDIR
            link /dev/null x => EPERM
            access /dev/null
            execute /dev/null => EACCES
            utime /dev/null",
    },
    Case {
        name: "exacta's own directory does not exist",
        setup: "mkdir d
            symlink l .clada
            symlink d/l ../.clada/tmp
            write /tmp/x y",
        lines: "stat .clada => ENOENT
            lstat .CLADA => ENOENT
            stat d/.clada => ENOENT
            mkdir .clada => ENOENT
            mkdir d/.Clada => ENOENT
            write .clada x => ENOENT
            write d/.clada/x y => ENOENT
            write l x => ENOENT
            list l => ENOENT
            list d/l => ENOENT
            symlink .clada d => ENOENT
            mv d .clada => ENOENT
            mv .clada x => ENOENT
            link d/f .clada => ENOENT
            rm .clada => ENOENT
            rmdir .clada => ENOENT
            stat .clada/.. => ENOENT
            list ~ => d l
            readlink l => .clada",
    },
    Case {
        name: "names",
        setup: "write a%sb x
            write -dash y
            write … z",
        lines: "read a%sb => x
            read -dash => y
            read … => z
            read a%0b => ENOENT
            write %0 x => ENOENT
            write new%0 x => ENOENT
            list ~ => -dash a b …",
    },
];

pub fn every_backend_behaves_the_same() {
    let mut failures = String::new();
    for case in CASES {
        for backend in backends() {
            // Between the project and `/tmp` nothing is renamed where it is recorded.
            if backend.transactions.is_none() || !case.lines.contains("mv f /tmp/f") {
                check(case, &backend, &mut failures);
            }
        }
    }
    assert!(failures.is_empty(), "\n{failures}");
}

/// What was made for a case is one request, and the case is another.
fn prepared(backend: &Backend) -> Option<Before> {
    let transactions = backend.transactions.as_ref()?;
    transactions.finish(0).unwrap();
    let before = Before::of(&backend.scratch.root());
    transactions.begin(BStr::new("case"), backend.files.root());
    Some(before)
}

/// It can be undone and redone.
pub fn undone(backend: &Backend, before: Option<&Before>, case: &str) {
    let (Some(transactions), Some(before)) = (&backend.transactions, before) else { return };
    let report = transactions.finish(0).unwrap();
    if let Err(problem) = before.there_and_back(&backend.scratch.root(), report.as_ref()) {
        panic!("{case}: {problem}");
    }
}

fn check(case: &Case, backend: &Backend, failures: &mut String) {
    let setup = backend.below.as_ref().unwrap_or(&backend.files);
    for line in case.setup.lines() {
        let result = run(&**setup, line);
        assert_eq!(result, "ok", "{} on {}: {line}", case.name, backend.name);
    }
    let below = backend.below.as_ref().map(|_| backend.scratch.tree());
    let before = prepared(backend);
    for line in case.lines.lines() {
        let (line, wanted) = match line.trim().split_once("=>") {
            Some((line, wanted)) => (line, wanted.trim()),
            None => (line.trim(), "ok"),
        };
        let wanted = wanted.replace("TEXT", &format!("{}/f", backend.files.root()));
        let result = run(&*backend.files, line);
        if result != wanted {
            *failures +=
                &format!("{} on {}: {line}: {result:?}, not {wanted:?}\n", case.name, backend.name);
        }
    }
    undone(backend, before.as_ref(), case.name);
    if below.is_some() {
        assert_eq!(
            below,
            Some(backend.scratch.tree()),
            "{}: the tree below has changed",
            case.name
        );
    }
    if backend.name == "overlay, all above" {
        let left: Vec<_> = std::fs::read_dir(backend.scratch.root()).unwrap().collect();
        assert!(left.is_empty(), "{}: the overlay wrote to disk: {left:?}", case.name);
    }
}
