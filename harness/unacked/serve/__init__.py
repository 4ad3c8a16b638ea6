"""Fake services for clients that are not ours: on real ports, with a control API that the agent never sees.

offer     which services are served, from which seeds, and with which faults
stand     the services while they are served, and everything that can be done to them
control   the control API: HTTP on the same server, behind a token
openapi   the document of one service, read off its routes and the contracts of its tools
"""

from unacked.serve.offer import Offer, offer_case, offer_suite, with_seeds
from unacked.serve.openapi import openapi
from unacked.serve.stand import Stand

__all__ = ["Offer", "Stand", "offer_case", "offer_suite", "openapi", "with_seeds"]
