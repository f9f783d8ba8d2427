"""Connections long enough to be compacted and deleted in several slices, of all kinds of frames."""

import json
import random
import sqlite3
import uuid
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from acp_proxy.recorder.rewrite import ImportedFrame, import_connection
from tests.cli.conversations import V1, update

WORDS = ("the", "gate", "of", "a", "garden", "is", "open", "and", "someone", "waters", "plants")


def conversation(chunks: int, *, seed: int = 1, long_line: int = 0) -> Iterator[ImportedFrame]:
    """Yield a conversation that has one of each kind of frame, and so many chunks of text."""
    source = random.Random(seed)

    def text(words: int) -> str:
        return " ".join(source.choices(WORDS, k=words)) + f" {source.getrandbits(64):x}"

    lines = [
        (stream, message if isinstance(message, str) else json.dumps(message))
        for stream, message in V1
    ]
    lines += [
        ("client", '[{"jsonrpc":"2.0","id":70,"method":"a"},{"jsonrpc":"2.0","method":"b"}]'),
        ("agent", '[{"jsonrpc":"2.0","id":70,"result":1}]'),
        ("stderr", "out of order"),
        ("agent", ""),
    ]
    for place in range(chunks):
        content = {"type": "text", "text": text(source.randint(2, 60))}
        lines.append(("agent", json.dumps(update("agent_message_chunk", content=content))))
        if place % 50 == 49:
            call = update("tool_call", toolCallId=f"c{place}", title=text(4), status="pending")
            lines.append(("agent", json.dumps(call)))
            lines.append(("stderr", f"warning {text(5)}"))
    raws = [(stream, line.encode(errors="replace") + b"\n") for stream, line in lines]
    if long_line:
        raws.insert(30, ("agent", b'"' + text(long_line).encode()[:long_line] + b'"\n'))
    raws.insert(25, ("agent", bytes(range(256)).replace(b"\n", b"") + b"\r\n"))
    raws.append(("agent", b"no end"))
    for place, (stream, raw) in enumerate(raws):
        yield ImportedFrame(stream, raw, 10**18 + place * 1000, place * 1000)


def put_long(log: Path, chunks: int = 3000, *, seed: int = 1, long_line: int = 0) -> int:
    """Import such a conversation; return its id."""
    name = str(uuid.uuid4())
    frames = conversation(chunks, seed=seed, long_line=long_line)
    return import_connection(str(log), name, {"command": '["agent"]'}, frames)


def rows_of(log: Path, connection: int) -> dict[str, int]:
    """Return how many rows each table has of a connection, by whatever says whose they are."""
    found = {}
    with closing(sqlite3.connect(f"file:{log}?mode=ro", uri=True)) as db:
        tables = db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
        for (table,) in tables:
            columns = {row[1] for row in db.execute(f"PRAGMA table_xinfo({table})")}
            if "connection_id" in columns:
                sql = f"SELECT count(*) FROM {table} WHERE connection_id = ?"
                [(found[table],)] = db.execute(sql, (connection,))
        [(found["connections"],)] = db.execute(
            "SELECT count(*) FROM connections WHERE id = ?", (connection,)
        )
    return found


def ask(log: Path, sql: str) -> list[tuple[object, ...]]:
    """Return what a query gives."""
    with closing(sqlite3.connect(f"file:{log}?mode=ro", uri=True)) as db:
        return db.execute(sql).fetchall()
