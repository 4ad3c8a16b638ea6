"""The helper's own side: ``python -m unacked.tools.ssh_helper ACCESS SECONDS``, one order on standard input.

ACCESS is a JSON file: ``address``, ``port``, ``account``, ``host_key`` (a file, in OpenSSH's form), and either
``token_file`` (its content stands in the place of a password) or ``client_keys`` (files of private keys).
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import asyncssh

from unacked.canonical import JSON, dumps, loads
from unacked.marker import Order
from unacked.tools.client import Timeouts
from unacked.tools.helper import SENDING
from unacked.tools.ssh import Access, send_order

__all__ = ["main"]


def main(arguments: list[str]) -> int:
    """Send the order that stands on the standard input and tell how far it got; returns the exit status."""
    access_file, patience_s = arguments
    host, *words = loads(sys.stdin.read())
    timeouts = Timeouts(total_s=float(patience_s))
    access = _access(loads(Path(access_file).read_bytes()))
    exchange = asyncio.run(send_order(host, Order(*words), access, timeouts, sending=lambda: _tell(SENDING)))
    _tell(dumps(exchange.as_json() | {"timed_out": exchange.timed_out}))
    return 0


def _access(written: JSON) -> Access:
    token_file = written.get("token_file")
    return Access(
        host_key=asyncssh.import_public_key(Path(written["host_key"]).read_text(encoding="utf-8")),
        token=None if token_file is None else Path(token_file).read_text(encoding="utf-8").strip(),
        client_keys=tuple(written.get("client_keys", ())),
        account=written["account"],
        address=written["address"],
        port=written["port"],
    )


def _tell(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
