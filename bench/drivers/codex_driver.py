"""Verdicts of `codex execpolicy check`: lines in, decisions and seconds out.

Arguments: the codex program, its rules. A line of plain words is passed as those words, anything else as `bash -lc LINE`,
which is how an agent runs it. A line that no rule matches is asked about. The time is that of a whole process.
"""
import json
import re
import shlex
import subprocess
import sys
import time

PLAIN = re.compile(r"[\w@%+=:,./ '\"-]+")
DECISIONS = {"allow": "allow", "prompt": "confirm", "forbidden": "deny"}


def words(line):
    if PLAIN.fullmatch(line):
        try:
            return shlex.split(line)
        except ValueError:
            pass
    return ["bash", "-lc", line]


def check(codex, rules, line):
    start = time.perf_counter()
    result = subprocess.run([codex, "execpolicy", "check", "--rules", rules, "--", *words(line)],
                            capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - start
    try:
        decision = DECISIONS.get(json.loads(result.stdout).get("decision"), "confirm")
    except ValueError:
        decision = "confirm"
    return {"decision": decision, "seconds": seconds}


def main():
    codex, rules = sys.argv[1:]
    json.dump([check(codex, rules, line) for line in json.load(sys.stdin)], sys.stdout)


main()
