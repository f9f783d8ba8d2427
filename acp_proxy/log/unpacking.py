"""Reading compacted frames: where in which pack one is, and its bytes.

A frame whose row has no bytes stands in a pack (``log.packing``); a frame that is one
has at least a byte. Packs are looked for with the connection whose query met the row:
it sees both as they were at one moment, whoever compacts or undoes that meanwhile.
"""

import contextlib
import sqlite3
from collections import OrderedDict
from typing import TYPE_CHECKING, NamedTuple

from acp_proxy.errors import LogError
from acp_proxy.log.packing import BadPackError, unpack
from acp_proxy.log.rows import frame_id, place_of

if TYPE_CHECKING:
    from collections.abc import Iterator

FUNCTION = "unpacked"
"""The SQL function that gives the bytes of a frame whose row has none."""
_KEPT_PACKS = 4
_ALL = 1 << 62
_PACK = "SELECT frame_id, data FROM packs WHERE frame_id <= ? ORDER BY frame_id DESC, part LIMIT 1"
PIECES = "SELECT data FROM packs WHERE frame_id = ? ORDER BY part"
"""The packs of one frame, its bytes in order when it is a long one."""


class _Pack(NamedTuple):
    """An unpacked pack: where the bytes of each frame begin, and how long they are."""

    places: dict[int, tuple[int, int]]
    bytes: bytes


_NOWHERE = (1, _ALL)
_NO_PACK = _Pack({}, b"")


class Unpacker:
    """Reads packs of one opened log, of which it keeps the last few.

    Args:
        path: The log, for errors.
        db: The log.

    """

    def __init__(self, path: str, db: sqlite3.Connection) -> None:
        self._path = path
        self._db = db
        self._packs: OrderedDict[int, _Pack] = OrderedDict()
        self._last = _NO_PACK
        self._damage: LogError | None = None
        db.create_function(FUNCTION, 1, self._for_sql)

    def frame(self, id_: int, most: int) -> tuple[bytes, int] | None:
        """Return the first bytes of a frame, at most so many, and its size; None when no pack has it.

        Raises:
            LogError: Its pack is damaged.

        """
        pack = self._last
        if id_ not in pack.places:
            pack = self._last = self._find(id_) or _NO_PACK
        place = pack.places.get(id_)
        if place is None:
            return None
        begin, size = place
        wanted = min(size, most)
        if begin + wanted <= len(pack.bytes):
            return pack.bytes[begin : begin + wanted], size
        return self._joined(id_, wanted), size  # the pack has but its first piece

    def begin_of(
        self, id_: int, whole: int, begin: int, *, checked: bool = True
    ) -> tuple[bytes, int]:
        """Return what a query tells of a frame whose row has no bytes, and its size.

        Args:
            id_: The frame's key.
            whole: Up to which size all of it is told.
            begin: How many bytes of a longer one.
            checked: Whether to refuse a pack that is damaged; else there is nothing in it.

        """
        pack = self._last
        at, size = pack.places.get(id_, _NOWHERE)
        if size <= whole and at + size <= len(pack.bytes):  # the next one of a pack, nearly always
            return pack.bytes[at : at + size], size
        try:
            _, size = self.frame(id_, 0) or (b"", 0)
            return self.frame(id_, whole if size <= whole else begin) or (b"", 0)
        except LogError:
            if checked:
                raise
            return b"", 0

    @contextlib.contextmanager
    def telling(self) -> "Iterator[None]":
        """In this context, a query that met a damaged pack says so."""
        try:
            yield
        except sqlite3.OperationalError:
            if self._damage is not None:
                raise self._damage from None
            raise

    def pieces(self, id_: int, *, checked: bool = True) -> "Iterator[bytes]":
        """Yield all bytes of a frame, nothing when no pack has it.

        Raises:
            LogError: A pack is damaged. Unless ``checked``: then what comes ends there.

        """
        try:
            yield from self._pieces(id_)
        except LogError:
            if checked:
                raise

    def _pieces(self, id_: int) -> "Iterator[bytes]":
        found = self.frame(id_, 0)
        if found is None:
            return
        begin, size = self._last.places[id_]
        if begin + size <= len(self._last.bytes):
            yield self._last.bytes[begin : begin + size]
            return
        for (data,) in self._db.execute(PIECES, (id_,)):  # one statement: all of one moment
            yield self._unpack(id_, data)[1]

    def _joined(self, id_: int, wanted: int) -> bytes:
        joined = bytearray()
        for piece in self.pieces(id_):
            joined += piece
            if len(joined) >= wanted:
                break
        return bytes(joined[:wanted])

    def _find(self, id_: int) -> _Pack | None:
        try:
            row = self._db.execute(_PACK, (id_,)).fetchone()
        except sqlite3.OperationalError as error:
            if not str(error).startswith("no such table"):  # an older log has none
                raise
            return None
        connection_id, _ = place_of(id_)
        if row is None or place_of(row[0])[0] != connection_id:
            return None
        first, data = row
        if first in self._packs:
            self._packs.move_to_end(first)
            return self._packs[first]
        sizes, raw = self._unpack(first, data)
        places = {}
        base, begin = frame_id(connection_id, 0), 0
        for seq, size in sizes:
            places[base + seq] = begin, size
            begin += size
        pack = self._packs[first] = _Pack(places, raw)
        if len(self._packs) > _KEPT_PACKS:
            self._packs.popitem(last=False)
        return pack

    def _unpack(self, first: int, data: bytes) -> tuple[list[tuple[int, int]], bytes]:
        try:
            return unpack(data)
        except BadPackError as error:
            connection_id, seq = place_of(first)
            raise LogError(
                f"{self._path} is damaged: the pack of frame {seq} of connection {connection_id} "
                f"cannot be read ({error.why})",
                "acp-proxy verify lists what is damaged",
            ) from error

    def _for_sql(self, id_: int) -> bytes:
        try:
            return self.begin_of(id_, _ALL, _ALL)[0]
        except LogError as error:  # SQLite would say but that something was raised
            self._damage = error
            raise
