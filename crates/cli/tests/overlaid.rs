//! A project that lies on an overlay, as in a container: it cannot carry what another overlay writes, and directories from below
//! cannot be renamed. Programs run all the same, and everything can be undone.

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    reason = "tests make directories and run the binary"
)]

use std::fs;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

exacta_world::tests! {
    programs,
    builtins,
    builtins_after_programs,
    what_is_held,
    conflicts,
}

/// Makes the project, and says what a tree is: kinds, modes, owners, times, targets, contents.
const BEGIN: &str = r#"
    cd "$PLACE"
    mkdir -p lower/old/deep lower/gone lower/.clada upper work project
    echo a > lower/a; echo b > lower/b; echo f > lower/old/deep/f; echo g > lower/gone/g; ln -s a lower/link
    touch -d '2001-02-03 04:05:06.789' lower/old/deep lower/old lower/gone lower/a lower
    mount -t overlay -o lowerdir=lower,upperdir=upper,workdir=work,userxattr none project
    cd project
    run() { "$EXACTA" --profile full-auto run --yes -- "$@"; }
    tree() {
        find . -path ./.clada -prune -o -type d -printf '%y %m %U:%G %T@ %p\n' -o -printf '%y %m %U:%G %s %T@ %p %l\n' | sort
        find . -path ./.clada -prune -o -type f -print0 | sort -z | xargs -0 sha256sum
    }
    same() { diff <(echo "$1") <(tree) || { echo "differs: $2"; exit 1; }; }
    there_and_back() {
        local after; after=$(tree)
        "$EXACTA" undo; same "$before" undo
        "$EXACTA" redo; same "$after" redo
        "$EXACTA" undo; same "$before" 'undo again'
    }
    before=$(tree)
"#;

fn script(text: &str) {
    static SERIAL: AtomicU32 = AtomicU32::new(0);
    let serial = SERIAL.fetch_add(1, Ordering::Relaxed);
    let name = format!("exacta-overlaid-{}-{serial}", std::process::id());
    let place = std::env::temp_dir().join(name);
    fs::create_dir_all(&place).expect("a temporary directory");
    let output = Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "bash", "-euo", "pipefail", "-c"])
        .arg(format!("{BEGIN}{text}"))
        .env("PLACE", place.canonicalize().expect("a real path"))
        .env("EXACTA", env!("CARGO_BIN_EXE_exacta"))
        .env("XDG_STATE_HOME", place.join("state"))
        .env("XDG_CONFIG_HOME", place.join("configuration"))
        .output()
        .expect("unshare(1) runs");
    let said = [output.stdout, output.stderr].concat();
    let _left_behind = fs::remove_dir_all(&place);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&said));
}

fn programs() {
    script(
        r#"
        run "perl -MFile::Path=remove_tree -e '
            sub put { open(my \$file, \$_[1], \$_[0]) or die \$!; print \$file \$_[2]; close(\$file) }
            put(q(a), q(>>), q(more)); put(q(new), q(>), q(x)); mkdir(q(made)); put(q(made/y), q(>), q(y));
            rename(q(b), q(made/b)) or die; remove_tree(q(gone)); unlink(q(old/deep/f)); symlink(q(new), q(way));
            remove_tree(q(old)); put(q(old), q(>), q(a file now)); chmod(0600, q(a))'"
        [ "$(cat a)" = $'a\nmore' ] && [ ! -e gone ] && [ -f old ] && [ "$(cat made/b)" = b ]
        there_and_back
        "#,
    );
}

fn builtins() {
    script(
        r#"
        run 'echo more >> a; rm -r gone; mv old renamed; chmod 600 b; echo x > renamed/deep/x; rm link; mkdir made'
        [ ! -e gone ] && [ "$(cat renamed/deep/f)" = f ]
        there_and_back
        "#,
    );
}

fn builtins_after_programs() {
    script(
        r#"
        run "echo more >> a; perl -e 'mkdir(q(made))'; rm -r gone; mv old made/old; echo y >> made/old/deep/f; cp -r made made2"
        [ ! -e gone ] && [ "$(cat made2/old/deep/f)" = $'f\ny' ]
        there_and_back
        "#,
    );
}

fn what_is_held() {
    script(
        r#"
        "$EXACTA" --profile full-auto run --yes --hold -- "perl -e 'unlink(q(a)); rename(q(b), q(c))'; rm -r gone; echo n > n"
        same "$before" hold
        "$EXACTA" diff 1 | grep -q '^+n'
        "$EXACTA" commit 1
        [ ! -e a ] && [ -e c ] && [ ! -e gone ]
        there_and_back
        "#,
    );
}

fn conflicts() {
    script(
        r#"
        status=0
        said=$(run "perl -e 'open(F, q(>>), q(a)); print F 1; close F; open(R, q(>), q(/tmp/ready)); close R;
            for (1..2000) { last if -e q(/tmp/go); select(undef, undef, undef, 0.01) }'" 2>&1) & request=$!
        until [ -e .clada/tmp/ready ]; do sleep 0.01; done
        echo theirs > .a; mv .a a; touch .clada/tmp/go
        wait "$request" || status=$?
        [ "$status" = 125 ] && [ "$(cat a)" = theirs ]
        [ "$("$EXACTA" log | grep -c held)" = 1 ]
        "#,
    );
}
