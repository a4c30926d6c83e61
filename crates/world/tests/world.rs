//! What a battery of attacks finds in its world, asked from inside.

#![expect(clippy::expect_used, reason = "a test may fail")]
#![expect(clippy::disallowed_methods, reason = "the tests look at the world they are in")]

use std::fs;
use std::process::{ExitCode, Output};
use std::time::{Duration, Instant};

use exacta_world::World;
use libtest_mimic::{Arguments, Trial};

const TIME: Duration = Duration::from_secs(20);

type Test = fn(&World);

fn main() -> ExitCode {
    exacta_world::within(&exacta_world::here!(), |world| {
        let table: [(&str, Test); 9] = [
            ("the machine's settings, devices and kernel are out of reach", powers),
            ("only the loopback network is there, and it is up", network),
            ("devices are private", devices),
            ("a bomb is held and leaves nothing behind", bomb),
            ("a command that never ends is ended", endless),
            ("what is deleted is deleted only here", deletion),
            ("user namespaces, layers and a new /proc can be made", nesting),
            ("an unprivileged user reads only what it may", unprivileged),
            ("control groups can be made, and the limits are not among them", control_groups),
        ];
        let trials = table.into_iter().map(|(name, test)| {
            let world = world.clone();
            Trial::test(name, move || {
                test(&world);
                Ok(())
            })
        });
        libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit_code()
    })
}

fn run(world: &World, script: &str) -> Output {
    world.run(script, TIME).expect("bash runs")
}

fn shown(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    text(&output.stdout) + &text(&output.stderr)
}

/// Each line is one that must fail.
fn fails(world: &World, lines: &[&str]) {
    for line in lines {
        let output = run(world, line);
        assert!(!output.status.success(), "{line}\n{}", shown(&output));
    }
}

/// Each line is one that must succeed.
fn succeeds(world: &World, lines: &[&str]) {
    for line in lines {
        let output = run(world, line);
        assert!(output.status.success(), "{line}\n{}", shown(&output));
    }
}

/// Opening is enough to know; nothing is written.
fn powers(world: &World) {
    fails(
        world,
        &[
            ": >> /proc/sysrq-trigger",
            ": >> /proc/sys/kernel/core_pattern",
            ": >> /proc/sys/vm/drop_caches",
            ": >> /sys/kernel/uevent_helper",
            ": >> /sys/power/state",
            "mknod block b 254 0",
            "mkdir -p fresh; mount -t tmpfs fresh fresh && mknod fresh/memory c 1 1",
            "ulimit -Hu unlimited",
            "ulimit -Hu 100000",
            "dmesg --clear",
        ],
    );
}

fn network(world: &World) {
    let routes = fs::read_to_string("/proc/net/route").expect("routes");
    assert_eq!(routes.lines().count(), 1, "{routes}");
    succeeds(world, &["exec 3<>/dev/udp/127.0.0.1/9; echo x >&3"]);
    fails(world, &["timeout 5 bash -c ': > /dev/tcp/192.0.2.1/80'"]);
}

fn devices(world: &World) {
    let mut names: Vec<String> = fs::read_dir("/dev")
        .expect("/dev")
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    let expected = "fd full null ptmx pts random shm stderr stdin stdout tty urandom zero";
    assert_eq!(names.join(" "), expected);
    succeeds(world, &["head -c 10 /dev/zero > /dev/null", "head -c 10 /dev/urandom > /dev/null"]);
    succeeds(world, &["script -qec 'test -t 1' /dev/null"]);
}

fn bomb(world: &World) {
    let begun = Instant::now();
    let output = world.run("bomb() { bomb | bomb & }; bomb; sleep 60", Duration::from_secs(1));
    drop(output.expect("bash runs"));
    assert!(begun.elapsed() < TIME, "{:?}", begun.elapsed());
    let output = run(world, "echo still here; ls -d /proc/[0-9]* | wc -l");
    let text = String::from_utf8_lossy(&output.stdout);
    let left = text.lines().nth(1).and_then(|count| count.trim().parse::<u32>().ok());
    assert!(left.is_some_and(|left| left < 10), "{}", shown(&output));
    // Counted from outside of that command's own view.
    let count = || {
        fs::read_dir("/proc").map_or(0, |entries| {
            entries
                .flatten()
                .filter(|entry| entry.file_name().to_string_lossy().parse::<u32>().is_ok())
                .count()
        })
    };
    let deadline = Instant::now() + TIME;
    while count() > 100 {
        assert!(Instant::now() < deadline, "{} processes are left", count());
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn endless(world: &World) {
    let begun = Instant::now();
    let output = world.run(
        "trap '' TERM INT HUP; (setsid sleep 1000 &); while :; do :; done",
        Duration::from_millis(300),
    );
    assert!(!output.expect("bash runs").status.success());
    assert!(begun.elapsed() < TIME, "{:?}", begun.elapsed());
}

fn deletion(world: &World) {
    succeeds(
        world,
        &[
            "mkdir -p victim/deep; echo x > victim/deep/file; rm -rf --no-preserve-root victim; test ! -e victim",
        ],
    );
    // A command sees the tree of the tests, and nothing outside of it sees what the command does.
    succeeds(world, &["echo kept > note"]);
    let note = fs::read_to_string(world.work().join("note")).expect("written");
    assert_eq!(note, "kept\n");
}

fn nesting(world: &World) {
    let layers = "mkdir -p n/{lower,upper,work,over}; echo below > n/lower/file
        unshare --user --map-root-user --mount --pid --net --fork --mount-proc bash -ec '
            mount -t overlay layers -o lowerdir=n/lower,upperdir=n/upper,workdir=n/work,userxattr n/over
            echo above > n/over/file; rm n/over/file; echo again > n/over/file
            test \"$(cat n/over/file)\" = again; test \"$(cat n/lower/file)\" = below
            test $$ = 1; test -e /proc/self/status; mount -t tmpfs t /mnt'";
    succeeds(world, &[layers]);
}

fn unprivileged(world: &World) {
    let file = world.work().join("private");
    fs::write(&file, "secret").expect("a file");
    fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o0)).expect("a mode");
    let read = |mut command: std::process::Command| command.arg(&file).output().expect("cat runs");
    assert!(read(std::process::Command::new("cat")).status.success(), "the world's root reads it");
    let output = read(world.unprivileged("cat"));
    assert!(!output.status.success(), "{}", shown(&output));
    if let Some(user) = world.other_user() {
        let output = world.unprivileged("id").arg("-u").output().expect("id runs");
        assert_eq!(shown(&output).trim(), user.to_string());
    }
}

fn control_groups(world: &World) {
    let folder = ["/sys/fs/cgroup/pids", "/sys/fs/cgroup"].map(std::path::Path::new);
    let Some(folder) = folder.iter().find(|folder| folder.join("cgroup.procs").exists()) else {
        return;
    };
    assert!(!folder.join("pids.max").exists() || limit(&folder.join("pids.max")) == "max");
    let line =
        format!("mkdir {0}/own && echo 5 > {0}/own/pids.max && rmdir {0}/own", folder.display());
    succeeds(world, &[&line]);
}

fn limit(file: &std::path::Path) -> String {
    fs::read_to_string(file).unwrap_or_default().trim().to_owned()
}
