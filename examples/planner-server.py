#!/usr/bin/env python3
"""A planner without a model: the wire formats of OpenAI and Anthropic, streamed, with a plan that is always the same.

    python3 examples/planner-server.py [--port 7400] [--log FILE]
    exacta --config examples/planner.toml task plan "note how the README begins"

For the goal above it answers with the plan below, for every other one with a look around. With --log every request is
appended to FILE as one line of JSON, so that it can be seen what a planner is told. Python's standard library only.
"""

import argparse
import json
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

KNOWN = "note how the README begins"
KNOWN_STEPS = [
    {
        "command": "wc -l README.md",
        "why": "there is a README to take notes of",
        "expect": {"stdout_contains": ["README.md"]},
        "idempotent": True,
    },
    {
        "command": "head -n 3 README.md > NOTES.md",
        "why": "its beginning, kept",
        "expect": {"files_exist": ["NOTES.md"], "changed_only": ["NOTES.md"]},
        "idempotent": True,
    },
    {
        "command": "cat NOTES.md",
        "why": "what was noted",
        "expect": {"exit_code": 0},
        "idempotent": True,
    },
]
OTHER_STEPS = [{"command": "ls -la", "why": "a look around", "idempotent": True}]


def plan_for(goal):
    steps = KNOWN_STEPS if KNOWN in goal else OTHER_STEPS
    return json.dumps({"goal": goal, "steps": steps}, ensure_ascii=False)


def goal_of(messages):
    """The first line of what the user says: `Goal: ...`."""
    said = [message["content"] for message in messages if message["role"] == "user"]
    first = said[0].splitlines()[0] if said else ""
    return first.removeprefix("Goal: ")


def pieces(text, size=17):
    return [text[at : at + size] for at in range(0, len(text), size)]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        try:
            asked = json.loads(body)
            goal = goal_of(asked["messages"])
        except (ValueError, KeyError, TypeError, AttributeError):
            return self.fail(400, "invalid_request_error", "this is no request")
        if self.server.log:
            with open(self.server.log, "a", encoding="utf-8") as log:
                log.write(json.dumps({"path": self.path, "body": asked}) + "\n")
        model = asked.get("model", "")
        if self.path.endswith("/chat/completions"):
            events = self.openai(model, plan_for(goal))
        elif self.path.endswith("/messages"):
            events = self.anthropic(model, plan_for(goal), asked.get("tool_choice", {}).get("name", "plan"))
        else:
            return self.fail(404, "not_found_error", f"there is no {self.path}")
        self.stream(events)

    def openai(self, model, text):
        def chunk(delta, finish=None):
            choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
            data = {
                "id": "chatcmpl-1",
                "object": "chat.completion.chunk",
                "created": int(time.time()),
                "model": model,
                "choices": [choice],
            }
            return f"data: {json.dumps(data)}\n\n"

        yield chunk({"role": "assistant", "content": "", "refusal": None})
        for piece in pieces(text):
            yield chunk({"content": piece})
        yield chunk({}, "stop")
        yield "data: [DONE]\n\n"

    def anthropic(self, model, text, tool):
        def event(kind, **data):
            return f"event: {kind}\ndata: {json.dumps({'type': kind, **data})}\n\n"

        message = {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": model,
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }
        yield event("message_start", message=message)
        block = {"type": "tool_use", "id": "toolu_1", "name": tool, "input": {}}
        yield event("content_block_start", index=0, content_block=block)
        yield event("ping")
        for piece in ["", *pieces(text)]:
            delta = {"type": "input_json_delta", "partial_json": piece}
            yield event("content_block_delta", index=0, delta=delta)
        yield event("content_block_stop", index=0)
        stop = {"stop_reason": "tool_use", "stop_sequence": None}
        yield event("message_delta", delta=stop, usage={"output_tokens": 100})
        yield event("message_stop")

    def stream(self, events):
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for event in events:
            data = event.encode()
            self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
            self.wfile.flush()
            time.sleep(self.server.pause)
        self.wfile.write(b"0\r\n\r\n")

    def fail(self, status, kind, message):
        data = json.dumps({"type": "error", "error": {"type": kind, "message": message}}).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=7400, help="0: any that is free")
    parser.add_argument("--log", help="a file for the requests")
    parser.add_argument("--pause", type=float, default=0.005, help="seconds between two events")
    options = parser.parse_args()
    server = ThreadingHTTPServer(("127.0.0.1", options.port), Handler)
    server.log, server.pause = options.log, options.pause
    print(f"listening on http://127.0.0.1:{server.server_port}", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        sys.exit(0)


if __name__ == "__main__":
    main()
