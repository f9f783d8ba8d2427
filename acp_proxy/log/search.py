"""Asking the full-text index: which texts hold all the words, best first.

The index is SQLite's FTS5 over the table ``texts``. What a person typed is words and
phrases here, never a query language that could be wrong.
"""

import re
import sqlite3
from typing import TYPE_CHECKING, Any, NamedTuple

from acp_proxy.errors import LogError
from acp_proxy.log import schema
from acp_proxy.log.rows import as_stored

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

TEXT_KINDS = ("prompt", "message", "thought", "tool", "terminal", "stderr")
"""What a text may be."""
_PHRASE = re.compile(r'"([^"]*)"?|(\S+)')
_BEGIN, _END = "\x02", "\x03"  # no text has them
_WORDS_AROUND = 24


class Hit(NamedTuple):
    """A text that was found.

    Attributes:
        seq: The message that the text begins with; it may go on to ``last_seq``.
        text: The part of it that was found.
        marks: Where in it the words stand, as start and length.

    """

    connection_id: int
    seq: int
    last_seq: int
    kind: str
    session_id: str | None
    text: str
    marks: list[tuple[int, int]]


class SearchFilter(NamedTuple):
    """Which texts are wanted; what is None or empty is not asked for."""

    connection_id: int | None = None
    session: str | None = None
    kinds: "Sequence[str]" = ()
    limit: int = 20


def search(path: str, db: sqlite3.Connection, words: str, wanted: SearchFilter) -> "Iterator[Hit]":
    """Yield the texts that hold all the words and phrases, best first.

    Args:
        path: The log, for errors.
        db: The log.
        words: Words, phrases in double quotes; a word with ``*`` behind is a beginning.
        wanted: Which texts.

    Raises:
        LogError: The log has no index, or cannot be read.

    """
    query = _query(words)
    if not query:
        return
    conditions, values = _conditions(wanted)
    ranked = (
        "SELECT t.id FROM search JOIN texts t ON t.id = search.rowid "
        f"WHERE search MATCH ?{conditions} ORDER BY search.rank, t.id DESC LIMIT ?"
    )
    shown = (
        f"SELECT t.connection_id, t.seq, t.last_seq, t.kind, t.session_id, "
        f"snippet(search, 0, ?, ?, '…', {_WORDS_AROUND}) FROM search "
        "JOIN texts t ON t.id = search.rowid WHERE search MATCH ? AND search.rowid = ?"
    )
    with schema.reading(path):
        try:
            ids = db.execute(ranked, (query, *values, wanted.limit)).fetchall()
        except sqlite3.OperationalError as error:
            if not str(error).startswith("no such table"):
                raise
            raise LogError(
                f"{path} has no search index",
                f"make it with: acp-proxy log migrate --log {path}; acp-proxy log reindex --log {path}",
            ) from error
        for (id_,) in ids:
            for row in db.execute(shown, (_BEGIN, _END, query, id_)):
                text, marks = _unmarked(row[5])
                yield Hit(row[0], row[1], row[2], row[3], row[4], text, marks)


def _query(words: str) -> str:
    """Return what FTS5 understands: quoted phrases, all of which must be there."""
    parts = []
    for phrase, word in _PHRASE.findall(words.replace("\0", " ")):
        text = phrase or word.rstrip("*")
        if text.strip():
            parts.append('"' + text.replace('"', '""') + '"' + ("*" if word.endswith("*") else ""))
    return " ".join(parts).encode(errors="replace").decode()


def _conditions(wanted: SearchFilter) -> tuple[str, list[Any]]:
    # A connection that is being deleted leaves its texts behind for a while.
    parts = ["EXISTS (SELECT 1 FROM connections c WHERE c.id = t.connection_id)"]
    values: list[Any] = []
    for sql, value in (
        ("t.connection_id = ?", wanted.connection_id),
        ("t.session_id = ?", None if wanted.session is None else as_stored(wanted.session)),
    ):
        if value is not None:
            parts.append(sql)
            values.append(value)
    if wanted.kinds:
        parts.append(f"t.kind IN ({', '.join('?' * len(wanted.kinds))})")
        values.extend(wanted.kinds)
    return "".join(f" AND {part}" for part in parts), values


def _unmarked(marked: str) -> tuple[str, list[tuple[int, int]]]:
    """Return a text without marks, and where they were."""
    text = ""
    marks = []
    for place, piece in enumerate(marked.split(_BEGIN)):
        hit, end, rest = piece.partition(_END)
        if place and end:
            marks.append((len(text), len(hit)))
        text += hit + rest
    return text, marks
