"""Certificates for one process: an authority of our own, and one that nobody trusts."""

from __future__ import annotations

import importlib
import ssl
from dataclasses import dataclass
from typing import Any

from unacked.errors import HarnessError

__all__ = ["Certificates", "issue_certificates"]


@dataclass(frozen=True, slots=True)
class Certificates:
    """What a server on 127.0.0.1 shows: ``server`` is signed by ``ca_pem``, ``untrusted`` by somebody else."""

    ca_pem: bytes
    server: ssl.SSLContext
    untrusted: ssl.SSLContext

    def client_context(self) -> ssl.SSLContext:
        """Return what a client needs in order to trust the server."""
        return ssl.create_default_context(cadata=self.ca_pem.decode("ascii"))


def issue_certificates() -> Certificates:
    """Make new ones; raises HarnessError where the library for it is not installed."""
    try:
        trustme: Any = importlib.import_module("trustme")
    except ImportError:
        raise HarnessError("TLS needs a library that is not installed\n    hint: install unacked[serve]") from None
    authority, stranger = trustme.CA(), trustme.CA()
    return Certificates(authority.cert_pem.bytes(), _context(authority), _context(stranger))


def _context(authority: Any) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1", "localhost").configure_cert(context)
    return context
