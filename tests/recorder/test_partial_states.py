"""A part of a state, or a message of a span, read alone, is what it is in the whole."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings

from acp_proxy import following
from acp_proxy.events.event import Owner
from acp_proxy.following import Following
from acp_proxy.log.filters import MessageFilter
from acp_proxy.log.reader import LogReader
from acp_proxy.recorder.rewrite import ImportedFrame, import_connection
from acp_proxy.recording import open_recording
from acp_proxy.state import checkpoints
from acp_proxy.state.partial import THINGS
from acp_proxy.views.changes import changes
from acp_proxy.views.history import terminal_history, tool_call_history
from acp_proxy.views.state_json import as_it_is, state_document, state_text
from acp_proxy.views.tail_lines import Teller
from tests.cli.commands import invoke
from tests.state.talk import said_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acp_proxy.recording import Recording
    from acp_proxy.wire.jsonrpc import Direction

Said = "list[tuple[Direction, bytes]]"
CONVERSATION = Path(__file__).parent.parent / "conversations" / "v1.jsonl"
LISTS = {
    "tool_calls": "toolCalls", "terminals": "terminals", "permissions": "permissions",
    "turns": "turns",
}  # fmt: skip
SOME = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=30
)


@pytest.fixture
def dense() -> Iterator[None]:
    """Let there be a checkpoint every few messages, and many messages be few."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checkpoints, "SPACING", 600)
        patch.setattr(following, "_MANY", 0)
        patch.setattr(following, "_HANDSHAKE", 2)
        yield


def _imported(folder: Path, said: list[tuple[Direction, bytes]]) -> Path:
    log = folder / "log.db"
    frames = (ImportedFrame(side.value, raw + b"\n", None, None) for side, raw in said)
    import_connection(str(log), "uuid-1", {}, frames)
    return log


def _document(recording: Recording, at: int, **part: Any) -> Any:
    return state_document(recording.state(at=at, **part), 1)


@pytest.mark.slow
@SOME
@given(said_lines())
def test_a_part_of_a_state_is_what_it_is_in_the_whole(
    tmp_path_factory: pytest.TempPathFactory, dense: None, said: list[tuple[Direction, bytes]]
) -> None:
    with open_recording(_imported(tmp_path_factory.mktemp("log"), said)) as recording:
        for seq in range(1, len(said) + 1, 3):
            whole = _document(recording, seq)
            for session in whole["sessions"]:
                alone = _document(recording, seq, sessions=[session["sessionId"]])
                assert state_text(alone) == state_text({**whole, "sessions": [session]})
            for thing in THINGS:
                part = _document(recording, seq, things=[thing])["sessions"]
                assert [_things(one, thing) for one in part] == [
                    _things(one, thing) for one in whole["sessions"]
                ]
            _, events = next(recording.steps(since=seq, at=seq))
            assert repr(recording.meaning(1, seq)) == repr(events)


def _things(session: Any, thing: str) -> tuple[str, str]:
    return session["sessionId"], state_text(session.get(LISTS[thing], []))


@pytest.mark.slow
@SOME
@given(said_lines())
def test_the_tables_tell_all_sessions_where_something_may_be(
    tmp_path_factory: pytest.TempPathFactory, dense: None, said: list[tuple[Direction, bytes]]
) -> None:
    with open_recording(_imported(tmp_path_factory.mktemp("log"), said)) as recording:
        if not said or (tables := recording.tables(1)) is None:
            return
        before = _document(recording, 1)
        for seq in range(1, len(said) + 1, 3):
            whole = _document(recording, seq)
            open_ = {
                session["sessionId"]
                for session in whole["sessions"]
                for call in session["toolCalls"]
                if call["status"] != "completed"
            }
            assert open_ <= tables.sessions_with("tool_calls", seq, {}, {"status": ["completed"]})
            mine = {
                s["sessionId"]
                for s in whole["sessions"]
                for t in s["terminals"]
                if "a" in t["terminalId"]
            }
            assert mine <= tables.sessions_with("terminals", seq, {"terminal_id": ["a"]}, {})
            found = changes({"sessions": before["sessions"]}, {"sessions": whole["sessions"]})
            changed = {change.path[1] for change in found}
            assert changed <= tables.sessions_between(1, seq)
            lazy = [state_document(recording.state(at=at), 1, values=as_it_is) for at in (1, seq)]
            assert changes(*({"sessions": one["sessions"]} for one in lazy)) == found


@pytest.mark.slow
@SOME
@given(said_lines())
def test_the_history_of_a_thing_is_that_of_all_steps(
    tmp_path_factory: pytest.TempPathFactory, dense: None, said: list[tuple[Direction, bytes]]
) -> None:
    with open_recording(_imported(tmp_path_factory.mktemp("log"), said)) as recording:
        for id_ in ("a", "\ud800", "none"):
            whole = list(tool_call_history(recording.steps(1), id_, None))
            about = list(tool_call_history(recording.steps_about(1, "tool_calls", id_), id_, None))
            assert about == whole
            whole = list(terminal_history(recording.steps(1), id_, None, list(Owner)))
            steps = recording.steps_about(1, "terminals", id_)
            assert list(terminal_history(steps, id_, None, list(Owner))) == whole


@pytest.mark.slow
@settings(SOME, max_examples=100)
@given(said_lines())
def test_a_tail_of_few_messages_tells_what_one_of_all_does(
    tmp_path_factory: pytest.TempPathFactory, dense: None, said: list[tuple[Direction, bytes]]
) -> None:
    log = str(_imported(tmp_path_factory.mktemp("log"), said))
    for wanted in (
        MessageFilter(kind="error"), MessageFilter(session="a"), MessageFilter(tool_call="a"),
        MessageFilter(method="session/prompt"), MessageFilter(update="tool_call*"),
        MessageFilter(method="initialize"), MessageFilter(odd=True), MessageFilter(terminal="b"),
    ):  # fmt: skip
        some = _lines(log, wanted)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(following, "_MANY", 10**9)
            assert some == _lines(log, wanted), wanted


def _lines(log: str, wanted: MessageFilter) -> list[Any]:
    with LogReader(log) as reader:
        follow = Following(reader, 1)
        begin = min(follow.newest(wanted, 10**6), default=10**6)
        teller = Teller(1)
        for row, events, _ in follow.skip_to(begin):
            teller.tell(row, events, wanted=False)
        lines = []
        for row, events, fits in follow.new(wanted):
            lines += teller.tell(row, events, wanted=fits)
        return [*lines, *teller.flush()]


def test_a_part_of_a_compacted_state_is_the_same(tmp_path: Path, dense: None) -> None:
    log = tmp_path / "log.db"
    invoke("import", CONVERSATION, "--log", log)
    commands = [
        [*words, "--log", log]
        for words in (
            ["tool-calls", "--json"], ["tool-calls", "--session", "garden-1"], ["sessions"],
            ["permissions", "--json"], ["terminals", "--json"], ["timeline", "--json"],
            ["pending", "--at", "60"], ["show", "70"], ["tool-call", "call-edit", "--history"],
        )
    ]  # fmt: skip
    before = [invoke(*words).stdout for words in commands]
    invoke("compact", "--all", "--log", log)
    with closing(sqlite3.connect(log)) as db:
        [packed] = db.execute("SELECT count(*) FROM checkpoint_parts WHERE packed > 0").fetchone()
    assert packed

    assert [invoke(*words).stdout for words in commands] == before
