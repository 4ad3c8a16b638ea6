"""The SSH client of ``run_command``: one connection, one order, every wait bounded.

Importing this module imports asyncssh, which is an extra.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

import asyncssh

from unacked.marker import Order
from unacked.tools.client import Timeouts
from unacked.tools.remote import Refused, RemoteExchange, Stage

__all__ = ["Access", "send_order"]

_ACCOUNT = "operator"
_LARGEST_REPORT = 65_536


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """How a host lets an order in: its key, which is the only one trusted, and a credential.

    ``token`` stands in the place of a password; ``client_keys`` are files of private keys. ``address`` is where
    the host is reached, where that is not its name.
    """

    host_key: asyncssh.SSHKey
    token: str | None = None
    client_keys: tuple[str, ...] = ()
    account: str = _ACCOUNT
    address: str | None = None
    port: int = 22


@dataclass
class _Progress:
    """What is known so far; it outlives whatever ends the exchange."""

    stage: Stage = Stage.NOTHING_SENT
    exit_status: int | None = None
    exit_signal: str | None = None
    output: bytearray = field(default_factory=bytearray)


class _Session(asyncssh.SSHClientSession[bytes]):
    def __init__(self, progress: _Progress, sending: Callable[[], None]) -> None:
        self._progress, self._sending = progress, sending

    def connection_made(self, chan: asyncssh.SSHClientChannel[bytes]) -> None:  # noqa: ARG002 - its exchange waits
        """The channel is open, and the order leaves right after this: from here on nothing is certain."""
        self._sending()
        self._progress.stage = Stage.ORDER_SENT

    def data_received(self, data: bytes, datatype: asyncssh.DataType) -> None:
        """Keep what the wrapper says; what the command says is nobody's business here."""
        if datatype is None and len(self._progress.output) < _LARGEST_REPORT:
            self._progress.output += data

    def exit_status_received(self, status: int) -> None:
        """Note how the command ended."""
        self._progress.exit_status = status
        self._progress.stage = Stage.ENDED

    def exit_signal_received(self, signal: str, core_dumped: bool, msg: str, lang: str) -> None:  # noqa: ARG002, FBT001 - the library's form
        """Note what killed the command."""
        self._progress.exit_signal = signal
        self._progress.stage = Stage.ENDED


async def send_order(
    host: str, order: Order, access: Access, timeouts: Timeouts, *, sending: Callable[[], None] = lambda: None
) -> RemoteExchange:
    """Send ``order`` once and return how far it got; never raises for what the network or the host does.

    ``sending`` is called right before the first byte of the order can leave.
    """
    loop = asyncio.get_running_loop()
    began, progress = loop.time(), _Progress()
    refused: Refused | None = None
    error: Exception | None = None
    try:
        async with asyncio.timeout(timeouts.total_s):
            await _exchange(host, order, access, timeouts, progress, sending)
    except asyncssh.PermissionDenied as caught:
        refused, error = Refused.CREDENTIAL, caught
    except asyncssh.ChannelOpenError as caught:
        # Said in so many words; a link that ends meanwhile is another matter.
        said_no = caught.code in (asyncssh.OPEN_REQUEST_SESSION_FAILED, asyncssh.OPEN_ADMINISTRATIVELY_PROHIBITED)
        refused, error = (Refused.ORDER if said_no else None), caught
    except Exception as caught:  # noqa: BLE001 - unknown by default: whatever it was, the stage decides
        error = caught
    return RemoteExchange(
        progress.stage,
        loop.time() - began,
        refused,
        progress.exit_status,
        progress.exit_signal,
        progress.output.decode("utf-8", "backslashreplace"),
        isinstance(error, TimeoutError),
        None if error is None else (type(error).__name__, str(error)),
    )


async def _exchange(
    host: str, order: Order, access: Access, timeouts: Timeouts, progress: _Progress, sending: Callable[[], None]
) -> None:
    connection = await asyncssh.connect(
        access.address or host,
        access.port,
        username=access.account,
        password=access.token,
        client_keys=list(access.client_keys) or None,
        known_hosts=([access.host_key.convert_to_public()], [], []),
        server_host_key_algs=[access.host_key.get_algorithm()],
        preferred_auth="publickey" if access.client_keys else "password",
        agent_path=None,
        config=None,
        gss_host=None,
        connect_timeout=timeouts.connect_s,
        login_timeout=timeouts.read_s,
        keepalive_interval=0,
    )
    try:
        chan, _ = await connection.create_session(
            lambda: _Session(progress, sending), order.command_line, encoding=None
        )
        await chan.wait_closed()
    finally:
        connection.abort()
