"""An OpenAI-compatible endpoint whose answers are files: for a model without an API, or a person.

usage: relay.py FOLDER [PORT]

Each question is written to FOLDER/NNN.question.md; the answer is whatever then appears as FOLDER/NNN.answer.md, within half an
hour. It listens on this machine alone, prints `LISTENING <port>`, and ends when its standard input closes: run it in a terminal
of its own.

    python3 relay.py answers 8765
    kernel-scientist evolve gemm.hip --model openai:by-hand --base-url http://127.0.0.1:8765/v1
"""

import http.server
import itertools
import json
import os
import sys
import threading
import time
from pathlib import Path

folder = Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
taken = (int(path.name[:3]) for path in folder.glob("[0-9][0-9][0-9].question.md"))
numbers = itertools.count(max(taken, default=0) + 1)


def in_words(body):
    parts = [f"# {message['role']}\n\n{message['content']}" for message in body["messages"]]
    if body.get("response_format"):
        parts.append("# JSON schema of the answer\n\n" + json.dumps(body["response_format"]["json_schema"]["schema"], indent=1))
    return "\n\n".join(parts) + "\n"


class Relay(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        number = f"{next(numbers):03}"
        question, answer = folder / f"{number}.question.md", folder / f"{number}.answer.md"
        # Whole or not at all: whoever answers may be a program that watches the folder.
        question.with_suffix(".part").write_text(in_words(body))
        question.with_suffix(".part").rename(question)
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        try:
            while not answer.exists():
                # A comment keeps the connection from being taken for dead, and shows whether the other side is there.
                self.wfile.write(b": waiting\n\n")
                self.wfile.flush()
                time.sleep(0.2)
            self.event({"model": body["model"], "choices": [{"delta": {"content": answer.read_text(encoding="utf-8", errors="replace")}}]})
            self.event({"choices": [{"delta": {}, "finish_reason": "stop"}]})
        except ConnectionError:
            question.unlink(missing_ok=True)

    def event(self, data):
        self.wfile.write(f"data: {json.dumps(data)}\n\n".encode())
        self.wfile.flush()

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2]) if len(sys.argv) > 2 else 0), Relay)
threading.Thread(target=server.serve_forever, daemon=True).start()
print("LISTENING", server.server_port, flush=True)
sys.stdin.read()
os._exit(0)
