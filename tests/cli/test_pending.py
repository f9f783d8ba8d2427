"""pending: who waits for whom, in words and whole."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from acp_proxy.recording import open_recording
from acp_proxy.views.jsonlines import parse_time
from acp_proxy.views.pending import conclusion
from tests.cli.commands import document, invoke
from tests.cli.conversations import V1, V2, put, request, result

SHOWN = "id\\e[2J\\u202e"


def test_all_that_is_open_is_told(tmp_path: Path) -> None:
    log = put(tmp_path / "log.db", V1)

    assert invoke("pending", "--log", log).stdout.splitlines() == [
        "the client has not answered terminal/wait_for_exit; it last wrote 300ms ago",
        "",
        "connection 1 just after message 17",
        "  client: last wrote 300ms ago",
        "  agent: last wrote just now",
        "  agent on stderr: last wrote 100ms ago",
        "",
        "requests of the client without an answer",
        "  5 session/prompt #2 for 1.2s, session s",
        "",
        "requests of the agent without an answer",
        '  17 terminal/wait_for_exit #"w", session s',
        "",
        "session s",
        f"  tool call {SHOWN} in_progress, last changed 200ms ago: Look {SHOWN}",
        "  terminal term (client) not exited, last changed 300ms ago: ls -l",
        "",
        "last lines on stderr",
        f"  warning {SHOWN}",
    ]


@pytest.mark.parametrize(
    ("at", "expected"),
    [
        (1, "the agent has not answered initialize"),
        (4, "nothing is pending"),
        (6, "the agent has not answered session/prompt for 100ms; it last wrote just now"),
        (7, ("the client has not answered session/request_permission (a person is asked); "
            "it last wrote 200ms ago")),
        (10, "the agent has not answered session/prompt for 500ms; it last wrote just now"),
    ],
)  # fmt: skip
def test_the_conclusion_says_who_is_waited_for(tmp_path: Path, at: int, expected: str) -> None:
    log = put(tmp_path / "log.db", V1)

    assert document("pending", "--log", log, "--at", at)["conclusion"] == expected


def set_facts(log: Path, **facts: Any) -> None:
    """Make an imported connection one that runs, or ended so."""
    columns = ", ".join(f"{name} = ?" for name in facts)
    with closing(sqlite3.connect(log)) as db, db:
        db.execute(f"UPDATE connections SET {columns}", list(facts.values()))


def test_while_it_runs_ages_reach_to_now(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = put(tmp_path / "log.db", V1[:6])
    set_facts(log, status="running")
    now = parse_time("2026-01-02T03:05:39Z")
    monkeypatch.setattr("acp_proxy.clock._time_ns", lambda: now)

    told = document("pending", "--log", log)

    assert told["conclusion"] == (
        "the agent has not answered session/prompt for 1m34s; it last wrote 1m33s ago"
    )
    assert (told["status"], told["silence_ns"]["client"]) == ("running", 94_000_000_000)
    earlier = document("pending", "--log", log, "--at", "6")
    assert earlier["requests"][0]["age_ns"] == 100_000_000


def test_ages_reach_to_the_end_of_what_has_ended(tmp_path: Path) -> None:
    log = put(tmp_path / "log.db", V1[:7])
    set_facts(log, status="exited", exit_code=1, duration_ns=10_700_000_000)

    told = document("pending", "--log", log)

    assert told["conclusion"] == (
        "the agent exited with code 1; it left 1 request of the client unanswered (session/prompt)"
        " and 1 request of the agent unanswered (session/request_permission)"
    )
    assert [one["age_ns"] for one in told["requests"]] == [10_200_000_000, 10_000_000_000]
    assert told["sessions"][0]["permissions"] == []  # it is abandoned, nobody can answer any more
    assert (told["exitCode"], told["signal"]) == (1, None)


@pytest.mark.parametrize("point", ["0.95", "2026-01-02T03:04:09.5Z"])
def test_at_a_time_ages_reach_to_that_time(tmp_path: Path, point: str) -> None:
    log = put(tmp_path / "log.db", V1)
    told = document("pending", "--log", log, "--at", point)
    silent = 50_000_000 if point == "0.95" else 500_000_000

    assert (told["at"], told["silence_ns"]["agent"]) == (9, silent)


def test_of_a_connection_without_a_message_nothing_is_pending(tmp_path: Path) -> None:
    log = tmp_path / "log.db"
    invoke("import", "-", "--log", log, stdin=b'{"acp-proxy":1,"connection":{}}\n')

    assert document("pending", "--log", log)["conclusion"] == "nothing is pending"
    for words in (["tool-call", "x"], ["tool-call", "x", "--history"], ["terminal", "x"]):
        assert "no such t" in invoke(*words, "--log", log, code=1).stderr


def test_without_times_there_are_no_ages(tmp_path: Path) -> None:
    line = json.dumps({"from": "client", "message": request(0, "initialize")}).encode()
    invoke("import", "-", "--log", tmp_path / "log.db", stdin=line)

    shown = invoke("pending", "--log", tmp_path / "log.db").stdout.splitlines()
    told = document("pending", "--log", tmp_path / "log.db")
    assert shown[0] == "the agent has not answered initialize"
    assert shown[3] == "  client: last wrote at an unknown time"
    assert shown[4] == "  agent: wrote nothing"
    assert (told["requests"][0]["age_ns"], told["silence_ns"]) == (None, {"client": None})


def test_several_requests_are_counted(tmp_path: Path) -> None:
    asked = [("client", request(n, "session/list")) for n in range(3)]
    log = put(tmp_path / "log.db", asked)

    assert document("pending", "--log", log)["conclusion"] == (
        "the agent has not answered session/list for 200ms, nor 2 other requests"
    )


def test_a_v2_agent_works_without_an_open_request(tmp_path: Path) -> None:
    log = put(tmp_path / "log.db", V2)
    told = document("pending", "--log", log)

    assert told["conclusion"] == (
        "no request is open; the agent works on a turn (running); it last wrote just now"
    )
    [session] = told["sessions"]
    assert [one["terminalId"] for one in session["terminals"]] == ["u"]
    assert (session["toolCalls"], session["permissions"]) == ([], [])
    assert told["silence_ns"] == {"client": 700_000_000, "agent": 0}


def test_the_document_is_whole(tmp_path: Path) -> None:
    log = put(tmp_path / "log.db", V1[:7])
    told = document("pending", "--log", log)

    assert told["status"] == "imported"
    assert told["requests"] == [
        {"from": "client", "seq": 5, "id": "2", "method": "session/prompt", "sessionId": "s",
         "age_ns": 200_000_000},
        {"from": "agent", "seq": 7, "id": '"p"', "method": "session/request_permission",
         "sessionId": "s", "age_ns": 0},
    ]  # fmt: skip
    state = document("state", "--log", log)["sessions"][0]
    assert told["sessions"] == [
        {"sessionId": "s", **{key: state[key] for key in ("toolCalls", "terminals", "permissions")}}
    ]


def test_an_answer_that_comes_later_counts_not(tmp_path: Path) -> None:
    log = put(tmp_path / "log.db", [("client", request(1, "a")), ("agent", result(1))])

    with open_recording(log) as recording:
        assert [row.seq for row in recording.unanswered(1, at=1)] == [1]
        assert list(recording.unanswered(1, at=2)) == []


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ({"status": "exited", "exitCode": 3},
         "the agent exited with code 3; it left 1 request of the client unanswered (a)"),
        ({"status": "killed", "signal": 9},
         "the agent was killed by signal 9; it left 1 request of the client unanswered (a)"),
        ({"status": "lost", "requests": []},
         "the proxy was killed, so nobody saw how the agent ended; no request was left open"),
    ],
)  # fmt: skip
def test_after_the_end_it_tells_how_and_what_was_left(facts: dict[str, Any], expected: str) -> None:
    told = {
        "requests": [{"from": "client", "method": "a"}], "exitCode": None, "signal": None, "ended": True, **facts,
    }  # fmt: skip

    assert conclusion(told) == expected


def test_an_imported_connection_ended_as_its_file_says(tmp_path: Path) -> None:
    recorded = put(tmp_path / "one.db", V1[:7])
    set_facts(recorded, status="exited", exit_code=1, crc=None)
    exported = invoke("export", "--jsonl", "--raw", "--log", recorded).stdout_bytes
    log = tmp_path / "log.db"
    invoke("import", "-", "--log", log, stdin=exported)

    told = document("pending", "--log", log)
    assert (told["status"], told["ended"], told["exitCode"]) == ("exited", True, 1)
    assert told["conclusion"].startswith("the agent exited with code 1; it left ")
    [permission] = document("permissions", "--log", log)["sessions"][0]["permissions"]
    assert permission["status"] == "abandoned"
    assert "abandoned" in invoke("transcript", "--log", log).stdout
    invoke("verify", "--log", log)
    before = document("state", "--log", log)
    invoke("log", "reindex", "--log", log)
    assert document("state", "--log", log) == before
