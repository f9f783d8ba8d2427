"""A conversation for an Indexer, line by line: what was said in, what the log would hold out."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from acp_proxy.events.index import Indexer
from acp_proxy.log.rows import KINDS, STREAMS, IndexRow
from acp_proxy.wire.framing import Frame
from acp_proxy.wire.jsonrpc import Direction

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX = 2**63 - 1


class Talk:
    """Speaks to one Indexer; keeps offsets and time, and every row by its seq."""

    def __init__(self) -> None:
        self.indexer = Indexer()
        self.rows: dict[int, IndexRow] = {}
        self._offsets = dict.fromkeys(Direction, 0)

    def line(
        self, direction: Direction, raw: bytes, elapsed_ns: int | None = None
    ) -> list[IndexRow]:
        """Add a frame; return its rows."""
        frame = Frame(self._offsets[direction], raw, len(raw))
        self._offsets[direction] += len(raw)
        seq = self.indexer.seq
        rows = [IndexRow(*row[1:]) for row in self.indexer.rows(direction, frame, elapsed_ns)]
        assert self.indexer.seq == seq + len(rows)
        self.rows |= {seq + n: row for n, row in enumerate(rows, 1)}
        return rows

    def _say(self, direction: Direction, message: dict[str, Any], at: int | None) -> IndexRow:
        raw = json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"
        [row] = self.line(direction, raw, at)
        return row

    def client(self, at: int | None = None, **message: Any) -> IndexRow:
        """Let the client say one message."""
        return self._say(Direction.CLIENT, message, at)

    def agent(self, at: int | None = None, **message: Any) -> IndexRow:
        """Let the agent say one message."""
        return self._say(Direction.AGENT, message, at)

    def batch(self, direction: Direction, *messages: dict[str, Any]) -> list[IndexRow]:
        """Let one of them say several messages on one line."""
        whole = [{"jsonrpc": "2.0", **message} for message in messages]
        return self.line(direction, json.dumps(whole).encode() + b"\n")

    def update(self, kind: str, session: str = "s", **fields: Any) -> IndexRow:
        """Let the agent send a ``session/update``."""
        update = {"sessionUpdate": kind, **fields}
        return self.agent(method="session/update", params={"sessionId": session, "update": update})

    def begin(self, version: Any = 1, session: str | None = "s") -> None:
        """Initialize, and make a session unless it is None."""
        self.client(id="i", method="initialize", params={"protocolVersion": version})
        self.agent(id="i", result={"protocolVersion": version})
        if session is not None:
            self.client(id="n", method="session/new", params={"cwd": "/"})
            self.agent(id="n", result={"sessionId": session})


def flags(row: IndexRow) -> set[str]:
    """Return the flags of a row."""
    return set() if row.flags is None else set(row.flags.split(" "))


def assert_storable(rows: Iterable[IndexRow]) -> None:
    """Check that SQLite can hold every column, and that none is of another type than it should."""
    for row in rows:
        for name, value in zip(IndexRow._fields, row, strict=True):
            if isinstance(value, str):
                value.encode()
            else:
                assert value is None or type(value) is int, name
                assert value is None or -MAX - 1 <= value <= MAX, name
        assert 0 <= row.stream_code < len(STREAMS)
        assert 0 <= row.kind_code < len(KINDS)
        assert row.bytes >= 0
        for text in (
            row.method, row.id, row.session_id, row.session_update, row.tool_call_id, row.terminal_id,
            row.flags, row.reason,
        ):  # fmt: skip
            assert text is None or type(text) is str
        for number in (row.batch_index, row.request_seq, row.duration_ns, row.error_code):
            assert number is None or type(number) is int
