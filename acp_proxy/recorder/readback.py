"""Whether the log has what a journal held: asked on a fresh connection, before the journal goes.

A file that was truncated, overwritten or lost its write-ahead log under an open connection gives
no error there: SQLite goes on from its cache. Only somebody who opens the log anew sees what is
on the disk. All of the connection's frames are read once, in order: their number, their own
checksums, and a hash of each stream, compared with a hash of what the journal held. That costs
one sequential pass over what was just written, and no parsing.
"""

import hashlib
from typing import TYPE_CHECKING, NamedTuple

from acp_proxy.errors import LogError, QueryError
from acp_proxy.journal.records import Stream
from acp_proxy.log.identity import LogUnavailableError
from acp_proxy.log.reader import LogReader
from acp_proxy.log.rows import STREAMS
from acp_proxy.log.schema import NoLogError

if TYPE_CHECKING:
    from acp_proxy.journal.tail import JournalReader


class Recorded(NamedTuple):
    """What a connection in the log must be.

    Attributes:
        uuid: The connection's.
        sha256: Of the recorded bytes of each stream, in hexadecimal, by the codes of the streams;
            None where only the log's own hashes can be compared (redacted while recording).

    """

    uuid: str
    sha256: tuple[str, ...] | None


def journal_hashes(journal: "JournalReader") -> tuple[str, ...]:
    """Return the SHA-256 of all bytes that a journal has of each stream."""
    hashes = [hashlib.sha256() for _ in STREAMS]
    for record in journal.records():
        if record.stream is not Stream.CONTROL:
            hashes[record.stream].update(record.data)
    return tuple(hash_.hexdigest() for hash_ in hashes)


def difference(log: str, recorded: Recorded) -> str | None:
    """Return what the log lacks of a connection that was recorded, None when it has all of it.

    Args:
        log: Its path.
        recorded: What must be there.

    Raises:
        LogUnavailableError: It cannot be read now.

    """
    try:
        with LogReader(log) as reader, reader.snapshot():
            row = reader.connection(recorded.uuid)
            found = [hashlib.sha256() for _ in STREAMS]
            for frame in reader.frames(row.id):
                for piece in reader.pieces(frame):
                    found[STREAMS.index(frame.stream)].update(piece)
    except LogUnavailableError:
        raise
    except NoLogError:
        return "there is no log any more"
    except QueryError as error:
        return None if _was_pruned(error) else "the connection is not in the log any more"
    except LogError as error:
        return error.why
    if not row.is_sound or row.unreadable:
        return "the connection's row is not what was recorded"
    hashes = tuple(hash_.hexdigest() for hash_ in found)
    right = recorded.sha256 or tuple(row.sha256[stream] or "" for stream in STREAMS)
    wrong = [name for name, a, b in zip(STREAMS, hashes, right, strict=True) if a != b]
    return f"the log has other bytes of: {', '.join(wrong)}" if wrong else None


def _was_pruned(error: QueryError) -> bool:
    """Tell whether somebody deleted the connection on purpose since it was recorded."""
    return "was deleted" in str(error)
