//! `run --session NAME`: one call goes on where the last one has stopped.

use std::time::Instant;

use crate::support::{Project, code, text};

fn run(project: &Project, name: &str, command: &str) -> String {
    let output = project.run(&["run", "--session", name, "--", command]);
    assert_eq!(code(&output), 0, "{command}: {}", text(&output.stderr));
    text(&output.stdout)
}

#[test]
fn directory_variables_and_functions_stay() {
    let project = Project::new();
    project.write("sub/deep/file", "");
    run(
        &project,
        "a",
        "cd sub/deep; plain='a b'; export out=1; list=(x 'y z'); list[7]=far; declare -A map=([k]=v [' ']=w); \
         declare -i number=4; readonly fixed=yes; f() { echo \"f: $1 ${list[7]}\"; }; alias ll='ls -la'; unset HOME",
    );
    let seen = run(
        &project,
        "a",
        "pwd; echo \"$plain|$out|${list[1]}|${#list[@]}|${map[k]}|${map[' ']}\"; number+=3; echo $number; \
         (fixed=no) 2>/dev/null; f arg; alias ll; echo ${HOME-none}; perl -e 'print $ENV{out}, $ENV{plain}'",
    );
    let root = project.root.display();
    let expected =
        format!("{root}/sub/deep\na b|1|y z|3|v|w\n7\nf: arg far\nalias ll='ls -la'\nnone\n1");
    assert_eq!(seen, expected);
    assert_eq!(run(&project, "a", "echo $number; echo $fixed"), "7\nyes\n", "and they go on");
    assert_eq!(run(&project, "b", "pwd; echo [$plain]"), format!("{root}\n[]\n"), "not in another");
    let output = project.run(&["run", "--session", "a", "--cwd", "sub", "--", "pwd; echo $plain"]);
    assert_eq!(text(&output.stdout), format!("{root}/sub\na b\n"));
}

#[test]
fn each_has_its_own_temporary_files() {
    let project = Project::new();
    run(&project, "a", "echo mine > /tmp/file; perl -e 'open F, q(>/tmp/by-perl)'");
    assert_eq!(
        run(&project, "a", "cat /tmp/file; ls /tmp | grep -v exacta"),
        "mine\nby-perl\nfile\n"
    );
    assert_eq!(run(&project, "b", "ls /tmp | grep -v exacta || true"), "");
    assert_eq!(text(&project.run(&["run", "--", "ls /tmp/file"]).stdout), "");
    let long = "seq 1 200000; echo end";
    let report = project.run(&["run", "--json", "--session", "a", "--", long]);
    let report: serde_json::Value = serde_json::from_slice(&report.stdout).expect("JSON");
    let spill = report["spill_path"].as_str().expect("the whole");
    assert_eq!(run(&project, "a", &format!("tail -n 1 {spill}")), "end\n");
}

#[test]
fn secrets_are_not_kept() {
    let project = Project::new();
    let token = "ghp_1B4kq9ZbWfE7XtVn2mPcR8sLdHa3Yu0G5iJo";
    let command = format!("API_TOKEN={token}; x=kept; f() {{ echo {token}; }}");
    let output = project.run(&["run", "--session", "a", "--", &command]);
    assert!(text(&output.stderr).contains("API_TOKEN has a secret"), "{}", text(&output.stderr));
    assert_eq!(run(&project, "a", "echo \"$x[$API_TOKEN]\""), "kept[]\n");
    let state = project.read(".clada/sessions/a/state.json").expect("its state");
    assert!(!state.contains(token), "{state}");
}

#[test]
fn two_at_once_take_turns() {
    let project = Project::new();
    run(&project, "a", "n=0");
    let begun = Instant::now();
    let add = || {
        project.command(&["run", "--session", "a", "--", "m=$n; sleep 0.3; n=$((m + 1))"]).spawn()
    };
    let both = [add().expect("it runs"), add().expect("it runs"), add().expect("it runs")];
    for child in both {
        assert!(child.wait_with_output().expect("it ends").status.success());
    }
    assert!(begun.elapsed().as_millis() >= 900, "they ran at once");
    assert_eq!(run(&project, "a", "echo $n"), "3\n");
}

#[test]
fn what_is_wrong_is_said() {
    let project = Project::new();
    for name in ["", "..", "a/b", ".hidden", "a b", &"x".repeat(65)] {
        let output = project.run(&["run", "--session", name, "--", "true"]);
        assert_eq!(code(&output), 125, "{name:?}");
        assert!(text(&output.stderr).contains("no name of a session"), "{name:?}");
    }
    run(&project, "a", "x=1");
    project.write(".clada/sessions/a/state.json", "{ nonsense");
    let output = project.run(&["run", "--session", "a", "--", "echo $x"]);
    assert_eq!(code(&output), 125);
    assert!(text(&output.stderr).contains("state.json is broken"), "{}", text(&output.stderr));
}

/// What one call has exported is looked at when a program of the next one runs, as if it were one session.
#[test]
fn what_was_exported_before_is_judged() {
    let project = Project::new();
    let defined = project.run(&["run", "--session", "a", "--yes", "--", r#"f() { "$@"; }"#]);
    assert_eq!(code(&defined), 0);
    let output = project.run(&["run", "--session", "a", "--", "f git push --force"]);
    assert_eq!(code(&output), 126, "{}", text(&output.stdout));
    let output = project.run(&["run", "--session", "b", "--yes", "--", "export LD_PRELOAD=./x.so"]);
    let next = project.run(&["run", "--session", "b", "--", "perl -v"]);
    assert!(code(&output) != 0 || code(&next) == 126, "{}", text(&next.stderr));
}
