"""Which messages somebody wants, and that as a condition in SQL."""

import json
from typing import Any, NamedTuple

from acp_proxy.log.rows import KINDS, STREAMS, as_stored
from acp_proxy.log.unpacking import FUNCTION

_ODD = f"(m.flags IS NOT NULL OR m.kind_code = {KINDS.index('invalid')})"
_UNANSWERED = (
    f"m.kind_code = {KINDS.index('request')} AND NOT EXISTS (SELECT 1 FROM messages a WHERE "
    "a.connection_id = m.connection_id AND a.request_seq = m.seq AND a.seq <= ?)"
)

_RAW = f"CASE WHEN length(f.raw) > 0 THEN f.raw ELSE {FUNCTION}(f.id) END"


class MessageFilter(NamedTuple):
    """Which messages are wanted; what is None or empty is not asked for.

    Attributes:
        stream: ``client``, ``agent`` or ``stderr``.
        kind: One of the kinds.
        method: A glob pattern (``session/*``) for the method, or the method of the request answered.
        session: A session's id.
        update: A glob pattern for the kind of ``session/update``.
        tool_call: A tool call's id.
        terminal: A terminal's id.
        since_seq: The first seq wanted.
        until_seq: The last seq wanted.
        grep: Text that the frame contains, as UTF-8 or escaped as in JSON.
        odd: Only what is flagged or invalid.
        limit: At most so many.
        unanswered: Only requests that nothing up to ``until_seq`` answers.

    """

    stream: str | None = None
    kind: str | None = None
    method: str | None = None
    session: str | None = None
    update: str | None = None
    tool_call: str | None = None
    terminal: str | None = None
    since_seq: int | None = None
    until_seq: int | None = None
    grep: str | None = None
    odd: bool = False
    limit: int | None = None
    unanswered: bool = False


ALL_MESSAGES = MessageFilter()


def conditions(wanted: MessageFilter, connection_id: int) -> tuple[str, list[Any]]:
    """Return the rest of a WHERE clause over ``messages m``, ``frames f`` and its values.

    ``r`` is the request that a response answers.
    """
    parts: list[str] = [_ODD] if wanted.odd else []
    values: list[Any] = []
    for sql, value in (
        ("m.stream_code = ?", None if wanted.stream is None else STREAMS.index(wanted.stream)),
        ("m.kind_code = ?", None if wanted.kind is None else KINDS.index(wanted.kind)),
        ("coalesce(m.method, r.method) GLOB ?", wanted.method),
        ("m.session_update GLOB ?", wanted.update),
        ("m.session_id = ?", wanted.session),
        ("m.tool_call_id = ?", wanted.tool_call),
        ("m.terminal_id = ?", wanted.terminal),
        ("m.seq >= ?", wanted.since_seq),
        ("m.seq <= ?", wanted.until_seq),
    ):
        if value is not None:
            parts.append(sql)
            values.append(as_stored(value) if isinstance(value, str) else value)
    if wanted.grep is not None:
        needles = {wanted.grep.encode(errors="replace"), json.dumps(wanted.grep)[1:-1].encode()}
        found = "(" + " OR ".join([f"instr({_RAW}, ?)"] * len(needles)) + ")"
        # A batch is searched once, not for each of its members.
        batches = (
            "SELECT b.frame_seq FROM messages b JOIN frames f ON f.id = (b.connection_id << 32) + "
            f"b.frame_seq WHERE b.connection_id = ? AND b.seq = b.frame_seq AND b.batch_index >= 0 AND {found}"
        )
        parts.append(
            f"CASE WHEN m.batch_index IS NULL THEN {found} ELSE m.frame_seq IN ({batches}) END"
        )
        values += [*sorted(needles), connection_id, *sorted(needles)]
    if wanted.unanswered:
        parts.append(_UNANSWERED)
        values.append(2**62 if wanted.until_seq is None else wanted.until_seq)
    return "".join(f" AND {part}" for part in parts), values
