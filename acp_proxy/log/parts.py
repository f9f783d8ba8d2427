"""Compacting the parts of checkpoints, and reading them: each row for itself.

A row says in ``packed`` how its head and tail are stored: not at all (null), by Zstandard
alone, or with the connection's own dictionary. A dictionary holds pieces of the
conversation, so it belongs to one connection and goes with it. If it is lost nothing
is: parts are derived from the frames.
"""

import sqlite3
from typing import TYPE_CHECKING, Final

from acp_proxy.advance import Advance
from acp_proxy.log.rewriting import rewrite
from acp_proxy.log.upkeep import has_ended

if TYPE_CHECKING:
    from collections.abc import Callable

    import zstandard

    from acp_proxy.log.upkeep import Upkeep

PLAIN_HEAD: Final = (
    "CASE WHEN packed IS NULL THEN head ELSE plain_head(connection_id, packed, head) END"
)
"""A part's head as it was before it was compacted, in SQL, for who has a PartUnpacker."""
ALONE: Final = 1
WITH_DICTIONARY: Final = 2
_LEVEL: Final = 9
_DICTIONARY_BYTES: Final = 64 * 1024
_SAMPLES: Final = 4000
_WORTH_BYTES: Final = 16 * _DICTIONARY_BYTES
"""A connection whose parts take less gets no dictionary."""
_MOST: Final = 1 << 30
_ONE = "SELECT head, tail, packed FROM checkpoint_parts WHERE rowid = ? AND connection_id = ?"
_DAMAGED: Final = b"\0damaged"
"""What a part that cannot be read is told as: its checksum is wrong."""


class PartUnpacker:
    """Reads the parts of one opened log.

    Args:
        db: The log.

    """

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._key = (-1, -1)
        db.create_function("plain_head", 3, self._plain_head)
        self._decompress: Callable[[bytes], bytes] = bytes

    def plain(
        self, connection_id: int, packed: int, head: bytes | None, tail: bytes | None
    ) -> tuple[bytes | None, bytes | None]:
        """Return head and tail as they were before they were compacted; others when damaged."""
        if self._key != (connection_id, packed):
            self._decompress = _decompress(self._db, connection_id, packed)
            self._key = connection_id, packed
        decompress = self._decompress
        return head and decompress(head), tail and decompress(tail)

    def _plain_head(self, connection_id: int, packed: int, head: bytes | None) -> bytes | None:
        return self.plain(connection_id, packed, head, None)[0]


def _decompress(
    db: sqlite3.Connection, connection_id: int, packed: int
) -> "Callable[[bytes], bytes]":
    """Return what decompresses the parts of a connection."""
    import zstandard  # noqa: PLC0415 - 10 ms; only compacted connections need it

    words = _dictionary(db, connection_id, packed)
    size_of, decompress = (
        zstandard.frame_content_size,
        zstandard.ZstdDecompressor(dict_data=words).decompress,
    )

    def one(value: bytes) -> bytes:
        try:
            return decompress(value) if 0 <= size_of(value) <= _MOST else _DAMAGED
        except zstandard.ZstdError:
            return _DAMAGED

    return one


def bytes_to_do(db: sqlite3.Connection, connection_id: int, *, undo: bool) -> int:
    """Return how many bytes ``compact`` or ``undo`` will go through."""
    sql = (
        "SELECT sum(coalesce(length(head), 0) + coalesce(length(tail), 0)) FROM checkpoint_parts "
        f"WHERE connection_id = ? AND packed IS {'NOT ' if undo else ''}NULL"
    )
    [(found,)] = db.execute(sql, (connection_id,))
    return found or 0


def compact(upkeep: "Upkeep", connection_id: int, advance: Advance) -> None:
    """Compact the parts of a connection's checkpoints.

    Args:
        upkeep: The log.
        connection_id: Whose.
        advance: Is told of the bytes of each part.

    Raises:
        LogError: The log cannot be written.

    """
    with upkeep.transaction():
        if not has_ended(upkeep.db, connection_id):
            return
        packed = _prepare(upkeep.db, connection_id)
    upkeep.in_slices(_Rewriting(upkeep.db, connection_id, packed, advance).step)


