//! Signals that come while a question waits.

use crate::prison::Prison;
use exacta_jail::plan::Limits;

/// Children end all the time while others are made; whoever makes them has a handler that interrupts calls.
const STORM: &str = r#"
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static void nothing(int it) { (void)it; }
int main(void) {
    struct sigaction action = {0};
    action.sa_handler = nothing;
    sigaction(SIGCHLD, &action, 0);
    int failed = 0, error = 0;
    for (int i = 0; i < 3000; i++) {
        pid_t child = fork();
        if (!child) _exit(0);
        if (child < 0) { failed++; error = errno; }
        if (i % 8 == 7) while (waitpid(-1, 0, WNOHANG) > 0);
    }
    while (waitpid(-1, 0, 0) > 0);
    printf("%d failed: %s\n", failed, failed ? strerror(error) : "none");
    return 0;
}
"#;

#[test]
fn signals_do_not_interrupt_the_making_of_processes() {
    let limits = Limits { processes: Some(400), ..Limits::default() };
    let mut prison = Prison::with(limits, false);
    let storm = prison.compile("storm", STORM);
    let done = prison.run(&[&storm]);
    assert_eq!(done.output, "0 failed: none\n");
}

/// Shells, whose pipelines begin while others end.
#[test]
fn pipelines_are_whole() {
    let limits = Limits { processes: Some(20), ..Limits::default() };
    let mut prison = Prison::with(limits, false);
    for shell in ["/usr/bin/dash", "/usr/bin/bash"] {
        let script = format!(
            "i=0; while [ $i -lt 100 ]; do {shell} -c 'echo a | cat | wc -l' || exit; i=$((i+1)); done | sort | uniq -c"
        );
        let done = prison.run(&[shell, "-c", &script]);
        assert_eq!(done.output.trim(), "100 1", "{shell}");
    }
}
