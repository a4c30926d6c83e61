//! S4's lists for commands of a task: every entry, and the ways around them.

#![expect(clippy::expect_used, reason = "a test may fail")]

#[path = "scoring/world.rs"]
mod world;

use bstr::{BString, ByteSlice};
use exacta_policy::rules::{KEYWORDS, RuleFile, TaskList, Tier};
use exacta_policy::{
    Action, Decision, Policy, Profile, TASK_IRREVERSIBLE, TASK_NOT_LISTED, TASK_WRITTEN, Verdict,
};
use world::Project;

use Decision::{Allow, Confirm, Deny};

/// S4's `SAFE_COMMANDS` to the letter.
const SAFE_COMMANDS: [&str; 21] = [
    "ls",
    "cat",
    "grep",
    "find",
    "head",
    "tail",
    "wc",
    "echo",
    "pwd",
    "date",
    "whoami",
    "env",
    "npm run",
    "npm test",
    "npm build",
    "git status",
    "git log",
    "git diff",
    "git branch",
    "curl",
    "wget",
];

/// S4's `IRREVERSIBLE_KEYWORDS` to the letter, and what each of them means.
const IRREVERSIBLE_KEYWORDS: [(&str, &[&str]); 11] = [
    ("rm", &["rm x", "git rm x", "docker rm x"]),
    ("delete", &["find . -name x -delete", "git branch --delete x", "kubectl delete pod x"]),
    ("drop", &["git stash drop", "dropdb x", "psql -c 'DROP TABLE x'"]),
    ("truncate", &["truncate -s 0 x", "psql -c 'truncate x'"]),
    ("force", &["git push --force", "git branch --force x y", "npm install --force"]),
    ("reset", &["git reset --hard", "git reset"]),
    ("purge", &["apt-get purge x", "npm purge"]),
    ("destroy", &["terraform destroy"]),
    ("sudo", &["sudo ls"]),
    ("chmod", &["chmod +x x"]),
    ("chown", &["chown me x"]),
];

#[test]
fn the_list_in_words_is_s4s_without_what_s3_blocks() {
    let known = SAFE_COMMANDS.iter().filter(|name| !["curl", "wget"].contains(name));
    assert!(TaskList::safe().iter().eq(known));
}

fn policy(profile: Profile, allow: &[&str]) -> Policy {
    let list = allow.iter().fold(TaskList::default(), |list, entry| {
        list.with(entry).expect("an entry of `tasks.allow`")
    });
    Policy::builtin(profile).expect("the built-in rules").for_tasks(list)
}

fn screen(text: &str, allow: &[&str]) -> Verdict {
    policy(Profile::Dev, allow).screen(text.into(), &Project)
}

/// One command when it is about to happen.
fn judge(text: &str, in_process: bool) -> Verdict {
    let argv: Vec<BString> = text.split(' ').map(BString::from).collect();
    let directory = "/home/dev/project".into();
    let action = Action::Run { argv: &argv, in_process, environment: &[], directory };
    policy(Profile::Dev, &[]).judge(&action, &Project)
}

fn has(verdict: &Verdict, rule: &str) -> bool {
    verdict.commands.iter().any(|command| command.findings.iter().any(|it| &*it.rule == rule))
}

#[test]
fn every_safe_command_is_on_the_list() {
    for command in SAFE_COMMANDS {
        // What `env` runs is a command of its own.
        let word = if command == "env" { "X=1" } else { "x" };
        for line in [command.to_owned(), format!("{command} {word}")] {
            for verdict in [screen(&line, &[]), judge(&line, false)] {
                assert!(!has(&verdict, TASK_NOT_LISTED), "{line}: {:?}", verdict.finding);
                // On S4's list and on S3's: the blocklist holds.
                let blocked = matches!(command, "curl" | "wget");
                let expected = if blocked { Deny } else { Allow };
                assert_eq!(verdict.decision, expected, "{line}: {:?}", verdict.finding);
            }
        }
    }
}

