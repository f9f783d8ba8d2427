"""``stats``: exact figures of a conversation with known times, and plausible ones of real ones."""

import json
from pathlib import Path
from typing import Any

import pytest

from acp_proxy.recording import open_recording
from acp_proxy.views.stats import spread
from tests.cli.commands import document, invoke, objects
from tests.cli.conversations import EVIL, V2, put, request, result, update

MS = 1_000_000


def chunk(text: str) -> dict[str, Any]:
    """Return a chunk of the agent's message."""
    return update("agent_message_chunk", content={"type": "text", "text": text})


def call(id_: str, **fields: Any) -> dict[str, Any]:
    """Return a new tool call."""
    return update("tool_call", toolCallId=id_, title=id_, **fields)


def changed(id_: str, **fields: Any) -> dict[str, Any]:
    """Return a changed tool call."""
    return update("tool_call_update", toolCallId=id_, **fields)


def prompt(id_: int) -> dict[str, Any]:
    """Return a prompt."""
    return request(id_, "session/prompt", sessionId="s", prompt=[{"type": "text", "text": "x"}])


def ask(id_: str, call_id: str) -> dict[str, Any]:
    """Return a request for permission."""
    about = {"toolCallId": call_id}
    return request(id_, "session/request_permission", sessionId="s", toolCall=about, options=[])


CHOSEN = {"outcome": {"outcome": "selected", "optionId": "yes"}}
ERROR = {"code": -32601, "message": "no"}

# When (ms), who, what.
TALK: list[tuple[int, str, Any]] = [
    (0, "client", request(0, "initialize", protocolVersion=1)),  # 1
    (10, "agent", result(0, protocolVersion=1)),
    (20, "client", request(1, "session/new", cwd="/", mcpServers=[])),
    (50, "agent", result(1, sessionId="s")),
    (1000, "client", prompt(2)),  # 5
    (1300, "agent", chunk("a")),
    (1400, "agent", call("r1", kind="read", status="pending")),
    (1500, "agent", call("e1", kind="edit", status="pending")),
    (2000, "agent", ask("p1", "r1")),
    (2500, "agent", ask("p2", "e1")),  # 10
    (3000, "client", result("p1", **CHOSEN)),
    (4500, "client", result("p2", outcome={"outcome": "cancelled"})),
    (4600, "agent", changed("r1", status="completed")),
    (4700, "agent", changed("e1", status="failed")),
    (4800, "agent", changed("r1", title="later")),  # 15: makes the call no longer
    (5000, "agent", update("usage_update", used=7, size=99, cost={"amount": 0.25, "currency": "EUR"})),
    (6000, "agent", result(2, stopReason="end_turn")),
    (7000, "client", prompt(3)),
    (7100, "agent", call("r2", kind="read", status="pending")),
    (7150, "agent", request("f1", "fs/read_text_file", sessionId="s", path="/a")),  # 20
    (7152, "client", {"jsonrpc": "2.0", "id": "f1", "error": ERROR}),
    (7153, "agent", request("f2", "fs/read_text_file", sessionId="s", path="/a")),
    (7159, "client", result("f2", content="")),
    (7300, "agent", changed("r2", status="completed")),
    (9000, "agent", result(3, stopReason="max_tokens")),  # 25
    (9500, "client", request(4, "session/load", sessionId="s", cwd="/", mcpServers=[])),
    (9600, "agent", call("r1", kind="read", status="completed")),  # told again: no longer
    (9700, "agent", result(4)),
    (9800, "agent", request("f3", "fs/read_text_file", sessionId="s", path="/b")),
    (9900, "client", prompt(5)),  # 30
    (9990, "stderr", "bye"),
]  # fmt: skip


def timed(log: Path, talk: list[tuple[int, str, Any]]) -> Path:
    """Import a conversation with its times."""
    lines = [
        {"from": who, "elapsed_ns": at * MS, **({"data": what} if who == "stderr" else {"message": what})}
        for at, who, what in talk
    ]  # fmt: skip
    invoke("import", "-", "--log", log, stdin="\n".join(map(json.dumps, lines)).encode())
    return log


def ms(count: int, p50: int, p90: int, p99: int, most: int, total: int) -> dict[str, int]:
    """Return how durations spread, given in ms."""
    values = {"p50": p50, "p90": p90, "p99": p99, "max": most, "total": total}
    return {"count": count} | {name: value * MS for name, value in values.items()}


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return timed(tmp_path_factory.mktemp("stats") / "log.db", TALK)


@pytest.fixture(scope="module")
def told(log: Path) -> dict[str, Any]:
    found: dict[str, Any] = document("stats", "--log", log)
    return found


