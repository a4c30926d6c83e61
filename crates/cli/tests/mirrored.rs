//! Where no overlay can be had: what programs change is found by comparing with a copy of the project, and everything can be held,
//! undone and made again all the same. In namespaces, over a project on which the kernel stacks no further overlay; and in a jail
//! without namespaces.

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
    programs_without_namespaces,
    builtins_before_and_after_programs,
    dry_runs_and_holds,
    dry_runs_and_holds_without_namespaces,
    what_runs_later_is_held,
    what_runs_later_is_held_without_namespaces,
    over_the_budget_programs_are_refused,
    over_the_budget_it_is_asked_without_namespaces,
    a_request_that_dies_is_held,
    two_at_once,
    a_session_of_several_requests,
}

/// Makes the project, and says what a tree is: kinds, modes, owners, times, targets, contents.
const BEGIN: &str = r#"
    fill() {
        mkdir -p old/deep gone .clada .git/hooks
        echo a > a; echo b > b; echo f > old/deep/f; echo g > gone/g; ln -s a link; ln b second
        touch -d '2001-02-03 04:05:06.789' old/deep old gone a .
    }
    run() { "$EXACTA" --profile full-auto $LEAST run --yes -- "$@"; }
    tree() {
        find . -path ./.clada -prune -o -type d -printf '%y %m %U:%G %T@ %p\n' -o -printf '%y %m %n %U:%G %s %T@ %p %l\n' | sort
        find . -path ./.clada -prune -o -type f -print0 | sort -z | xargs -0 sha256sum
    }
    same() { diff <(echo "$1") <(tree) || { echo "differs: $2"; exit 1; }; }
    there_and_back() {
        local after; after=$(tree)
        "$EXACTA" undo; same "$before" undo
        "$EXACTA" redo; same "$after" redo
        "$EXACTA" undo; same "$before" 'undo again'
    }
    refuses() { local status=0; "${@:2}" > ../said 2>&1 || status=$?; [ "$status" = "$1" ] || { echo "ended with $status"; cat ../said; exit 1; }; }
    cd "$PLACE"
"#;

/// The kernel stacks two overlays, and no third one over them.
const STACKED: &str = r"
    LEAST=
    mkdir -p lower upper work middle upper2 work2 project
    (cd lower; fill)
    mount -t overlay -o lowerdir=lower,upperdir=upper,workdir=work,userxattr none middle
    mount -t overlay -o lowerdir=middle,upperdir=upper2,workdir=work2,userxattr none project
    cd project
    before=$(tree)
";

const NO_NAMESPACES: &str = r"
    LEAST='--min-isolation landlock'
    mkdir project; cd project; fill
    echo 0 > /proc/sys/user/max_user_namespaces
    before=$(tree)
";

/// What programs do.
const CHANGE: &str = r#"
    CHANGE="perl -MFile::Path=remove_tree -e '
        sub put { open(my \$file, \$_[1], \$_[0]) or die \$!; print \$file \$_[2]; close(\$file) }
        put(q(a), q(>>), q(more)); put(q(new), q(>), q(x)); mkdir(q(made)); put(q(made/y), q(>), q(y));
        rename(q(b), q(made/b)) or die; remove_tree(q(gone)); unlink(q(old/deep/f)); symlink(q(new), q(way));
        remove_tree(q(old)); put(q(old), q(>), q(a file now)); chmod(0600, q(a))'"
"#;

fn script(parts: &[&str]) {
    static SERIAL: AtomicU32 = AtomicU32::new(0);
    let serial = SERIAL.fetch_add(1, Ordering::Relaxed);
    let name = format!("exacta-mirrored-{}-{serial}", std::process::id());
    let place = std::env::temp_dir().join(name);
    fs::create_dir_all(&place).expect("a temporary directory");
    let output = Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "bash", "-euo", "pipefail", "-c"])
        .arg(format!("{BEGIN}{CHANGE}{}", parts.concat()))
        .env("PLACE", place.canonicalize().expect("a real path"))
        .env("EXACTA", env!("CARGO_BIN_EXE_exacta"))
        .env("XDG_STATE_HOME", place.join("state"))
        .env("XDG_CONFIG_HOME", place.join("configuration"))
        .env_remove("EXACTA_MIN_ISOLATION")
        .output()
        .expect("unshare(1) runs");
    let said = [output.stdout, output.stderr].concat();
    let _left_behind = fs::remove_dir_all(&place);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&said));
}

const PROGRAMS: &str = r#"
    run "$CHANGE" 2> ../errors
    grep -q 'comparing with a copy of the project' ../errors
    ! grep -q 'cannot be undone' ../errors
    [ "$(cat a)" = $'a\nmore' ] && [ ! -e gone ] && [ -f old ] && [ "$(cat made/b)" = b ]
    [ "$("$EXACTA" log --json | grep -c 'restore')" -ge 1 ] || { "$EXACTA" log --json; exit 1; }
    there_and_back
    run "$CHANGE" 2> ../errors
    ! grep -q 'comparing with a copy' ../errors || { cat ../errors; exit 1; }
    there_and_back
    run "python3 -c 'print(open(\"a\").read())'" | grep -q a
    same "$before" 'only read'
"#;

fn programs() {
    script(&[STACKED, PROGRAMS]);
}

fn programs_without_namespaces() {
    script(&[NO_NAMESPACES, PROGRAMS]);
}