#[test]
fn every_irreversible_keyword_asks() {
    let words: Vec<&str> = IRREVERSIBLE_KEYWORDS.iter().map(|(word, _)| *word).collect();
    assert_eq!(words, KEYWORDS);
    for (keyword, lines) in IRREVERSIBLE_KEYWORDS {
        for line in lines {
            let verdict = screen(line, &[]);
            let found = verdict.commands.iter().flat_map(|command| &command.findings);
            let found = found.into_iter().find(|finding| &*finding.rule == TASK_IRREVERSIBLE);
            let found = found.unwrap_or_else(|| panic!("{line}: {:?}", verdict.finding));
            assert!(found.irreversible && found.decision == Confirm, "{line}");
            assert!(found.reason.contains(&format!("`{keyword}`")), "{line}: {}", found.reason);
            assert!(verdict.decision >= Confirm, "{line}");
            assert!(!has(&verdict, TASK_NOT_LISTED), "{line}");
        }
    }
}

#[test]
fn an_irreversible_keyword_asks_in_every_profile_that_runs_anything() {
    for profile in [Profile::Dev, Profile::FullAuto] {
        let verdict = policy(profile, &["rm"]).screen("rm x".into(), &Project);
        assert_eq!(verdict.decision, Confirm);
        assert_eq!(&*verdict.finding.rule, TASK_IRREVERSIBLE);
    }
    let verdict = policy(Profile::Safe, &[]).screen("ls".into(), &Project);
    assert_eq!(verdict.decision, Deny);
}

#[test]
fn what_is_denied_stays_denied_by_its_own_rule() {
    for (line, rule) in [("sudo ls", "block-sudo"), ("curl http://example.com", "block-curl")] {
        let verdict = screen(line, &["sudo", "curl"]);
        assert_eq!((verdict.decision, &*verdict.finding.rule), (Deny, rule), "{line}");
    }
}

#[test]
fn everything_else_is_rejected() {
    for line in [
        "mkdir x",
        "touch x",
        "cp a b",
        "sed s/a/b/ x",
        "python x.py",
        "cargo test",
        "git commit -m x",
        "git push",
        "git",
        "npm install",
        "npm",
        "./ls",
        "./rm x",
        "/tmp/ls",
        "/home/dev/project/git status",
        "$X",
        "\"$(cat x)\" y",
        "git $X",
        "eval ls",
        "source x",
        ". x",
        "exec ls",
        "trap 'ls' EXIT",
        "kill 1",
        "nothing-known",
        "LS",
    ] {
        let verdict = screen(line, &[]);
        assert_eq!(verdict.decision, Deny, "{line}: {:?}", verdict.finding);
        assert!(has(&verdict, TASK_NOT_LISTED), "{line}: {:?}", verdict.finding);
        assert!(verdict.finding.hint.contains("tasks.allow"), "{line}");
    }
}

#[test]
fn words_without_meaning_are_words() {
    for line in [
        "git log --grep=reset",
        "git log --grep reset",
        "grep -r sudo docs/",
        "echo \"rm -rf /\"",
        "npm run format",
        "npm run reset",
        "cat delete.txt",
        "ls force purge destroy",
        "find . -name 'drop*'",
        "git diff chmod.c",
        "echo 'sudo chown' # rm",
    ] {
        assert_eq!(screen(line, &[]).decision, Allow, "{line}: {:?}", screen(line, &[]).finding);
    }
}

#[test]
fn the_language_of_the_shell_is_no_command() {
    for line in [
        "cd src && ls",
        "X=1; export X; echo \"$X\"",
        "[ -f x ] && cat x",
        "[[ -f x ]] || echo no",
        "test -d src; echo $?",
        "for t in test build; do npm $t; done",
        "while read -r line; do echo \"$line\"; done < x",
        "set -e; true; : ; ls | wc -l",
        "printf '%s\\n' x",
        "build() { npm run build; }; build && ls",
        "command ls; builtin echo x; command -v npm",
        "(cd src; ls) > /tmp/x; wait",
        "local x; unset y; shift",
        "git --no-pager log -3; git -C sub status",
        "env X=1 npm test",
        "find . -exec grep x {} \\;",
        "/bin/ls; /usr/bin/env ls",
        "echo x > out.txt",
        "time npm test",
    ] {
        let verdict = screen(line, &[]);
        assert_eq!(verdict.decision, Allow, "{line}: {:?}", verdict.finding);
    }
}

