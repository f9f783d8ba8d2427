"""The state from the log is that of folding, with checkpoints, without, and with damaged ones."""

from __future__ import annotations

import json
import shutil
import sqlite3
import tracemalloc
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings

from acp_proxy.log.schema import applied_steps
from acp_proxy.recorder import rewrite
from acp_proxy.recorder.rewrite import ImportedFrame, import_connection, reindex
from acp_proxy.recording import open_recording
from acp_proxy.state import checkpoints
from acp_proxy.state.columns import TABLES
from acp_proxy.state.snapshot import BadSnapshotError
from acp_proxy.views.state_json import state_document, state_pieces, state_text
from acp_proxy.wire.jsonrpc import Direction
from tests.cli.commands import document, invoke
from tests.recorder.test_ingest import rows
from tests.state.folding import Folding, item, text
from tests.state.talk import said_lines
from tests.trusting import trusted

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from acp_proxy.state.fold import State

Said = list[tuple[Direction, bytes]]


@pytest.fixture
def dense() -> Iterator[None]:
    """Let there be a checkpoint every few messages."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checkpoints, "SPACING", 600)
        yield


def _text(state: State) -> str:
    return state_text(state_document(state, 1))


UPKEEP = ("packs", "dictionaries", "pruned")
WIRE_OF_THE_FIRST_STEP = """
CREATE VIEW wire AS
SELECT m.connection_id, m.seq, m.stream, m.kind, m.method, m.id, m.session_id, m.session_update,
    m.tool_call_id, m.terminal_id, m.request_seq, m.duration_ns, m.error_code, m.flags, m.reason,
    m.batch_index, m.bytes, f.offset, f.time_ns, f.elapsed_ns, f.raw
