"""Whether the log's record of a connection is whole, and what is derived is what the frames give.

Reads one connection at a time, in one pass; says what is wrong, changes nothing.
"""

import hashlib
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from acp_proxy.advance import Advance, counted, unwatched
from acp_proxy.log import checksums
from acp_proxy.log.rows import STREAMS, ConnectionRow, FrameRow, Gaps, IndexRow
from acp_proxy.state.columns import TABLES
from acp_proxy.state.following import Follower
from acp_proxy.state.snapshot import VERSION
from acp_proxy.wire.framing import Frame
from acp_proxy.wire.jsonrpc import Direction

if TYPE_CHECKING:
    from acp_proxy.log.reader import LogReader
    from acp_proxy.state.following import Derived

_MAX_PROBLEMS = 20
_BATCH = 4 * 1024 * 1024
_FRAME_WEIGHT = 4096
"""What a frame counts beside its bytes for what is compared at once."""
_MENDED = "acp-proxy log reindex mends it"
_KEYS = {"sessions": 1, "turns": 2, "tool_calls": 2, "terminals": 3, "permissions": 2}  # columns


def problems_of(log: "LogReader", connection: str | int, advance: Advance = unwatched) -> list[str]:
    """Return what is wrong with a connection's record; nothing when it is whole.

    Args:
        log: The log.
        connection: Which connection.
        advance: Is told of each frame.

    Raises:
        QueryError: There is no such connection.
        LogError: The log cannot be read.

    """
    row = log.connection(connection)
    try:
        return _Check(log, row).run(advance)
    except RecursionError:
        return ["what is stored is nested too deep to be checked"]
    except (ValueError, TypeError, LookupError, AttributeError, OverflowError) as error:
        # What page stands where is beyond all checks: values of another table may be in the rows.
        return [f"what is stored can never have been written: {error!r}"]


def _digest(text: tuple[Any, ...]) -> bytes:
    """Return what stands for a text: all of them would be too much to hold."""
    return hashlib.blake2b(repr(tuple(text)).encode(), digest_size=12).digest()


