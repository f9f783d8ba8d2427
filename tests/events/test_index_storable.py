"""Whatever two peers say, the Indexer goes on, says the same each time, and SQLite can hold it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acp_proxy.log.rows import KINDS, IndexRow
from acp_proxy.wire.jsonrpc import Direction
from tests.events.talk import MAX, Talk, assert_storable, flags
from tests.strategies import message_lines

if TYPE_CHECKING:
    from collections.abc import Sequence

CLIENT, AGENT = Direction.CLIENT, Direction.AGENT
Said = tuple[Direction, bytes, int | None]
TIMES = st.none() | st.sampled_from([0, 1, -1, MAX, -MAX, 2**62]) | st.integers(0, 10**12)
CONVERSATIONS: st.SearchStrategy[list[Said]] = st.lists(
    st.tuples(
        st.sampled_from([CLIENT, CLIENT, AGENT, AGENT, Direction.STDERR]), message_lines(), TIMES
    ),
    max_size=12,
)


def _listen(said: Sequence[Said]) -> Talk:
    talk = Talk()
    for direction, raw, elapsed_ns in said:
        talk.line(direction, raw, elapsed_ns)
    return talk


@pytest.mark.slow
@settings(max_examples=100)
@given(CONVERSATIONS)
def test_any_conversation_gives_rows_that_can_be_stored(said: list[Said]) -> None:
    talk = _listen(said)

    assert_storable(talk.rows.values())
    indexer = talk.indexer
    assert type(indexer.protocol_version) in (type(None), int, str)
    if isinstance(indexer.protocol_version, str):
        indexer.protocol_version.encode()
    elif indexer.protocol_version is not None:
        assert abs(indexer.protocol_version) <= MAX
    for names in (indexer.client, indexer.agent):
        for key, name in names.items():
            assert key in ("name", "title", "version")
            name.encode()


@pytest.mark.slow
@settings(max_examples=60)
@given(CONVERSATIONS)
def test_the_same_conversation_gives_the_same_rows(said: list[Said]) -> None:
    one, other = _listen(said), _listen(said)
    assert one.rows == other.rows
    assert one.indexer.pending() == other.indexer.pending()
    assert (one.indexer.protocol_version, one.indexer.client, one.indexer.agent) == (
        (other.indexer.protocol_version, other.indexer.client, other.indexer.agent)
    )


@given(CONVERSATIONS)
def test_pairs_are_of_a_request_and_a_later_answer_from_the_other_side(said: list[Said]) -> None:
    talk = _listen(said)
    answered: set[int] = set()
    for seq, row in talk.rows.items():
        kind = KINDS[row.kind_code]
        assert ("orphan" in flags(row)) == (kind in ("result", "error") and row.request_seq is None)
        if row.request_seq is None:
            assert row.duration_ns is None
            continue
        assert kind in ("result", "error")
        request = talk.rows[row.request_seq]
        assert row.request_seq < seq
        assert KINDS[request.kind_code] == "request"
        assert {row.stream_code, request.stream_code} == {0, 1}
        assert row.request_seq not in answered
        answered.add(row.request_seq)
    requests = {seq for seq, row in talk.rows.items() if KINDS[row.kind_code] == "request"}
    assert set(talk.indexer.pending()) == requests - answered


@pytest.mark.parametrize(
    ("code", "kept"),
    [
        (-32700, -32700), (0, 0), (2**31, 2**31), (MAX, MAX), (-MAX, -MAX), (2**63, None), (-(2**64), None),
        (10**40, None), (1.0, None), ("1", None), (True, None), (None, None), ([], None),
    ],
)  # fmt: skip
def test_an_error_code_is_an_integer_of_64_bits_or_nothing(code: Any, kept: int | None) -> None:
    row = Talk().agent(id=1, error={"code": code, "message": "m"})
    assert (KINDS[row.kind_code], row.error_code) == ("error", kept)


@pytest.mark.parametrize("error", [None, "no", [], 7, {}, {"message": "m"}])
def test_an_error_without_a_code_has_none(error: Any) -> None:
    row = Talk().agent(id=1, error=error)
    assert (KINDS[row.kind_code], row.error_code) == ("error", None)


@pytest.mark.parametrize(("asked", "answered"), [(-MAX, MAX), (MAX, -MAX), (-2, MAX), (2, -MAX)])
def test_a_duration_beyond_64_bits_is_not_one(asked: int, answered: int) -> None:
    talk = Talk()
    talk.client(asked, id=1, method="m")
    row = talk.agent(answered, id=1, result={})
    assert row.request_seq == 1
    assert_storable([row])


LONE = "a\ud83d"


def _said_with_a_lone_surrogate() -> list[IndexRow]:
    talk = Talk()
    talk.client(id=LONE, method="session/prompt" + LONE, params={"sessionId": LONE})
    talk.agent(id=LONE, result={"sessionId": LONE, "terminalId": LONE})
    talk.agent(id=LONE, error={"code": 1, "message": LONE})
    talk.update(LONE, LONE, toolCallId=LONE, terminalId=LONE)
    talk.update("tool_call", LONE, toolCallId=LONE, status=LONE)
    talk.agent(id=[LONE], method=LONE, params={"toolCall": {"toolCallId": LONE}})
    talk.client(method="$/cancel_request", params={"requestId": {LONE: LONE}})
    talk.line(AGENT, b'{"jsonrpc":"2.0","id":"\\udfff","result":{"\\udfff":tru}}\n')
    return list(talk.rows.values())


def test_lone_surrogates_never_leave_as_text_that_cannot_be_encoded() -> None:
    rows = _said_with_a_lone_surrogate()
    assert_storable(rows)
    assert rows[0].method == "session/prompta\\ud83d"
    assert rows[0].session_id == rows[3].session_update == rows[3].tool_call_id == "a\\ud83d"
    assert rows[0].id == '"a\\ud83d"'
    assert rows[1].request_seq == 1


@pytest.mark.parametrize(
    "text", ["\x00", "a\x00b", "\u2028", "\uffff", "😀", "é" * 1000, "\x1b[0m"]
)
def test_other_characters_stay_as_they_are(text: str) -> None:
    talk = Talk()
    row = talk.client(id=text, method=text, params={"sessionId": text, "toolCallId": text})
    assert (row.method, row.session_id, row.tool_call_id) == (text, text, text)
    assert_storable([row])
