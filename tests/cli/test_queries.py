"""Listing and showing what was recorded."""

import json
from pathlib import Path

import pytest

from tests.cli.commands import document, invoke, objects

CONVERSATION = [
    ("client", ('{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,'
     '"clientInfo":{"name":"editor","version":"1.2"}}}')),
    ("agent", ('{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,'
     '"agentInfo":{"name":"helper","title":"The Helper","version":"9"}}}')),
    ("client", '{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}'),
    ("agent", '{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s1"}}'),
    ("client", ('{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s1",'
     '"prompt":[{"type":"text","text":"naïve question"}]}}')),
    ("stderr", "a warning"),
    ("agent", ('{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":'
     '{"sessionUpdate":"tool_call","toolCallId":"c1","title":"Look","status":"pending"}}}')),
    ("agent", ('{"jsonrpc":"2.0","id":0,"method":"session/request_permission","params":'
     '{"sessionId":"s1","toolCall":{"toolCallId":"c1"},"options":[]}}')),
    ("client", '{"jsonrpc":"2.0","id":0,"error":{"code":-32000,"message":"no \\u001b[31mway"}}'),
    ("agent", "stray text"),
    ("agent", '{"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}'),
    ("agent", '{"jsonrpc":"2.0","id":77,"result":{}}'),
]  # fmt: skip


@pytest.fixture
def log(tmp_path: Path) -> Path:
    lines = [
        {
            "from": stream,
            "data": data,
            "elapsed_ns": n * 1_000_000,
            "time": f"2026-01-02T03:04:{n:02}Z",
        }
        for n, (stream, data) in enumerate(CONVERSATION)
    ]
    text = "\n".join(json.dumps(line) for line in lines).encode()
    invoke("import", "-", "--log", tmp_path / "log.db", "--label", "mine", stdin=text)
    return tmp_path / "log.db"


def test_a_connection_is_listed_with_all_that_is_known(log: Path) -> None:
    [row] = document("connections", "--log", log)

    assert (row["id"], row["label"], row["status"]) == (1, "mine", "imported")
    assert (row["protocolVersion"], row["messages"], row["frames"]) == (1, 12, 12)
    assert row["client"] == {"name": "editor", "version": "1.2"}
    assert row["agent"] == {"name": "helper", "title": "The Helper", "version": "9"}
    assert row["started"] == "2026-01-02T03:04:00.000000000Z"
    assert row["duration_ns"] == 11_000_000
    assert row["bytes"]["stderr"] == len("a warning\n")


def test_the_table_of_connections_has_a_line_for_each(log: Path) -> None:
    lines = invoke("connections", "--log", log).stdout.splitlines()

    assert len(lines) == 2
    assert all(word in lines[1] for word in ("editor 1.2", "helper 9", "imported", "mine"))


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ([], list(range(1, 13))),
        (["--from", "client"], [1, 3, 5, 9]),
        (["--from", "stderr"], [6]),
        (["--kind", "request"], [1, 3, 5, 8]),
        (["--kind", "error"], [9]),
        (["--kind", "text"], [6, 10]),
        (["--method", "session/*"], [3, 4, 5, 7, 8, 9, 11]),
        (["--method", "session/prompt"], [5, 11]),
        (["--session", "s1"], [4, 5, 7, 8, 9, 11]),
        (["--update", "tool_*"], [7]),
        (["--tool-call", "c1"], [7, 8, 9]),
        (["--since-seq", "10"], [10, 11, 12]),
        (["--until-seq", "2"], [1, 2]),
        (["--grep", "naïve"], [5]),
        (["--grep", "no \x1b[31m"], [9]),
        (["--odd"], [10, 12]),
        (["--limit", "3"], [1, 2, 3]),
        (["--limit", "0"], []),
        (["--from", "agent", "--kind", "result", "--since-seq", "3", "--limit", "1"], [4]),
    ],
)
def test_filters_choose(log: Path, options: list[str], expected: list[int]) -> None:
    rows = objects("messages", "--log", log, *options, code=0 if expected else 1)

    assert [row["seq"] for row in rows] == expected


def test_a_message_is_listed_with_all_that_is_known(log: Path) -> None:
    rows = {row["seq"]: row for row in document("messages", "--log", log)}

    assert rows[9] == {
        "seq": 9,
        "time": "2026-01-02T03:04:08.000000000Z",
        "elapsed_ns": 8_000_000,
        "from": "client",
        "kind": "error",
        "id": "0",
        "sessionId": "s1",
        "toolCallId": "c1",
        "requestSeq": 8,
        "requestMethod": "session/request_permission",
        "duration_ns": 1_000_000,
        "errorCode": -32000,
        "bytes": len(CONVERSATION[8][1]) + 1,
        "preview": "no \\e[31mway",
        "flags": [],
    }
    assert rows[12]["flags"] == ["orphan"]
    assert "requestSeq" not in rows[12]


