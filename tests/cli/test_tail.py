"""The lines of ``tail`` for conversations that are over."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.commands import document, invoke, objects
from tests.cli.conversations import EVIL, V1, V2, put, request, result, update

CHUNK = "agent_message_chunk"


def text(words: str) -> dict[str, str]:
    """Return a text block."""
    return {"type": "text", "text": words}


def tail(log: Path, *options: object, code: int = 0) -> list[str]:
    """Return the lines of a log's only connection."""
    return invoke("tail", "-n", 1000, "--log", log, *options, code=code).stdout.splitlines()


def told(log: Path, *options: object) -> list[tuple[int, str, str, str]]:
    """Return the lines as seq, who, what, text."""
    lines = objects("tail", "-n", 1000, "--log", log, *options)
    return [(line["seq"], line["from"], line["what"], line["text"]) for line in lines]


def test_a_v1_conversation_is_told_in_lines(tmp_path: Path) -> None:
    log = put(tmp_path / "log.db", V1)

    assert tail(log) == [
        '    0.100  client  request     initialize #0 {"protocolVersion":1}',
        '    0.200  agent   answer      initialize after 100ms: {"protocolVersion":1}',
        '    0.300  client  request     session/new #1 {"cwd":"/garden","mcpServers":[]}',
        '    0.400  agent   answer      session/new after 100ms: {"sessionId":"s"}',
        "    0.500  client  prompt      hi",
        "    0.600  agent   tool call   pending: Edit a (c1)",
        "    0.700  agent   permission  asked: Edit a [yes]",
        "    0.800  client  permission  selected yes after 100ms: Edit a",
        "    0.900  agent   tool call   in_progress after 300ms: Edit a (c1)",
        "    1.000  agent   tool call   completed after 400ms: Edit a (c1)",
        '    1.100  agent   request     terminal/create #"t" {"command":"ls","args":["-l"]}',
        "    1.200  client  terminal    started: ls -l (term)",
        '    1.300  agent   request     terminal/output #"o" {"terminalId":"term"}',
        '    1.400  client  answer      terminal/output after 100ms: {"output":"\\u001b[31mred\\r\\nend\\rno","truncated":true}',
        "    1.500  agent   tool call   in_progress: Look id\\e[2J\\u202e (id\\e[2J\\u202e)",
        "    1.600  stderr  line        warning id\\e[2J\\u202e",
        '    1.700  agent   request     terminal/wait_for_exit #"w" {"terminalId":"term"}',
    ]


def test_a_v2_conversation_is_told_in_lines(tmp_path: Path) -> None:
    log = put(
        tmp_path / "log.db",
        [*V2, ("agent", update("state_update", state="idle", stopReason="end_turn"))],
    )

    assert tail(log)[4:] == [
        "    0.500  agent   turn        began",
        "    0.600  agent   tool call   completed: Edit (c1)",
        "    0.700  agent   terminal    started: ls (t)",
        "    0.900  agent   terminal    exited 3 after 200ms: ls (t)",
        "    1.000  agent   terminal    started: top (u)",
        "    1.100  agent   turn        ended after 600ms: end_turn",
    ]


def test_chunks_are_joined_until_something_else_happens(tmp_path: Path) -> None:
    log = put(tmp_path / "log.db", [
        ("agent", update(CHUNK, content=text("one "))),
        ("agent", update(CHUNK, content=text("two\n\nthree"))),
        ("stderr", "noise"),
        ("agent", update("usage_update", used=1, size=9)),
        ("agent", update(CHUNK, content=text(" four"))),
        ("agent", update("agent_thought_chunk", content=text("hm"))),
        ("agent", update("tool_call", toolCallId="c", title="T")),
        ("agent", update(CHUNK, content={"type": "resource_link", "uri": "file:///a", "name": "a"})),
    ])  # fmt: skip

    assert told(log) == [
        (3, "stderr", "line", "noise"),
        (4, "agent", "usage", "context 1 of 9"),
        (1, "agent", "message", "one two\n\nthree four"),
        (6, "agent", "thought", "hm"),
        (7, "agent", "tool call", "pending: T (c)"),
        (8, "agent", "message", "[resource_link file:///a]"),
    ]
    [message] = [line for line in objects("tail", "--log", log) if line["seq"] == 1]
    assert message["lastSeq"] == 5
    assert "    0.100  agent   message     [early] one two three four" in tail(log)
    assert tail(log, "--full")[2:5] == [
        "    0.100  agent   message     [early] one two",
        "",
        " " * 31 + "three four",
    ]