FROM messages m JOIN frames f ON f.id = (m.connection_id << 32) + m.frame_seq
"""


def _imported(log: Path, said: Said) -> None:
    frames = (ImportedFrame(side.value, raw + b"\n", None, None) for side, raw in said)
    import_connection(str(log), "uuid-1", {}, frames)


def _change(log: Path, *statements: str) -> None:
    with closing(sqlite3.connect(log)) as db:
        for statement in statements:
            db.execute(statement)
        db.commit()


def _forget_checkpoints(log: Path) -> None:
    _change(log, "DELETE FROM checkpoints", "DELETE FROM checkpoint_parts")


def _agent_says(count: int) -> Said:
    """Return a conversation in which everything goes on growing."""
    folding = Folding()
    said: Said = []
    line = folding.line

    def keep(direction: Direction, raw: bytes) -> None:
        said.append((direction, raw))
        line(direction, raw)

    folding.line = keep  # type: ignore[method-assign]
    folding.ask("initialize", {"protocolVersion": 2}, {"protocolVersion": 2})
    folding.ask("session/prompt", {"sessionId": "s", "prompt": [text("do")]}, {"messageId": "u"})
    for number in range(count):
        folding.update("agent_message_chunk", messageId="m", content=text(f"word {number}"))
        folding.update("terminal_output_chunk", terminalId="x", data="YWJj" * 9)
        folding.update("tool_call_content_chunk", toolCallId="t", content=item(f"{number}"))
        folding.update("notice", severity="info", message="n", content=[text("n")])
        if number % 50 == 49:
            folding.update("tool_call_update", toolCallId=f"t{number}", title="T", content=[])
    return said


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=40
)
@given(said_lines())
def test_state_at_each_message_is_that_of_folding(
    tmp_path_factory: pytest.TempPathFactory, dense: None, said: Said
) -> None:
    log = tmp_path_factory.mktemp("log") / "log.db"
    _imported(log, said)
    folding = Folding()
    expected = []
    for direction, raw in said:
        folding.line(direction, raw)
        expected.append(_text(folding.state))

    for _ in ("with checkpoints", "without"):
        with open_recording(log) as recording:
            found = [recording.state(at=seq) for seq in range(1, len(said) + 1)]
            assert [_text(state) for state in found] == expected
            assert [b"".join(state_pieces(state, 1)).decode() for state in found] == expected
            for since in range(1, len(said) + 1, 7):
                steps = [_text(state) for state, _ in recording.steps(since=since)]
                assert steps == expected[since - 1 :]
            assert recording.verify(1) == []
        _change(log, "UPDATE connections SET derived = NULL")
        _forget_checkpoints(log)


def test_requests_with_one_id_keep_their_order_in_checkpoints(tmp_path: Path, dense: None) -> None:
    """Prompts are read again in the order in which they were sent."""
    folding, said = _spoken()
    for id_ in (1, 2, 1):
        params = {"sessionId": "s", "prompt": [text("do")]}
        folding.client(id=id_, method="session/prompt", params=params)
    for _ in range(4):
        folding.update("terminal_output_chunk", terminalId="x", data="YWJj" * 99)
    folding.update("tool_call", toolCallId="t")  # of version 1: the prompts began turns
    log = tmp_path / "log.db"
    _imported(log, said)

    with open_recording(log) as recording:
        turns = recording.state().sessions["s"].turns
        assert [turn.prompt_seq for turn in turns] == [3, 4, 5]
        assert recording.verify(1) == []


def _spoken() -> tuple[Folding, Said]:
    """Return somebody who speaks version 2, and all that will be said."""
    folding = Folding()
    said: Said = []
    folding.line = lambda direction, raw: said.append((direction, raw))  # type: ignore[method-assign]
    folding.ask("initialize", {"protocolVersion": 2}, {"protocolVersion": 2})
    return folding, said


def test_texts_that_come_to_nothing_are_written_too(tmp_path: Path) -> None:
    """However the messages come in batches: a text that was there has no words any more."""
    folding, said = _spoken()
    folding.update("tool_call_update", toolCallId="t", title="Water")
    folding.update("tool_call_update", toolCallId="t", title=None)
    logs = [tmp_path / "1.db", tmp_path / "2.db"]
    for log, size in zip(logs, (1, 1_000_000), strict=True):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(rewrite, "_BATCH_BYTES", size)
            _imported(log, said)
        with open_recording(log) as recording:
            assert recording.verify(1) == []
            assert list(recording.search("Water")) == []


def test_what_grows_is_stored_once(tmp_path: Path) -> None:
    sizes = []
    for count in (2500, 10_000):
        log = tmp_path / f"{count}.db"
        _imported(log, _agent_says(count))
        with closing(sqlite3.connect(log)) as db:
            [(taken, size)] = db.execute("SELECT count(*), sum(bytes) FROM checkpoints")
            [(wire,)] = db.execute("SELECT sum(length(raw)) FROM frames")
            seqs = [seq for (seq,) in db.execute("SELECT seq FROM checkpoints ORDER BY 1")]
        assert taken > count // 2000
        assert size < wire
        assert max(b - a for a, b in zip([0, *seqs], seqs, strict=False)) < 8192
        sizes.append(size)

    assert sizes[1] < 6 * sizes[0]


def test_a_large_thing_that_changes_a_little_is_not_stored_again_and_again(tmp_path: Path) -> None:
    said = _agent_says(1)
    big = json.dumps({"data": "x" * 4_000_000})
    update = '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":%s}}'
    agent = said[-1][0]
    body = f'{{"sessionUpdate":"tool_call_update","toolCallId":"b","rawInput":{big}}}'
    said.append((agent, (update % body).encode()))
    small = '{"sessionUpdate":"tool_call_update","toolCallId":"b","title":"%d"}'
    said += [(agent, (update % (small % number)).encode()) for number in range(30_000)]
    log = tmp_path / "log.db"
    _imported(log, said)

    with closing(sqlite3.connect(log)) as db:
        [(size,)] = db.execute("SELECT sum(bytes) FROM checkpoints")
        [(wire,)] = db.execute("SELECT sum(length(raw) + 128) FROM frames")
    assert size < wire
    assert document("tool-call", "b", "--log", log, "--at", "-1")["sessions"]


def test_reindex_builds_the_state_that_an_older_log_has_not(tmp_path: Path, dense: None) -> None:
    log, older = tmp_path / "log.db", tmp_path / "older.db"
    _imported(log, _agent_says(60))
    shutil.copy(log, older)
    trusted(older)
    _change(
        older,
        "ALTER TABLE connections DROP COLUMN derived",
        "ALTER TABLE connections DROP COLUMN crc",
        "ALTER TABLE frames DROP COLUMN crc",
        *(
            f"DROP TABLE {table}"
            for table in ("texts", "search", "checkpoints", "checkpoint_parts", *TABLES, *UPKEEP)
        ),
        "DELETE FROM _sqlite_migrations WHERE name > 'm0002'",
        "DROP VIEW wire",
        WIRE_OF_THE_FIRST_STEP,
    )
    right = [_state(log, at) for at in ("1", "100", "-1")]

    assert [_state(older, at) for at in ("1", "100", "-1")] == right
    invoke("verify", "--log", older)
    assert applied_steps(str(older)) == ["m0001_recording"]

    invoke("log", "migrate", "--log", older)
    assert [_state(older, at) for at in ("1", "100", "-1")] == right
    invoke("log", "reindex", "--log", older)
    assert [_state(older, at) for at in ("1", "100", "-1")] == right
    _change(log, "UPDATE frames SET crc = NULL")  # nobody can know it later
    assert rows(older) == rows(log)


def _state(log: Path, at: str) -> Any:
    return document("state", "--log", log, "--at", at)


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE checkpoint_parts SET head = x'3d'",
        "UPDATE checkpoint_parts SET head = x'3d5b5d' WHERE part = 0",
        "DELETE FROM checkpoint_parts WHERE part = 0",
        "DELETE FROM checkpoint_parts WHERE part = 1 << 32",
        "UPDATE checkpoint_parts SET head = NULL",
        "UPDATE checkpoint_parts SET head = CAST(substr(head, 1, 20) || ' ' || substr(head, 22) AS BLOB)",
        "UPDATE checkpoint_parts SET tail = x'3d2278' WHERE length(tail) > 1",
        "UPDATE checkpoint_parts SET since = since + 1",
        "UPDATE checkpoint_parts SET head_crc = head_crc + 1",
        "DELETE FROM checkpoint_parts WHERE rowid = (SELECT max(rowid) FROM checkpoint_parts)",
        "UPDATE checkpoints SET parts = parts + 1",
        "UPDATE checkpoints SET version = 99",
    ],
)
def test_what_is_wrong_with_checkpoints_is_found_and_answers_are_right(
    tmp_path: Path, dense: None, sql: str
) -> None:
    log = tmp_path / "log.db"
    _imported(log, _agent_says(60))
    right = rows(log)
    state = _state(log, "-1")
    _change(log, sql)

    assert "log reindex" in invoke("verify", "--log", log, code=1).stdout
    assert _state(log, "-1") == state
    reindex(str(log), 1)

    invoke("verify", "--log", log)
    assert rows(log) == right


def test_a_checkpoint_is_used_and_what_is_before_it_is_not_read(
    tmp_path: Path, dense: None
) -> None:
    log = tmp_path / "log.db"
    _imported(log, _agent_says(60))
    state = _state(log, "-1")
    with closing(sqlite3.connect(log)) as db:
        [(last,)] = db.execute("SELECT max(seq) FROM checkpoints")
    _change(log, f"DELETE FROM frames WHERE seq <= {last}")

    assert last > 60
    assert _state(log, "-1") == state


def test_verify_holds_a_small_part_of_a_long_connection(tmp_path: Path) -> None:
    """Also when no frame ends at a round number, and when frames are large."""
    folding, said = _spoken()
    folding.update("agent_message_chunk", messageId="m", content=text("w" * 100_000))
    *said, (agent, chunk) = said
    said += [(agent, b"[%b,%b]" % (chunk, chunk))] * 200
    said.insert(0, (agent, b"{}"))
    log = tmp_path / "log.db"
    _imported(log, said)

    with open_recording(log) as recording:
        tracemalloc.start()
        assert recording.verify(1) == []
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert most < 30_000_000


@pytest.mark.parametrize("lost", [3, 100])
def test_reindex_keeps_the_numbers_of_what_is_left(tmp_path: Path, dense: None, lost: int) -> None:
    log = tmp_path / "log.db"
    _imported(log, _agent_says(60))
    _change(log, f"DELETE FROM frames WHERE seq = {lost}")
    messages = "SELECT seq, session_update FROM wire ORDER BY seq"
    with closing(sqlite3.connect(log)) as db:
        left = db.execute(messages).fetchall()

    reindex(str(log), 1)

    with closing(sqlite3.connect(log)) as db:
        assert db.execute(messages).fetchall() == left
    assert "log reindex" not in invoke("verify", "--log", log, code=1).stdout
    state = _state(log, "-1")
    _forget_checkpoints(log)
    assert _state(log, "-1") == state


def test_a_damaged_value_without_a_checksum_says_what_to_do(tmp_path: Path, dense: None) -> None:
    """It is parsed only when somebody looks into it: too late to begin elsewhere."""
    log = tmp_path / "log.db"
    _imported(log, _agent_says(60))
    _change(
        log,
        "UPDATE checkpoint_parts SET tail = x'3d7b', tail_crc = NULL, head_crc = NULL "
        "WHERE CAST(head AS TEXT) LIKE '=[\"ToolCall%' AND length(tail) > 1",
    )

    done = invoke("tool-call", "t", "--log", log, code=1)
    assert "acp-proxy log reindex" in done.stderr


def test_a_checkpoint_without_the_message_that_is_open_is_not_taken() -> None:
    folding = Folding(1)
    folding.update("agent_message_chunk", content=text("one"))
    folding.state.sessions["s"].open_message = 1

    with pytest.raises(BadSnapshotError):
        folding.kept.restarted(folding.state, folding.decoder)


@pytest.mark.parametrize("tail", ["x'3d7b'", "NULL"])
def test_a_checkpoint_without_the_prompt_whose_echo_may_come_is_not_taken(
    tmp_path: Path, tail: str
) -> None:
    """Whoever goes on looks into it: the recorder, and whoever asks for what came after."""
    folding, said = _spoken()
    folding.ask("initialize", {"protocolVersion": 1}, {"protocolVersion": 1})
    folding.client(id=1, method="session/prompt", params={"sessionId": "s", "prompt": [text("do")]})
    folding.update("terminal_output_chunk", terminalId="x", data="YWJj" * 9)
    folding.update("user_message_chunk", content=text("do"))
    log = tmp_path / "log.db"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checkpoints, "SPACING", 1300)
        _imported(log, said)
    state = _state(log, "-1")
    message = "WHERE CAST(head AS TEXT) LIKE '=[\"Message%'"
    with closing(sqlite3.connect(log)) as db:
        assert db.execute(f"SELECT count(*) FROM checkpoint_parts {message}").fetchone() == (1,)
    _change(log, f"UPDATE checkpoint_parts SET tail = {tail} {message}")

    assert _state(log, "-1") == state
    with open_recording(log) as recording:
        assert recording.state().sessions["s"].messages[0].echoed == [1, 0]


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE checkpoints SET bytes = 1",
        "DELETE FROM checkpoints",
        "UPDATE tool_calls SET title = 'x'",
        "DELETE FROM sessions",
        "DELETE FROM texts",
        "UPDATE texts SET text = 'x' WHERE id = 1",
        "INSERT INTO texts VALUES (9999, 1, 7, 7, 'stderr', NULL, 1, 1, 'x')",
        "INSERT INTO turns (connection_id, session_id, started_seq) VALUES (1, 's', 99)",
    ],
)
def test_what_is_wrong_with_the_tables_is_found(tmp_path: Path, dense: None, sql: str) -> None:
    log = tmp_path / "log.db"
    _imported(log, _agent_says(60))
    _change(log, sql)

    assert "log reindex" in invoke("verify", "--log", log, code=1).stdout
