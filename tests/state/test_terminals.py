"""Terminals of the three owners, by the rules of docs/protocol.md (Terminals)."""

import base64
from typing import Any

import pytest

from tests.state.folding import Folding


def b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


@pytest.fixture
def v1() -> Folding:
    return Folding(1)


@pytest.fixture
def v2() -> Folding:
    return Folding(2)


# E.1: of the agent.


def test_v2_snapshot_then_chunk_then_snapshot(v2: Folding) -> None:
    v2.update("terminal_update", terminalId="x", output={"data": b64(b"ab"), "_meta": {"n": 1}})
    v2.update("terminal_output_chunk", terminalId="x", data=b64(b"c"), _meta={"chunk": 1})
    assert v2.terminal()["output"] == {"data": b64(b"abc"), "_meta": {"n": 1}}

    v2.update("terminal_update", terminalId="x", output={"data": b64(b"z")})
    assert v2.terminal()["output"] == {"data": b64(b"z")}


def test_v2_null_output_is_unknown_and_empty_data_is_known(v2: Folding) -> None:
    v2.update("terminal_update", terminalId="x", output={"data": "", "_meta": {"n": 1}})
    assert v2.terminal()["output"] == {"data": "", "_meta": {"n": 1}}

    v2.update("terminal_update", terminalId="x", output=None)
    assert "output" not in v2.terminal()

    v2.update("terminal_output_chunk", terminalId="x", data="")
    assert v2.terminal()["output"] == {"data": ""}


def test_v2_chunks_may_split_a_character(v2: Folding) -> None:
    for part in (b"caf\xc3", b"\xa9\r", b"\n"):
        v2.update("terminal_output_chunk", terminalId="x", data=b64(part))

    assert base64.b64decode(v2.terminal()["output"]["data"]).decode() == "café\r\n"


@pytest.mark.parametrize("data", ["YQ", "YQ=", "Y Q==", "YQ==\n", "-_==", "é", None, 5, "YQ==YQ=="])
def test_v2_what_is_no_base64_is_ignored_and_siblings_apply(v2: Folding, data: Any) -> None:
    v2.update("terminal_update", terminalId="x", output={"data": b64(b"a")})
    v2.update("terminal_update", terminalId="x", output={"data": data}, command="make")
    v2.update("terminal_output_chunk", terminalId="x", data=data)

    assert v2.terminal() == {
        "terminalId": "x", "owner": "agent", "command": "make", "output": {"data": b64(b"a")}
    }  # fmt: skip
    assert len(v2.notes) == 2


def test_v2_exit_status_object_empty_object_null(v2: Folding) -> None:
    seen = []
    for status in ({"exitCode": 1, "_meta": {}}, {"signal": "SIGTERM"}, {}, None, {"exitCode": -1}):
        v2.update("terminal_update", terminalId="x", exitStatus=status)
        seen.append(v2.terminal().get("exitStatus"))

    assert seen == [{"exitCode": 1, "_meta": {}}, {"signal": "SIGTERM"}, {}, None, {"exitCode": -1}]


@pytest.mark.parametrize(
    "size",
    [{"cols": 0, "rows": 1}, {"cols": 1}, {"cols": 65536, "rows": 1}, {"cols": True, "rows": 1}, 5],
)
def test_v2_a_malformed_size_counts_as_omitted(v2: Folding, size: Any) -> None:
    v2.update("terminal_update", terminalId="x", size={"cols": 80, "rows": 24})
    v2.update("terminal_update", terminalId="x", size=size)

    assert v2.terminal()["size"] == {"cols": 80, "rows": 24}
    assert v2.notes


def test_v2_absent_keeps_and_null_clears(v2: Folding) -> None:
    whole = {"command": "make", "cwd": "/w", "size": {"cols": 1, "rows": 1}, "capabilities": {}}
    v2.update("terminal_update", terminalId="x", _meta={"a": 1}, **whole)
    v2.update("terminal_update", terminalId="x")
    assert v2.terminal() == {"terminalId": "x", "owner": "agent", "_meta": {"a": 1}, **whole}

    v2.update("terminal_update", terminalId="x", _meta=None, **dict.fromkeys(whole))
    assert v2.terminal() == {"terminalId": "x", "owner": "agent"}


def test_v2_output_after_exit_is_appended(v2: Folding) -> None:
    v2.update("terminal_update", terminalId="x", exitStatus={})
    v2.update("terminal_output_chunk", terminalId="x", data=b64(b"late"))

    assert (v2.terminal()["exitStatus"], v2.terminal()["output"]) == ({}, {"data": b64(b"late")})


def test_v2_a_terminal_and_a_call_of_one_id_have_nothing_to_do_with_each_other(
    v2: Folding,
) -> None:
    v2.update("tool_call_update", toolCallId="x", content=[{"type": "terminal", "terminalId": "x"}])
    assert v2.session()["terminals"] == []

    v2.update("terminal_update", terminalId="x", exitStatus={"exitCode": 1})

    assert v2.call("x")["status"] == "pending"


# E.2: of the client.


def create(v1: Folding, id_: str = "x", **params: Any) -> None:
    v1.ask("terminal/create", {"sessionId": "s", **params}, {"terminalId": id_}, "agent")


