"""Text that comes from models, services and files, made fit for a terminal."""

from __future__ import annotations

from unacked.canonical import JSON, dumps

__all__ = ["arguments_text", "printable", "shortened"]


def printable(text: str) -> str:
    """Return ``text`` with every control and format character escaped: no terminal code gets through."""
    return "".join(character if character.isprintable() else _escaped(character) for character in text)


def _escaped(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def shortened(text: str, width: int) -> str:
    """Return ``text`` cut to ``width`` characters, with an ellipsis where something is missing."""
    return text if len(text) <= width else f"{text[: width - 1]}…"


def arguments_text(arguments: dict[str, JSON], width: int = 60) -> str:
    """Return call arguments as ``name=value, name=value``, escaped and each value cut to ``width``."""
    return ", ".join(
        f"{printable(name)}={shortened(printable(dumps(value)), width)}" for name, value in arguments.items()
    )
