"""Tool calls, permissions, terminals and sessions: listed, and one of them whole."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from acp_proxy.views.diffs import diff_lines
from tests.cli.commands import document, invoke
from tests.cli.conversations import EVIL, V1, V2, put, update

SHOWN = "id\\e[2J\\u202e"


@pytest.fixture
def v1(tmp_path: Path) -> Path:
    return put(tmp_path / "log.db", V1)


@pytest.fixture
def v2(tmp_path: Path) -> Path:
    return put(tmp_path / "log.db", V2)


def rows(*arguments: object) -> list[list[str]]:
    """Return the words of a table's lines, without its head."""
    return [line.split() for line in invoke(*arguments).stdout.splitlines()[1:]]


def ids(log: Path, command: str, key: str, *options: object) -> list[Any]:
    """Return what a command lists, by id."""
    told = document(command, "--log", log, *options)
    name = {"tool-calls": "toolCalls"}.get(command, command)
    return [thing[key] for session in told["sessions"] for thing in session[name]]


def test_tool_calls_are_listed(v1: Path) -> None:
    assert rows("tool-calls", "--log", v1) == [
        ["c1", "edit", "completed", "6", "10", "400ms", "1", "diff", "Edit", "a", "s"],
        [SHOWN, "other", "in_progress", "15", "15", "0µs", "1", "terminal", "Look", SHOWN, "s"],
    ]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ([], ["c1", EVIL]),
        (["--status", "completed"], ["c1"]),
        (["--kind", "other"], [EVIL]),
        (["--unfinished"], [EVIL]),
        (["--unfinished", "--at", "9"], ["c1"]),
        (["--session", "s", "--at", "-3"], ["c1"]),
    ],
)
def test_tool_calls_are_filtered(v1: Path, options: list[str], expected: list[str]) -> None:
    assert ids(v1, "tool-calls", "toolCallId", *options) == expected


@pytest.mark.parametrize(
    "words",
    [
        ["tool-calls", "--status", "failed"],
        ["tool-calls", "--session", "other"],
        ["tool-calls", "--at", "5"],
        ["permissions", "--pending"],
        ["terminals", "--owner", "meta"],
        ["sessions", "--at", "2"],
    ],
)
def test_when_nothing_fits_the_answer_is_negative(v1: Path, words: list[str]) -> None:
    assert invoke(*words, "--log", v1, code=1).stdout == ""
    told = json.loads(invoke(*words, "--log", v1, "--json", code=1).stdout)
    assert (told["connection"], told["sessions"]) == (1, [])


def test_lists_are_parts_of_the_state_document(v1: Path) -> None:
    whole = document("state", "--log", v1)
    [session] = whole["sessions"]

    for command, key in (
        ("tool-calls", "toolCalls"), ("permissions", "permissions"), ("terminals", "terminals"),
    ):  # fmt: skip
        part = {"sessionId": "s", key: session[key]}
        assert document(command, "--log", v1) == {**whole, "sessions": [part]}
    assert document("sessions", "--log", v1) == whole


def test_a_v1_tool_call_is_shown_whole(v1: Path) -> None:
    assert invoke("tool-call", "c1", "--log", v1, "--at", "9").stdout.splitlines() == [
        "tool call:  c1",
        "session:    s",
        "title:      Edit a",
        "kind:       edit",
        "status:     in_progress",
        "messages:   6 to 9, 300ms",
        "location:   /garden/a:2",
        "",
        "input:",
        "  {",
        '    "flag": false,',
        '    "n": 1.0',
        "  }",
        "",
        "content 1: diff",
        "  --- /garden/a",
        "  +++ /garden/a",
        "  @@ -1,2 +1,2 @@",
        "   one",
        "  -two",
        "  \\ No newline at end of file",
        "  +2",
        "",
        "permission: asked in message 7",
        "for:        c1",
        "options:    yes (allow_once)",
        "answer:     selected yes after 100ms, message 8",
    ]