def ask(v1: Folding, verb: str, result: Any) -> None:
    v1.ask(f"terminal/{verb}", {"sessionId": "s", "terminalId": "x"}, result, "agent")


def test_v1_the_answer_to_create_makes_the_terminal(v1: Folding) -> None:
    params = {"command": "make", "args": ["-j"], "cwd": "/w", "outputByteLimit": 2**64}
    v1.agent(id=1, method="terminal/create", params={"sessionId": "s", "env": [], **params})
    assert v1.session()["terminals"] == []

    v1.client(id=1, result={"terminalId": "x"})

    assert v1.terminal(owner="client") == {"terminalId": "x", "owner": "client", **params}
    assert v1.session()["terminals"][0]["firstSeq"] == 4


def test_v1_an_error_makes_no_terminal(v1: Folding) -> None:
    v1.agent(id=1, method="terminal/create", params={"sessionId": "s", "command": "make"})
    v1.client(id=1, error={"code": -32603, "message": "no"})

    assert v1.session()["terminals"] == []


def test_v1_output_replaces_and_never_erases_a_known_exit(v1: Folding) -> None:
    create(v1)
    ask(v1, "output", {"output": "é\ud800", "truncated": False})
    assert v1.terminal(owner="client") == {
        "terminalId": "x", "owner": "client", "truncated": False,
        "output": {"data": b64(b"\xc3\xa9\xed\xa0\x80")},
    }  # fmt: skip

    ask(v1, "output", {"output": "z", "truncated": True, "exitStatus": {"exitCode": 0, "k": 1}})
    ask(v1, "output", {"output": "z", "truncated": True, "exitStatus": None})

    terminal = v1.terminal(owner="client")
    assert (terminal["exitStatus"], terminal["truncated"]) == ({"exitCode": 0, "k": 1}, True)


def test_v1_wait_for_exit_tells_the_exit(v1: Folding) -> None:
    create(v1)
    ask(v1, "wait_for_exit", {"exitCode": None, "signal": "KILL", "_meta": {"a": 1}, "else": 1})

    assert v1.terminal(owner="client")["exitStatus"] == {
        "exitCode": None, "signal": "KILL", "_meta": {"a": 1}
    }  # fmt: skip


@pytest.mark.parametrize("result", [{}, None])
def test_v1_kill_and_release_leave_the_output(v1: Folding, result: Any) -> None:
    create(v1)
    ask(v1, "output", {"output": "a", "truncated": False})
    ask(v1, "kill", result)
    ask(v1, "release", result)

    terminal = v1.terminal(owner="client")
    assert (terminal["killed"], terminal["released"]) == (True, True)
    assert "exitStatus" not in terminal
    assert terminal["output"] == {"data": b64(b"a")}


# E.3: the _meta convention.


def meta(v1: Folding, verb: str = "tool_call_update", **keys: Any) -> None:
    named = {key: {"terminal_id": "x", **value} for key, value in keys.items()}
    v1.update(verb, toolCallId="t", _meta=named)


def test_v1_meta_info_output_and_exit(v1: Folding) -> None:
    meta(v1, "tool_call", terminal_info={"cwd": "/w"})
    meta(v1, terminal_output={"data": "é"}, terminal_exit={"exit_code": None, "signal": None})
    meta(v1, terminal_output_delta={"data": "b"})

    assert v1.terminal(owner="meta") == {
        "terminalId": "x", "owner": "meta", "cwd": "/w", "output": {"data": b64("éb".encode())},
        "exitStatus": {"exitCode": None, "signal": None},
    }  # fmt: skip


def test_v1_meta_output_before_info_makes_the_terminal(v1: Folding) -> None:
    meta(v1, terminal_output_delta={"data": "a"})
    meta(v1, "tool_call", terminal_info={})

    assert v1.terminal(owner="meta")["output"] == {"data": b64(b"a")}


def test_v1_meta_is_read_in_permissions_too(v1: Folding) -> None:
    call = {"toolCallId": "t", "_meta": {"terminal_info": {"terminal_id": "x"}}}
    params = {"sessionId": "s", "toolCall": call, "options": []}
    v1.agent(id=1, method="session/request_permission", params=params)

    assert v1.terminal(owner="meta") == {"terminalId": "x", "owner": "meta"}


@pytest.mark.parametrize("wrong", [5, {}, {"terminal_id": 1}, {"terminal_id": "x", "data": 1}])
def test_v1_a_malformed_meta_terminal_is_noted(v1: Folding, wrong: Any) -> None:
    v1.update("tool_call_update", toolCallId="t", _meta={"terminal_output": wrong})

    assert v1.session()["terminals"] == []
    assert v1.notes


def test_the_three_id_spaces_are_apart(v1: Folding) -> None:
    create(v1)
    meta(v1, "tool_call", terminal_info={})
    v1.update("terminal_update", terminalId="x", command="make")

    assert [terminal["owner"] for terminal in v1.session()["terminals"]] == [
        "client", "meta", "agent"
    ]  # fmt: skip
    assert any("read as version 2" in note for note in v1.notes)
