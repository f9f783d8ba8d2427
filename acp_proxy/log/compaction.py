"""Compacting connections, and undoing it: frames into packs, a slice at a time.

A slice writes packs and takes the bytes out of the rows of the frames in them, in one
transaction; so at any moment each frame's bytes are in one of the two places, and
whoever was killed in the middle goes on by doing the same again. A pack is unpacked and
compared before the bytes that it replaces go.
"""

import contextlib
from typing import TYPE_CHECKING, NamedTuple

from acp_proxy.advance import Advance, unwatched
from acp_proxy.errors import LogError
from acp_proxy.log import blobs, parts, schema
from acp_proxy.log.packing import PACK_BYTES, BadPackError, pack, unpack
from acp_proxy.log.rewriting import rewrite
from acp_proxy.log.rows import frame_id, frame_range, place_of
from acp_proxy.log.unpacking import PIECES
from acp_proxy.log.upkeep import has_ended

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from acp_proxy.log.upkeep import Upkeep

_MOST_FRAMES = 4096
_SAMPLES = 8
_OF = "BETWEEN ? AND ?"
_SIZES = f"SELECT id, length(raw) FROM frames WHERE id {_OF} ORDER BY id"
_RAWS = f"SELECT id, raw FROM frames WHERE id {_OF} ORDER BY id"
_IDS = f"SELECT id FROM frames WHERE id {_OF} ORDER BY id"
_NEXT = (
    f"SELECT frame_id, data FROM packs WHERE frame_id {_OF} AND part = 0 ORDER BY frame_id LIMIT 1"
)


class Standing(NamedTuple):
    """How much of a connection is compacted.

    Attributes:
        frames: How many of its frames are.
        bytes: What these were.
        packed_bytes: What they are now.

    """

    frames: int
    bytes: int
    packed_bytes: int


def standings(path: str) -> dict[int, Standing]:
    """Return how much of each connection is compacted, of those of which anything is.

    Raises:
        LogError: The log cannot be read.

    """
    with contextlib.closing(schema.open_for_reading(path)) as db, schema.explaining(path):
        if not schema.has_column(db, "packs", "bytes"):  # an older log
            return {}
        rows = db.execute(
            "SELECT frame_id >> 32, sum(frames), sum(bytes), sum(length(data)) FROM packs GROUP BY 1"
        )
        return {id_: Standing(*numbers) for id_, *numbers in rows}


def sampled_ratio(path: str, connection_ids: "Sequence[int]") -> float | None:
    """Return how large packs of connections would be, as a part of their frames; a few ms.

    Packs some of their frames, and throws that away. None when there are none to pack.

    Raises:
        LogError: The log cannot be read.

    """
    plain = packed = 0
    with contextlib.closing(schema.open_for_reading(path)) as db, schema.explaining(path):
        for id_ in connection_ids[:_SAMPLES]:
            first, last = frame_range(id_)
            [(middle,)] = db.execute(
                "SELECT frames / 2 FROM connections WHERE id = ?", (id_,)
            ).fetchall() or [(0,)]
            frames = []
            size = 0
            for key, raw in db.execute(_RAWS, (first + middle, last)):
                frames.append((place_of(key)[1], len(raw), raw))
                size += len(raw)
                if size >= PACK_BYTES or len(frames) == _MOST_FRAMES:
                    break
            if size:
                plain += size
                packed += len(pack(frames))
    return packed / plain if plain else None


def bytes_to_do(upkeep: "Upkeep", connection_ids: "Iterable[int]", *, undo: bool) -> int:
    """Return how many bytes ``compact`` or ``undo`` of connections will go through.

    Raises:
        LogError: The log cannot be read.

    """
    plain = "sum(length(raw)) FROM frames WHERE id"
    what = "sum(length(data)) FROM packs WHERE frame_id" if undo else plain
    total = 0
    with schema.explaining(upkeep.path):
        for id_ in connection_ids:
            [(found,)] = upkeep.db.execute(f"SELECT {what} {_OF}", frame_range(id_))
            total += (found or 0) + parts.bytes_to_do(upkeep.db, id_, undo=undo)
    return total


def compact(upkeep: "Upkeep", connection_id: int, advance: Advance = unwatched) -> None:
    """Compact a connection that has ended.

    Args:
        upkeep: The log.
        connection_id: Which.
        advance: Is told of the bytes of its frames, and of its checkpoints.

    Raises:
        LogError: The log cannot be written, or the connection cannot be compacted.

    """
    parts.compact(upkeep, connection_id, advance)  # first: when all frames are in packs all is done
    upkeep.in_slices(_Compacting(upkeep, connection_id, advance).step)


def undo(upkeep: "Upkeep", connection_id: int, advance: Advance = unwatched) -> None:
    """Store a connection's frames as they were before they were compacted.

    Args:
        upkeep: The log.
        connection_id: Which.
        advance: Is told of the bytes of its packs, and of its compacted checkpoints.

    Raises:
        LogError: The log cannot be written, or a pack is damaged; what can be read is undone.

    """
    parts.undo(upkeep, connection_id, advance)
    undoing = _Undoing(upkeep, connection_id, advance)
    upkeep.in_slices(undoing.step)
    if undoing.damaged:
        raise LogError(
            f"damaged packs of connection {connection_id}: {undoing.damaged}; the rest is undone",
            "acp-proxy verify lists what is damaged",
        )