#[test]
fn nothing_leads_around_a_keyword() {
    for line in [
        "env rm x",
        "env X=1 rm x",
        "command rm x",
        "builtin command rm x",
        "find . -exec rm {} \\;",
        "find . -exec rm {} +",
        "find . -execdir env rm {} \\;",
        "X=rm; $X x",
        "X=r; ${X}m x",
        "for c in ls rm; do $c x; done",
        "ls() { rm x; }; ls",
        "ls() { cat() { rm x; }; cat; }; ls",
        "/bin/rm x",
        "\\rm x",
        "r''m x",
        "echo $(rm x)",
        "cat <(rm x)",
        "ls | { rm x; }",
        "if rm x; then ls; fi",
        "ls & rm x",
        "shopt -s expand_aliases\nalias ls='rm x'\nls",
        "git -C sub reset",
        "git -c a.b=c reset",
    ] {
        let verdict = screen(line, &[]);
        assert!(verdict.decision >= Confirm, "{line}: {:?}", verdict.finding);
        assert!(has(&verdict, TASK_IRREVERSIBLE), "{line}: {:?}", verdict.commands);
    }
}

#[test]
fn nothing_leads_around_the_list() {
    for line in [
        "env mkdir x",
        "ls | xargs rm",
        "ls | xargs mkdir",
        "find . -exec mkdir {} \\;",
        "find . -exec {} \\;",
        "bash -c 'mkdir x'",
        "bash -c 'rm x'",
        "sh -c ls",
        "echo mkdir x | bash",
        "bash <<< 'mkdir x'",
        "X=mkdir; $X y",
        "X='mkdir y'; $X",
        "ls() { mkdir x; }; ls",
        "f() { g; }; g() { mkdir x; }; f",
        "shopt -s expand_aliases\nalias ls='mkdir x'\nls",
        "/bin/mkdir x",
        "nohup ls",
        "timeout 5 ls",
        "echo $(mkdir x)",
        "coproc mkdir x",
        "echo 'mkdir x' > f; bash f",
        "echo 'mkdir x' > f; . ./f",
        "python -c 'import os; os.mkdir(\"x\")'",
        "[ -f x ] && mkdir y",
        "! mkdir x",
        "mkdir x &",
        "case x in x) mkdir y;; esac",
    ] {
        let verdict = screen(line, &[]);
        assert_eq!(verdict.decision, Deny, "{line}: {:?}", verdict.finding);
        assert!(has(&verdict, TASK_NOT_LISTED), "{line}: {:?}", verdict.finding);
    }
}

#[test]
fn a_variable_that_runs_something_is_no_way_around() {
    for line in ["GIT_PAGER='mkdir x' git log", "export PAGER='touch x'; git log"] {
        assert!(screen(line, &[]).decision >= Confirm, "{line}");
    }
}

#[test]
fn what_is_added_is_a_beginning_in_words() {
    let allow = ["cargo test", "mkdir", "./gradlew build", "xargs", "git {add,commit}"];
    for (line, expected) in [
        ("cargo test", Allow),
        ("cargo test -p x", Allow),
        ("mkdir -p x", Allow),
        ("env mkdir x", Allow),
        ("git add .", Allow),
        ("git commit -m x", Allow),
        ("ls | xargs grep x", Allow),
        ("ls | xargs rm", Confirm),
        ("cargo build", Deny),
        ("cargo", Deny),
        ("cargo-test", Deny),
        ("./mkdir x", Deny),
        ("./gradlew assemble", Deny),
        ("ls | xargs touch", Deny),
        ("git push", Deny),
    ] {
        let verdict = screen(line, &allow);
        assert_eq!(verdict.decision, expected, "{line}: {:?}", verdict.finding);
    }
    // What is added is on the list; what the rules ask about they ask about still.
    assert!(!has(&screen("./gradlew build", &allow), TASK_NOT_LISTED));
    for bad in ["", "  ", "a {b", "-x", "@managers x"] {
        assert!(TaskList::default().with(bad).is_err(), "{bad:?}");
    }
}

