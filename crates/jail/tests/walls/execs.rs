//! What was executed, as it is written down.

use bstr::BString;
use exacta_jail::outcome::Exec;

use crate::prison::Prison;

fn find<'a>(execs: &'a [Exec], path: &str) -> &'a Exec {
    let found: Vec<_> = execs.iter().filter(|exec| exec.path == path).collect();
    match found[..] {
        [exec] => exec,
        _ => panic!("{path} {} times in {execs:#?}", found.len()),
    }
}

#[test]
fn every_execution_is_written_down() {
    let mut prison = Prison::new();
    let home = prison.directory.0.to_str().expect("an ordinary path").to_owned();
    let script = format!("{home}/script");
    std::fs::write(&script, "#!/bin/sh\n/usr/bin/env sleep 0.2\nsleep 0.1\n").expect("a script");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&script, mode).expect("its mode");
    let done = prison.shell("./script 'a b' ''; /bin/echo end; exec no-such-program");
    assert!(done.output.starts_with("end\n"), "{done:?}");
    let record = prison.cell.take_record();
    assert_eq!(record.execs_lost, 0);
    let execs = &record.execs;
    let first = find(execs, "/bin/sh");
    assert_eq!(first.argv[..2], ["/bin/sh", "-c"]);
    assert_eq!(first.parent, 1);
    let started = find(execs, &script);
    assert_eq!(started.argv, ["./script", "a b", ""].map(BString::from));
    assert_eq!(started.parent, first.process);
    let environment = find(execs, "/usr/bin/env");
    assert_eq!(environment.parent, started.process);
    let sleeping: Vec<_> = execs.iter().filter(|exec| exec.path == "/usr/bin/sleep").collect();
    assert_eq!(sleeping.len(), 2, "{execs:#?}");
    // `env` became it.
    assert_eq!((sleeping[0].process, sleeping[0].argv.len()), (environment.process, 2));
    assert_eq!(sleeping[1].argv, ["sleep", "0.1"].map(BString::from));
    assert!(
        first.confirmed && started.confirmed && sleeping.iter().all(|it| it.confirmed),
        "{execs:#?}"
    );
    // What was only searched for along the path is not written down, but for the last place, after which it ended.
    let searched = execs.iter().filter(|exec| exec.path.ends_with(b"no-such-program"));
    assert!(
        searched.clone().count() <= 1 && searched.clone().all(|it| !it.confirmed),
        "{execs:#?}"
    );
    assert!(prison.cell.take_record().execs.is_empty());
}

/// Another thread changes the path while it is asked about. What is written down must not be called confirmed unless
/// it is what ran.
const SWAPPER: &str = r#"
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile char path[32] = "/usr/bin/sleep";
static void *swap(void *it) {
    for (;;) { path[9] = 's'; path[10] = 'l'; path[9] = 't'; path[10] = 'a'; }
    return it;
}
int main(void) {
    for (int i = 0; i < 40; i++) {
        pid_t child = fork();
        if (!child) {
            pthread_t thread;
            pthread_create(&thread, 0, swap, 0);
            char *argv[] = {"name", "-f", "/dev/null", 0};
            execv((char *)path, argv);
            _exit(1);
        }
        usleep(10000);
        kill(child, 9);
        waitpid(child, 0, 0);
    }
    return 0;
}
"#;

#[test]
fn what_was_swapped_is_never_confirmed_as_what_it_was_not() {
    let mut prison = Prison::new();
    // Two programs of one length, of which one ends at once and says who it is.
    let source = SWAPPER.replace("#include <string.h>", "#include <signal.h>\n#include <string.h>");
    let swapper = prison.compile("swapper", &source);
    let done = prison.run(&[&swapper]);
    let record = prison.cell.take_record();
    assert!(record.execs.len() > 5, "{done:?} {}", record.execs.len());
    for exec in record.execs.iter().filter(|exec| exec.confirmed) {
        // A path that names nothing cannot have run.
        let path = exec.path.to_string();
        assert!(std::path::Path::new(&path).exists(), "{exec:?}");
    }
}

#[test]
fn floods_are_bounded() {
    let mut prison = Prison::new();
    let long = "x".repeat(100_000);
    let done = prison.run(&["/bin/echo", &long, &long, &long, &long, &long]);
    assert_eq!(done.output.len(), 500_005);
    let record = prison.cell.take_record();
    let kept: usize = record.execs.iter().flat_map(|exec| &exec.argv).map(|word| word.len()).sum();
    // What is read of a program is bounded; of what we start ourselves we know all words.
    assert!(kept <= 500_100, "{kept}");
    let done = prison
        .shell("for i in 1 2 3 4 5; do for j in 1 2 3 4 5 6 7 8 9 10; do /bin/true; done; done");
    assert_eq!(done.output, "");
    assert_eq!(prison.cell.take_record().execs.len(), 51);
}
