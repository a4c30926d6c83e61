"""What being able to take everything back costs: trees of 10 and of 27,000 files, beside a shadow repository of git. A part of
`bench/run`.

Every figure is the fastest of some rounds of whole processes, from fork to exit. What a shadow repository does before a command is
`git add -A` and `git write-tree` with an index of its own; what it does to take one back is `git checkout` of everything that
differs and `git clean` of the rest.
"""
import os
import shutil
import subprocess
import sys
import time

SMALL, LARGE = 10, 27_000
# Promises: the same request on the large and on the small tree, at most this ratio.
NEAR_ONE = 1.5
PLAIN = os.environ | {"PATH": "/usr/local/bin:/usr/bin:/bin", "GIT_CONFIG_NOSYSTEM": "1", "HOME": "/nonexistent"}

CHANGE = "perl -e 'for (1..{count}) {{ open(F, q(>>), \"node_modules/p0/f$_.js\") or die; print F q(x); close F }}'"
NOTHING = "perl -e 1"
# (what, the request, whether it is measured on the small tree too).
REQUESTS = [
    ("a program that changes nothing", NOTHING, True),
    ("a builtin changes 1 file", "echo x >> node_modules/p0/f1.js", True),
    ("a program changes 1 file", CHANGE.format(count=1), True),
    ("builtins change 1,000 files", "for f in many/*; do echo x >> $f; done", True),
    ("a program changes 1,000 files", "perl -e 'for (glob q(many/*)) { open(F, q(>>), $_) or die; print F q(x); close F }'", True),
    ("a program makes 1,000 files", "perl -e 'mkdir q(new); for (1..1000) { open(F, q(>), qq(new/$_)) or die; print F q(x); close F }'", True),
    ("rm -rf node_modules, in process", "rm -rf node_modules", False),
    ("rm -rf node_modules, by a program", "perl -MFile::Path=remove_tree -e 'remove_tree(q(node_modules))'", False),
]


def make(root, files):
    """Packages of thirty files of some two kilobytes each, as package managers leave them, and a thousand files beside."""
    shutil.rmtree(root, ignore_errors=True)
    text = "module.exports = function () { return 'some code' };\n" * 40
    for number in range(files):
        folder = root / "node_modules" / f"p{number // 30}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"f{number % 30 + 1}.js").write_text(text[:500 + number * 37 % 1600])
    (root / "many").mkdir()
    for number in range(1000):
        (root / "many" / str(number)).write_text(text[:2000])
    (root / ".clada").mkdir()


def timed(command, root, fine=(0,)):
    start = time.perf_counter()
    done = subprocess.run(command, cwd=root, env=PLAIN, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, check=False)
    taken = time.perf_counter() - start
    if done.returncode not in fine:
        sys.exit(f"{command}: status {done.returncode}: {done.stderr.decode()}")
    return taken


def exacta_rounds(exacta, root, request, rounds):
    """The request, the same without undo where that is one, and taking it back."""
    run = [exacta, "--root", root, "run", "--yes", "--"]
    best = [float("inf"), float("inf")]
    for _ in range(rounds):
        best[0] = min(best[0], timed(run + [request], root))
        if request != NOTHING:
            best[1] = min(best[1], timed([exacta, "--root", root, "undo"], root))
    return best


def kept_bytes(root):
    folder = root / ".clada/undo"
    return sum(path.lstat().st_blocks * 512 for path in folder.rglob("*") if path.is_file())


class Shadow:
    """A repository beside the tree that takes a picture of it before each command."""

    def __init__(self, root, place):
        shutil.rmtree(place, ignore_errors=True)
        self.root, self.place = root, place
        self.git = ["git", f"--git-dir={place}", f"--work-tree={root}", "-c", "core.excludesFile=/dev/null", "-c", "gc.auto=0"]
        subprocess.run(["git", "init", "--quiet", "--bare", place], env=PLAIN, check=True)
        (place / "info").mkdir(exist_ok=True)
        (place / "info/exclude").write_text("/.clada\n")

    def picture(self):
        return timed(self.git + ["add", "-A"], self.root) + timed(self.git + ["write-tree"], self.root)

    def tree(self):
        return subprocess.check_output(self.git + ["write-tree"], cwd=self.root, env=PLAIN, text=True).strip()

    def back(self, tree):
        return (timed(self.git + ["add", "-A"], self.root) + timed(self.git + ["read-tree", "--reset", "-u", tree], self.root)
                + timed(self.git + ["clean", "-fdq"], self.root))

    def bytes(self):
        return sum(path.stat().st_blocks * 512 for path in self.place.rglob("*") if path.is_file())


def shadow_rounds(shadow, request, rounds):
    """A picture before the command, and what it takes to go back to it afterwards."""
    best = [float("inf"), float("inf")]
    for _ in range(rounds):
        best[0] = min(best[0], shadow.picture())
        tree = shadow.tree()
        subprocess.run(["bash", "-c", request], cwd=shadow.root, env=PLAIN, check=True)
        best[1] = min(best[1], shadow.back(tree))
    return best


def milliseconds(seconds):
    return "–" if seconds is None or seconds == float("inf") else f"{seconds * 1e3:,.1f}"


def part(exacta, out, quick):
    rounds = 2 if quick else 5
    roots = {files: out / f"undo-{files}" for files in (SMALL, LARGE)}
    for files, root in roots.items():
        make(root, files)
    shadow = Shadow(roots[LARGE], out / "undo-shadow")
    first = shadow.picture()
    lines = ["", "| request | 10 files, ms | its undo | 27,000 files, ms | its undo | ratio | shadow git before | its undo |",
             "|---|---:|---:|---:|---:|---:|---:|---:|"]
    kept = True
    for what, request, both in REQUESTS:
        print(what, file=sys.stderr)
        small = exacta_rounds(exacta, roots[SMALL], request, rounds) if both else [None, None]
        large = exacta_rounds(exacta, roots[LARGE], request, rounds)
        git = shadow_rounds(shadow, request, rounds)
        ratio = max(one / other for one, other in zip(large, small) if one < float("inf")) if both else None
        kept &= ratio is None or ratio <= NEAR_ONE
        times = " | ".join(milliseconds(time) for time in small + large)
        shown = "–" if ratio is None else f"{ratio:.2f}"
        lines.append(f"| {what} | {times} | {shown} | {milliseconds(git[0])} | {milliseconds(git[1])} |")
    lines += ["", f"The first picture of the shadow repository took {first * 1e3:,.0f} ms and {shadow.bytes() >> 20} MB; the journal of "
              f"exacta had {kept_bytes(roots[LARGE]) >> 20} MB after all of this."]
    return lines, kept
