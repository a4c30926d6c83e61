"""The server as the official Python SDK meets it: every protocol era on both transports.

Usage: client.py EXACTA ROOT, with HOME a directory of its own and a `tree.py` in ROOT that starts `/bin/sleep ARGUMENT`. Each scenario says what it has seen; the first that fails ends it.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import anyio
import httpx2
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import ElicitResult, Implementation

EXACTA, ROOT = sys.argv[1], Path(sys.argv[2])
TOKENS = Path(os.environ["HOME"]) / ".local/state/exacta/serve"
TOOLS = {
    "shell_exec", "shell_session_open", "shell_session_close",
    "process_read", "process_write", "process_kill", "process_list",
    "undo", "diff", "log", "history", "policy_test", "approval_wait", "approval_list",
    "task_run", "task_list", "task_show", "task_log", "task_cancel",
}


class Person:
    """Whoever sits at the client, with an answer ready."""

    def __init__(self):
        self.answer, self.questions = None, []

    async def __call__(self, context, params):
        self.questions.append(params)
        return self.answer


def check(holds, what):
    if not holds:
        raise AssertionError(what)


def hook(name):
    """Writing a hook of git needs a person, and leaves a file by which it shows whether it was done."""
    return f"echo true > .git/hooks/{name}", ROOT / ".git/hooks" / name


def alive(marker):
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                line = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if marker.encode() in line and b"client.py" not in line:
                found.append(entry.name)
    return found


async def gone(marker):
    for _ in range(100):
        if not alive(marker):
            return
        await anyio.sleep(0.05)
    raise AssertionError(f"{marker} still runs: {alive(marker)}")


async def exec_(client, command, **more):
    result = await client.call_tool("shell_exec", {"command": command, **more})
    check(not result.is_error, result)
    return result.structured_content


async def lists(client):
    tools = (await client.list_tools()).tools
    check({tool.name for tool in tools} == TOOLS, "the tools")
    for tool in tools:
        hints = tool.annotations
        hints = [hints.read_only_hint, hints.destructive_hint, hints.idempotent_hint, hints.open_world_hint]
        check(None not in hints and tool.output_schema, tool.name)


async def runs(client):
    # The SDK has checked each structured result by the tool's output schema.
    result = await client.call_tool("shell_exec", {"command": "echo out; echo err >&2; exit 3"})
    check(not result.is_error, "a status other than 0 is no failure of the tool")
    value = result.structured_content
    check((value["exit_code"], value["stdout"], value["stderr"]) == (3, "out\n", "err\n"), value)
    check("exit code 3" in result.content[0].text and "out" in result.content[0].text, result)
    failed = await client.call_tool("shell_exec", {"command": "true", "session_id": "none"})
    check(failed.is_error and "unknown_session" in failed.content[0].text, failed)


async def keeps_sessions(client):
    opened = await client.call_tool("shell_session_open", {})
    session = opened.structured_content["session_id"]
    await exec_(client, "x=41; mkdir -p sub; cd sub", session_id=session)
    value = await exec_(client, "echo $((x + 1)) ${PWD##*/}", session_id=session)
    check(value["stdout"] == "42 sub\n", value)
    await client.call_tool("shell_session_close", {"session_id": session})
    closed = await client.call_tool("shell_exec", {"command": "true", "session_id": session})
    check(closed.is_error, closed)


async def takes_back(client):
    value = await exec_(client, "echo new > taken-back")
    check((ROOT / "taken-back").exists() and value["undo"], value)
    shown = await client.call_tool("diff", {"id": value["undo"]["id"]})
    check(shown.structured_content["changes"][0]["path"] == "taken-back", shown)
    logged = (await client.call_tool("log", {})).structured_content["records"]
    check(logged[0]["id"] == value["undo"]["id"], logged)
    undone = await client.call_tool("undo", {})
    check(undone.structured_content["done"] and not (ROOT / "taken-back").exists(), undone)
    past = (await client.call_tool("history", {"grep": "taken-back"})).structured_content
    check(past["requests"], past)


async def tells_progress(client):
    told = []

    async def hear(progress, total, message):
        told.append((progress, message))

    command = "for i in 1 2 3; do echo line $i; sleep 0.3; done"
    result = await client.call_tool("shell_exec", {"command": command}, progress_callback=hear)
    check(result.structured_content["exit_code"] == 0, result)
    text = "".join(message for _, message in told)
    check(len(told) > 1 and "line 1" in text and "line 3" in text, told)
    check([one for one, _ in told] == sorted({one for one, _ in told}), told)


async def cancels(client, marker):
    async with anyio.create_task_group() as tasks:
        async def run():
            await client.call_tool("shell_exec", {"command": f"python3 tree.py {marker}; true"})
            raise AssertionError("it has ended by itself")
        tasks.start_soon(run)
        while not alive(f"/bin/sleep\0{marker}"):
            await anyio.sleep(0.05)
        tasks.cancel_scope.cancel()
    await gone(marker)
    check((await exec_(client, "echo on"))["stdout"] == "on\n", "the server goes on")


async def has_background(client):
    value = await exec_(client, "read x; echo got $x; python3 tree.py 4711", background=True)
    process = value["process_id"]
    await client.call_tool("process_write", {"process_id": process, "text": "word\n"})
    heard, after = "", 0
    while "got word" not in heard:
        read = await client.call_tool("process_read", {"process_id": process, "after": after, "wait_ms": 5000})
        heard += read.structured_content["output"]
        after = read.structured_content["next"]
    listed = (await client.call_tool("process_list", {})).structured_content["processes"]
    check([one["state"] for one in listed if one["id"] == process] == ["running"], listed)
    await client.call_tool("process_kill", {"process_id": process})
    read = await client.call_tool("process_read", {"process_id": process})
    check(read.structured_content["state"] == "ended", read)


async def asks(client, person, name):
    for answer, runs_then in [("once", True), ("deny", False), ("decline", False), ("cancel", None)]:
        command, file = hook(f"{name}-{answer}")
        action = answer if answer in ("decline", "cancel") else "accept"
        content = {"decision": answer} if action == "accept" else None
        person.answer, before = ElicitResult(action=action, content=content), len(person.questions)
        value = await exec_(client, command, goal="to see what happens")
        check(len(person.questions) == before + 1, f"{answer}: asked {len(person.questions) - before} times")
        question = person.questions[-1].message
        check(command in question and "to see what happens" in question, question)
        check(file.exists() == bool(runs_then), f"{answer}: {value}")
        expected = {True: "ended", False: "refused", None: "approval_pending"}[runs_then]
        check(value["state"] == expected, f"{answer}: {value}")
    listed = (await client.call_tool("approval_list", {})).structured_content["approvals"]
    doors = {one["door"] for one in listed if one["command"].endswith((f"{name}-once", f"{name}-deny"))}
    check(doors == {"mcp"}, listed)


async def waits(client, name):
    """Nobody can be asked through the client: a person decides elsewhere."""
    command, file = hook(name)
    value = await exec_(client, command)
    check(value["state"] == "approval_pending" and not file.exists(), value)
    approval = value["approval"]["id"]
    waited = await client.call_tool("approval_wait", {"approval_id": approval, "wait_ms": 300})
    check(waited.structured_content["state"] == "pending", waited)
    async with anyio.create_task_group() as tasks:
        async def decide():
            await anyio.sleep(0.5)
            await anyio.run_process([EXACTA, "--root", str(ROOT), "approvals", "approve", approval])
        tasks.start_soon(decide)
        waited = await client.call_tool("approval_wait", {"approval_id": approval, "wait_ms": 20000})
    check(waited.structured_content["state"] == "approved", waited)
    value = await exec_(client, command)
    check(value["state"] == "ended" and file.exists(), value)


def plan(*commands):
    return {"goal": "to see what happens", "steps": [{"command": command} for command in commands]}


async def task(client, arguments, tool="task_run", **more):
    result = await client.call_tool(tool, arguments, **more)
    check(not result.is_error, result)
    return result.structured_content


async def works_on_tasks(client, person, name, may_ask):
    told = []

    async def hear(progress, total, message):
        told.append(message)

    value = await task(client, {"plan": plan("echo one", "echo two")}, progress_callback=hear)
    check((value["state"], value["steps"][1]["stdout"]) == ("completed", "two\n"), value)
    check("echo two" in "".join(told), told)
    log = await task(client, {"task_id": value["task_id"]}, "task_log")
    check({"command", "output", "info"} <= {entry["type"] for entry in log["entries"]}, log)
    wrong = await client.call_tool("task_run", {"plan": {"goal": "x", "steps": [{"comand": "ls"}]}})
    check(wrong.is_error and wrong.structured_content["error"]["field"] == "steps[0]", wrong)
    file = ROOT / f"old-{name}"
    file.write_text("old")
    dangerous = {"plan": plan(f"rm {file.name}", "echo gone")}
    if may_ask:
        person.answer, before = ElicitResult(action="accept", content={"decision": "once"}), len(person.questions)
        value = await task(client, dangerous)
        question = person.questions[-1].message
        check(len(person.questions) == before + 1 and f"Irreversible Command: rm {file.name}" in question, question)
        check("Goal: to see what happens" in question and "  2. echo gone" in question, question)
    else:
        value = await task(client, dangerous)
        check(value["state"] == "approval_pending" and file.exists(), value)
        check(value["approval"]["plan"] == [f"rm {file.name}", "echo gone"], value)
        approval = value["approval"]["id"]
        await anyio.run_process([EXACTA, "--root", str(ROOT), "approvals", "approve", approval])
        value = await task(client, {"task_id": value["task_id"], "wait_ms": 20000}, "task_show")
    check(value["state"] == "completed" and not file.exists(), value)
    file.write_text("old")
    if not may_ask:
        value = await task(client, dangerous)
        value = await task(client, {"task_id": value["task_id"]}, "task_cancel")
        check(value["state"] == "cancelled" and file.exists(), value)
    listed = (await task(client, {"limit": 50}, "task_list"))["tasks"]
    check(value["task_id"] in [one["id"] for one in listed], listed)


async def everything(connect, name, may_ask):
    person, about = Person(), Implementation(name="python", version="1")
    for mode in ("legacy", "2026-07-28", "auto"):
        async with Client(connect(), mode=mode, elicitation_callback=person, client_info=about) as client:
            marker = f"{name}-{mode}"
            await lists(client)
            await runs(client)
            await keeps_sessions(client)
            await takes_back(client)
            await tells_progress(client)
            await cancels(client, str(100000 + abs(hash(marker)) % 100000))
            await has_background(client)
            await works_on_tasks(client, person, marker, may_ask)
            if may_ask:
                await asks(client, person, marker)
            else:
                await waits(client, marker)
                check(not person.questions, "an agent's token asks nobody")
            print(f"{name}, {mode}: {client.protocol_version}", flush=True)
        async with Client(connect(), mode=mode, client_info=about) as client:
            await waits(client, f"{name}-{mode}-mute")


def on_streams():
    return stdio_client(StdioServerParameters(command=EXACTA, args=["mcp", "--root", str(ROOT)], env=dict(os.environ)))


def over_http(address, token):
    def connect():
        headers = {"Authorization": f"Bearer {token}"}
        timeout = httpx2.Timeout(30, read=300)
        return streamable_http_client(address, http_client=httpx2.AsyncClient(headers=headers, timeout=timeout))
    return connect


async def main():
    await everything(on_streams, "stdio", True)
    command = [EXACTA, "mcp", "--listen", "127.0.0.1:0", "--root", str(ROOT)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        try:
            address = re.search(r"http://\S+", server.stderr.readline())[0]
            refused = httpx2.post(address, json={})
            check(refused.status_code == 401, refused)
            await everything(over_http(address, (TOKENS / "token").read_text().strip()), "http", True)
            await everything(over_http(address, (TOKENS / "agent-token").read_text().strip()), "agent", False)
        finally:
            server.terminate()
            server.wait(20)
    check(not alive("4711"), "something is left")
    print("all of it works", flush=True)


anyio.run(main)