def test_messages_are_counted_by_side_and_kind(told: dict[str, Any]) -> None:
    assert (told["connection"], told["at"], told["status"]) == (1, 31, "imported")
    assert {
        side: {k: n for k, n in kinds.items() if n} for side, kinds in told["kinds"].items()
    } == {
        "client": {"request": 6, "result": 3, "error": 1},
        "agent": {"request": 5, "notification": 10, "result": 5},
        "stderr": {"text": 1},
    }
    assert told["bytes"]["stderr"] == 4
    assert told["flags"] == {"after-final": 1}


def test_answers_are_timed_by_method_and_side(told: dict[str, Any], log: Path) -> None:
    found = {(m["from"], m["method"]): m for m in told["methods"] if m["kind"] == "request"}
    reads = found["agent", "fs/read_text_file"]

    assert {key: m["latency_ns"] for key, m in found.items()} == {
        ("client", "initialize"): ms(1, 10, 10, 10, 10, 10),
        ("client", "session/new"): ms(1, 30, 30, 30, 30, 30),
        ("client", "session/prompt"): ms(2, 2000, 5000, 5000, 5000, 7000),
        ("client", "session/load"): ms(1, 200, 200, 200, 200, 200),
        ("agent", "session/request_permission"): ms(2, 1000, 2000, 2000, 2000, 3000),
        ("agent", "fs/read_text_file"): ms(2, 2, 6, 6, 6, 8),
    }
    assert (reads["count"], reads["answered"], reads["errors"]) == (3, 2, 1)
    sizes = {one["seq"]: one["bytes"] for one in objects("messages", "--log", log)}
    assert (reads["bytes"], reads["answerBytes"]) == (
        sizes[20] + sizes[22] + sizes[29], sizes[21] + sizes[23]
    )  # fmt: skip
    assert found["client", "session/prompt"]["answered"] == 2


def test_updates_are_counted_by_kind(told: dict[str, Any]) -> None:
    updates = {m["sessionUpdate"]: m["count"] for m in told["methods"] if "sessionUpdate" in m}

    assert updates == {
        "agent_message_chunk": 1, "tool_call": 4, "tool_call_update": 4, "usage_update": 1,
    }  # fmt: skip


def test_turns_prompts_permissions_and_usage(told: dict[str, Any]) -> None:
    assert told["prompts"] == {"count": 3, "firstUpdate_ns": ms(2, 100, 300, 300, 300, 400)}
    assert told["turns"] == {
        "count": 3, "open": 1, "stopReasons": {"end_turn": 1, "max_tokens": 1},
        "duration_ns": ms(2, 2000, 5000, 5000, 5000, 7000),
    }  # fmt: skip
    assert told["permissions"] == {
        "count": 2, "answers": {"selected": 1, "cancelled": 1},
        "wait_ns": ms(2, 1000, 2000, 2000, 2000, 3000), "waited_ns": 2500 * MS,
    }  # fmt: skip
    assert told["usage"] == [
        {"sessionId": "s", "used": 7, "size": 99, "cost": {"amount": 0.25, "currency": "EUR"}}
    ]


def test_tool_calls_are_counted_and_timed_by_kind(told: dict[str, Any]) -> None:
    assert told["toolCalls"] == [
        {"kind": "read", "count": 2, "completed": 2, "failed": 0, "cancelled": 0, "unfinished": 0,
         "duration_ns": ms(2, 200, 3200, 3200, 3200, 3400)},
        {"kind": "edit", "count": 1, "completed": 0, "failed": 1, "cancelled": 0, "unfinished": 0,
         "duration_ns": ms(1, 3200, 3200, 3200, 3200, 3200)},
    ]  # fmt: skip


def test_an_earlier_point_counts_only_what_came_before(log: Path) -> None:
    told = document("stats", "--at", 12, "--log", log)

    assert (told["at"], told["turns"]["open"], told["flags"]) == (12, 1, {})
    assert sum(sum(kinds.values()) for kinds in told["kinds"].values()) == 12
    assert told["permissions"]["wait_ns"]["count"] == 2
    assert [one["unfinished"] for one in told["toolCalls"]] == [1, 1]
    assert document("stats", "--at", 11, "--log", log)["permissions"]["waited_ns"] == 1000 * MS


def test_the_page_says_the_same(log: Path) -> None:
    lines = invoke("stats", "--log", log).stdout.splitlines()

    assert lines[:4] == [
        "connection 1 (imported) up to message 31: 31 messages, 3.3K bytes, 9.99s",
        "",
        "FROM    BYTES  REQUEST  NOTIFICATION  RESULT  ERROR  TEXT",
        "client    894        6                     3      1",
    ]
    [reads] = [line.split() for line in lines if "fs/read" in line]
    assert reads == [
        "agent",
        "fs/read_text_file",
        "3",
        "288",
        "1",
        "1",
        "119",
        "2ms",
        "6ms",
        "6ms",
        "6ms",
    ]
    facts = lines.index("flags:      1 after-final")
    assert lines[facts + 1 :] == [
        "prompts:    3; first update after p50 100ms, p90 300ms, p99 300ms, max 300ms",
        "turns:      3 (1 end_turn, 1 max_tokens, 1 open); lasted p50 2s, p90 5s, p99 5s, max 5s",
        "permission: 2 (1 selected, 1 cancelled); answered after p50 1s, p90 2s, p99 2s, max 2s; somebody was waited for during 2.5s",
        "usage:      context 7 of 99, cost 0.25 EUR (session s)",
        "",
        "TOOL CALLS  COUNT  COMPLETED  FAILED  CANCELLED  UNFINISHED    P50   P90   P99   MAX",
        "read            2          2                                 200ms  3.2s  3.2s  3.2s",
        "edit            1                  1                          3.2s  3.2s  3.2s  3.2s",
    ]


