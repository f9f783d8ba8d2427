"""The bytes of frames too long to be held, piece by piece, whatever this SQLite can.

Later versions of SQLite (3.53 does, 3.50 did not) refuse incremental reading and writing on tables with
generated columns, which ``frames`` is. There a long frame is written into packs at once,
as ``compact`` would do it; one that an older SQLite wrote into its row is read whole.
"""

import sqlite3
from typing import TYPE_CHECKING, Final

from acp_proxy.errors import LogError
from acp_proxy.log.packing import PIECE_BYTES, pack, unpack
from acp_proxy.log.rows import place_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

INSERT_PACK: Final = (
    "INSERT INTO packs (frame_id, part, frames, bytes, data) VALUES (?, ?, ?, ?, ?)"
)


def _is_incremental() -> bool:
    """Tell whether this SQLite reads and writes such tables piece by piece."""
    db = sqlite3.connect(":memory:")
    try:
        db.execute("CREATE TABLE frames (id INTEGER PRIMARY KEY, raw BLOB, seq AS (id))")
        db.execute("INSERT INTO frames (id, raw) VALUES (1, x'00')")
        db.blobopen("frames", "raw", 1, readonly=True).close()
    except sqlite3.OperationalError:
        return False
    finally:
        db.close()
    return True


INCREMENTAL = _is_incremental()
"""Whether SQLite goes through a frame's row piece by piece; costs 0.2 ms to find out."""


def pieces(db: sqlite3.Connection, id_: int) -> "Iterator[bytes]":
    """Yield the bytes in a frame's row; nothing when they stand in packs, or there is no such frame.

    Raises:
        sqlite3.Error: The log cannot be read.

    """
    if INCREMENTAL:
        with db.blobopen("frames", "raw", id_, readonly=True) as blob:
            while piece := blob.read(PIECE_BYTES):
                yield piece
        return
    for (raw,) in db.execute("SELECT raw FROM frames WHERE id = ?", (id_,)).fetchall():
        for at in range(0, len(raw), PIECE_BYTES):
            yield raw[at : at + PIECE_BYTES]


def fill(db: sqlite3.Connection, id_: int, size: int, given: "Iterable[bytes]") -> None:
    """Store the bytes of a frame whose row is there with none, in a transaction.

    Args:
        db: The log.
        id_: The frame's key.
        size: How many bytes.
        given: They, in pieces.

    Raises:
        sqlite3.Error: The log cannot be written.

    """
    if not INCREMENTAL:
        into_packs(db, id_, size, given)
        return
    db.execute("UPDATE frames SET raw = zeroblob(?) WHERE id = ?", (size, id_))
    with db.blobopen("frames", "raw", id_) as blob:
        for piece in given:
            blob.write(piece)


def into_packs(db: sqlite3.Connection, id_: int, size: int, given: "Iterable[bytes]") -> None:
    """Store the bytes of a frame in packs of its own, in a transaction; its row is left as it is.

    Raises:
        LogError: A pack does not hold what was put into it.
        sqlite3.Error: The log cannot be written.

    """
    seq = place_of(id_)[1]
    for part, piece in enumerate(_cut(given)):
        data = pack([(seq, size, piece)])
        if unpack(data)[1] != piece:
            raise LogError("a frame does not come out of a pack", "tell its makers")
        db.execute(INSERT_PACK, (id_, part, int(part == 0), len(piece), data))


def _cut(given: "Iterable[bytes]") -> "Iterator[bytes]":
    """Yield the same bytes in pieces as packs take them."""
    waiting = bytearray()
    for piece in given:
        waiting += piece
        while len(waiting) >= PIECE_BYTES:
            yield bytes(waiting[:PIECE_BYTES])
            del waiting[:PIECE_BYTES]
    if waiting:
        yield bytes(waiting)