fn builtins_before_and_after_programs() {
    let text = r#"
        run "echo more >> a; perl -e 'mkdir(q(made))'; rm -r gone; mv old made/old; echo y >> made/old/deep/f; cp -r made made2"
        [ ! -e gone ] && [ "$(cat made2/old/deep/f)" = $'f\ny' ]
        there_and_back
    "#;
    script(&[STACKED, text]);
    script(&[NO_NAMESPACES, text]);
}

const HOLDS: &str = r#"
    "$EXACTA" --profile full-auto $LEAST run --yes --dry-run -- "$CHANGE" > ../shown
    same "$before" 'dry run'
    grep -q '^+more' ../shown && grep -q 'b/new' ../shown
    "$EXACTA" --profile full-auto $LEAST run --yes --hold -- "echo n > n; $CHANGE"
    same "$before" hold
    "$EXACTA" diff 2 | grep -q '^+n'
    "$EXACTA" commit 2
    [ "$(cat n)" = n ] && [ -f old ] && [ ! -e gone ]
    there_and_back
    "$EXACTA" --profile full-auto $LEAST run --yes --hold -- "$CHANGE"
    "$EXACTA" discard 3
    same "$before" discard
"#;

fn dry_runs_and_holds() {
    script(&[STACKED, HOLDS]);
}

fn dry_runs_and_holds_without_namespaces() {
    script(&[NO_NAMESPACES, HOLDS]);
}

const LATER: &str = r#"
    refuses 126 "$EXACTA" --profile full-auto $LEAST run -- "perl -e 'open(F, q(>), q(.git/hooks/pre-commit)); print F 1'"
    grep -q 'runs later on the host' ../said
    same "$before" guarded
    [ ! -e .git/hooks/pre-commit ]
    "$EXACTA" commit 1
    [ -e .git/hooks/pre-commit ]
    "$EXACTA" undo
    same "$before" undo
"#;

fn what_runs_later_is_held() {
    script(&[STACKED, LATER]);
}

fn what_runs_later_is_held_without_namespaces() {
    script(&[NO_NAMESPACES, LATER]);
}

const SMALL: &str = r#"
    mkdir -p "$XDG_CONFIG_HOME/exacta"; printf '[undo]\nmax_copy_entries = 5\n' > "$XDG_CONFIG_HOME/exacta/config.toml"
"#;

fn over_the_budget_programs_are_refused() {
    script(&[
        STACKED,
        SMALL,
        r#"
        refuses 125 run "perl -e 'unlink(q(a))'"
        grep -q 'more than 5 entries' ../said && grep -q max_copy_entries ../said || { cat ../said; exit 1; }
        [ -e a ]
        "#,
    ]);
}

fn over_the_budget_it_is_asked_without_namespaces() {
    script(&[
        NO_NAMESPACES,
        SMALL,
        r#"
        refuses 126 "$EXACTA" --profile full-auto $LEAST run -- "perl -e 'unlink(q(a))'"
        [ -e a ]
        run "perl -e 'unlink(q(a))'" 2> ../errors
        grep -q 'cannot be undone' ../errors
        [ ! -e a ]
        "#,
    ]);
}

fn a_request_that_dies_is_held() {
    let text = r#"
        "$EXACTA" --profile full-auto $LEAST run --yes -- "perl -e 'open(F, q(>>), q(a)); print F 1; close F; unlink(q(b));
            open(R, q(>), q(ready)); close R; sleep 60'" & request=$!
        for _ in $(seq 1000); do [ -e ready ] && break; sleep 0.02; done
        [ -e ready ] && [ ! -e b ]
        kill -9 "$request"; wait "$request" || true
        for _ in $(seq 200); do "$EXACTA" log | grep -q held && break; sleep 0.05; done
        same "$before" recovered
        "$EXACTA" commit 1
        [ -e ready ] && [ ! -e b ] && [ "$(cat a)" = $'a\n1' ]
        "$EXACTA" undo
        same "$before" undo
    "#;
    script(&[STACKED, text]);
    script(&[NO_NAMESPACES, text]);
}

fn two_at_once() {
    let text = r#"
        run "perl -e 'open(F, q(>), q(one)); close F; sleep 1; unlink(q(a))'" & request=$!
        for _ in $(seq 1000); do [ -e one ] && break; sleep 0.02; done
        run "perl -e 'open(F, q(>), q(two)); close F'"
        wait "$request"
        [ -e one ] && [ -e two ] && [ ! -e a ]
        "$EXACTA" log | grep -c applied | grep -qx 2
        "$EXACTA" undo; [ ! -e two ] && [ -e one ]
        "$EXACTA" undo; same "$before" undo
    "#;
    script(&[STACKED, text]);
    script(&[NO_NAMESPACES, text]);
}

fn a_session_of_several_requests() {
    let text = r#"
        printf '%s\n' "perl -e 'unlink(q(a))'" 'echo again > a' "perl -e 'mkdir(q(made)); rename(q(a), q(made/a))'" |
            "$EXACTA" --profile full-auto $LEAST -s
        [ "$(cat made/a)" = again ]
        while "$EXACTA" undo > /dev/null 2>&1; do :; done
        same "$before" undo
    "#;
    script(&[STACKED, text]);
    script(&[NO_NAMESPACES, text]);
}
