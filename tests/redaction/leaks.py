"""Whether anything of a secret is left in frames, however it is cut or encoded there."""

import base64
import binascii
import contextlib
import json
import re
from collections.abc import Iterator
from typing import Any

from acp_proxy.redaction.redactor import Redactor
from tests.redaction.places import Frames

_FRAGMENT = 7
_JOINED = ("text", "data", "bytes")


def redacted(frames: Frames) -> list[bytes]:
    """Return what becomes of the frames of a connection."""
    redactor = Redactor()
    numbered = [(seq, stream, raw) for seq, (stream, raw) in enumerate(frames, 1)]
    redactor.learn(lambda: numbered)
    return [redactor.redact_frame(stream, raw, seq) for seq, stream, raw in numbered]


def fragments(secret: str, size: int) -> set[str]:
    """Return the pieces of a secret none of which may be left."""
    flat = _flat(secret)
    return {flat[at : at + size] for at in range(max(len(flat) - size + 1, 1))}


def everything(frames: list[bytes]) -> str:
    """Return all that frames say, joined where it was cut."""
    said = [list(_strings(raw)) for raw in frames]
    every = [text for row in said for _, text in row]
    joined = ["".join(text for row in said for key, text in row if key == of) for of in _JOINED]
    raws = [raw.decode(errors="replace") for raw in frames]
    return "\n".join(_flat(text) for text in [*every, *joined, *raws, "".join(raws)])


def _flat(text: str) -> str:
    """Return text without what may stand between the pieces of a secret."""
    return re.sub(r"\s|other words|\u2502|\x1b\[[0-9;]*[mK]|(?<=\n)[+]", "", text)


def left(secret: str, frames: list[bytes]) -> set[str]:
    """Return the fragments of a secret that frames still say."""
    said = everything(frames)
    return {fragment for fragment in fragments(secret, _FRAGMENT) if fragment in said}


def _strings(raw: bytes) -> Iterator[tuple[str, str]]:
    """Yield what a frame says, each with its key; what is base64 as ``bytes`` too."""
    try:
        yield from _values("", json.loads(raw))
    except ValueError:
        yield "text", raw.decode(errors="replace")


def _values(of: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield of, value
        if value[:1] in ("{", "["):
            with contextlib.suppress(ValueError):
                yield from _values("", json.loads(value))
        with contextlib.suppress(binascii.Error, ValueError):
            yield "bytes", base64.b64decode(value, validate=True).decode(errors="replace")
    elif isinstance(value, dict):
        for key, member in value.items():
            yield "", key
            yield from _values(key, member)
    elif isinstance(value, list):
        for member in value:
            yield from _values("", member)
