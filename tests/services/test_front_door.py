from __future__ import annotations

import unacked.services


def test_every_public_name_is_there_and_in_order() -> None:
    assert list(unacked.services.__all__) == sorted(unacked.services.__all__)
    assert all(hasattr(unacked.services, name) for name in unacked.services.__all__)
