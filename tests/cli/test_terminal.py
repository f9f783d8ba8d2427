"""One terminal: its screen, and its history."""

import base64
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.commands import document, invoke
from tests.cli.conversations import EVIL, V1, V2, b64, put, request, result, update


@pytest.fixture
def v1(tmp_path: Path) -> Path:
    return put(tmp_path / "log.db", V1)


@pytest.fixture
def v2(tmp_path: Path) -> Path:
    sized = update("terminal_update", terminalId="t", size={"cols": 20, "rows": 5})
    moved = update("terminal_output_chunk", terminalId="t", data=b64(b"\x1b[4;2H\x1b[32mhere"))
    return put(tmp_path / "log.db", [*V2, ("agent", sized), ("agent", moved)])


def test_the_screen_has_the_terminals_size(v2: Path) -> None:
    lines = invoke("terminal", "t", "--screen", "--log", v2).stdout.splitlines()

    assert lines[-6:] == ["screen:     20 columns, 5 rows", "", "  a\ufffdb", "", "", "   here"]
    assert lines[:2] == ["terminal:   t", "session:    s"]


def test_without_a_size_one_is_assumed_and_told(v1: Path) -> None:
    lines = invoke("terminal", "term", "--screen", "--log", v1).stdout.splitlines()

    assert lines[-4:] == [
        "screen:     80 columns, 24 rows (assumed: the terminal's size is not known)",
        "",
        "  red",
        "  nod",
    ]


def test_the_screen_as_json(v2: Path) -> None:
    told = document("terminal", "t", "--screen", "--at", "11", "--log", v2)
    [session] = told["sessions"]

    assert (told["connection"], told["at"], session["sessionId"]) == (1, 11, "s")
    assert session["terminals"] == [{
        "terminalId": "t", "owner": "agent",
        "screen": {
            "cols": 20, "rows": 5, "sizeKnown": True, "lines": ["a\ufffdb"], "skippedBytes": 0,
            "whole": True,
        },
    }]  # fmt: skip


def test_of_an_unknown_output_there_is_no_screen(v2: Path) -> None:
    assert invoke("terminal", "u", "--screen", "--log", v2).stdout.splitlines()[-1] == (
        "screen:     unknown, as the output is"
    )
    [session] = document("terminal", "u", "--screen", "--log", v2)["sessions"]
    assert session["terminals"] == [{"terminalId": "u", "owner": "agent"}]


@pytest.mark.slow
def test_a_long_output_is_cut_and_that_is_told(tmp_path: Path) -> None:
    data = b64(b"some words of output\n" * 1_000_000)
    call = update("terminal_update", terminalId="t", output={"data": data})
    log = put(tmp_path / "log.db", [*V2[:4], ("agent", call)])

    lines = invoke("terminal", "t", "--screen", "--log", log).stdout.splitlines()

    [told] = [line for line in lines if line.startswith("screen:")]
    assert "; of the last 262" in told
    assert lines[-1] == "  some words of output"


