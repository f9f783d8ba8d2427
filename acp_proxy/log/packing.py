"""Packs: frames compressed together, as ``acp-proxy compact`` stores them. No SQL here.

A pack is one frame of Zstandard's. What it holds begins with a line of JSON, an array of
``[seq, size]`` of the frames in it in order, and goes on with their bytes, one after the
other. Of a frame too long for that each piece is a pack of its own, whose first line
tells the size of all of it.
"""

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import orjson

from acp_proxy.errors import LogError

if TYPE_CHECKING:
    import zstandard

PACK_BYTES: Final = 256 * 1024
"""Frames go into one pack up to so many bytes: it is unpacked as a whole, in 0.1 ms.

Measured (docs/long-life.md): with 64 KiB one is unpacked in a quarter of that, and all of them take
a seventh more; a dictionary would gain a seventh too, and all would be lost with it.
"""
PIECE_BYTES: Final = 1024 * 1024
"""A frame longer than a pack is cut into such pieces, so that nobody has to hold all of it."""
LEVEL: Final = 9
"""Of compression: 19 gains a tenth more and takes fifty times as long."""
_MOST: Final = PIECE_BYTES * 4


class BadPackError(LogError):
    """A pack is damaged."""


def pack(frames: Sequence[tuple[int, int, bytes]]) -> bytes:
    """Return frames as one pack.

    Args:
        frames: Seq, size and bytes of each; of a piece of a long one the size is that of all of it.

    """
    sizes = orjson.dumps([[seq, size] for seq, size, _ in frames])
    return _compressor().compress(b"%b\n%b" % (sizes, b"".join([raw for _, _, raw in frames])))


def unpack(data: bytes) -> tuple[list[tuple[int, int]], bytes]:
    """Return seq and size of the frames in a pack, and their bytes.

    Raises:
        BadPackError: It is damaged.

    """
    import zstandard  # noqa: PLC0415 - 10 ms; only compacted connections need it

    try:
        claimed = zstandard.frame_content_size(data)  # damaged, it may claim any
        text = _decompressor().decompress(data) if 0 < claimed <= _MOST else b""
        head, _, rest = text.partition(b"\n")
        return [(int(seq), int(size)) for seq, size in orjson.loads(head)], rest
    except (zstandard.ZstdError, ValueError, TypeError) as error:
        raise BadPackError(f"a pack is damaged ({error})") from error


@functools.cache
def _compressor() -> "zstandard.ZstdCompressor":
    import zstandard  # noqa: PLC0415 - see unpack

    return zstandard.ZstdCompressor(level=LEVEL, write_checksum=True)


@functools.cache
def _decompressor() -> "zstandard.ZstdDecompressor":
    import zstandard  # noqa: PLC0415 - see unpack

    return zstandard.ZstdDecompressor()
