"""What real programs cost, cold and warm, beside a bare spawn, other sandboxes, and a floor in C. A part of `bench/run`.

Commands take turns, each from fork to exit, in another order each round: what ran before leaves the processor's caches to who
comes next, and nobody shall always come after the largest. The figures are minima, because whatever else the machine does
only adds.
"""
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
BARE, BUBBLEWRAP, FLOOR = "bare spawn", "bubblewrap", "the same layers in C"
COLD, WARM, FORK = "exacta, cold", "next program of a session", "fork and exec"
# Without toolchains outside the system: each would be one more tree of the view, for exacta and for the floor.
PLAIN = os.environ | {"PATH": "/usr/local/bin:/usr/bin:/bin"}
# (what, compared with, at most this ratio).
PROMISES = [(COLD, BUBBLEWRAP, 1.0), (COLD, FLOOR, 1.5), (WARM, FORK, 2.0)]


def packaged(program, package):
    """Debian's package, by name, if the program is not there yet."""
    if shutil.which(program) is None:
        install = ["apt-get", "install", "--yes", "--quiet", package]
        done = shutil.which("apt-get") and subprocess.run(install, stdout=subprocess.DEVNULL, check=False).returncode == 0
        if not done:
            print(f"{package} is not there and cannot be installed: what needs it is left out", file=sys.stderr)
    return shutil.which(program) is not None


def npm(out, package, program):
    if not (out / "node_modules" / package).exists():
        (out / "package.json").exists() or (out / "package.json").write_text("{}")
        subprocess.run(["npm", "install", "--silent", "--prefix", out, package], check=False)
    found = out / "node_modules/.bin" / program
    if not found.exists():
        print(f"{package} cannot be installed: left out", file=sys.stderr)
    return found if found.exists() else None


def floor(out):
    program = out / "floor"
    done = subprocess.run(["cc", "-O2", "-o", program, HERE / "floor.c"], check=False).returncode == 0
    if not done:
        print("there is no C compiler: the floor is left out", file=sys.stderr)
    return program if done else None


def typical(root):
    """What people write: everything unshared, the system read-only, the project writable."""
    links = [word for name in ["bin", "sbin", "lib", "lib64"] for word in ["--symlink", f"usr/{name}", f"/{name}"]]
    return ["bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--clearenv", "--ro-bind", "/usr", "/usr", *links,
            "--ro-bind", "/etc", "/etc", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--bind", root, root,
            "--chdir", root]


def project(root):
    """A new one, without what earlier runs have left."""
    shutil.rmtree(root, ignore_errors=True)
    (root / ".git").mkdir(parents=True)
    # A program of the project: `/bin/true` is a builtin of ours.
    shutil.copy(os.path.realpath("/bin/true"), root / "nothing")
    return root


def commands(exacta, driver, out, root):
    """All that takes turns; what does not work here is left out, aloud."""
    run = "./nothing"
    found = {BARE: [run], "bash -c": ["bash", "-c", "true"], "exacta, a builtin": [exacta, "-c", "true"],
             COLD: [exacta, "-c", run]}
    wrapped = packaged("bwrap", "bubblewrap")
    if wrapped:
        found[BUBBLEWRAP] = [*typical(root), run]
    measured = floor(out)
    if measured:
        # A project of its own, where nobody takes its layers for what a crash has left: those are kept, and looked at each time.
        own = project(out / "floor-project")
        # So that there is a journal: what is written goes into a layer of it.
        subprocess.run([exacta, "-c", run], cwd=own, env=PLAIN, check=False)
        plan = out / "plan"
        plan.write_bytes(subprocess.check_output([driver, "plan", own], env=PLAIN))
        found[FLOOR] = [measured, plan, own, run]
    needed = wrapped and packaged("rg", "ripgrep") and packaged("socat", "socat")
    srt = npm(out, "@anthropic-ai/sandbox-runtime", "srt")
    if srt and needed:
        found["srt"] = [srt, run]
    codex = npm(out, "@openai/codex", "codex")
    if codex:
        found["codex sandbox"] = [codex, "sandbox", "--", run]
    found = {name: [str(word) for word in command] for name, command in found.items()}
    for name in list(found):
        tried = subprocess.run(found[name], cwd=root, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                               env=PLAIN, check=False)
        if tried.returncode != 0:
            last = (tried.stderr.strip().splitlines() or ["no reason given"])[-1]
            print(f"{name} does not work here: left out ({last})", file=sys.stderr)
            del found[name]
    return found, measured


def rows(times, unit="ms"):
    bare = min(times[BARE])
    lines = [f"| one program | fastest {unit} | median {unit} | : bare spawn |", "|---|---:|---:|---:|"]
    for name, all_of_it in sorted(times.items(), key=lambda row: min(row[1])):
        fastest, middle = min(all_of_it), statistics.median(all_of_it)
        lines.append(f"| {name} | {fastest * 1e3:.2f} | {middle * 1e3:.2f} | {fastest / bare:.2f} |")
    return lines


def parts(times):
    lines = ["", "| the way into the jail | fastest µs | median µs |", "|---|---:|---:|"]
    named = {name.removeprefix("part: "): took for name, took in times.items() if name.startswith("part: ")}
    for name, took in sorted(named.items(), key=lambda row: -min(row[1])):
        lines.append(f"| {name} | {min(took) * 1e6:.0f} | {statistics.median(took) * 1e6:.0f} |")
    lines.append(f"| all of them | {sum(min(took) for took in named.values()) * 1e6:.0f} | |")
    return lines


def promises(times):
    lines, kept = ["", "| promise | measured | at most | |", "|---|---:|---:|---|"], True
    for what, other, most in PROMISES:
        if what not in times or other not in times:
            lines.append(f"| {what} : {other} | not measured | {most:.1f} | – |")
            continue
        ratio = min(times[what]) / min(times[other])
        kept &= ratio <= most
        lines.append(f"| {what} : {other} | {ratio:.2f} | {most:.1f} | {'kept' if ratio <= most else 'BROKEN'} |")
    return lines, kept


def part(exacta, driver, out, quick):
    """The lines to print, and whether all promises hold."""
    root = project(out / "jail")
    found, measured = commands(exacta, driver, out, root)
    rounds = 10 if quick else 60
    dice = random.Random(7)
    turns = [dice.sample(list(found), len(found)) for _ in range(rounds)]
    task = json.dumps({"root": str(root), "rounds": turns, "commands": found})
    times = json.loads(subprocess.check_output([driver, "spawn"], input=task, text=True, env=PLAIN))
    inside = {}
    if measured:
        command = [driver, "jail", root, "./nothing", measured, str(rounds)]
        inside = json.loads(subprocess.check_output(command, text=True, env=PLAIN))
    plain = {name: took for name, took in inside.items() if not name.startswith("part: ")}
    lines = rows(times | plain)
    promised, kept = promises(times | plain)
    return lines + parts(inside) + promised, kept