def test_a_v2_tool_call_shows_changes_and_patch(v2: Path) -> None:
    lines = invoke("tool-call", "1", "c1", "--log", v2).stdout.splitlines()

    assert lines[lines.index("content 1: diff") :] == [
        "content 1: diff",
        "  move /a -> /b",
        "  rename from /a",
        "  rename to /b",
        "",
        "content 2: text",
        "  done",
    ]


def test_a_tool_call_brings_its_terminals_and_permissions(v1: Path) -> None:
    [evil] = document("tool-call", EVIL, "--log", v1)["sessions"]
    [edit] = document("tool-call", "c1", "--log", v1)["sessions"]

    assert [one["terminalId"] for one in evil["terminals"]] == ["term"]
    assert (evil["permissions"], edit["terminals"]) == ([], [])
    assert [one["seq"] for one in edit["permissions"]] == [7]


def test_a_new_file_is_a_diff_from_nothing(tmp_path: Path) -> None:
    diff = {"type": "diff", "path": "/n", "newText": "a\u2028b\n"}
    call = update("tool_call", toolCallId="c", title="New", content=[diff])
    log = put(tmp_path / "log.db", [("agent", call)])

    lines = invoke("tool-call", "c", "--log", log).stdout.splitlines()
    assert lines[-4:] == ["  --- /dev/null", "  +++ /n", "  @@ -0,0 +1 @@", "  +a\\u2028b"]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("a\n", "b\n", ["-a", "+b"]),
        (
            "-- a",
            "a",
            ["--- a", "\\ No newline at end of file", "+a", "\\ No newline at end of file"],
        ),
        ("a\r\n", "a\n", ["-a\r", "+a"]),
        ("", "a\x0cb\n", ["+a\x0cb"]),
    ],
)
def test_a_unified_diff_is_exact(old: str, new: str, expected: list[str]) -> None:
    lines = diff_lines({"type": "diff", "path": "/p", "oldText": old, "newText": new})

    assert lines[:2] == ["--- /p", "+++ /p"]
    assert lines[3:] == expected


def test_a_diff_that_changes_nothing_or_is_odd_says_so() -> None:
    same = {"type": "diff", "path": "/p", "oldText": "a", "newText": "a"}
    odd = {"type": "diff", "changes": [7, {"operation": "add"}], "patch": "no object"}

    assert diff_lines(same) == ["/p: no change"]
    assert diff_lines({**same, "newText": "b" * 200_000}) == ["/p: 1 lines before, 1 after"]
    assert diff_lines(odd) == ["change 7", "add ?"]
    assert diff_lines({"type": "diff"}) == []


def test_the_history_of_a_tool_call(v1: Path) -> None:
    lines = invoke("tool-call", "c1", "--history", "--log", v1).stdout.splitlines()
    told = document("tool-call", "c1", "--history", "--log", v1)["history"]

    assert lines == [
        "    6     0.600  ToolCallRestarted",
        '    + toolCallId: "c1"',
        '    + kind: "edit"',
        '    + status: "pending"',
        "    + content: []",
        "    + locations: []",
        '    + title: "Edit a"',
        "    7     0.700  ToolCallUpdated",
        "    changes nothing",
        "    9     0.900  ToolCallUpdated",
        '    ~ status: "pending" -> "in_progress"',
        '    + content/0: {"type":"diff","path":"/garden/a","oldText":"one\\ntwo","newText":"one\\n2\\n"}',
        '    + locations/0: {"path":"/garden/a","line":2}',
        '    + rawInput: {"flag":false,"n":1.0}',
        "   10     1.000  ToolCallUpdated",
        '    ~ status: "in_progress" -> "completed"',
        "    ~ rawInput/flag: false -> 0",
        "    ~ rawInput/n: 1.0 -> 1",
    ]
    assert [(entry["seq"], entry["events"]) for entry in told] == [
        (6, ["ToolCallRestarted"]), (7, ["ToolCallUpdated"]), (9, ["ToolCallUpdated"]),
        (10, ["ToolCallUpdated"]),
    ]  # fmt: skip
    assert told[3]["changes"][1] == {"path": ["rawInput", "flag"], "before": False, "after": 0}