def undo(upkeep: "Upkeep", connection_id: int, advance: Advance) -> None:
    """Store the parts of a connection's checkpoints as they were.

    Args:
        upkeep: The log.
        connection_id: Whose.
        advance: Is told of the bytes of each part, as they were stored.

    Raises:
        LogError: The log cannot be written.

    """
    upkeep.in_slices(_Rewriting(upkeep.db, connection_id, None, advance).step)
    with upkeep.transaction():
        upkeep.db.execute("DELETE FROM dictionaries WHERE connection_id = ?", (connection_id,))


def _prepare(db: sqlite3.Connection, connection_id: int) -> int:
    """Give a connection a dictionary if that pays; return how its parts are to be stored."""
    import zstandard  # noqa: PLC0415 - see PartUnpacker

    has = db.execute("SELECT 1 FROM dictionaries WHERE connection_id = ?", (connection_id,))
    if has.fetchone() is not None:
        return WITH_DICTIONARY
    [(rows, size)] = db.execute(
        "SELECT count(*), sum(coalesce(length(head), 0) + coalesce(length(tail), 0)) "
        "FROM checkpoint_parts WHERE connection_id = ? AND packed IS NULL",
        (connection_id,),
    )
    if (size or 0) < _WORTH_BYTES:
        return ALONE
    samples = [
        value
        for pair in db.execute(
            "SELECT head, tail FROM checkpoint_parts WHERE connection_id = ? AND packed IS NULL "
            "AND rowid % ? = 0",
            (connection_id, max(1, rows // _SAMPLES)),
        )
        for value in pair
        if value and len(value) <= _DICTIONARY_BYTES
    ]
    try:
        words = zstandard.train_dictionary(_DICTIONARY_BYTES, samples).as_bytes()
    except zstandard.ZstdError:  # too few, or all alike
        return ALONE
    db.execute("INSERT INTO dictionaries VALUES (?, ?)", (connection_id, words))
    return WITH_DICTIONARY


def _dictionary(
    db: sqlite3.Connection, connection_id: int, packed: int
) -> "zstandard.ZstdCompressionDict | None":
    import zstandard  # noqa: PLC0415 - see PartUnpacker

    if packed != WITH_DICTIONARY:
        return None
    sql = "SELECT data FROM dictionaries WHERE connection_id = ?"
    row = db.execute(sql, (connection_id,)).fetchone()
    return None if row is None else zstandard.ZstdCompressionDict(row[0])


class _Rewriting:
    """The parts of one connection on their way to another form; amounts are rows.

    Args:
        db: The log.
        connection_id: Whose.
        packed: The form, as in ``packed``.
        advance: Is told of the bytes of each, as they were stored.

    """

    def __init__(
        self, db: sqlite3.Connection, connection_id: int, packed: int | None, advance: Advance
    ) -> None:
        import zstandard  # noqa: PLC0415 - see PartUnpacker

        self._db = db
        self._id = connection_id
        self._packed = packed
        self._advance = advance
        self._unpacker = PartUnpacker(db)
        sql = "SELECT rowid FROM checkpoint_parts WHERE connection_id = ? AND packed IS NOT ?"
        self._left = sorted(
            (id_ for (id_,) in db.execute(sql, (connection_id, packed))), reverse=True
        )
        words = _dictionary(db, connection_id, packed or ALONE)
        if words is not None:
            words.precompute_compress(level=_LEVEL)
        self._compressor = zstandard.ZstdCompressor(level=_LEVEL, dict_data=words)

    def step(self, amount: int) -> int:
        if not has_ended(self._db, self._id):
            return 0
        ids = [self._left.pop() for _ in range(min(amount, len(self._left)))]
        changed = []
        done = 0
        for id_ in ids:
            for head, tail, packed in self._db.execute(_ONE, (id_, self._id)):
                plain = (head, tail)
                done += sum(len(value) for value in plain if value)
                if packed is not None:
                    plain = self._unpacker.plain(self._id, packed, head, tail)
                if not any(value is _DAMAGED for value in plain):
                    changed.append((*map(self._stored, plain), self._packed, id_))
        rewrite(self._db, "checkpoint_parts", ("head", "tail", "packed"), changed)
        self._advance(done)
        return len(ids)

    def _stored(self, plain: bytes | None) -> bytes | None:
        if self._packed is None or not plain:
            return plain
        return self._compressor.compress(plain)