def test_a_prompt_that_the_agent_repeats_is_told_once(tmp_path: Path) -> None:
    prompt = request(1, "session/prompt", sessionId="s", prompt=[text("water them")])
    log = put(tmp_path / "log.db", [
        ("client", prompt),
        ("agent", update("user_message_chunk", content=text("water "))),
        ("agent", update("user_message_chunk", content=text("them"))),
        ("agent", update("user_message_chunk", content=text("else"))),
        ("agent", result(1, stopReason="end_turn")),
    ])  # fmt: skip

    assert told(log) == [
        (1, "client", "prompt", "water them"),
        (4, "agent", "user", "else"),
        (5, "agent", "turn", "ended after 400ms: end_turn"),
    ]


def test_a_prompt_that_is_read_again_is_told_once(tmp_path: Path) -> None:
    log = put(tmp_path / "log.db", [
        ("client", request(0, "initialize", protocolVersion=2)),
        ("agent", result(0, protocolVersion=2)),
        ("client", request(1, "session/prompt", sessionId="s", prompt=[text("dig")])),
        ("agent", update("tool_call", toolCallId="c", title="T")),  # so it speaks version 1
        ("agent", result(1, stopReason="end_turn")),
    ])  # fmt: skip

    assert [line[:3] for line in told(log)[2:]] == [
        (3, "client", "prompt"), (4, "agent", "tool call"), (5, "agent", "turn"),
    ]  # fmt: skip


def test_history_is_marked(tmp_path: Path) -> None:
    log = put(tmp_path / "log.db", [
        ("client", request(1, "session/load", sessionId="s", cwd="/", mcpServers=[])),
        ("agent", update("user_message_chunk", content=text("old"))),
        ("agent", update("tool_call", toolCallId="c", title="T", status="completed")),
        ("agent", result(1)),
        ("agent", update(CHUNK, content=text("new"))),
    ])  # fmt: skip

    lines = objects("tail", "--log", log)
    assert [line.get("history", False) for line in lines] == [True, True, True, False, False]
    assert tail(log)[1] == "    0.200  agent   user        (history) old"


@pytest.mark.parametrize(
    ("frame", "what", "said"),
    [
        (update("plan", entries=[{"content": "dig", "status": "completed"},
                                 {"content": "sow", "status": "in_progress"}]),
         "plan", "1 of 2 steps done: sow"),
        (update("current_mode_update", currentModeId="ask"), "mode", "ask"),
        (update("session_info_update", title="Roses"), "session", "Roses"),
        (update("available_commands_update", availableCommands=[{}]), "commands", "1 command"),
        (update("usage_update", used=3, size=9, cost={"amount": 0.5, "currency": "EUR"}),
         "usage", "context 3 of 9, cost 0.5 EUR"),
        (update("notice", severity="warning", title="Hot", description="39 degrees"),
         "notice", "warning: Hot 39 degrees"),
        (update("compaction_update", compactionId="k", status="failed", error="full"),
         "compaction", "failed: full"),
        (update("strange", x=1), "update", '{"x":1}'),
        ({"jsonrpc": "2.0", "method": "_ping"}, "notice", "_ping "),
    ],
)  # fmt: skip
def test_what_stands_beside_the_conversation_is_told(
    tmp_path: Path, frame: dict[str, Any], what: str, said: str
) -> None:
    log = put(tmp_path / "log.db", [("agent", frame)])

    assert [line[2:] for line in told(log)] == [(what, said)]


def test_odd_things_are_told_though_they_change_nothing(tmp_path: Path) -> None:
    log = put(tmp_path / "log.db", [
        ("agent", update("tool_call", toolCallId="c", title="T", status="completed")),
        ("agent", update("tool_call_update", toolCallId="c", content=[])),
        ("agent", result(9)),
        ("client", {"jsonrpc": "2.0", "id": 2, "method": "session/cancel"}),
    ])  # fmt: skip

    lines = objects("tail", "--log", log)
    assert [(line["what"], line["flags"]) for line in lines][1:3] == [
        ("odd", ["early", "after-final"]), ("answer", ["orphan"]),
    ]  # fmt: skip
    assert "[early after-final] tool_call_update" in tail(log)[1]


def test_filters_choose_the_messages_that_are_told(tmp_path: Path) -> None:
    log = put(tmp_path / "log.db", V1)

    assert [seq for seq, *_ in told(log, "--tool-call", "c1")] == [6, 7, 8, 9, 10]
    assert [seq for seq, *_ in told(log, "--from", "stderr")] == [16]
    assert [seq for seq, *_ in told(log, "--method", "session/request_*")] == [7, 8]
    assert [seq for seq, *_ in told(log, "--grep", "garden")] == [3, 9]
    # what is not told is remembered:
    assert told(log, "--kind", "result")[2] == (
        8, "client", "permission", "selected yes after 100ms: Edit a"
    )  # fmt: skip
    assert tail(log, "--session", "nothing", code=1) == []
    assert objects("tail", "--log", log, "--session", "nothing", code=1) == []


