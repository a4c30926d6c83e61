//! The seven testing requirements of S2, with builtins and with real programs, and the functions made of `bash`.

use std::collections::HashMap;
use std::fs;
use std::time::Duration;

use exacta::primitives::{
    BashOptions, PrimitiveContext, PrimitiveError, bash, bash_sequence, bash_success,
};
use libtest_mimic::Trial;

use crate::ending;
use crate::scene::Scene;
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial("requirement_1_basic_commands_execute_correctly", || Box::pin(basic_commands())),
        trial("requirement_2_exit_codes_are_captured_accurately", || Box::pin(exit_codes())),
        trial("requirement_3_stdout_and_stderr_are_separated", || Box::pin(separated())),
        trial("requirement_4_environment_variables_are_set_correctly", || Box::pin(variables())),
        trial("requirement_5_working_directory_is_respected", || Box::pin(directories())),
        trial("requirement_6_blocked_commands_are_rejected", || Box::pin(blocked())),
        trial("requirement_7_process_cleanup_works_on_cancellation", || {
            Box::pin(async { ending::dropped() })
        }),
        trial("the_defaults_are_those_of_s2", || Box::pin(async { defaults() })),
        trial("success_or_an_error_with_the_reason", || Box::pin(success())),
        trial("a_sequence_ends_with_the_first_failure", || Box::pin(sequence())),
        trial("the_metadata_tell_of_the_run", || Box::pin(metadata())),
    ]
}

async fn printed(context: &PrimitiveContext, command: &str, options: BashOptions) -> String {
    let result = bash(context, command, Some(options)).await.expect(command);
    assert_eq!(result.exit_code, 0, "{command}: {}", result.stderr);
    result.stdout
}

async fn basic_commands() {
    let scene = Scene::unjudged();
    let cases = [
        ("echo a b", "a b\n"),
        ("printf '%s\\n' c a b | sort | head -2", "a\nb\n"),
        ("echo text > file; cat file", "text\n"),
        ("for i in 1 2 3; do echo $((i * i)); done", "1\n4\n9\n"),
        ("[[ -d . ]] && echo yes", "yes\n"),
        ("x=$(echo inner); echo \"<$x>\"", "<inner>\n"),
        // Real programs, alone and joined to builtins.
        ("/usr/bin/env printf %s program", "program"),
        ("echo abc | /usr/bin/rev | tr a-c x", "xxx\n"),
        ("/usr/bin/seq 3 > numbers; wc -l < numbers", "3\n"),
        // Nobody is there to type.
        ("read line; echo \"$? <$line>\"", "1 <>\n"),
        ("/usr/bin/cat; echo end", "end\n"),
    ];
    for (command, expected) in cases {
        let printed = printed(&scene.context, command, BashOptions::new()).await;
        assert_eq!(printed, expected, "{command}");
    }
}

async fn exit_codes() {
    let scene = Scene::unjudged();
    let cases = [
        ("true", 0),
        ("false", 1),
        ("exit 42", 42),
        ("exit 256", 0),
        ("exit -1", 255),
        ("/usr/bin/env sh -c 'exit 7'", 7),
        ("/usr/bin/env sh -c 'kill -9 $$'", 137),
        ("no-such-program-at-all", 127),
        (".", 2),
        ("set -e; false; exit 0", 1),
        ("false | true", 0),
        ("set -o pipefail; false | true", 1),
        ("echo text > plain; ./plain", 126),
    ];
    for (command, expected) in cases {
        let result = bash(&scene.context, command, None).await.expect(command);
        assert_eq!((result.exit_code, result.timed_out), (expected, false), "{command}");
    }
}

async fn separated() {
    let scene = Scene::unjudged();
    let command = "echo one; echo two >&2; /usr/bin/env sh -c 'echo three; echo four >&2'";
    let result = bash(&scene.context, command, None).await.expect(command);
    assert_eq!((&*result.stdout, &*result.stderr), ("one\nthree\n", "two\nfour\n"));
    let joined = format!("{{ {command}; }} 2>&1; echo five >&2");
    let result = bash(&scene.context, &joined, None).await.expect("a result");
    assert_eq!((&*result.stdout, &*result.stderr), ("one\ntwo\nthree\nfour\n", "five\n"));
}

async fn variables() {
    let scene = Scene::unjudged();
    let show = "printf '<%s>' \"$A\" \"$B\"; /usr/bin/env | grep -c '^[AB]='";
    let more = HashMap::from([("B".to_owned(), "b\n$(x) 'q'".to_owned())]);
    let options = BashOptions::new().env("A", "1").env("A", "2").envs(more);
    let found = printed(&scene.context, show, options).await;
    assert_eq!(found, "<2><b\n$(x) 'q'>2\n");
    // The caller's secrets stay with the caller, and `clear_env` leaves nothing at all of it.
    let secret = "echo \"<$EXACTA_TEST_SECRET>$LC_TIME\"; /usr/bin/env | grep -c SECRET";
    let result = bash(&scene.context, secret, None).await.expect("a result");
    assert_eq!(result.stdout, "<>C\n0\n");
    let cleared = BashOptions::new().env("A", "kept").clear_env();
    let result =
        bash(&scene.context, "echo \"$A<$LC_TIME>\"", Some(cleared)).await.expect("result");
    assert_eq!(result.stdout, "kept<>\n");
    for (name, value) in [("", "x"), ("A=B", "x"), ("A", "\0"), ("\0", "x")] {
        let options = BashOptions::new().env(name, value);
        let refused = bash(&scene.context, "true", Some(options)).await;
        let Err(PrimitiveError::Io(error)) = refused else { panic!("{name:?}: {refused:?}") };
        assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput);
    }
}

