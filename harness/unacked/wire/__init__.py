"""The wire between a tool's HTTP client and a fake service: real bytes, virtual time, planned faults.

message      what a service sees of a request, and what it answers
script       the bytes of one answer and when they come, whole or broken by a fault
connection   the server's side of one connection: bytes in, a schedule of bytes out; no input or output
simulated    the network that an HTTP client is given: the connections on the virtual clock
loopback     the same connections on real sockets: peer (one of them), listener (a port), arrival (which
             call a request is), knock (a port that answers nobody), certificates; all imported by their
             own names, for most runs need no real socket
"""

from unacked.wire.connection import Segment, ServerConnection, Uplink
from unacked.wire.message import Handler, Request, Response
from unacked.wire.simulated import SimulatedNetwork

__all__ = ["Handler", "Request", "Response", "Segment", "ServerConnection", "SimulatedNetwork", "Uplink"]
