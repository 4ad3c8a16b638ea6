"""Serve a file of weights on this machine through llama.cpp's own OpenAI-compatible server (the package xllamacpp)."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
from pathlib import Path

os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # or threads burn the cores that they wait for

import xllamacpp

TEMPLATE = Path(__file__).resolve().parents[2] / "agents" / "templates" / "fenced-json.jinja"


def settings(chosen: argparse.Namespace) -> xllamacpp.CommonParams:
    """Return what the server is told: one request at a time, our own template, nothing but this machine."""
    given = xllamacpp.CommonParams()
    given.model.path = str(chosen.weights)
    given.model_alias = {chosen.alias}
    given.hostnames = ["127.0.0.1"]
    given.port = chosen.port
    given.n_ctx = 8192
    given.n_parallel = 1
    given.cpuparams.n_threads = given.cpuparams_batch.n_threads = chosen.threads
    given.use_jinja = True
    given.chat_template = TEMPLATE.read_text(encoding="utf-8")
    given.ui = given.endpoint_slots = False
    given.offline = True
    given.verbosity = 1
    return given


def main() -> int:
    """Serve until told to stop; one line says when and where the server is ready."""
    parser = argparse.ArgumentParser(description="Serve a small model on this machine.")
    parser.add_argument("weights", type=Path)
    parser.add_argument("port", type=int)
    parser.add_argument("--alias", required=True, help="the name under which the model is served")
    parser.add_argument("--threads", type=int, default=2)
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    server = xllamacpp.Server(settings(parser.parse_args()))
    print(f"READY {server.listening_address}", flush=True)
    while not stop.wait(0.5):
        pass
    sys.stdout.flush()
    os._exit(0)  # the server's threads would keep the process alive


if __name__ == "__main__":
    main()
