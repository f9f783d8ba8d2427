"""``--at``: a seq, a count from the end, a time; and what changed between two of them."""

import json
import subprocess
from pathlib import Path

import pytest

from acp_proxy.recording import open_recording
from acp_proxy.views.changes import changes
from tests.cli.commands import document, invoke
from tests.cli.conversations import V1, V2, put, request
from tests.harness import PROXY, environment


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return put(tmp_path / "log.db", V1)


@pytest.mark.parametrize(
    ("point", "seq"),
    [
        ("1", 1), ("17", 17), ("-0", 17), ("-3", 14), ("0.1", 1), ("0.1999", 1), ("1.", 10),
        ("1s", 10), ("0.95s", 9), ("90s", 17), ("2026-01-02T03:04:05Z", 5),
        ("2026-01-02T03:04:05.999999999Z", 5), ("2026-01-02T04:04:06+01:00", 6),
        ("2027-01-01T00:00:00Z", 17),
    ],
)  # fmt: skip
def test_a_point_stands_for_a_message(log: Path, point: str, seq: int) -> None:
    assert document("state", "--log", log, "--at", point)["at"] == seq


@pytest.mark.parametrize("point", ["0", "18", "-17", "0s", "0.09", "2025-12-31T00:00:00Z"])
def test_a_point_outside_is_refused(log: Path, point: str) -> None:
    said = invoke("state", "--log", log, "--at", point, code=1).stderr

    assert said == f'acp-proxy: connection 1 has no message at "{point}"; it has 1 to 17\n'


@pytest.mark.parametrize(
    "arguments", [("state", "--at", "1"), ("show", "1"), ("transcript", "--at", "1")]
)
def test_a_connection_without_messages_has_none(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    log = tmp_path / "log.db"
    command: list[str | Path] = [PROXY, "run", "--log", log, "--", "true"]
    subprocess.run(command, stdin=subprocess.DEVNULL, check=True, timeout=60, env=environment())

    said = invoke(*arguments, "--log", log, code=1).stderr

    assert said.endswith("; it has none\n")


@pytest.mark.parametrize("point", ["soon", "1e3", "", "--1", "2026-01-02T03:04:05", "1.5m"])
def test_what_is_no_point_is_told_how_to_be_one(log: Path, point: str) -> None:
    assert (
        "is no point: give a SEQ" in invoke("state", "--log", log, f"--at={point}", code=1).stderr
    )


def test_a_time_in_a_connection_without_times_is_refused(tmp_path: Path) -> None:
    line = json.dumps({"from": "client", "message": request(0, "initialize")}).encode()
    invoke("import", "-", "--log", tmp_path / "log.db", stdin=line)

    for point in ("1s", "2026-01-02T03:04:05Z"):
        said = invoke("state", "--log", tmp_path / "log.db", "--at", point, code=1).stderr
        assert "has no such times; give a SEQ" in said


def test_a_time_takes_all_members_of_a_batch(tmp_path: Path) -> None:
    batch = [request(0, "a"), request(1, "b")]
    log = put(tmp_path / "log.db", [("client", batch), ("client", request(2, "c"))])

    with open_recording(log) as recording:
        assert [recording.resolve(1, point) for point in ("0.1", "0.2", 2)] == [2, 3, 2]


def test_diff_tells_additions_and_changes(log: Path) -> None:
    lines = invoke("diff", "1", "--log", log, "--at", "6", "--at", "-7", code=1).stdout.splitlines()

    assert lines[:4] == [
        '~ sessions/s/toolCalls/c1/status: "pending" -> "completed"',
        (
            '+ sessions/s/toolCalls/c1/content/0: {"type":"diff","path":"/garden/a","oldText":'
            '"one\\ntwo","newText":"one\\n2\\n"}'
        ),
        '+ sessions/s/toolCalls/c1/locations/0: {"path":"/garden/a","line":2}',
        "~ sessions/s/toolCalls/c1/lastSeq: 6 -> 10",
    ]
    assert lines[4].startswith('+ sessions/s/toolCalls/c1/rawInput: {"flag":0,"n":1}')
    assert lines[5].startswith("+ sessions/s/permissions/7: ")
    assert len(lines) == 6


def test_diff_compares_exactly(log: Path) -> None:
    told = document("diff", "1", "--log", log, "--at", "9", "--at", "10", code=1)

    assert (told["connection"], told["from"], told["to"]) == (1, 9, 10)
    place = ["sessions", "s", "toolCalls", "c1"]
    assert told["changes"] == [
        {"path": [*place, "status"], "before": "in_progress", "after": "completed"},
        {"path": [*place, "rawInput", "flag"], "before": False, "after": 0},
        {"path": [*place, "rawInput", "n"], "before": 1.0, "after": 1},
        {"path": [*place, "lastSeq"], "before": 9, "after": 10},
    ]
    assert told["changes"][1]["before"] is False


def test_diff_backwards_tells_removals(log: Path) -> None:
    lines = invoke("diff", "1", "--log", log, "--at", "6", "--at", "5", code=1).stdout.splitlines()

    assert [line.partition(":")[0] for line in lines] == ["- sessions/s/toolCalls/c1"]


def test_diff_exits_with_0_when_nothing_differs(log: Path) -> None:
    assert invoke("diff", "1", "--log", log, "--at", "6", "--at", "6").stdout == ""
    for points in (["--at", "6"], ["--at", "1", "--at", "2", "--at", "3"]):
        assert "--at twice" in invoke("diff", "1", "--log", log, *points, code=2).stderr


def test_diff_shows_what_a_terminal_wrote(tmp_path: Path) -> None:
    log = put(tmp_path / "log.db", V2)
    lines = invoke("diff", "1", "--log", log, "--at", "7", "--at", "9", code=1).stdout.splitlines()

    assert lines == [
        "~ sessions/s/terminals/agent t/output/data: 2 -> 8 bytes, added: b\\e[0m\\n",
        "~ sessions/s/terminals/agent t/lastSeq: 7 -> 9",
        '+ sessions/s/terminals/agent t/exitStatus: {"exitCode":3}',
    ]


@pytest.mark.parametrize(
    ("before", "after", "count"),
    [
        (False, 0, 1), (True, 1, 1), (1, 1.0, 1), (None, False, 1), ("1", 1, 1), ([], {}, 1),
        ({"a": None}, {}, 1), ({"a": 1, "b": 2}, {"b": 2, "a": 1}, 0), ([1, 2], [2, 1], 2),
        (2**70, 2**70 + 1, 1), (2**70, 2**70, 0), ({}, {}, 0), ("\ud800", "\ud800", 0),
    ],
)  # fmt: skip
def test_values_are_the_same_only_when_they_are_written_the_same(
    before: object, after: object, count: int
) -> None:
    assert len(changes(before, after)) == count


def test_values_of_any_depth_are_compared() -> None:
    deep: object = 1
    other: object = 2
    for _ in range(5000):
        deep, other = [deep], [other]

    assert len(changes(deep, other)[0].path) == 5000


def test_diff_tells_things_that_are_new_as_a_whole(log: Path) -> None:
    told = document("diff", "1", "--log", log, "--at", "1", "--at", "-1", code=1)

    [session] = [one["after"] for one in told["changes"] if one["path"] == ["sessions", "s"]]
    assert session["toolCalls"][0]["toolCallId"] == "c1"
    assert (
        "+ sessions/s: {"
        in invoke("diff", "1", "--log", log, "--at", "1", "--at", "-1", code=1).stdout
    )