def test_content_that_is_appended_is_told_piece_by_piece(tmp_path: Path) -> None:
    pieces = [
        update("tool_call_content_chunk", toolCallId="c", content={"type": "x", "n": n})
        for n in (1, 2)
    ]
    log = put(tmp_path / "log.db", [*V2[:4], *(("agent", piece) for piece in pieces)])

    told = document("tool-call", "c", "--history", "--log", log)["history"]
    assert told[1]["changes"] == [{"path": ["content", 1], "after": {"type": "x", "n": 2}}]


def test_permissions_are_listed(v1: Path) -> None:
    assert rows("permissions", "--log", v1) == [
        ["7", "c1", "selected", "yes", "100ms", "yes", "(allow_once)", "s"]
    ]
    assert ids(v1, "permissions", "seq", "--pending", "--at", "7") == [7]


def test_terminals_are_listed(v1: Path, v2: Path) -> None:
    assert rows("terminals", "1", "--log", v1) == [
        ["term", "client", "not", "exited", "16", "cut", "12", "14", "200ms", "ls", "-l", "s"]
    ]
    assert rows("terminals", "2", "--log", v2) == [
        ["t", "agent", "exited", "3", "8", "7", "9", "200ms", "ls", "s"],
        ["u", "agent", "not", "exited", "unknown", "10", "10", "0µs", "top", "s"],
    ]
    assert ids(v2, "terminals", "terminalId", "--unfinished") == ["u"]


def test_a_terminal_is_shown_with_harmless_output(v1: Path) -> None:
    assert invoke("terminal", "term", "--log", v1).stdout.splitlines() == [
        "terminal:   term",
        "session:    s",
        "owner:      client",
        "command:    ls -l",
        "state:      not exited",
        "messages:   12 to 14, 200ms",
        "output:     16 cut",
        "",
        "  \\e[31mred",
        "  end\\rno",
    ]


def test_the_raw_output_is_exact(v1: Path, v2: Path) -> None:
    assert invoke("terminal", "1", "term", "--raw", "--log", v1).stdout_bytes == (
        b"\x1b[31mred\r\nend\rno"
    )
    assert invoke("terminal", "2", "t", "--raw", "--log", v2).stdout_bytes == b"a\xffb\x1b[0m\n"
    at = invoke("terminal", "2", "t", "--raw", "--at", "7", "--log", v2)
    assert at.stdout_bytes == b"a\xff"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["terminal", "nothing"], 'no such terminal "nothing"; acp-proxy terminals lists them'),
        (["terminal", "u", "--raw"], 'the output of terminal "u" is not known at that point'),
        (["tool-call", EVIL], f'no such tool call "{SHOWN}"; acp-proxy tool-calls lists them'),
    ],
)
def test_what_is_not_there_is_told(v2: Path, words: list[str], said: str) -> None:
    result = invoke(*words, "--log", v2, code=1)

    assert (result.stdout, said in result.stderr) == ("", True)


def test_raw_refuses_to_choose_between_terminals(tmp_path: Path) -> None:
    other = update("terminal_update", terminalId="t", output={"data": "eA=="})
    other["params"]["sessionId"] = "s2"
    log = put(tmp_path / "log.db", [*V2, ("agent", other)])

    said = invoke("terminal", "t", "--raw", "--log", log, code=1).stderr
    assert said == 'acp-proxy: 2 terminals have the id "t"; give --owner or --session\n'
    chosen = invoke("terminal", "t", "--raw", "--session", "s2", "--log", log)
    assert chosen.stdout_bytes == b"x"


def test_sessions_are_listed(v1: Path, v2: Path) -> None:
    assert rows("sessions", "1", "--log", v1) == [
        ["s", "running", "1", "2", "1", "1", "1", "/garden"]
    ]
    assert rows("sessions", "2", "--log", v2)[0][:2] == ["s", "running"]


