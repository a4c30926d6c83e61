//! Real programs, which must not notice the walls.

use std::path::Path;

use exacta_jail::Ending;
use exacta_jail::plan::Limits;

use crate::prison::Prison;

/// What to run, and what its last line of output must be.
const CASES: &[(&str, &str, &str)] = &[
    ("python and threads", "python3 -c 'import threading, subprocess, multiprocessing, socket, ssl, asyncio
t = [threading.Thread(target=lambda: None) for _ in range(20)]; [x.start() for x in t]; [x.join() for x in t]
p = multiprocessing.get_context(\"fork\").Pool(3); print(sum(p.map(abs, range(10)))); p.close(); p.join()
print(subprocess.run([\"echo\", \"sub\"], capture_output=True).stdout)
async def main(): p = await asyncio.create_subprocess_exec(\"true\"); return await p.wait()
print(asyncio.run(main()))'", "0"),
    ("node, its workers and children", "node -e '
const {Worker} = require(\"worker_threads\"); const {execSync, spawn} = require(\"child_process\");
const http = require(\"http\"); const fs = require(\"fs\");
fs.writeFileSync(\"x\", execSync(\"echo hello\"));
new Worker(\"require(\\\"worker_threads\\\").parentPort.postMessage(1)\", {eval: true}).on(\"message\", () =>
  spawn(\"true\").on(\"close\", code => {
    const server = http.createServer((_, r) => r.end(\"served\")).listen(0, \"127.0.0.1\", () =>
      http.get({host: \"127.0.0.1\", port: server.address().port}, r => r.on(\"data\", d => { console.log(String(d), code); server.close(); })));
  }));'", "served 0"),
    ("git", "git init -q repo && cd repo && git config user.name a && git config user.email a@b &&
        echo 1 > f && git add f && git commit -q -m one && echo 2 > f && git commit -q -a -m two && git gc -q &&
        git log --oneline | wc -l", "2"),
    ("gcc and make", "printf 'int main(void){return 0;}' > m.c && printf 'all: m.o\\n\\tgcc -o m m.o\\nm.o: m.c\\n\\tgcc -c m.c\\n' > Makefile &&
        make -s -j4 && ./m && echo built", "built"),
    ("tar and compression", "mkdir t && echo a > t/a && tar czf t.tgz t && tar tzf t.tgz | tail -1", "t/a"),
    ("a shell's pipes and jobs", "seq 1000 | sort -rn | head -1; (sleep 0.1; echo job) & wait", "job"),
    ("names and time", "hostname && date +%Y >/dev/null && id -un && nproc >/dev/null && uname -s", "Linux"),
];

#[test]
fn programs_work() {
    for (name, script, expected) in CASES {
        let mut prison = Prison::new();
        let done = prison.shell(script);
        assert_eq!(done.ending, Ending::Exited(0), "{name}: {done:?}");
        assert_eq!(done.output.trim_end().lines().last(), Some(*expected), "{name}: {done:?}");
    }
}

#[test]
fn cargo_builds() {
    let cargo = Path::new(env!("CARGO"));
    let toolchain = cargo.parent().and_then(Path::parent).expect("a toolchain");
    let mut prison = Prison::around(&[toolchain], Limits::default(), false);
    let done = prison.shell(&format!(
        "export PATH={}/bin:$PATH RUSTFLAGS=-Clinker=gcc; cargo new -q --vcs none one && cd one && cargo test -q --offline && cargo run -q",
        toolchain.display()
    ));
    assert_eq!(done.ending, Ending::Exited(0), "{done:?}");
    assert_eq!(done.output.lines().last(), Some("Hello, world!"), "{done:?}");
}
