"""The table by which redaction is measured: shapes by places, and whether a piece survived."""

import base64
import binascii
import html
import re
import zlib
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import unquote

from acp_proxy.redaction.redactor import Redactor
from tests.redaction.conversations import CONVERSATIONS, OPENING, SOURCES
from tests.redaction.known_secrets import KNOWN
from tests.redaction.leaks import everything
from tests.redaction.made_up import Shape
from tests.redaction.named_secrets import NAMED
from tests.redaction.places import Frames
from tests.redaction.vendor_secrets import VENDORS

TABLE = [*VENDORS, *NAMED, *KNOWN]
SHAPES = {f"{shape.group}: {shape.name}": shape for shape in TABLE}
# Where everything is blanked whatever it is, so that no innocent can stay there.
BLANKETS = frozenset({"environment of a server", "headers of a server", "elicitation"})

_LONG = 16  # characters of a secret from which on a piece of eight says enough of it
_PIECE, _SHORTEST = 8, 5
_MANY = 200  # characters from which on not every piece is looked for
_NOISE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|[\s\\\"'`]+")
_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})|\\x([0-9a-fA-F]{2})")
_RUN = re.compile(r"[A-Za-z0-9+/_-]{11,}")
_TAG = re.compile(r"(?s)<style>.*?</style>|<[^<>]*>")


class Pair(NamedTuple):
    """A shape in a place."""

    shape: str
    place: str

    def frames(self) -> Frames:
        """Return the conversation; what gives a known secret away comes in its middle."""
        shape = SHAPES[self.shape]
        frames = CONVERSATIONS[self.place](shape.text)
        if shape.source:
            frames[OPENING:OPENING] = SOURCES[shape.source](shape.value)
        return frames


def pairs(
    group: str | None = None, shape: str | None = None, place: str | None = None, every: int = 1
) -> list[Pair]:
    """Return pairs of the table, or an evenly mixed part of them.

    Args:
        group: Only shapes of this group.
        shape: Only shapes whose name contains this.
        place: Only places whose name contains this.
        every: Only one pair of so many, always the same.

    """
    return [
        Pair(label, where)
        for label, entry in SHAPES.items()
        if group in (None, entry.group) and (shape or "") in label
        for where in CONVERSATIONS
        if (place or "") in where and zlib.crc32(f"{label}/{where}".encode()) % every == 0
    ]


def blanked(frames: Frames) -> list[bytes]:
    """Return what an export holds of the frames of a connection."""
    redactor = Redactor()
    numbered = [(seq, stream, raw) for seq, (stream, raw) in enumerate(frames, 1)]
    redactor.learn(lambda: numbered)
    return [redactor.redact_frame(stream, raw, seq) for seq, stream, raw in numbered]


def flat(text: str) -> str:
    """Return text without what may stand between two characters of a secret."""
    return _NOISE.sub("", text)


def pieces(secret: str) -> set[str]:
    """Return the pieces of a secret none of which may survive, flat."""
    whole = flat(secret)
    size = _PIECE if len(whole) >= _LONG else max(_SHORTEST, -(-len(whole) // 2))
    step = 1 if len(whole) <= _MANY else size // 2
    return {whole[at : at + size] for at in range(0, max(len(whole) - size, 0) + 1, step)}


def survivors(shape: Shape, said: str) -> set[str]:
    """Return the pieces of a shape's secrets that a text says, in whatever writing."""
    wanted = {piece for secret in shape.secrets for piece in pieces(secret)}
    return {piece for piece in wanted if any(piece in form for form in _forms(said))}


def of_frames(frames: Iterable[bytes]) -> str:
    """Return all that frames say, joined where it was cut."""
    return everything(list(frames))


def of_page(page: str) -> str:
    """Return what an HTML page shows, with what its attributes say."""
    return f"{page}\n{html.unescape(_TAG.sub('', page))}"


@lru_cache(maxsize=2)
def _forms(said: str) -> tuple[str, ...]:
    """Return a text as it is and decoded from each writing that occurs in it."""
    return tuple(_each_form(said))


def _each_form(said: str) -> Iterator[str]:
    yield flat(said)
    for text in dict.fromkeys([said, html.unescape(said), unquote(said), unquote(unquote(said))]):
        if text != said:
            yield flat(text)
        if "\\" in text:
            yield flat(_ESCAPE.sub(lambda match: chr(int(match[1] or match[2], 16)), text))
    yield "\n".join(flat(found) for found in _decoded(flat(said)))


def _decoded(text: str) -> Iterator[str]:
    """Yield what every run of base64 says, at each of its four alignments."""
    for run in set(_RUN.findall(text)):
        for shift in range(4):
            some = run[shift:].replace("-", "+").replace("_", "/")
            some = some[: len(some) - len(some) % 4]
            try:
                found = base64.b64decode(some).decode("latin-1")
            except (binascii.Error, ValueError):
                continue
            yield found
            if shift == 0 and _RUN.fullmatch(found):
                yield from _decoded(found)