async fn directories() {
    let scene = Scene::unjudged();
    let project = scene.project().to_str().expect("a path in letters").to_owned();
    fs::create_dir_all(scene.project().join("a/b")).expect("a directory");
    let inner = format!("{project}/a/b");
    let cases = [
        (None, &project),
        (Some("."), &project),
        (Some("a/b"), &inner),
        (Some("a/../a/./b/"), &inner),
        (Some(inner.as_str()), &inner),
        (Some("/tmp"), &"/tmp".to_owned()),
    ];
    for (asked, expected) in cases {
        let options = asked.map(|asked| BashOptions::new().working_dir(asked));
        let result = bash(&scene.context, "pwd; /usr/bin/pwd", options).await.expect("a result");
        assert_eq!(result.stdout, format!("{expected}\n{expected}\n"), "{asked:?}");
    }
}

async fn blocked() {
    let scene = Scene::new();
    let cases = [
        ("", "Empty command"),
        ("rm -rf /", "Command contains blocked pattern: rm -rf /"),
        ("touch made; mkfs.ext4 x", "Command contains blocked pattern: mkfs"),
        ("touch made; nc -e /bin/sh x 1", "Command appears to be dangerous"),
        ("touch made; git push", "Command contains blocked pattern: git push"),
        ("touch made; echo $(echo x | base64 -d | bash)", "Command appears to be dangerous"),
    ];
    for (command, expected) in cases {
        let options = BashOptions::new().block_command("git push");
        let refused = bash(&scene.context, command, Some(options)).await;
        let Err(PrimitiveError::Validation { message }) = refused else {
            panic!("{command}: {refused:?}")
        };
        assert_eq!(message, expected, "{command}");
    }
    // Nothing of any of them has run.
    assert_eq!(fs::read_dir(scene.project()).expect("the project").count(), 0);
    // What is not validated away is judged while it runs.
    let refused = bash(&scene.context, "x=su; ${x}do id", None).await;
    let Err(PrimitiveError::Refused { message, .. }) = refused else { panic!("{refused:?}") };
    assert!(!message.is_empty());
}

fn defaults() {
    let options = BashOptions::new();
    let blocked = ["rm -rf /", ":(){ :|:& };:", "mkfs", "dd if=/dev/", "> /dev/sd"];
    assert_eq!(options, BashOptions::default());
    assert_eq!((options.working_dir, options.env_vars.len()), (None, 0));
    assert_eq!((options.clear_env, options.timeout), (false, Some(Duration::from_secs(120))));
    assert_eq!(
        (options.blocked_commands, options.max_output_size),
        (blocked.map(str::to_owned).to_vec(), 10_485_760)
    );
    assert_eq!(BashOptions::new().no_timeout().timeout, None);
}

async fn success() {
    let scene = Scene::new();
    let result = bash_success(&scene.context, "echo fine", None).await.expect("a result");
    assert_eq!(result.stdout, "fine\n");
    let failed = bash_success(&scene.context, "echo out; echo why >&2; exit 3", None).await;
    let Err(PrimitiveError::CommandFailed { exit_code, message }) = failed else {
        panic!("{failed:?}")
    };
    assert_eq!((exit_code, message.as_str()), (3, "why\n"));
    let slow = BashOptions::new().timeout(Duration::from_millis(50));
    let failed = bash_success(&scene.context, "sleep 100", Some(slow)).await;
    assert!(
        matches!(failed, Err(PrimitiveError::CommandFailed { exit_code: -1, .. })),
        "{failed:?}"
    );
}

async fn sequence() {
    let scene = Scene::new();
    let commands = ["echo 1 > file", "cat file", "grep nothing file", "touch never"];
    let results = bash_sequence(&scene.context, &commands, None).await.expect("results");
    let codes: Vec<i32> = results.iter().map(|result| result.exit_code).collect();
    assert_eq!(codes, [0, 0, 1]);
    assert_eq!(results.get(1).map(|result| result.stdout.as_str()), Some("1\n"));
    assert!(!scene.project().join("never").exists());
    assert!(bash_sequence(&scene.context, &[], None).await.expect("no results").is_empty());
    let refused = bash_sequence(&scene.context, &["true", ""], None).await;
    assert!(matches!(refused, Err(PrimitiveError::Validation { .. })), "{refused:?}");
}

async fn metadata() {
    let scene = Scene::new();
    let context = scene.context.clone().with_operation_id("operation 7");
    let result = bash(&context, "sleep 0.05", None).await.expect("a result");
    assert_eq!(result.metadata.operation_id, "operation 7");
    assert_eq!(result.metadata.primitive, "bash");
    let duration = result.metadata.duration;
    assert!(duration >= Duration::from_millis(50) && duration < Duration::from_secs(20));
    let other = PrimitiveContext::new(scene.project().to_owned());
    assert_ne!(other.operation_id, scene.context.operation_id);
}