@pytest.mark.parametrize("count", [1, 2, 3, 10, 99, 100, 101, 1000])
def test_percentiles_are_the_smallest_values_that_are_enough(count: int) -> None:
    values = [(number * 7919) % count for number in range(count)]
    found = spread(values)

    assert found is not None
    for percent in (50, 90, 99):
        value = found[f"p{percent}"]
        assert sum(one <= value for one in values) * 100 >= percent * count
        assert sum(one < value for one in values) * 100 < percent * count
    assert found["max"] == max(values)


def test_a_batch_counts_each_member_and_its_bytes_once(tmp_path: Path) -> None:
    log = put(tmp_path / "log.db", [
        ("client", [request(0, "a"), request(1, "b")]), ("agent", [result(0), result(1)]),
    ])  # fmt: skip
    told = document("stats", "--log", log)

    assert [(one["method"], one["count"], one["answered"]) for one in told["methods"]] == [
        ("a", 1, 1), ("b", 1, 1),
    ]  # fmt: skip
    with open_recording(log) as recording:
        assert told["bytes"] == recording.connection().streams


def test_a_v2_conversation_has_turns_and_tool_calls_too(tmp_path: Path) -> None:
    idle = update("state_update", state="idle", stopReason="end_turn")
    told = document("stats", "--log", put(tmp_path / "log.db", [*V2, ("agent", idle)]))

    assert told["turns"] == {
        "count": 1, "open": 0, "stopReasons": {"end_turn": 1},
        "duration_ns": ms(1, 600, 600, 600, 600, 600),
    }  # fmt: skip
    assert [(one["kind"], one["completed"]) for one in told["toolCalls"]] == [("edit", 1)]


def test_without_times_there_are_counts_only(tmp_path: Path) -> None:
    lines = [{"from": who, "message": what} for _, who, what in TALK[:-1]]
    log = tmp_path / "log.db"
    invoke("import", "-", "--log", log, stdin="\n".join(map(json.dumps, lines)).encode())
    told = document("stats", "--log", log)

    assert (told["turns"]["count"], told["turns"]["duration_ns"]) == (3, None)
    assert (told["permissions"]["wait_ns"], told["permissions"]["waited_ns"]) == (None, None)
    assert invoke("stats", "--log", log).stdout


def test_nothing_that_was_sent_acts_on_the_terminal(tmp_path: Path) -> None:
    log = put(tmp_path / "log.db", [
        ("agent", update(EVIL)), ("agent", request(1, f"_{EVIL}", sessionId=EVIL)),
        ("agent", update("tool_call", toolCallId="c", title="x", kind=EVIL, status=EVIL)),
        ("client", prompt(1)), ("agent", result(1, stopReason=EVIL)),
        ("agent", update("usage_update", used=1, size=2, cost={"amount": EVIL, "currency": EVIL})),
    ])  # fmt: skip

    for form in ([], ["--json"]):
        shown = invoke("stats", *form, "--log", log).stdout
        assert "[2J" in shown
        assert not {"\x1b", "\u202e"} & set(shown)


def test_real_conversations_add_up(captures: Path, tmp_path: Path) -> None:
    for path in sorted(captures.glob("*.jsonl")):
        log = tmp_path / f"{path.stem}.db"
        invoke("import", path, "--log", log)
        told = document("stats", "--log", log)
        with open_recording(log) as recording:
            row = recording.connection()
        assert sum(sum(kinds.values()) for kinds in told["kinds"].values()) == row.messages
        assert told["bytes"] == row.streams
        assert (
            document("stats", "--at", row.messages, "--log", log) == told
        )  # folded, not looked up
        calls = (
            document("tool-calls", "--log", log, "--status", "completed")
            if told["toolCalls"]
            else {}
        )
        done = sum(len(session["toolCalls"]) for session in calls.get("sessions", ()))
        assert sum(one["completed"] for one in told["toolCalls"]) == done
        for one in told["methods"]:
            assert one.get("answered", 0) <= one["count"]
        page = invoke("stats", "--log", log).stdout
        assert not set(page) & {"\x1b", "\u202e"}
