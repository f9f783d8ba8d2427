"""What must hold of a connection, from the books of those who spoke and the log's own rows.

For each stream, with "out" what its sender was about to send, "sent" how much of it went, "got"
what its receiver has:

- Always: got is a beginning of what was recorded, and that is a beginning of out: whoever is
  killed, what reached a peer is in the log, once, in order, and nothing else is. Where bytes are
  missing (the disk was full), a gap of just those bytes stands in their place.
- When nobody was killed and both sides read to the end, they are all equal.
- When the agent ended and the client read on, all that the agent had sent was recorded and delivered.
- The client saw the agent's own end, and the log tells that same end; "lost" only when the proxy
  was killed.
- A proxy that relayed anything has exactly one connection.
"""

import json
import sqlite3
import struct
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

STREAMS = ("client", "agent", "stderr")
Plan = dict[str, Any]


class Recorded(NamedTuple):
    """A stream as the log has it: its pieces with their places, and how long it was."""

    pieces: list[tuple[int, bytes]]
    gaps: list[tuple[int, int]]
    bytes: int

    def covers(self) -> str:
        """Return what is wrong with its places; nothing when pieces and gaps follow each other."""
        spans = [(offset, len(data)) for offset, data in self.pieces] + self.gaps
        at = 0
        for offset, size in sorted(spans):
            if offset != at:
                return f"byte {at} is followed by byte {offset}"
            at += size
        return "" if at == self.bytes else f"ends at {at}, {self.bytes} are told"


def rows(log: Path, label: str) -> list[dict[str, Any]]:
    """Return the connections of that label."""
    uri = f"file:{log}?mode=ro"
    with closing(sqlite3.connect(uri, uri=True, timeout=30)) as db:
        db.row_factory = sqlite3.Row
        found = db.execute("SELECT * FROM connections WHERE label = ?", (label,))
        return [dict(row) for row in found]


def recorded(log: Path, row: dict[str, Any]) -> list[Recorded]:
    """Return the streams of a connection, as the frames give them."""
    pieces: list[list[tuple[int, bytes]]] = [[], [], []]
    with closing(sqlite3.connect(f"file:{log}?mode=ro", uri=True, timeout=30)) as db:
        span = (row["id"] << 32, (row["id"] + 1) << 32)
        sql = "SELECT stream_code, offset, raw FROM frames WHERE id BETWEEN ? AND ? ORDER BY id"
        for stream, offset, raw in db.execute(sql, span):
            pieces[stream].append((offset, raw))
    gaps = json.loads(row["gaps"])
    return [
        Recorded(
            pieces[code],
            [(gap["offset"], gap["bytes"]) for gap in gaps if gap["from"] == name],
            row[f"{name}_bytes"],
        )
        for code, name in enumerate(STREAMS)
    ]


def book(folder: Path, name: str) -> bytes:
    """Return what stands in a book; nothing when it was never begun."""
    path = folder / name
    return path.read_bytes() if path.exists() else b""


def sent(folder: Path, name: str) -> int:
    """Return how many bytes went."""
    data = book(folder, f"{name}.sent")
    return int(struct.unpack("<q", data)[0]) if len(data) == 8 else 0


def told(folder: Path, name: str) -> Any:
    """Return what a side told in a file of its own, None when it did not come to that."""
    data = book(folder, name)
    return json.loads(data) if data else None


class Check:
    """One connection that is over, and that the log has whole."""

    def __init__(self, folder: Path, plan: Plan, row: dict[str, Any], log: Path) -> None:
        self._folder, self._plan, self._row = folder, plan, row
        self._streams = dict(zip(STREAMS, recorded(log, row), strict=True))
        self._end = told(folder, "client.end")
        self._violations: list[str] = []

    def run(self) -> list[str]:
        """Return what does not hold."""
        for name, out, got in (
            ("client", "client.out", "agent.got"),
            ("agent", "agent.out", "client.got"),
            ("stderr", "agent.err", "client.err"),
        ):
            self._check_stream(name, book(self._folder, out), book(self._folder, got))
        if self._is_undisturbed:
            self._check_undisturbed()
        self._check_end()
        return self._violations

    @property
    def _is_undisturbed(self) -> bool:
        """Whether nobody in the path of the bytes was killed; the recorder does not stand there."""
        return all(kill["who"] == "recorder" for kill in self._plan["kills"])

    def _must(self, holds: bool, what: str) -> None:
        if not holds:
            self._violations.append(what)

    def _check_stream(self, name: str, out: bytes, got: bytes) -> None:
        stream = self._streams[name]
        self._must(not (wrong := stream.covers()), f"{name}: {wrong}")
        self._must(
            not stream.gaps or self._plan["disk"] == "full", f"{name}: a gap without a reason"
        )
        self._must(stream.bytes <= len(out), f"{name}: {stream.bytes} bytes of {len(out)} said")
        for offset, data in stream.pieces:
            if out[offset : offset + len(data)] != data:
                self._must(
                    False, f"{name}: the bytes from {offset} on are not those that were said"
                )
                break
        if name == "stderr" and self._dropped():
            return
        self._must(
            len(got) <= stream.bytes, f"{name}: {len(got)} bytes arrived, {stream.bytes} recorded"
        )
        self._must(out.startswith(got), f"{name}: what arrived is not what was said")

    def _dropped(self) -> bool:
        return any(note.get("event") == "stderr dropped" for note in json.loads(self._row["notes"]))

    def _check_undisturbed(self) -> None:
        """Nobody was killed: what both sides saw to the end is all there."""
        agent, client = self._plan["agent"], self._plan["client"]
        if self._end is None:
            return
        if self._reads_on(client):
            everything = sent(self._folder, "agent.out")
            self._must(
                self._streams["agent"].bytes == everything, f"agent: of {everything} bytes sent"
            )
            got = len(book(self._folder, "client.got"))
            self._must(got == everything, f"agent: {got} bytes of {everything} arrived")
        if self._reads_on(agent) and agent["end"] not in {"at once", "closes stdout"}:
            everything = sent(self._folder, "client.out")
            recorded_bytes = self._streams["client"].bytes
            self._must(
                recorded_bytes == everything, f"client: {recorded_bytes} of {everything} bytes"
            )
            got = len(book(self._folder, "agent.got"))
            self._must(got == everything, f"client: {got} bytes of {everything} arrived")
        told_bytes = sent(self._folder, "agent.err")
        recorded_bytes = self._streams["stderr"].bytes
        self._must(recorded_bytes >= told_bytes, f"stderr: {recorded_bytes} of {told_bytes} bytes")

    @staticmethod
    def _reads_on(side: Plan) -> bool:
        return side["read"] in {"all", "slowly", "rests"}

    def _check_end(self) -> None:
        status = self._row["status"]
        ended = {
            "exited": self._row["exit_code"],
            "killed": -(self._row["signal"] or 0),
        }.get(status)
        killed = {kill["who"] for kill in self._plan["kills"]} & {"proxy", "group"}
        if status == "lost":
            self._must(bool(killed), "lost, though nobody killed the proxy")
        self._must(status in {"exited", "killed", "lost"}, f"has status {status}")
        if self._end is None:
            return
        seen, said = self._end["code"], told(self._folder, "agent.end")
        if ended is not None and not killed:
            self._must(seen == ended, f"the client saw {seen}, the log says {ended}")
        if said is not None and self._is_undisturbed:
            self._must(seen == said, f"the agent ended with {said}, the client saw {seen}")
