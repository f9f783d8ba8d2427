"""The commands for one kind of thing, asked of real conversations and of all vectors."""

import json
from pathlib import Path

import pytest

from tests.cli.commands import document, invoke
from tests.cli.conversations import put


def imported(captures: Path, name: str, folder: Path) -> Path:
    """Return a log that holds a capture."""
    log = folder / "log.db"
    [path] = captures.glob(f"{name}-*.jsonl")
    invoke("import", path, "--log", log)
    return log


@pytest.mark.parametrize(
    ("name", "owner", "lengths"),
    [
        ("04", "meta", [152, 132, 48, 816, 368]),
        ("05", "agent", [156, 116, None, 16, 188, 8, 148]),
        ("06", "client", [156, 116, None]),
    ],
)
def test_raw_output_of_real_terminals(
    captures: Path, tmp_path: Path, name: str, owner: str, lengths: list[int | None]
) -> None:
    log = imported(captures, name, tmp_path)
    told = document("terminals", "--owner", owner, "--log", log)
    ids = [one["terminalId"] for session in told["sessions"] for one in session["terminals"]]

    assert len(ids) == len(lengths)
    for id_, length in zip(ids, lengths, strict=True):
        code = 1 if length is None else 0
        raw = invoke("terminal", id_, "--raw", "--log", log, code=code).stdout_bytes
        assert (len(raw) + 2) // 3 * 4 == (length or 0)  # in base64


def test_late_titles_of_real_tool_calls(captures: Path, tmp_path: Path) -> None:
    log = imported(captures, "02", tmp_path)
    [session] = document("tool-calls", "--status", "completed", "--log", log)["sessions"]
    calls = session["toolCalls"]

    assert len(calls) == 12
    for call in calls:
        told = document("tool-call", call["toolCallId"], "--history", "--log", log)["history"]
        titles = [
            change["after"] for entry in told for change in entry["changes"] if
            change["path"] == ["title"]
        ]  # fmt: skip
        assert (told[-1]["seq"], titles[-1]) == (call["lastSeq"], call["title"])
    assert invoke("tool-calls", "--unfinished", "--log", log, code=1).stdout == ""


def test_a_real_terminal_that_nobody_finished_is_pending(captures: Path, tmp_path: Path) -> None:
    log = imported(captures, "06", tmp_path)
    told = document("pending", "--log", log)

    assert told["conclusion"].startswith(
        "the client has not answered terminal/wait_for_exit for 6.17s; it last wrote "
    )
    [session] = told["sessions"]
    assert [one["terminalId"] for one in session["terminals"]] == ["term-3"]
    assert [one["status"] for one in session["toolCalls"]] == ["in_progress"]


def test_the_history_leads_to_the_state(captures: Path, tmp_path: Path) -> None:
    log = imported(captures, "05", tmp_path)
    for session in document("tool-calls", "--log", log)["sessions"]:
        for call in session["toolCalls"]:
            told = document("tool-call", call["toolCallId"], "--history", "--log", log)["history"]
            built = {
                change["path"][0]: change["after"]
                for entry in told
                for change in entry["changes"]
                if len(change["path"]) == 1
            }
            assert built["status"] == call["status"]


@pytest.mark.slow
def test_every_command_answers_at_every_vector(vectors: Path, tmp_path: Path) -> None:
    for number, vector in enumerate(json.loads((vectors / "state.json").read_bytes())):
        frames = [(frame["from"], frame["message"]) for frame in vector["frames"]]
        log = put(tmp_path / f"{number}.db", frames)
        whole = document("state", "--log", log)["sessions"]
        for command, key in (
            ("tool-calls", "toolCalls"), ("permissions", "permissions"), ("terminals", "terminals"),
        ):  # fmt: skip
            some = any(session[key] for session in whole)
            assert bool(invoke(command, "--log", log, code=0 if some else 1).stdout) == some
        for session in whole:
            for call in session["toolCalls"]:
                assert invoke("tool-call", call["toolCallId"], "--log", log).stdout
            for terminal in session["terminals"]:
                assert invoke("terminal", terminal["terminalId"], "--log", log).stdout
        assert invoke("pending", "--log", log).stdout