def test_sessions_of_all_connections_are_listed(tmp_path: Path) -> None:
    log = put(put(tmp_path / "log.db", V1), V2)

    listed = document("sessions", "--all", "--log", log)

    assert [(one["connection"], one["sessionId"]) for one in listed] == [(2, "s"), (1, "s")]
    for one in listed:
        state = document("sessions", one["connection"], "--log", log)["sessions"][0]
        for key in ("turns", "toolCalls", "terminals", "permissions", "messages"):
            assert one[key] == len(state.get(key, [])), key
        assert one.get("title") == state.get("title")
    assert [row[:3] for row in rows("sessions", "--all", "--log", log)] == [
        ["2", "s", "running"], ["1", "s", "running"]
    ]  # fmt: skip
    with closing(sqlite3.connect(log)) as db:
        db.execute("UPDATE connections SET derived = NULL")
        db.commit()
    assert document("sessions", "--all", "--log", log) == listed
    invoke("sessions", "1", "--all", "--log", log, code=2)


@pytest.mark.parametrize(
    "words",
    [
        ["tool-calls"], ["sessions", "--all"], ["tool-call", EVIL], ["tool-call", EVIL, "--history"], ["permissions"],
        ["terminals"], ["terminal", EVIL], ["sessions"], ["pending"],
        ["diff", "latest", "--at", "1", "--at", "-0"],
    ],
)  # fmt: skip
@pytest.mark.parametrize("form", [[], ["--json"]])
def test_nothing_that_was_sent_acts_on_the_terminal(
    tmp_path: Path, words: list[str], form: list[str]
) -> None:
    evil: list[tuple[str, Any]] = [
        ("agent", update("current_mode_update", currentModeId=EVIL)),
        ("agent", update("session_info_update", title=EVIL)),
        ("agent", update(
            "tool_call", toolCallId=EVIL, title=EVIL, kind=EVIL, status=EVIL, name=EVIL,
            rawInput={EVIL: EVIL}, rawOutput=EVIL, locations=[{"path": EVIL, "line": EVIL}],
            content=[
                {"type": "diff", "path": EVIL, "oldText": EVIL, "newText": "x"},
                {"type": "diff", "changes": [{"operation": EVIL, "path": EVIL}],
                 "patch": {"text": EVIL}},
                {"type": "content", "content": {"type": "text", "text": EVIL}},
                {"type": EVIL}, EVIL, {"type": "terminal", "terminalId": EVIL},
            ],
            _meta={"terminal_info": {"terminal_id": EVIL, "cwd": EVIL},
                   "terminal_output": {"terminal_id": EVIL, "data": EVIL}},
        )),
        ("agent", {"jsonrpc": "2.0", "id": EVIL, "method": "session/request_permission", "params": {
            "sessionId": "s", "title": EVIL, "description": EVIL,
            "toolCall": {"toolCallId": EVIL, "title": EVIL},
            "options": [{"optionId": EVIL, "kind": EVIL}],
        }}),
        ("agent", {"jsonrpc": "2.0", "id": 9, "method": f"_{EVIL}", "params": {"sessionId": EVIL}}),
        ("stderr", EVIL),
    ]  # fmt: skip
    log = put(tmp_path / "log.db", [*V1, *evil])

    differs = int(words[0] == "diff")
    shown = invoke(*words, *form, "--log", log, code=differs).stdout

    assert not {"\x1b", "\u202e"} & set(shown)
    assert "[2J" in shown


def test_a_history_tells_meta_when_it_came(tmp_path: Path) -> None:
    """The state merges it into one object, which goes on changing."""
    log = put(
        tmp_path / "log.db",
        [
            ("agent", update("tool_call", toolCallId="c", title="T", _meta={"first": 1})),
            ("agent", update("tool_call_update", toolCallId="c", _meta={"second": 2})),
        ],
    )

    told = document("tool-call", "c", "--history", "--log", log)["history"]

    changed = [[(one["path"], one["after"]) for one in entry["changes"]] for entry in told]
    assert (["_meta"], {"first": 1}) in changed[0]
    assert changed[1] == [(["_meta", "second"], 2)]
