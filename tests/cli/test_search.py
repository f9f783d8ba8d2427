"""search finds what was said, live and imported, and nothing that was sent acts on the terminal."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.commands import document, invoke, objects
from tests.cli.conversations import V1, V2, b64, put, request, result, update
from tests.recorder.journals import append, begin
from tests.recorder.test_ingest import check_search, ingest_with_deaths

if TYPE_CHECKING:
    from pathlib import Path


def text(words: str) -> dict[str, str]:
    return {"type": "text", "text": words}


SAID: list[tuple[str, Any]] = [
    ("client", request(0, "initialize", protocolVersion=1)),
    ("agent", result(0, protocolVersion=1)),
    ("client", request(1, "session/new", cwd="/garden", mcpServers=[])),
    ("agent", result(1, sessionId="s")),
    ("client", request(2, "session/prompt", sessionId="s", prompt=[text("Water the Größe")])),
    ("agent", update("agent_thought_chunk", content=text("hmm, val"))),  # 6
    ("agent", update("agent_thought_chunk", content=text("ves are open"))),
    ("agent", update("agent_message_chunk", content=text("I close "))),  # 8
    ("agent", update("agent_message_chunk", content=text("the "))),
    ("agent", update("agent_message_chunk", content=text("valves now"))),
    ("agent", update("tool_call", toolCallId="c", title="Close it", rawInput={"a": [{"b": "valves/3"}]})),
    ("agent", update("tool_call_update", toolCallId="c", content=[{"type": "content", "content": text("closed pipe")}])),
    ("agent", update("tool_call_update", toolCallId="c", content=[{"type": "content", "content": text("all done")}])),
    ("stderr", "agent: low pressure"),  # 14
    ("agent", update("terminal_output_chunk", terminalId="x", data=b64(b"drip \x1b[31mdr"))),
    ("agent", update("terminal_output_chunk", terminalId="x", data=b64(b"op\x1b[0m drip"))),
]  # fmt: skip


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return put(tmp_path / "log.db", SAID)


def found(log: Path, *words: str, code: int = 0) -> list[tuple[str, int, int]]:
    """Return kind, first and last seq of what is found."""
    hits = objects("search", *words, "--log", log, code=code)
    return [(hit["kind"], hit["seq"], hit["lastSeq"]) for hit in hits]


@pytest.mark.parametrize(
    ("words", "hits"),
    [
        ("grosse", []),  # no stemming, no spelling
        ("grose", []),
        ("water", [("prompt", 5, 5)]),
        ("GROSSE water", []),
        ("gro* WATER", [("prompt", 5, 5)]),
        ("valves open", [("thought", 6, 7)]),  # put together from chunks
        ('"close the valves"', [("message", 8, 10)]),
        ('"valves the close"', []),
        ("close valves now", [("message", 8, 10)]),
        ('"valves 3"', [("tool", 11, 11)]),
        ("done", [("tool", 13, 13)]),
        ("pipe", []),  # the content was replaced
        ("pressure", [("stderr", 14, 14)]),
        ('"drip drop drip"', [("terminal", 15, 16)]),
        ('"', []),
        ("NEAR( AND OR -", []),
    ],
)
def test_what_is_found(log: Path, words: str, hits: list[tuple[str, int, int]]) -> None:
    assert found(log, words, code=0 if hits else 1) == hits


def test_filters(log: Path) -> None:
    assert {kind for kind, *_ in found(log, "valves")} == {"thought", "message", "tool"}
    assert found(log, "valves", "--kind", "message") == [("message", 8, 10)]
    assert len(found(log, "valves", "--from", "agent")) == 3
    assert found(log, "valves", "--from", "client", code=1) == []
    assert found(log, "pressure", "--from", "stderr")
    assert found(log, "valves", "--session", "t", code=1) == []
    assert len(found(log, "valves", "--limit", "1")) == 1
    put(log, SAID)
    assert len(found(log, "pressure")) == 2
    assert len(found(log, "pressure", "--connection", "2")) == 1


def test_the_hit_is_marked(log: Path) -> None:
    [hit] = document("search", "close", "the", "--kind", "message", "--log", log)
    words = [hit["text"][start : start + length] for start, length in hit["marks"]]

    assert words == ["close", "the"]
    assert "I »close« »the« valves now" in invoke("search", "close the", "--log", log).stdout


def test_in_all_connections_of_both_versions(tmp_path: Path) -> None:
    prompt = request(2, "session/prompt", sessionId="s", prompt=[text("hi again")])
    log = put(put(tmp_path / "log.db", V1), [*V2[:4], ("client", prompt)])

    hits = document("search", "hi", "--log", log)
    assert {(hit["connection"], hit["kind"]) for hit in hits} == {(1, "prompt"), (2, "prompt")}


def test_a_log_without_an_index_says_how_to_make_one(log: Path) -> None:
    with closing(sqlite3.connect(log)) as db:
        for table in ("texts", "search"):
            db.execute(f"DROP TABLE {table}")
        db.execute("DELETE FROM _sqlite_migrations WHERE name = 'm0003_search'")
        db.execute("UPDATE connections SET derived = NULL")
        db.commit()

    assert "log migrate" in invoke("search", "valves", "--log", log, code=1).stderr
    invoke("log", "migrate", "--log", log)
    assert "log reindex" in invoke("search", "valves", "--log", log, code=1).stderr
    invoke("log", "reindex", "--log", log)
    assert found(log, "pressure") == [("stderr", 14, 14)]


def test_nothing_that_was_sent_acts_on_the_terminal(tmp_path: Path) -> None:
    evil = "find\x1b[2J me \u202e back \x9b31m"
    said = [*SAID[:4], ("agent", update("agent_message_chunk", content=text(evil)))]
    log = put(tmp_path / "log.db", said)

    for form in ([], ["--json"]):
        out = invoke("search", "find", "--log", log, *form).stdout
        assert out.replace("\n", "").isprintable()
        assert "find" in out


def test_long_output_is_in_the_index_whole(tmp_path: Path) -> None:
    words = [f"word{number}" for number in range(5000)]
    said = SAID[:4] + [
        ("agent", update("terminal_output_chunk", terminalId="x", data=b64(f"{word}\n".encode())))
        for word in words
    ]
    log = put(tmp_path / "log.db", said)

    for place in (0, 1023, 2500, 4999):
        [hit] = document("search", f'"{words[place]}"', "--log", log)
        assert hit["seq"] <= 5 + place <= hit["lastSeq"]
    with closing(sqlite3.connect(log)) as db:
        lengths = [length for (length,) in db.execute("SELECT length(text) FROM texts")]
        db.execute("INSERT INTO search (search) VALUES ('integrity-check')")
    assert sum(lengths) == sum(len(word) + 1 for word in words)
    assert max(lengths) < 9000
    assert json.dumps(lengths)


def test_a_text_that_takes_the_place_of_the_newest_is_found(log: Path) -> None:
    """SQLite gives the new text the id of the one that went."""
    folder = log.parent
    said: list[tuple[str, Any]] = [
        ("client", request(0, "initialize", protocolVersion=2)),
        ("agent", result(0, protocolVersion=2)),
        ("agent", update("agent_message", messageId="m", content=[text("first")])),
        ("agent", update("agent_message", messageId="m", content=[text("second")])),
    ]
    writer = begin(folder / "live.db")
    append(writer, [(who, json.dumps(message).encode() + b"\n") for who, message in said])
    writer.close(0)
    ingest_with_deaths(writer.path, folder / "live.db", [])

    assert found(folder / "live.db", "first", code=1) == []
    assert found(folder / "live.db", "second") == [("message", 4, 4)]
    check_search(folder / "live.db")


def test_long_texts_of_one_message_are_all_found(tmp_path: Path) -> None:
    """And they are words of their own."""
    blocks = [text("alpha " * 2000), text("beta"), text("gamma")]
    said = [
        *SAID[:4],
        ("client", request(2, "session/prompt", sessionId="s", prompt=blocks)),
        ("agent", update("tool_call", toolCallId="c", content=[{"type": "content", "content": one} for one in blocks])),
    ]  # fmt: skip
    log = put(tmp_path / "log.db", said)

    for word in ("alpha", "beta", "gamma"):
        assert sorted(found(log, word)) == [("prompt", 5, 5), ("tool", 6, 6)]


def test_a_session_whose_id_no_database_can_hold(tmp_path: Path) -> None:
    half = update("agent_message_chunk", content=text("hello"))
    half["params"]["sessionId"] = "\ud800"
    log = put(tmp_path / "log.db", [*SAID[:4], ("agent", half)])

    [hit] = document("search", "hello", "--session", "\ud800", "--log", log)
    assert hit["sessionId"] == "\\ud800"
    assert document("messages", "--session", "\ud800", "--log", log)
    assert objects("search", "hello", "--session", "\udcff", "--log", log, code=1) == []
    invoke("verify", "--log", log)


def test_a_prompt_is_found_when_its_version_is_told_later(tmp_path: Path) -> None:
    said = [
        ("client", request(1, "session/prompt", sessionId="s", prompt=[text("Water it")])),
        ("agent", update("state_update", state="running")),
    ]
    log = put(tmp_path / "log.db", said)

    assert found(log, "water") == [("prompt", 1, 1)]


def test_kinds_that_nobody_of_that_side_writes_are_refused(log: Path) -> None:
    done = invoke("search", "valves", "--kind", "prompt", "--from", "agent", "--log", log, code=2)
    assert "never from agent" in done.stderr


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM search_data WHERE id > 10",
        "UPDATE search_data SET block = x'00'",
        "INSERT INTO search (search, rowid, text) VALUES ('delete', 1, 'never')",
    ],
)
def test_reindex_mends_a_damaged_index(log: Path, sql: str) -> None:
    with closing(sqlite3.connect(log)) as db:
        db.execute(sql)
        db.commit()

    invoke("log", "reindex", "--log", log)

    check_search(log)
    assert found(log, "water") == [("prompt", 5, 5)]