@pytest.mark.slow
def test_the_last_lines_are_those_of_the_whole(tmp_path: Path) -> None:
    many: list[tuple[str, Any]] = [("client", request(0, "initialize", protocolVersion=1))]
    many += [("agent", result(0, protocolVersion=1))]
    many += [("agent", request("p", "session/request_permission", sessionId="s",
                               toolCall={"toolCallId": "c", "title": "Dig"}, options=[]))]  # fmt: skip
    for number in range(1500):
        many += [
            ("agent", update(CHUNK, content=text("a"))),
            ("agent", update(CHUNK, content=text("b"))),
        ]
        many += [
            ("stderr", f"line {number}"),
            ("agent", update("tool_call_update", toolCallId=f"c{number}", title="T")),
        ]
    many += [("client", result("p", outcome={"outcome": "cancelled"}))]
    log = put(tmp_path / "log.db", many)

    whole = invoke("tail", "-n", 100_000, "--log", log).stdout.splitlines()
    assert len(whole) > 4000
    assert whole[-1].endswith("Dig")
    assert "[early]" not in whole[-1]
    for count in (0, 1, 10, 700):
        code = 0 if count else 1
        last = invoke("tail", "-n", count, "--log", log, code=code).stdout.splitlines()
        assert last == whole[len(whole) - count :], count
    odd = invoke("tail", "-n", 1, "--from", "client", "--log", log).stdout.splitlines()
    assert odd == whole[-1:]


def test_json_is_one_document(tmp_path: Path) -> None:
    log = put(tmp_path / "log.db", V1)

    assert document("tail", "--log", log) == objects("tail", "--log", log)
    assert (
        json.loads(
            invoke("tail", "--json", "--odd", "--from", "stderr", "--log", log, code=1).stdout
        )
        == []
    )
    assert document("tail", "-n", 1, "--tool-call", "c1", "--log", log) == [
        {
            "connection": 1, "seq": 10, "lastSeq": 10, "time": "2026-01-02T03:04:10.000000000Z",
            "elapsed_ns": 1_000_000_000, "from": "agent", "what": "tool call",
            "text": "completed after 400ms: Edit a (c1)", "sessionId": "s", "toolCallId": "c1",
            "status": "completed", "title": "Edit a", "duration_ns": 400_000_000, "flags": [],
        }
    ]  # fmt: skip


def test_a_connection_that_has_ended_is_followed_to_its_end_at_once(tmp_path: Path) -> None:
    log = put(tmp_path / "log.db", V1)

    assert invoke("tail", "-f", "-n", 1, "--log", log).stdout.splitlines() == tail(log)[-1:]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["latest", "--all"], "give a connection or --all"),
        (["--json", "--jsonl"], "exclude each other"),
        (["-n", "-1"], "Invalid value"),
    ],
)
def test_what_cannot_be_asked_is_refused(tmp_path: Path, words: list[str], said: str) -> None:
    log = put(tmp_path / "log.db", V1)

    assert said in invoke("tail", *words, "--log", log, code=2).stderr


@pytest.mark.slow
def test_every_real_conversation_is_told_harmlessly_and_always_alike(
    captures: Path, tmp_path: Path
) -> None:
    for path in sorted(captures.glob("*.jsonl")):
        log = tmp_path / f"{path.stem}.db"
        invoke("import", path, "--log", log)
        lines = invoke("tail", "-n", 10_000, "--log", log).stdout
        assert lines == invoke("tail", "-n", 10_000, "--log", log).stdout
        assert not set(lines) & {"\x1b", "\x07", "\u202e", "\r"}
        assert all(len(line) < 1100 for line in lines.splitlines())
        told_seqs = [line["seq"] for line in objects("tail", "-n", 10_000, "--log", log)]
        asked = [
            one["seq"] for one in objects("messages", "--log", log) if one["kind"] == "request"
        ]
        assert set(asked) <= set(told_seqs)


@pytest.mark.parametrize("form", [[], ["--full"], ["--jsonl"]])
def test_nothing_that_was_sent_acts_on_the_terminal(tmp_path: Path, form: list[str]) -> None:
    log = put(tmp_path / "log.db", [
        ("agent", update(CHUNK, content=text(EVIL))),
        ("agent", update("tool_call", toolCallId=EVIL, title=EVIL, status=EVIL)),
        ("agent", update("current_mode_update", currentModeId=EVIL)),
        ("agent", request(EVIL, f"_{EVIL}", sessionId=EVIL)),
        ("stderr", EVIL),
    ])  # fmt: skip

    shown = invoke("tail", *form, "--log", log).stdout
    assert "[2J" in shown
    assert not {"\x1b", "\u202e"} & set(shown)
