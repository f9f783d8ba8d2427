"""Checksums of what the log stores, so that a damaged file gives no wrong answer. No SQL here.

A checksum is a CRC-32 that begins with the row's numbers, so that these are covered
too. It is kept signed: four bytes in SQLite. It guards against accidents, not
against somebody who writes to the log.
"""

import json
import zlib
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

_NO_FACTS: Final = frozenset({"crc", "derived", "journal_position"})
_LOW: Final = 0xFFFFFFFF
_SIGN: Final = 0x80000000


def of_frame(
    id_: int, stream_code: int, offset: int, time_ns: int | None, elapsed_ns: int | None
) -> int:
    """Return with what the checksum of a frame begins: its row's numbers, ``id_`` their key.

    ``add`` its bytes, then ask for what is ``finished``.
    """
    numbers = id_ ^ offset ^ stream_code ^ (time_ns or 0) ^ (elapsed_ns or 0)
    return (numbers ^ numbers >> 32) & _LOW


def of_part(
    part: int, seq: int, since: int, head: bytes | None, tail: bytes | None
) -> tuple[int | None, int | None]:
    """Return the checksums, finished, of head and tail of a part of a checkpoint; None of none."""
    numbers = part ^ seq ^ since << 7
    begin = (numbers ^ numbers >> 32) & _LOW
    return (
        None if head is None else finished(add(head, begin)),
        None if tail is None else finished(add(tail, begin)),
    )


def of_columns(columns: "Mapping[str, object]") -> int:
    """Return the checksum, finished, of a row by the names of its columns.

    Columns that are null do not count (later steps of the schema add such), nor what is no fact
    of the connection: how far a recorder is, and whether anything is derived.
    """
    told = {name: x for name, x in columns.items() if x is not None and name not in _NO_FACTS}
    return finished(zlib.crc32(json.dumps(told, sort_keys=True).encode()))


def is_right(columns: "Mapping[str, object]") -> bool:
    """Tell whether a row has the checksum that it says, or says none."""
    crc = columns.get("crc")
    try:
        return crc is None or crc == of_columns(columns)
    except (TypeError, ValueError):  # bytes where texts stand
        return False


add = zlib.crc32
"""``add(data, checksum)`` returns the checksum of what was before and these bytes."""


def finished(checksum: int) -> int:
    """Return a checksum as it is stored."""
    return checksum - ((checksum & _SIGN) << 1)
