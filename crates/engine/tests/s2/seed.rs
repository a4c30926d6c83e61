//! The tests of S2 itself, as it has them.

use std::path::PathBuf;

use exacta::primitives::{BashOptions, PrimitiveContext, bash};
use libtest_mimic::Trial;

use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial("test_bash_echo", || Box::pin(test_bash_echo())),
        trial("test_bash_exit_code", || Box::pin(test_bash_exit_code())),
        trial("test_bash_stderr", || Box::pin(test_bash_stderr())),
        trial("test_bash_env", || Box::pin(test_bash_env())),
        trial("test_bash_working_dir", || Box::pin(test_bash_working_dir())),
    ]
}

async fn test_bash_echo() {
    let ctx = PrimitiveContext::new(PathBuf::from("/tmp"));
    let result = bash(&ctx, "echo 'hello world'", None).await.unwrap();

    assert_eq!(result.exit_code, 0);
    assert_eq!(result.stdout.trim(), "hello world");
    assert!(result.stderr.is_empty());
}

async fn test_bash_exit_code() {
    let ctx = PrimitiveContext::new(PathBuf::from("/tmp"));
    let result = bash(&ctx, "exit 42", None).await.unwrap();

    assert_eq!(result.exit_code, 42);
}

async fn test_bash_stderr() {
    let ctx = PrimitiveContext::new(PathBuf::from("/tmp"));
    let result = bash(&ctx, "echo error >&2", None).await.unwrap();

    assert_eq!(result.exit_code, 0);
    assert!(result.stdout.is_empty());
    assert_eq!(result.stderr.trim(), "error");
}

async fn test_bash_env() {
    let ctx = PrimitiveContext::new(PathBuf::from("/tmp"));
    let opts = BashOptions::new().env("TEST_VAR", "test_value");
    let result = bash(&ctx, "echo $TEST_VAR", Some(opts)).await.unwrap();

    assert_eq!(result.stdout.trim(), "test_value");
}

async fn test_bash_working_dir() {
    let ctx = PrimitiveContext::new(PathBuf::from("/"));
    let opts = BashOptions::new().working_dir("/tmp");
    let result = bash(&ctx, "pwd", Some(opts)).await.unwrap();

    assert!(result.stdout.contains("/tmp") || result.stdout.contains("/private/tmp"));
}