class _Check:
    """One connection on its way through."""

    def __init__(self, log: "LogReader", row: ConnectionRow) -> None:
        self._log = log
        self._row = row
        self._problems = _Problems()
        self._follower = Follower()
        self._weight = 0
        self._stored = log.index(row.id)
        self._is_derived = log.derived.is_there(row.id, VERSION)
        self._checkpoints = log.derived.checkpoints(row.id)
        self._parts = log.derived.parts(row.id)
        self._count = 0
        self._texts: dict[int, dict[int, bytes]] = {}
        self._rows: dict[str, dict[tuple[Any, ...], tuple[Any, ...]]] = {
            name: {} for name in TABLES
        }

    def run(self, advance: Advance) -> list[str]:
        problems, row = self._problems, self._row
        hashes = {stream: hashlib.sha256() for stream in STREAMS}
        offsets = dict.fromkeys(STREAMS, 0)
        gaps = {stream: Gaps(row.gaps, stream) for stream in STREAMS}
        frames = 0
        if not row.is_sound:
            problems.add("what is told of the connection itself is not what was recorded")
        for frame in counted(self._log.frames(row.id, checked=False), advance):
            frames += 1
            stream = frame.stream
            offsets[stream] = gaps[stream].skip(offsets[stream])
            if frame.offset != offsets[stream]:
                problems.add(
                    f"frame {frame.seq}: {stream} should go on at byte {offsets[stream]}, "
                    f"this frame says {frame.offset}"
                )
            offsets[stream] = frame.offset + frame.size
            self._check_bytes(frame, hashes[stream])
            self._check_index(frame)
        for seq, _ in self._stored:
            problems.add(f"message {seq}: stands in no frame")
        for stream in STREAMS:
            offsets[stream] = gaps[stream].skip(offsets[stream])
            if offsets[stream] != row.streams[stream]:
                problems.add(
                    f"{stream}: {row.streams[stream]} bytes were relayed, frames reach "
                    f"to {offsets[stream]}"
                )
            if (row.sha256[stream] or hashes[stream].hexdigest()) != hashes[stream].hexdigest():
                problems.add(f"{stream}: the frames do not give the hash {row.sha256[stream]}")
        seq = self._follower.index.seq
        if (frames, seq) != (row.frames, row.messages):
            problems.add(
                f"{row.frames} frames and {row.messages} messages should be there, "
                f"{frames} and {seq} are"
            )
        if self._is_derived:
            self._check_state()
        return problems.texts()

    def _check_bytes(self, frame: FrameRow, hash_: "hashlib._Hash") -> None:
        checksum = frame.checksum()
        for piece in self._log.pieces(frame, checked=False):
            hash_.update(piece)
            checksum = checksums.add(piece, checksum)
        if frame.crc is not None and frame.crc != checksums.finished(checksum):
            self._problems.add(f"frame {frame.seq}: is not what was recorded")

    def _check_index(self, frame: FrameRow) -> None:
        index, problems = self._follower.index, self._problems
        if frame.seq != index.seq + 1:
            problems.add(f"frame {frame.seq}: should have seq {index.seq + 1}")
            self._follower.skip_to(frame.seq - 1)
        whole = Frame(frame.offset, frame.raw or b"", frame.size)
        for seq, *entry in self._follower.add(Direction(frame.stream), whole, frame.elapsed_ns):
            right, found = IndexRow(*entry), next(self._stored, None)
            if found is None or found[0] != seq:
                problems.add(f"message {seq}: is not in the index; {_MENDED}")
            elif found[1] != right:
                wrong = [
                    name
                    for name, a, b in zip(IndexRow._fields, right, found[1], strict=True)
                    if a != b
                ]
                problems.add(
                    f"message {seq}: the frame says something else of {', '.join(wrong)}; {_MENDED}"
                )
        self._weight += frame.size + _FRAME_WEIGHT
        if self._weight >= _BATCH:
            self._weight = 0
            self._check_checkpoints(self._follower.take())

    def _check_checkpoints(self, derived: "Derived") -> None:
        """Compare the checkpoints that were due with the stored ones, and remember the rows."""
        for table, rows in derived.rows.items():
            keys = _KEYS[table]
            self._rows[table].update((row[:keys], row) for row in rows.values())
        for part in derived.void:
            texts = self._texts.pop(part, {})
            self._texts[part] = {place: texts[place] for place in texts if place == 0}
        for text in derived.texts:
            self._texts.setdefault(text.part, {})[text.place] = _digest(text)
        if not self._is_derived:
            return
        for seq, size, parts in derived.checkpoints:
            self._count += len(parts)
            *found, count = next(self._checkpoints, [None])
            if found != [seq, VERSION, size] or count not in (self._count, None):
                self._problems.add(f"message {seq}: a checkpoint is missing or wrong; {_MENDED}")
            wrong = [part.key for part in parts if next(self._parts, None) != tuple(part)]
            if wrong:
                self._problems.add(
                    f"message {seq}: the checkpoint is not what the frames give; {_MENDED}"
                )

    def _check_state(self) -> None:
        problems = self._problems
        if self._row.ended is not None:
            self._follower.end()
        self._check_checkpoints(self._follower.take())
        if next(self._checkpoints, None) is not None or next(self._parts, None) is not None:
            problems.add(f"there are checkpoints that the frames do not give; {_MENDED}")
        for row in self._log.derived.texts(self._row.id):
            if self._texts.get(row[0], {}).pop(row[1], None) != _digest(row):
                problems.add(f"message {row[4]}: a text is not what the frames give; {_MENDED}")
        if any(self._texts.values()):
            problems.add(f"texts are missing; {_MENDED}")
        for table, columns in TABLES.items():
            right = sorted(self._rows[table].items())
            stored = sorted(
                (row[: _KEYS[table]], row)
                for row in self._log.derived.rows(table, columns, self._row.id)
            )
            for mine, found in zip_longest(right, stored):
                if mine != found:
                    key = "/".join(map(str, (mine or found)[0]))
                    problems.add(f"{table}: {key} is not what the frames give; {_MENDED}")
                    break


class _Problems:
    """What was found, the first of it in words and the rest as a number."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._more = 0

    def add(self, text: str) -> None:
        if len(self._texts) < _MAX_PROBLEMS:
            self._texts.append(text)
        else:
            self._more += 1

    def texts(self) -> list[str]:
        return [*self._texts, f"and {self._more} more"] if self._more else self._texts
