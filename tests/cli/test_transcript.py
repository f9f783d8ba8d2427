"""Transcripts: golden files of our conversations, what holds of all captures, and the options."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from acp_proxy.views.safe_text import visible
from tests.cli.commands import invoke
from tests.cli.transcripts import FORMATS, assert_accounted, assert_harmless, imported, tell, told
from tests.golden import Golden

CONVERSATIONS = Path(__file__).resolve().parent.parent / "conversations"
OURS = sorted(CONVERSATIONS.glob("*.jsonl"))
PROGRAM = [sys.executable, "-m", "acp_proxy"]


def only_session(log: Path) -> str:
    """Return the id of the session that has most entries."""
    sessions = told(log)["sessions"]
    most = max(sessions, key=lambda one: len(one["entries"]) if "sessionId" in one else 0)
    return str(most["sessionId"])


# Golden files.


def test_there_is_a_conversation_of_each_version() -> None:
    assert {path.stem for path in OURS} >= {"v1", "v2"}


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("path", OURS, ids=lambda path: path.stem)
def test_our_conversations_are_told_as_their_golden_files_say(
    path: Path, form: str, tmp_path: Path, golden: Golden
) -> None:
    written = tell(imported(tmp_path / "log.db", path), form)

    golden.check(path.with_suffix(f".{FORMATS[form]}"), written)


def test_our_conversations_hold_every_kind_of_entry(tmp_path: Path) -> None:
    found = set()
    for path in OURS:
        document = told(imported(tmp_path / f"{path.stem}.db", path))
        found |= {
            entry["entry"] for session in document["sessions"] for entry in session["entries"]
        }

    assert found == {
        "message", "plan", "toolCall", "terminal", "permission", "question", "turnEnd", "notice",
        "compaction", "subagent", "sessionMessage", "request", "notification", "update", "change",
        "answer", "lines",
    }  # fmt: skip


# What holds of every conversation.


@pytest.fixture(params=["ours-v1", "ours-v2", *(f"capture-0{number}" for number in range(1, 8))])
def log(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A log with one of our conversations, or with a capture."""
    where, _, name = request.param.partition("-")
    folder = CONVERSATIONS if where == "ours" else request.getfixturevalue("captures")
    [path] = folder.glob(f"{name}*.jsonl")
    return imported(tmp_path / "log.db", path)


@pytest.mark.slow
def test_every_message_belongs_to_one_entry_or_to_a_sort_that_is_told(log: Path) -> None:
    assert_accounted(told(log))
    assert_accounted(told(log, "--full"))
    assert_accounted(told(log, "--no-thoughts"))
    assert_accounted(told(log, "--session", only_session(log)))
    for point in ("1", "-1", "10"):
        assert_accounted(told(log, "--at", point))


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMATS)
def test_every_format_is_harmless(log: Path, form: str) -> None:
    assert_harmless(form, tell(log, form))
    assert_harmless(form, tell(log, form, "--full"))


def test_all_that_was_said_is_there(log: Path) -> None:
    text = tell(log, "text", "--full", "--raw").decode()

    for session in json.loads(tell(log, "json", "--raw"))["sessions"]:
        for entry in session["entries"]:
            for block in entry.get("content", ()) if entry["entry"] == "message" else ():
                for line in block.get("text", "").split("\n") if isinstance(block, dict) else ():
                    assert visible(line.replace("\t", "\0")).replace("\\x00", "\t").rstrip() in text


@pytest.mark.slow
def test_the_same_log_gives_the_same_bytes_anywhere(log: Path, tmp_path: Path) -> None:
    elsewhere = {
        "PATH": os.environ["PATH"],
        "TZ": "Asia/Kathmandu",
        "LANG": "de_DE.ISO-8859-1",
        "LC_ALL": "C",
        "COLUMNS": "33",
        "FORCE_COLOR": "1",
        "TERM": "dumb",
        "PYTHONHASHSEED": "7",
        "PYTHONPATH": os.pathsep.join(sys.path),
    }

    for form in FORMATS:
        here = tell(log, form)
        command = [*PROGRAM, "transcript", "--log", str(log), "--format", form]
        there = subprocess.run(
            command, env=elsewhere, cwd=tmp_path, capture_output=True, check=True, timeout=60
        ).stdout
        assert there == here