def test_the_table_of_messages_tells_what_answers_what(log: Path) -> None:
    lines = invoke("messages", "--log", log).stdout.splitlines()

    assert len(lines) == 13
    assert "-> 5 session/prompt" in lines[11]
    assert "tool_call" in lines[7]
    assert "\x1b" not in "".join(lines)


def test_nothing_that_fits_is_a_negative_answer(log: Path) -> None:
    for form in ((), ("--json",), ("--jsonl",)):
        invoke("messages", "--log", log, "--session", "nobody", *form, code=1)


def test_show_lays_a_message_out_with_its_other_half(log: Path) -> None:
    request = invoke("show", "--log", log, "latest", 5).stdout
    answer = invoke("show", "--log", log, 11).stdout

    assert "answer:     11 (result) after 6ms" in request
    assert '"text": "naïve question"' in request
    assert "answers:    5 session/prompt after 6ms" in answer
    assert "bytes:" in answer


def test_show_gives_the_exact_bytes(log: Path) -> None:
    result = invoke("show", "--log", log, 9, "--raw")

    assert result.stdout_bytes == CONVERSATION[8][1].encode() + b"\n"


def test_show_as_json_gives_the_message_and_its_bytes(log: Path) -> None:
    detail = document("show", "--log", log, 5)

    assert detail["answerSeq"] == 11
    assert detail["data"] == CONVERSATION[4][1] + "\n"
    assert detail["message"] == json.loads(CONVERSATION[4][1])


@pytest.mark.parametrize("reference", ["1", "latest", "UUID"])
def test_a_connection_can_be_named_in_three_ways(log: Path, reference: str) -> None:
    [row] = document("connections", "--log", log)
    name = row["uuid"][:6] if reference == "UUID" else reference

    assert len(document("messages", name, "--log", log)) == 12


@pytest.mark.parametrize("reference", ["2", "zzz", "", "*", "%"])
def test_a_wrong_connection_is_told(log: Path, reference: str) -> None:
    result = invoke("messages", reference, "--log", log, code=1)

    assert "acp-proxy connections lists them" in result.stderr


def test_a_wrong_seq_is_told(log: Path) -> None:
    assert "it has 1 to 12" in invoke("show", "--log", log, 13, code=1).stderr
    assert "acp-proxy show latest 17" in invoke("show", "--log", log, "x", code=2).stderr


def test_options_that_exclude_each_other_are_a_usage_error(log: Path) -> None:
    assert "exclude" in invoke("messages", "--log", log, "--json", "--jsonl", code=2).stderr


def test_where_nothing_was_recorded_the_list_is_empty_and_the_rest_says_so(tmp_path: Path) -> None:
    log = tmp_path / "none.db"

    listing = invoke("connections", "--log", log, "--json")
    assert json.loads(listing.stdout) == []
    assert "no log at" in listing.stderr
    assert "record into it with" in invoke("messages", "--log", log, code=1).stderr
    assert not log.exists()


def test_log_info_and_path_tell_where_and_what(log: Path) -> None:
    assert invoke("log", "path", "--log", log).stdout == f"{log}\n"
    facts = document("log", "info", "--log", log)
    assert (facts["connections"], facts["frames"], facts["messages"]) == (1, 12, 12)
    assert (facts["problem"], facts["waiting"], facts["writable"]) == (None, [], True)
    assert facts["steps"] == facts["knownSteps"]
    assert str(log) in invoke("log", "info", "--log", log).stdout


def test_migrate_makes_a_log_and_then_has_nothing_to_do(tmp_path: Path) -> None:
    log = tmp_path / "new.db"

    assert "applied: m0001_recording" in invoke("log", "migrate", "--log", log).stdout
    assert "nothing to do" in invoke("log", "migrate", "--log", log).stdout


def test_the_default_log_is_in_the_environment_or_the_state_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ACP_PROXY_LOG", str(tmp_path / "mine.db"))
    assert invoke("log", "path").stdout == f"{tmp_path / 'mine.db'}\n"
    monkeypatch.delenv("ACP_PROXY_LOG")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    assert invoke("log", "path").stdout == f"{tmp_path / 'state' / 'acp-proxy' / 'log.db'}\n"
