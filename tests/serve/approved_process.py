"""One operating-system process that uses the tools against served fakes: calls come in, results go out, as JSON.

Its approvals are held by nothing but the session that its tools name, as in any process that uses them.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import replace

import httpcore2

from unacked.adapter.link import Link, wire_client
from unacked.adapter.reference import LinkedClient
from unacked.approval import Lasts
from unacked.clock import MonotonicClock
from unacked.tools import TOOLS, Toolbox
from unacked.tools.token import Tokens, TokenSource

GATED = {**TOOLS, "delete_release": replace(TOOLS["delete_release"], approval=Lasts.CALL)}


def main() -> None:
    given = json.load(sys.stdin)
    backend = httpcore2.SyncBackend()
    client = LinkedClient(5.0)
    client.use(
        Link(
            base_url=given["urls"],
            token=given["token"],
            correlation_id="",
            timeout=5.0,
            clock=MonotonicClock(),
            http=wire_client(backend, 5.0),
            backend=backend,
        )
    )
    toolbox = Toolbox(
        GATED, client, source=TokenSource(Tokens(given["token"])), emit=lambda *_, **__: None, diagnose=lambda _: "d1"
    )
    results = [
        toolbox.call(operation, arguments, f"{given['name']}-{number}").as_json()
        for number, (operation, arguments) in enumerate(given["calls"])
    ]
    print(json.dumps({"pid": os.getpid(), "results": results}))  # noqa: T201 - that is what it is for


if __name__ == "__main__":
    main()