def test_without_pyte_it_says_what_to_install(v2: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyte", None)
    monkeypatch.delitem(sys.modules, "acp_proxy.views.screen", raising=False)

    said = invoke("terminal", "t", "--screen", "--log", v2, code=2).stderr
    assert "(pyte); install it with: pip install 'acp-proxy[screen]'" in said


@pytest.mark.parametrize(
    "options", [["--raw", "--screen"], ["--screen", "--history"], ["--raw", "--json"]]
)
def test_what_excludes_each_other_is_refused(v2: Path, options: list[str]) -> None:
    assert "exclude each other" in invoke("terminal", "t", *options, "--log", v2, code=2).stderr


def test_the_history_of_an_agents_terminal(v2: Path) -> None:
    lines = invoke("terminal", "t", "--history", "--log", v2).stdout.splitlines()
    told = document("terminal", "t", "--history", "--log", v2)["history"]

    assert lines == [
        "    7     0.700  TerminalUpdated",
        '    + terminalId: "t"',
        '    + owner: "agent"',
        '    + command: "ls"',
        "    ~ output: 2 bytes in place of what was: a\\xff",
        "    8     0.800  TerminalOutputAdded",
        "    ~ output: 6 bytes more, 8 in all: b\\e[0m\\n",
        "    9     0.900  TerminalUpdated",
        '    + exitStatus: {"exitCode":3}',
        "   11     1.100  TerminalUpdated",
        '    + size: {"cols":20,"rows":5}',
        "   12     1.200  TerminalOutputAdded",
        "    ~ output: 15 bytes more, 23 in all: \\e[4;2H\\e[32mhere",
    ]
    assert told[1] == {
        "sessionId": "s",
        "owner": "agent",
        "seq": 8,
        "events": ["TerminalOutputAdded"],
        "changes": [],
        "output": {"bytes": 8, "appended": b64(b"b\x1b[0m\n")},
    }


def test_the_history_of_a_clients_terminal(v1: Path) -> None:
    poll = {"sessionId": "s", "terminalId": "term"}
    said: list[tuple[str, Any]] = []
    for number, output in enumerate(("red\n", "red\ngreen\n", "red\ngreen\n", "other")):
        said.append(("agent", request(number, "terminal/output", **poll)))
        said.append(("client", result(number, output=output, truncated=False)))
    log = put(v1.parent / "polled.db", [*V1[:12], *said])

    told = document("terminal", "term", "--history", "--log", log)["history"]
    assert [entry["events"] for entry in told] == [["TerminalCreated"], *[["TerminalUpdated"]] * 4]
    assert [entry.get("output") for entry in told] == [
        None,
        {"bytes": 4, "replaced": b64(b"red\n")},
        {"bytes": 10, "appended": b64(b"green\n")},
        None,
        {"bytes": 5, "replaced": b64(b"other")},
    ]
    assert "    changes nothing" in invoke("terminal", "term", "--history", "--log", log).stdout


def test_the_pieces_of_a_history_make_the_output(tmp_path: Path) -> None:
    changes: list[tuple[str, dict[str, Any]]] = [
        ("terminal_output_chunk", {"data": b64(b"one")}),
        ("terminal_output_chunk", {"data": b64(b"two")}),
        ("terminal_update", {"output": {"data": b64(b"new"), "_meta": {"n": 1}}}),
        ("terminal_output_chunk", {"data": b64(b" and more")}),
        ("terminal_update", {"output": None}),
        ("terminal_update", {"output": {"data": ""}}),
        ("terminal_output_chunk", {"data": "no base64!"}),
        ("terminal_output_chunk", {"data": b64(b"end")}),
    ]
    said = [("agent", update(kind, terminalId="t", **fields)) for kind, fields in changes]
    log = put(tmp_path / "log.db", [*V2[:4], *said])

    output: bytes | None = None
    for entry in document("terminal", "t", "--history", "--log", log)["history"]:
        told = entry.get("output")
        if told == {}:
            output = None
        elif told is not None:
            new = base64.b64decode(told.get("appended", told.get("replaced")))
            output = new if "replaced" in told else (output or b"") + new
            assert len(output) == told["bytes"]
        raw = invoke("terminal", "t", "--json", "--at", entry["seq"], "--log", log).stdout
        [one] = json.loads(raw)["sessions"][0]["terminals"]
        assert one.get("output", {}).get("data") == (None if output is None else b64(output))

    shown = invoke("terminal", "t", "--history", "--log", log).stdout
    assert "    ~ output: unknown again" in shown
    assert '    + output: {"_meta":{"n":1}}' in shown


def test_terminals_of_one_id_are_told_apart(v1: Path) -> None:
    info = {"terminal_info": {"terminal_id": "term", "cwd": "/"}}
    meta = update("tool_call", toolCallId="c9", title="T", _meta=info)
    log = put(v1.parent / "two.db", [*V1, ("agent", meta)])

    both = invoke("terminal", "term", "--history", "--log", log).stdout.splitlines()
    one = document("terminal", "term", "--history", "--owner", "meta", "--log", log)["history"]

    assert "session s meta" in both
    assert [(entry["owner"], entry["seq"]) for entry in one] == [("meta", 18)]


def test_a_history_costs_what_came(tmp_path: Path) -> None:
    chunk = update("terminal_output_chunk", terminalId="t", data=b64(b"x" * 1000))
    log = put(tmp_path / "log.db", [*V2[:4], ("agent", [chunk] * 2000)])

    told = document("terminal", "t", "--history", "--log", log)["history"]

    assert len(json.dumps(told)) < 2000 * 2000  # not the whole output again each time
    assert told[-1]["output"]["bytes"] == 2_000_000


def test_nothing_of_it_acts_on_the_readers_terminal(tmp_path: Path) -> None:
    said = [
        update("terminal_output_chunk", terminalId=EVIL, data=b64(f"x{EVIL}\u202e".encode())),
        update("terminal_update", terminalId=EVIL, cwd=EVIL, command=EVIL, exitStatus={EVIL: EVIL}),
    ]
    log = put(tmp_path / "log.db", [*V2[:4], *(("agent", one) for one in said)])

    for words in (["--screen"], ["--history"], ["--screen", "--json"], ["--history", "--json"]):
        shown = invoke("terminal", EVIL, *words, "--log", log).stdout
        assert not {"\x1b", "\u202e"} & set(shown)