def test_an_exported_log_is_told_alike_but_for_facts_of_the_connection(
    log: Path, tmp_path: Path
) -> None:
    invoke("export", "--log", log, "--jsonl", "-o", tmp_path / "again.jsonl")
    again = imported(tmp_path / "again.db", tmp_path / "again.jsonl")
    first, second = told(log), told(again)

    assert first.pop("connection")["at"] == second.pop("connection")["at"]
    assert first == second


@pytest.mark.parametrize("path", OURS, ids=lambda path: path.stem)
def test_a_log_recorded_live_is_told_as_its_export_is_elsewhere(path: Path, tmp_path: Path) -> None:
    said: dict[str, list[str]] = {"client": [], "agent": [], "stderr": []}
    for line in path.read_text().splitlines()[1:]:
        frame = json.loads(line)
        said[frame["from"]].append(frame["data"] + "\n")
    (tmp_path / "agent").write_text("".join(said["agent"]))
    agent = ["sh", "-c", 'cat "$0"; cat >/dev/null', str(tmp_path / "agent")]
    live = tmp_path / "live.db"

    subprocess.run(
        [*PROGRAM, "run", "--log", str(live), "--", *agent],
        input="".join(said["client"]).encode(), capture_output=True, check=True, timeout=60,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    here = told(live, "--raw")
    invoke("export", "--log", live, "--jsonl", "--raw", "-o", tmp_path / "again.jsonl")
    there = told(imported(tmp_path / "again.db", tmp_path / "again.jsonl"), "--raw")

    assert here.pop("connection") != there.pop("connection")
    assert here == there
    assert here["sessions"]


# Options.


@pytest.fixture
def v1(tmp_path: Path) -> Path:
    """A log with our conversation of version 1."""
    return imported(tmp_path / "log.db", CONVERSATIONS / "v1.jsonl")


def test_one_session_is_told_alone(v1: Path) -> None:
    document = told(v1, "--session", "old-1")

    assert [session["sessionId"] for session in document["sessions"]] == ["old-1"]
    assert list(document["notShown"]) == ["messages of other sessions, and of none"]


def test_a_session_that_is_not_there_is_named(v1: Path) -> None:
    done = invoke("transcript", "--log", v1, "--session", "nobody", code=1)

    assert 'no session "nobody"' in done.stderr


def test_a_point_shows_things_as_they_were_then(v1: Path) -> None:
    [call] = [
        entry
        for session in told(v1, "--at", "26")["sessions"]
        for entry in session["entries"]
        if entry["entry"] == "toolCall" and entry["toolCallId"] == "call-edit"
    ]

    assert (call["status"], "endedSeq" in call) == ("pending", False)
    assert b"pending" in tell(v1, "text", "--at", "26")
    assert b"StickyValve" not in tell(v1, "text", "--at", "26")


def test_thoughts_can_be_left_out(v1: Path) -> None:
    assert b"First the valve" in tell(v1, "text")
    for form in FORMATS:
        assert b"First the valve" not in tell(v1, form, "--no-thoughts")


def test_it_can_be_written_to_a_file(v1: Path, tmp_path: Path) -> None:
    done = invoke("transcript", "--log", v1, "--format", "html", "-o", tmp_path / "a.html")

    assert done.stdout == ""
    assert (tmp_path / "a.html").read_bytes() == tell(v1, "html")
    nowhere = invoke("transcript", "--log", v1, "-o", tmp_path / "no" / "a", code=1)
    assert "cannot write" in nowhere.stderr


def test_full_shows_what_is_folded_and_what_is_repeated(v1: Path) -> None:
    assert tell(v1, "text").count(b"_garden/pulse") == 1
    assert tell(v1, "text", "--full").count(b"_garden/pulse") == 3
    assert b"10%" not in tell(v1, "text")
    assert b"10%" in tell(v1, "text", "--full")


def test_a_connection_without_a_message_has_a_transcript_too(tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").write_text('{"acp-proxy":1,"connection":{}}\n')
    log = imported(tmp_path / "log.db", tmp_path / "empty.jsonl")

    for form in FORMATS:
        assert_harmless(form, tell(log, form))
    assert told(log)["sessions"] == []