#[test]
fn options_that_execute_are_asked_about_still() {
    for line in ["git -c core.pager=./x log", "git log --ext-diff --output=.git/hooks/x"] {
        assert!(screen(line, &[]).decision >= Confirm, "{line}");
    }
}

#[test]
fn nothing_escapes_while_it_runs() {
    for (line, in_process, expected) in [
        ("mkdir x", true, Deny),
        ("mkdir x", false, Deny),
        ("rm x", true, Confirm),
        ("rm x", false, Confirm),
        ("cd src", true, Allow),
        ("ls", true, Allow),
        // What it leads to comes back.
        ("env rm x", true, Allow),
        ("env rm x", false, Confirm),
        ("env mkdir x", false, Deny),
        ("xargs ls", true, Deny),
        ("eval ls", true, Deny),
    ] {
        let verdict = judge(line, in_process);
        assert_eq!(verdict.decision, expected, "{line}: {:?}", verdict.finding);
    }
    let directory: BString = "/home/dev/project/x".into();
    let open =
        Action::Open { path: directory.as_bstr(), access: exacta_policy::event::Access::Write };
    assert_eq!(policy(Profile::Dev, &[]).judge(&open, &Project).decision, Allow);
}

#[test]
fn no_name_is_plain_in_a_task() {
    let (tasks, ordinary) =
        (policy(Profile::Dev, &[]), Policy::builtin(Profile::Dev).expect("the built-in rules"));
    for name in ["ls", "basename", "true"] {
        assert!(!tasks.is_plain(name.into()), "{name}");
    }
    assert!(ordinary.is_plain("basename".into()));
}

#[test]
fn the_operator_can_let_tasks_fetch() {
    let text = "[[rule]]\nid = \"fetch\"\nverdict = \"allow\"\ncommand = [\"curl\"]\nhosts = [\"example.com\"]\n\
                overrides = [\"block-curl\"]\nreason = \"reads only\"\nmatch = [\"curl https://example.com\"]\n";
    let file = RuleFile { name: "config.toml".into(), text: text.into(), tier: Tier::User };
    let policy = Policy::load(&[file], Profile::Dev).expect("the rule");
    let policy = policy.for_tasks(TaskList::default());
    let verdict = policy.screen("curl https://example.com/".into(), &Project);
    assert_eq!(verdict.decision, Allow, "{:?}", verdict.finding);
}

#[test]
fn commands_that_the_task_writes_and_runs_are_asked_about() {
    for text in [
        r#"echo '{"scripts": {"x": "mv a b"}}' > package.json; npm run x"#,
        "sed -i 's/jest/touch made/' package.json && npm test",
        "(\necho 'mv a b' > run.sh\n)\n(\nnpm run x\n)\n",
    ] {
        let verdict = screen(text, &["sed"]);
        assert!(has(&verdict, TASK_WRITTEN) && verdict.decision >= Confirm, "{text}: {verdict:?}");
    }
    for text in ["echo 'export const a = 1' > src/a.js; npm test", "echo x > notes.md; npm test"] {
        assert!(!has(&screen(text, &[]), TASK_WRITTEN), "{text}");
    }
}

#[test]
fn a_version_in_a_name_is_no_other_program() {
    assert_eq!(screen("python3 x.py", &["python3"]).decision, Allow);
    assert_eq!(screen("python3.12 x.py", &["python3 x.py"]).decision, Allow);
    assert_eq!(screen("python3 y.py", &["python3 x.py"]).decision, Deny);
}
