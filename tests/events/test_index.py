"""Numbers, kinds and pairs: every message of a connection, in its order, with what it answers."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from acp_proxy.events.index import Indexer, Row
from acp_proxy.log.rows import KINDS, STREAMS, IndexRow
from acp_proxy.wire.framing import Frame
from acp_proxy.wire.jsonrpc import Direction, Kind
from tests.events.talk import Talk, flags

CLIENT, AGENT, STDERR = Direction.CLIENT, Direction.AGENT, Direction.STDERR
LINES: dict[Kind, bytes] = {
    Kind.NOTIFICATION: b'{"jsonrpc":"2.0","method":"m"}\n',
    Kind.REQUEST: b'{"jsonrpc":"2.0","id":1,"method":"m"}\n',
    Kind.RESULT: b'{"jsonrpc":"2.0","id":1,"result":{}}\n',
    Kind.ERROR: b'{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"m"}}\n',
    Kind.TEXT: b"Loading model...\n",
    Kind.INVALID: b'{"jsonrpc":"2.0"}\n',
}


def test_an_entry_has_the_columns_of_the_log() -> None:
    assert len(get_args(Row)) == len(IndexRow._fields) + 1
    assert [str(annotation) for annotation in get_args(Row)[1:]] == (
        [str(annotation) for annotation in IndexRow.__annotations__.values()]
    )


@pytest.mark.parametrize("direction", [CLIENT, AGENT])
@pytest.mark.parametrize("kind", Kind)
def test_kinds_and_streams_have_the_codes_of_the_log(kind: Kind, direction: Direction) -> None:
    [row] = Talk().line(direction, LINES[kind])
    assert KINDS[row.kind_code] == kind.value
    assert STREAMS[row.stream_code] == direction.value


@pytest.mark.parametrize("raw", [*LINES.values(), b"\n", b"x", b"\xff\n"])
def test_standard_error_is_text_whatever_it_says(raw: bytes) -> None:
    talk = Talk()
    talk.client(id=1, method="m")
    [row] = talk.line(STDERR, raw, 5)
    assert (STREAMS[row.stream_code], KINDS[row.kind_code], row.bytes) == (
        "stderr",
        "text",
        len(raw),
    )
    assert (row.method, row.id, row.request_seq, row.duration_ns) == (None, None, None, None)
    assert flags(row) == ({"not-utf8"} if raw == b"\xff\n" else set())
    assert talk.indexer.pending() == [1]


def test_columns_stand_in_their_places() -> None:
    talk = Talk()
    talk.begin()
    call = {"toolCallId": "t"}
    row = talk.agent(
        1000, id=7, method="session/request_permission", params={"sessionId": "s", "toolCall": call}
    )
    assert row._replace(bytes=0) == IndexRow(
        None,
        1,
        1,
        0,
        "session/request_permission",
        "7",
        "s",
        None,
        "t",
        None,
        None,
        None,
        None,
        None,
        None,
    )
    row = talk.client(1500, id=7, error={"code": -32800, "message": "m"})
    assert row._replace(bytes=0) == IndexRow(
        None, 0, 3, 0, None, "7", "s", None, "t", None, 5, 500, -32800, None, None
    )
    row = talk.update("tool_call_update", toolCallId="t", terminalId="x")
    assert row[5:10] == (None, "s", "tool_call_update", "t", "x")
    [row] = talk.line(AGENT, b"\x1b[0m" + LINES[Kind.RESULT])
    assert (KINDS[row.kind_code], row.flags) == ("invalid", "hidden-json")
    assert row.reason


def test_everything_observed_is_numbered_from_one() -> None:
    talk = Talk()
    assert talk.indexer.seq == 0
    talk.line(STDERR, b"warming up\n")
    talk.client(id=1, method="initialize")
    talk.line(AGENT, b"\n")
    talk.batch(CLIENT, {"method": "a"}, {"id": 2, "method": "b"}, {"method": "c"})
    talk.line(STDERR, b"\xff")
    talk.line(AGENT, b"[]\n")
    talk.agent(id=2, result={})
    assert talk.indexer.seq == 9
    assert sorted(talk.rows) == list(range(1, 10))
    assert [talk.rows[seq].batch_index for seq in range(1, 10)] == (
        [None, None, None, 0, 1, 2, None, None, None]
    )
    assert talk.rows[9].request_seq == 5


def test_each_message_of_a_batch_has_the_size_of_its_frame() -> None:
    rows = Talk().batch(CLIENT, {"method": "a"}, {"method": "b"})
    assert rows[0].bytes == rows[1].bytes > 60


def test_an_answer_knows_its_request_and_how_long_it_took() -> None:
    talk = Talk()
    talk.client(100, id=1, method="session/prompt", params={"sessionId": "s"})
    talk.client(200, id="1", method="session/list")
    second = talk.agent(250, id="1", result={})
    first = talk.agent(900, id=1, result={})
    assert (second.request_seq, second.duration_ns, second.session_id) == (2, 50, None)
    assert (first.request_seq, first.duration_ns, first.session_id) == (1, 800, "s")
    assert first.method is None
    assert talk.indexer.pending() == []


@pytest.mark.parametrize(("asked", "answered"), [(None, 5), (5, None), (None, None)])
def test_without_times_there_is_no_duration(asked: int | None, answered: int | None) -> None:
    talk = Talk()
    talk.client(asked, id=1, method="m")
    row = talk.agent(answered, id=1, result={})
    assert (row.request_seq, row.duration_ns) == (1, None)


def test_time_zero_is_a_time() -> None:
    talk = Talk()
    talk.client(0, id=0, method="m")
    assert talk.agent(0, id=0, result=0).duration_ns == 0


def test_both_directions_may_use_one_id_at_once() -> None:
    talk = Talk()
    talk.client(id=0, method="session/prompt", params={"sessionId": "s"})
    talk.agent(id=0, method="fs/read_text_file", params={"sessionId": "s", "path": "/a"})
    assert talk.client(id=0, result={"content": ""}).request_seq == 2
    assert talk.agent(id=0, result={"stopReason": "end_turn"}).request_seq == 1
    assert [row.flags for row in talk.rows.values()] == [None] * 4


def test_ids_of_different_types_do_not_meet() -> None:
    talk = Talk()
    for text in ("1", '"1"', "1.0", "1.10", "null"):
        talk.line(CLIENT, f'{{"jsonrpc":"2.0","id":{text},"method":"m"}}\n'.encode())
    answers = {"null": 5, "1.1": 4, "1e0": 3, '"\\u0031"': 2, "1": 1}
    for text, seq in answers.items():
        [row] = talk.line(AGENT, f'{{"jsonrpc":"2.0","id":{text},"result":{{}}}}\n'.encode())
        assert row.request_seq == seq, text
    assert talk.indexer.pending() == []


@pytest.mark.parametrize(
    "text", ["1e1000000", "-1e-9999999", "1e400", "9" * 5000, "1." + "9" * 5000]
)
def test_no_id_stops_the_indexer(text: str) -> None:
    talk = Talk()
    talk.line(CLIENT, f'{{"jsonrpc":"2.0","id":{text},"method":"m"}}\n'.encode())
    [row] = talk.line(AGENT, f'{{"jsonrpc":"2.0","id":{text},"result":{{}}}}\n'.encode())
    assert (row.id, row.request_seq) == (text, 1)


def test_an_answer_is_about_what_its_request_was_about() -> None:
    talk = Talk()
    talk.begin()
    talk.agent(id=1, method="terminal/create", params={"sessionId": "s", "command": "ls"})
    made = talk.client(id=1, result={"terminalId": "x"})
    assert (made.session_id, made.terminal_id) == ("s", "x")
    talk.agent(id=2, method="terminal/wait_for_exit", params={"sessionId": "s", "terminalId": "x"})
    ended = talk.client(id=2, error={"code": -1, "message": "m"})
    assert (ended.session_id, ended.terminal_id, ended.error_code) == ("s", "x", -1)


def test_the_answer_to_session_new_is_about_the_new_session() -> None:
    talk = Talk()
    talk.client(id=1, method="session/new", params={"cwd": "/"})
    assert talk.agent(id=1, result={"sessionId": "s9"}).session_id == "s9"


def _requests(*ids: Any) -> list[dict[str, Any]]:
    return [{"id": id_, "method": "session/list"} for id_ in ids]


def _results(*ids: Any) -> list[dict[str, Any]]:
    return [{"id": id_, "result": {}} for id_ in ids]


def test_a_batch_is_answered_by_a_batch_in_another_order() -> None:
    talk = Talk()
    talk.batch(CLIENT, *_requests(1, 2, "2", 3))
    rows = talk.batch(AGENT, *_results(3, "2", 1, 2))
    assert [row.request_seq for row in rows] == [4, 3, 1, 2]
    assert all(flags(row) == {"batch"} for row in rows)


def test_a_batch_is_answered_by_single_frames() -> None:
    talk = Talk()
    talk.batch(CLIENT, *_requests(1, 2), {"method": "session/cancel"})
    assert talk.agent(id=2, result={}).request_seq == 2
    assert talk.agent(id=1, result={}).request_seq == 1


def test_single_requests_are_answered_by_a_batch() -> None:
    talk = Talk()
    for request in _requests("a", "b"):
        talk.client(**request)
    rows = talk.batch(AGENT, *_results("b"), {"method": "m"}, *_results("a", "c"))
    assert [row.request_seq for row in rows] == [2, None, 1, None]
    assert [flags(row) for row in rows] == [{"batch"}, {"batch"}, {"batch"}, {"batch", "orphan"}]


def test_a_batch_may_ask_and_answer_at_once() -> None:
    talk = Talk()
    talk.client(id=1, method="session/prompt", params={"sessionId": "s"})
    talk.batch(AGENT, {"id": 1, "method": "fs/read_text_file"}, {"id": 1, "result": {}})
    assert talk.rows[3].request_seq == 1
    assert talk.client(id=1, result={}).request_seq == 2


def test_a_bad_member_of_a_batch_has_a_number_too() -> None:
    talk = Talk()
    rows = talk.line(CLIENT, b'[1,{"jsonrpc":"2.0","id":1,"method":"m"},{}]\n')
    assert [KINDS[row.kind_code] for row in rows] == ["invalid", "request", "invalid"]
    assert talk.agent(id=1, result={}).request_seq == 2


def test_what_is_not_answered_is_pending() -> None:
    talk = Talk()
    talk.client(id=1, method="initialize")
    talk.client(id=2, method="session/prompt")
    talk.agent(id=1, method="session/request_permission")
    talk.agent(id=2, result={})
    assert sorted(talk.indexer.pending()) == [1, 3]


def test_a_frame_too_long_to_keep_has_its_true_size() -> None:
    [found] = Indexer().rows(AGENT, Frame(0, b'{"jsonrpc":"2.0",', 10**10), 5)
    row = IndexRow(*found[1:])
    assert (row.bytes, KINDS[row.kind_code], row.flags) == (10**10, "invalid", "unparsed")


def test_a_prefix_of_standard_error_is_not_blamed_for_its_cut() -> None:
    [found] = Indexer().rows(STDERR, Frame(0, b"x" * 99 + b"\xc3", 10**9), 5)
    row = IndexRow(*found[1:])
    assert row.bytes == 10**9
    assert "not-utf8" not in flags(row)


@pytest.mark.parametrize("depth", [1000, 5000, 100_000])
def test_deep_messages_pair(depth: int) -> None:
    deep = "[" * depth + "]" * depth
    talk = Talk()
    talk.line(CLIENT, f'{{"jsonrpc":"2.0","id":1,"method":"m","params":{deep}}}\n'.encode())
    [row] = talk.line(AGENT, f'{{"jsonrpc":"2.0","id":1,"result":{deep}}}\n'.encode())
    assert row.request_seq == 1