class _Compacting:
    """One connection's frames on their way into packs; amounts are KiB."""

    def __init__(self, upkeep: "Upkeep", connection_id: int, advance: Advance) -> None:
        self._db = upkeep.db
        self._id = connection_id
        self._advance = advance
        self._next, self._last = frame_range(connection_id)

    def step(self, amount: int) -> int:
        if not has_ended(self._db, self._id):
            return 0
        done = 0
        emptied: list[tuple[bytes, int]] = []
        for run in self._runs(amount * 1024):
            if run.size > PACK_BYTES:
                self._pack_long(run)
            else:
                self._pack(run)
            emptied += ((b"", id_) for (id_,) in self._db.execute(_IDS, (run.first, run.last)))
            done += run.size
            self._advance(run.size)
        rewrite(self._db, "frames", ("raw",), emptied)
        return -(-done // 1024)

    def _runs(self, most: int) -> list["_Run"]:
        """Return what goes into a pack each, about so many bytes of it.

        What is compacted already, by somebody who was killed, ends a run: a frame is looked
        for in the last pack that begins before it.
        """
        runs: list[_Run] = []
        run: _Run | None = None
        total = 0
        begin, self._next = self._next, self._last + 1
        for id_, size in self._db.execute(_SIZES, (begin, self._last)):
            if run is not None and not run.takes(size):
                runs.append(run)
                run = None
                if total >= most:
                    self._next = id_
                    break
            if size:
                total += size
                run = _Run(id_, id_, size, 1) if run is None else run.with_frame(id_, size)
        if run is not None:
            runs.append(run)
        return runs

    def _pack(self, run: "_Run") -> None:
        frames = [
            (place_of(id_)[1], len(raw), raw)
            for id_, raw in self._db.execute(_RAWS, (run.first, run.last))
        ]
        data = pack(frames)
        if unpack(data) != ([frame[:2] for frame in frames], b"".join(raw for *_, raw in frames)):
            raise LogError("frames do not come out of a pack as they went in", "tell its makers")
        self._db.execute(blobs.INSERT_PACK, (run.first, 0, run.frames, run.size, data))

    def _pack_long(self, run: "_Run") -> None:
        """Put a frame too long to be held into packs of its own."""
        given = blobs.pieces(self._db, run.first)
        blobs.into_packs(self._db, run.first, run.size, given)


class _Run(NamedTuple):
    """Frames that follow each other: their keys, their bytes, how many they are."""

    first: int
    last: int
    size: int
    frames: int

    def takes(self, size: int) -> bool:
        """Tell whether a frame of so many bytes may follow; one without any is in a pack already."""
        return 0 < size <= PACK_BYTES - self.size and self.frames < _MOST_FRAMES

    def with_frame(self, id_: int, size: int) -> "_Run":
        return _Run(self.first, id_, self.size + size, self.frames + 1)


class _Undoing:
    """One connection's frames on their way back; amounts are KiB."""

    def __init__(self, upkeep: "Upkeep", connection_id: int, advance: Advance) -> None:
        self._db = upkeep.db
        self._id = connection_id
        self._advance = advance
        self._next, self._last = frame_range(connection_id)
        self.damaged = 0

    def step(self, amount: int) -> int:
        done = 0
        while done < amount and has_ended(self._db, self._id):
            row = self._db.execute(_NEXT, (self._next, self._last)).fetchone()
            if row is None:
                break
            first, data = row
            self._next = first + 1
            try:
                self._restore(first, data)
            except BadPackError:
                self.damaged += 1
            done += 1 + len(data) // 128
        return done

    def _restore(self, first: int, data: bytes) -> None:
        sizes, raw = unpack(data)
        if sum(size for _, size in sizes) > len(raw):
            self._restore_long(first, sizes[0][1])
        else:
            base, begin = frame_id(self._id, 0), 0
            rows = []
            for seq, size in sizes:
                rows.append((raw[begin : begin + size], base + seq))
                begin += size
            rewrite(self._db, "frames", ("raw",), rows)
            self._advance(len(data))
        self._db.execute("DELETE FROM packs WHERE frame_id = ?", (first,))

    def _restore_long(self, first: int, size: int) -> None:
        """Give a long frame's row its bytes again; at once where SQLite does not do it bit by bit."""
        if blobs.INCREMENTAL:
            blobs.fill(self._db, first, size, self._unpacked(first))
        else:
            rewrite(self._db, "frames", ("raw",), [(b"".join(self._unpacked(first)), first)])

    def _unpacked(self, first: int) -> "Iterator[bytes]":
        for (data,) in self._db.execute(PIECES, (first,)):
            yield unpack(data)[1]
            self._advance(len(data))
