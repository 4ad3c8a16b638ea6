"""``unacked serve``: fake services for clients that are not ours."""

from __future__ import annotations

import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from unacked.canonical import JSON, dumps
from unacked.cli.options import open_suite, suite_option
from unacked.errors import ExitCode, HarnessError
from unacked.guard import guarded
from unacked.serve import Stand, offer_case, offer_suite, with_seeds
from unacked.wire.certificates import Certificates, issue_certificates

__all__ = ["command"]

_ENDS = frozenset({signal.SIGINT, signal.SIGTERM})


@click.command("serve")
@click.argument("case", required=False)
@suite_option
@click.option(
    "--port-base",
    type=click.IntRange(1, 65000),
    default=None,
    metavar="N",
    help="Port of the control API; the services get the following ones, by name (default: free ones).",
)
@click.option("--tls", is_flag=True, help="Serve with TLS; the authority's certificate is written to a file.")
@click.option(
    "--seed-file",
    type=click.Path(path_type=Path),
    default=None,
    metavar="F",
    help="YAML or JSON file that maps services to what stands in them.",
)
@click.option("--mcp", "over_mcp", is_flag=True, help="Offer our own tools before the services as an MCP server, too.")
def command(
    case: str | None,
    suite_path: Path | None,
    port_base: int | None,
    seed_file: Path | None,
    *,
    tls: bool,
    over_mcp: bool,
) -> int:
    """Serve fake services on 127.0.0.1 until Ctrl-C or SIGTERM: all of a suite, or those of CASE with its faults.

    Prints one JSON object a line: first the control API's URL and token, which no agent should see, then each
    service's URL and the credential to use, then where each host takes commands over SSH. docs/serve.md tells what
    the control API can do.
    """
    if over_mcp and tls:
        raise click.UsageError("the tools that --mcp offers speak plain HTTP: leave --tls out")
    suite = open_suite(suite_path)
    offer = offer_suite(suite) if case is None else offer_case(suite, case, tls=tls)
    if seed_file is not None:
        offer = with_seeds(offer, seed_file)
    with _signals(), tempfile.TemporaryDirectory(prefix="unacked-") as folder:
        certificates = issue_certificates() if tls else None
        stand = Stand(offer, certificates=certificates, port_base=port_base, told=_complain)
        with guarded() as watch, stand.serving(), _tools(stand, over_mcp=over_mcp) as where:
            _tell(stand, certificates, Path(folder))
            if where is not None:
                click.echo(dumps(where))
            ended = signal.sigwait(_ENDS)
    if watch.refused:
        raise HarnessError(f"while the services were served, {watch.refused[0].told} was refused")
    return ExitCode.INTERRUPTED if ended == signal.SIGINT else ExitCode.PASS


@contextmanager
def _signals() -> Iterator[None]:
    """Keep the ending signals for ``sigwait``, also from the threads that are started meanwhile."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _ENDS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _tools(stand: Stand, *, over_mcp: bool) -> Iterator[JSON]:
    """Offer the tools for the length of a block, where they are wanted; yields where they are."""
    if not over_mcp:
        yield None
        return
    tools: Any = import_module("unacked.serve.tools")
    served = tools.ServedTools(stand)
    try:
        yield served.as_json()
    finally:
        served.close()


def _complain(error: Exception) -> None:
    click.echo(f"{error}", err=True)


def _tell(stand: Stand, certificates: Certificates | None, folder: Path) -> None:
    shared = {}
    if certificates is not None:
        authority = folder / "ca.pem"
        authority.write_bytes(certificates.ca_pem)
        shared["ca_file"] = str(authority)
    control = {"control": stand.control_url, "token": stand.control_token, "services": list(stand.services)}
    click.echo(dumps({**control, **shared}))
    for name in stand.services:
        told = {"service": name, "url": stand.url(name), "credential": stand.credential}
        refresh = {"refresh_token": stand.refresh_tokens[name]} if name in stand.refresh_tokens else {}
        click.echo(dumps({**told, **refresh, **shared}))
    for door in stand.doors:
        where = {"host": door.name, "address": "127.0.0.1", "port": door.port, "host_key": door.host_key}
        click.echo(dumps({**where, "password": stand.credential}))
