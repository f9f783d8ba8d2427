"""``timeline``: a turn of known times drawn exactly, and real ones in any width."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from acp_proxy.views.columns import width
from tests.cli.commands import document, invoke
from tests.cli.conversations import EVIL, V2, b64, put, request, result, update
from tests.cli.test_stats import CHOSEN, MS, TALK, ask, call, changed, prompt, timed
from tests.harness import PROXY, environment
from tests.terminals import at_terminal


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return timed(tmp_path_factory.mktemp("timeline") / "log.db", TALK)


def drawn(log: Path, *options: object) -> list[str]:
    """Return the lines of a chart."""
    return invoke("timeline", "--log", log, *options).stdout.splitlines()


def test_a_turn_is_drawn_over_time(log: Path) -> None:
    assert drawn(log, "--turn", 1) == [
        "turn 1, session s: 13 messages, 5 to 17",
        "",
        "                 0s           1s           2s            3s           4s",
        "turn       x     ─────────────────────────────────────────────────────────────────── 5s end_turn",
        "message              ░                                                               0µs",
        "tool call  later      ████████████████████████████████████████████                   3.2s completed",
        "tool call  e1          ████████████████████████████████████████████                  3.2s failed",
        "permission later              ▒▒▒▒▒▒▒▒▒▒▒▒▒▒                                         1s selected yes",
        "permission e1                        ▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒                     2s cancelled",
    ]


def test_requests_of_one_method_share_a_line(log: Path) -> None:
    [line] = [line for line in drawn(log, "--turn", 2) if line.startswith("request")]

    assert line.split() == [
        "request",
        "fs/read_text_file",
        "(agent)",
        "■",
        "8ms",
        "x2,",
        "1",
        "failed",
    ]
    assert drawn(log)[3].endswith("─▶ 90ms running")


def test_the_document_has_the_same_bars(log: Path) -> None:
    told = document("timeline", "--turn", 1, "--log", log)

    assert (told["connection"], told["sessionId"], told["turn"]) == (1, "s", 1)
    assert [(bar["kind"], bar["label"], bar["status"]) for bar in told["bars"]] == [
        ("turn", "x", "end_turn"), ("message", "", ""), ("tool call", "later", "completed"),
        ("tool call", "e1", "failed"), ("permission", "later", "selected yes"),
        ("permission", "e1", "cancelled"),
    ]  # fmt: skip
    spans = [
        (one["seq"], one["endSeq"], one["begun_ns"] // MS, one["ended_ns"] // MS)
        for bar in told["bars"]
        for one in bar["segments"]
    ]
    assert spans == [
        (5, 17, 1000, 6000), (6, 6, 1300, 1300), (7, 13, 1400, 4600), (8, 14, 1500, 4700),
        (9, 11, 2000, 3000), (10, 12, 2500, 4500),
    ]  # fmt: skip
    assert told["bars"][2]["id"] == "r1"


def test_bars_stand_where_their_times_are(log: Path) -> None:
    lines = drawn(log, "--turn", 1)[3:]
    begin = lines[0].index("─")
    columns = lines[0].count("─")

    told = document("timeline", "--turn", 1, "--log", log)
    for line, bar in zip(lines, told["bars"], strict=True):
        [segment] = bar["segments"]
        marks = [at - begin for at, char in enumerate(line) if char in "─░█▒"]
        first = (segment["begun_ns"] - 1000 * MS) * columns // (5000 * MS)
        last = min((segment["ended_ns"] - 1000 * MS) * columns // (5000 * MS), columns - 1)
        assert marks == list(range(first, last + 1)), line


def test_what_had_not_ended_ends_in_an_arrow(tmp_path: Path) -> None:
    talk: list[tuple[int, str, Any]] = [
        *TALK[:5], (1100, "agent", call("c", kind="edit")), (1200, "agent", ask("p", "c")),
        (1300, "agent", request("f", "fs/read_text_file", sessionId="s", path="/")),
        (2000, "agent", result(2, stopReason="cancelled")),
        (3000, "agent", changed("c", status="completed")), (3100, "client", result("p", **CHOSEN)),
    ]  # fmt: skip
    lines = drawn(timed(tmp_path / "log.db", talk))

    assert [
        line.rstrip("abcdefghijklmnopqrstuvwxyz_,1 0.").endswith("▶ 9") for line in lines[4:5]
    ] == [True]
    assert [line.count("▶") for line in lines[3:]] == [0, 1, 1, 1]
    assert lines[4].split()[-2:] == ["900ms", "pending"]


def test_terminals_of_v2_are_drawn(tmp_path: Path) -> None:
    more = [
        ("agent", update("terminal_update", terminalId="u", exitStatus={"signal": "TERM"})),
        (
            "agent",
            update("terminal_update", terminalId="w", command="wait", output={"data": b64(b"")}),
        ),
        ("agent", update("state_update", state="idle", stopReason="end_turn")),
    ]
    told = document("timeline", "--log", put(tmp_path / "log.db", [*V2, *more]))

    assert [(bar["id"], bar["label"], bar["status"], *bar["segments"][0].values())
            for bar in told["bars"] if bar["kind"] == "terminal"] == [
        ("t", "ls", "exited 3", 7, 9, 700 * MS, 900 * MS),
        ("u", "top", "exited TERM", 10, 11, 1000 * MS, 1100 * MS),
        ("w", "wait", "not exited", 12, None, 1200 * MS, None),
    ]  # fmt: skip


def test_history_told_again_later_does_not_change_a_turn(tmp_path: Path) -> None:
    before = document("timeline", "--turn", 1, "--log", timed(tmp_path / "a.db", TALK[:25]))

    assert document("timeline", "--turn", 1, "--log", timed(tmp_path / "b.db", TALK)) == before


def test_without_times_messages_are_counted(tmp_path: Path) -> None:
    log = tmp_path / "log.db"
    lines = "\n".join(line for line in _untimed())
    invoke("import", "-", "--log", log, stdin=lines.encode())

    shown = drawn(log, "--turn", 1)
    assert shown[0].endswith("times are unknown, so messages are counted")
    assert shown[2].split()[:3] == ["5", "7", "9"]
    assert document("timeline", "--turn", 1, "--log", log)["bars"][0]["segments"] == [
        {"seq": 5, "endSeq": 17, "begun_ns": None, "ended_ns": None}
    ]


def _untimed() -> list[str]:
    import json

    return [json.dumps({"from": who, "message": what}) for _, who, what in TALK[:-1]]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--turn", "4"], "connection 1 has no turn 4; there are 3"),
        (["--session", "other"], "session other has no turn"),
        (["--at", "4"], "connection 1 has no turn"),
    ],
)
def test_a_turn_that_is_not_there_is_told(log: Path, options: list[str], said: str) -> None:
    assert invoke("timeline", *options, "--log", log, code=1).stderr == f"acp-proxy: {said}\n"


def test_where_there_are_no_blocks_it_is_drawn_with_ascii(tmp_path: Path) -> None:
    talk = [*TALK[:5], (1100, "agent", call("c", kind="edit", name="é日")), (1101, "agent", changed("c", title="日本", status="failed"))]  # fmt: skip
    log = timed(tmp_path / "log.db", talk)
    done = subprocess.run(
        [PROXY, "timeline", "--log", log],
        env=environment(PYTHONIOENCODING="ascii"), capture_output=True, check=True, timeout=60,
    )  # fmt: skip

    lines = done.stdout.decode("ascii").splitlines()
    assert lines[4].startswith("tool call  \\u65e5\\u672c ")
    assert "#" in lines[4]
    assert "→" not in done.stdout.decode()
    assert "\\u2" not in lines[3] + lines[2]


@pytest.mark.parametrize("columns", [20, 40, 80, 200])
def test_a_chart_keeps_within_its_terminal(tmp_path: Path, columns: int) -> None:
    wide = "日本語のタイトル 👩‍🌾 " * 9 + EVIL
    talk = [
        *TALK[:5], (1100, "agent", call(EVIL, kind="edit")),
        (1101, "agent", changed(EVIL, title=wide, status="completed")),
        (1200, "agent", update("tool_call", toolCallId="d", title=wide, status=EVIL)),
        (1300, "agent", request(EVIL, EVIL, sessionId="s")),
    ]  # fmt: skip
    shown = at_terminal(columns, "timeline", log=timed(tmp_path / "log.db", talk))

    lines = shown.rstrip("\n").split("\n")
    assert max(map(width, lines)) <= columns
    assert not {"\x1b", "\u202e", "\r"} & set(shown)
    ends = {width(line[: line.index("▶")]) for line in lines if "▶" in line}
    assert len(ends) == 1  # they align, whatever stands before them


@pytest.mark.slow
def test_every_turn_of_real_conversations_is_drawn(captures: Path, tmp_path: Path) -> None:
    for path in sorted(captures.glob("*.jsonl")):
        log = tmp_path / f"{path.stem}.db"
        invoke("import", path, "--log", log)
        turns = document("stats", "--log", log)["turns"]["count"]
        for number in range(1, turns + 1):
            lines = drawn(log, "--turn", number)
            assert max(map(width, lines)) <= 100
            assert len(lines) > 3
            told = document("timeline", "--turn", number, "--log", log)
            assert len(told["bars"]) == len(lines) - 3
            for bar in told["bars"]:
                for one in bar["segments"]:
                    assert one["endSeq"] is None or one["seq"] <= one["endSeq"]


def test_the_prompt_of_each_turn_is_its_label(tmp_path: Path) -> None:
    log = timed(tmp_path / "log.db", [*TALK[:4], (60, "client", prompt(2))])

    assert document("timeline", "--log", log)["bars"][0]["label"] == "x"
