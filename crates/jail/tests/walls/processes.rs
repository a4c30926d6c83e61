//! The limit on processes.

use std::time::{Duration, Instant};

use exacta_jail::Ending;
use exacta_jail::outcome::LimitHit;
use exacta_jail::plan::Limits;

use crate::prison::Prison;

fn limited(processes: u32) -> Prison {
    Prison::with(Limits { processes: Some(processes), ..Limits::default() }, false)
}

/// Starts thirty threads, then makes processes by the way named until that fails; prints how many of each, and the
/// error; ends them, and makes one more.
const MAKER: &str = r#"
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
static void *idle(void *it) { pause(); return it; }
static int child(void *it) { pause(); return 0; }
static char stacks[64][4096];
static pid_t make(const char *way, int number) {
    if (!strcmp(way, "clone"))
        return clone(child, stacks[number % 64] + 4096, CLONE_VM | SIGCHLD, 0);
#ifdef SYS_fork
    if (!strcmp(way, "call")) {
        pid_t made = syscall(SYS_fork);
        if (!made) { pause(); _exit(0); }
        return made;
    }
#endif
    pid_t made = fork();
    if (!made) { pause(); _exit(0); }
    return made;
}
int main(int count, char **words) {
    int threads = 0, processes = 0;
    pid_t made[64];
    pthread_t thread;
    for (int i = 0; i < 30; i++) threads += !pthread_create(&thread, 0, idle, 0);
    while (processes < 64 && (made[processes] = make(words[1], processes)) > 0) processes++;
    printf("%d threads, %d processes, %s\n", threads, processes, strerrorname_np(errno));
    usleep(150000);
    for (int i = 0; i < processes; i++) kill(made[i], SIGKILL);
    for (int i = 0; i < processes; i++) waitpid(made[i], 0, 0);
    pid_t again = make(words[1], 0);
    printf("%s\n", again > 0 ? "again" : strerrorname_np(errno));
    if (again > 0) kill(again, SIGKILL);
    fflush(stdout);
    _exit(0);
}
"#;

#[test]
fn processes_are_counted_and_threads_are_not() {
    let mut prison = limited(5);
    let maker = prison.compile("maker", MAKER);
    let ways: &[&str] =
        if cfg!(target_arch = "x86_64") { &["fork", "clone", "call"] } else { &["fork", "clone"] };
    for way in ways {
        let done = prison.run(&[&maker, way]);
        assert_eq!(done.output, "30 threads, 4 processes, EAGAIN\nagain\n", "{way}: {done:?}");
        let record = prison.cell.take_record();
        assert_eq!(record.limits_hit, [LimitHit::Processes], "{way}");
        assert_eq!(record.processes_peak, 5, "{way}");
        prison.cell.sweep().expect("an empty jail");
    }
}

/// Many threads make processes at once, again and again; each process counts itself while it lives.
const CROWD: &str = r#"
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
static pthread_barrier_t end;
static _Atomic int *living, *most, *made, *refused;
static void *make(void *it) {
    usleep(200000);
    for (int i = 0; i < 60; i++) {
        pid_t child = fork();
        if (!child) {
            int now = atomic_fetch_add(living, 1) + 1, old = atomic_load(most);
            while (now > old && !atomic_compare_exchange_weak(most, &old, now));
            usleep(1000);
            atomic_fetch_sub(living, 1);
            _exit(0);
        }
        if (child > 0) { atomic_fetch_add(made, 1); waitpid(child, 0, 0); }
        else { atomic_fetch_add(refused, 1); usleep(500); }
    }
    // A thread that ends leaves room for a moment.
    pthread_barrier_wait(&end);
    return it;
}
int main(void) {
    living = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    most = living + 1; made = living + 2; refused = living + 3;
    pthread_t threads[8];
    pthread_barrier_init(&end, 0, 8);
    for (int i = 0; i < 8; i++) pthread_create(&threads[i], 0, make, 0);
    for (int i = 0; i < 8; i++) pthread_join(threads[i], 0);
    printf("%d %d %d\n", *most, *made, *refused);
    return 0;
}
"#;

#[test]
fn a_crowd_never_gets_past_the_limit() {
    let mut prison = limited(5);
    let crowd = prison.compile("crowd", CROWD);
    let done = prison.run(&[&crowd]);
    let numbers: Vec<u32> =
        done.output.split_whitespace().map(|word| word.parse().expect("a number")).collect();
    let [most, made, refused] = numbers[..] else { panic!("{done:?}") };
    assert!(most <= 4, "{most} at one time");
    assert!(made > 50 && refused > 0, "{done:?}");
    assert!(prison.cell.take_record().processes_peak <= 5);
}

#[test]
fn below_the_limit_nothing_is_refused() {
    let mut prison = limited(3);
    let done = prison.shell(
        "i=0; while [ $i -lt 200 ]; do /bin/true || echo failed; i=$((i+1)); done; echo end",
    );
    assert_eq!(done.output, "end\n");
    let record = prison.cell.take_record();
    assert!(record.limits_hit.is_empty(), "{record:?}");
    assert!((1..=3).contains(&record.processes_peak), "{}", record.processes_peak);
}

#[test]
fn the_limit_holds_for_several_programs_together() {
    let mut prison = limited(3);
    let sleeping = prison.program(&["/bin/sleep", "100"]);
    let running: Vec<_> =
        (0..3).map(|_| prison.cell.start(&sleeping, &[]).expect("room for it")).collect();
    let failure = prison.cell.start(&sleeping, &[]).expect_err("no room");
    assert_eq!(failure.errno, libc::EAGAIN);
    prison.cell.signal(&running[0], libc::SIGKILL as u8).expect("a signal");
    assert_eq!(running[0].wait(), Ok(Ending::Signalled(libc::SIGKILL as u8)));
    assert_eq!(prison.run(&["/bin/true"]).ending, Ending::Exited(0));
}

#[test]
fn another_limit_can_be_put_in_force() {
    let mut prison = limited(2);
    let maker = prison.compile("maker", MAKER);
    for (limit, made) in [(2, 1), (7, 6), (4, 3)] {
        let limits = Limits { processes: Some(limit), ..Limits::default() };
        prison.cell.set_limits(&limits).expect("another limit");
        let done = prison.run(&[&maker, "fork"]);
        let expected = format!("30 threads, {made} processes, EAGAIN\nagain\n");
        assert_eq!(done.output, expected, "{limit}: {done:?}");
        prison.cell.sweep().expect("an empty jail");
        assert_eq!(prison.cell.take_record().processes_peak, limit);
    }
}

#[test]
fn the_watching_thread_ends_with_the_jail() {
    let prison = Prison::new();
    drop(prison);
    let watching = || {
        let threads = std::fs::read_dir("/proc/self/task").expect("our threads");
        let names = threads.flatten().map(|it| std::fs::read_to_string(it.path().join("comm")));
        names.flatten().filter(|name| name.trim() == "jail-watch").count()
    };
    // Other tests have jails as well: what must not be is that they only become more.
    let (before, begun) = (watching(), Instant::now());
    for _ in 0..20 {
        drop(Prison::new());
    }
    while watching() > before + 8 {
        assert!(begun.elapsed() < Duration::from_secs(30), "{} threads", watching());
        std::thread::sleep(Duration::from_millis(10));
    }
}
