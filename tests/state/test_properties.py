"""Laws of folding: any cut gives the same, nothing raises, values survive."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_proxy.events.decoder import Decoder
from acp_proxy.state.fold import State
from acp_proxy.state.snapshot import BadSnapshotError, Stored, head_of_connection, restore
from acp_proxy.views.state_json import state_document, state_text
from acp_proxy.views.state_page import state_page
from acp_proxy.wire.jsonrpc import Direction, classify
from tests.state.folding import Folding, item
from tests.state.talk import TALKERS, said_lines, updates
from tests.strategies import ANYTHING, NUMBERS, message_lines


def _text(state: State) -> str:
    return state_text(state_document(state, 1))


@pytest.mark.slow
@given(said_lines(), st.sets(st.integers(0, 30)))
def test_folding_at_once_is_folding_in_pieces(
    lines: list[tuple[Direction, bytes]], cuts: set[int]
) -> None:
    whole, pieces = Folding(), Folding()
    for number, (direction, raw) in enumerate(lines):
        if number in cuts:
            pieces.restart()
        whole.line(direction, raw)
        pieces.line(direction, raw)

        assert _text(pieces.state) == _text(whole.state)
    assert pieces.notes == whole.notes


@given(said_lines())
def test_one_batch_is_as_good_as_its_members(lines: list[tuple[Direction, bytes]]) -> None:
    whole, batched = Folding(), Folding()
    for direction, raw in lines:
        whole.line(direction, raw)
        batched.line(direction, b"[" + raw + b"]")

    assert _text(batched.state) == _text(whole.state)


@given(st.lists(st.tuples(TALKERS, message_lines()), max_size=12))
def test_what_peers_write_never_raises(said: list[tuple[Direction, bytes]]) -> None:
    folding = Folding()
    for direction, raw in said:
        before = folding.decoder.seq
        events = [
            event for message in classify(raw) for event in folding.decoder.add(direction, message)
        ]
        assert {event.seq for event in events} == set(range(before + 1, folding.decoder.seq + 1))
        for event in events:
            folding.state.apply(event)
    folding.restart()
    state_page(folding.state, 1)


@pytest.mark.slow
@given(st.lists(st.tuples(TALKERS, updates()), max_size=8), st.data())
def test_updates_with_wrong_types_anywhere_never_raise(
    said: list[tuple[Direction, dict[str, Any]]], data: st.DataObject
) -> None:
    folding = Folding(data.draw(st.sampled_from([None, 1, 2])))
    for direction, message in said:
        params = message["params"]
        key = data.draw(st.sampled_from(sorted(params["update"])))
        params["update"][key] = data.draw(ANYTHING)
        folding.say(direction, method="session/update", params=params)
    text_now = _text(folding.state)
    folding.restart()

    assert _text(folding.state) == text_now
    state_page(folding.state, 1)


@given(NUMBERS.filter(lambda number: number != "-0"), st.sampled_from([1, 2]))  # an integer: 0
def test_numbers_survive_as_they_were_written(number: str, version: int) -> None:
    folding = Folding(version)
    raw = (
        '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":'
        f'{{"sessionUpdate":"tool_call_update","toolCallId":"t","rawInput":[{number}]}}}}}}'
    )
    folding.line(Direction.AGENT, raw.encode())
    folding.restart()

    assert f'"rawInput":[{number}]' in _text(folding.state)


def test_what_json_libraries_change_survives() -> None:
    folding = Folding(2)
    raw = (
        b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{'
        b'"sessionUpdate":"tool_call_update","toolCallId":"t","rawInput":'
        b'{"n":%b,"e":1e400,"f":false,"z":0,"o":1,"p":1.0,"s":"\\ud83d","d":{"x":[null,{}]}},'
        b'"rawOutput":%b}}}' % (b"7" * 40, b"[" * 900 + b"]" * 900)
    )
    folding.line(Direction.AGENT, raw)
    before = _text(folding.state)
    folding.restart()

    assert _text(folding.state) == before
    assert (
        '"rawInput":{"n":%s,"e":1e400,"f":false,"z":0,"o":1,"p":1.0,"s":"\\ud83d",'
        '"d":{"x":[null,{}]}}' % ("7" * 40)
    ) in before
    assert "[" * 900 + "]" * 900 in before


def test_a_damaged_snapshot_is_refused() -> None:
    good = Stored(0, 1, head_of_connection(State(), Decoder()), [])
    session = Stored(1 << 32, 1, b'=["Session"]', [])
    orphan = Stored((1 << 32) + 1, 1, b'=["Turn",1]', [])
    for head in (
        b"",
        b"=",
        b"=[",
        b"=5",
        b'=["connection"]',
        b'=["connection",1,2,3,4,5,6]',
        b"~[1]",
        b'~["connection",1,2,3,4,5,6,7]',
        b'={"connection":1}',
        b"=" + b"[" * 100_000,
        b'~["connection","' + b"[" * 3000 + b'"]',
    ):
        with pytest.raises(BadSnapshotError):
            restore([good._replace(head=head)])
    fields = (
        b'"s",1,1,1,null,null,null,null,null,null,null,null,{},%d,false,0,null,null,null,null,0'
    )
    whole = good._replace(head=good.head[:-2] + b"1]")
    for length in (2**70, -1, 5):
        notices = Stored(1 << 32, 1, b'=["Session",' + fields % length + b",[],[]]", [])
        with pytest.raises(BadSnapshotError):
            restore([whole, notices])
    for things in ([good, session], [good, orphan], [session]):
        with pytest.raises(BadSnapshotError):
            restore(things)


def _seconds(count: int) -> float:
    from time import process_time

    folding = Folding(2)
    started = process_time()
    for _ in range(count):
        folding.update("terminal_output_chunk", terminalId="x", data="YWJjZGVmZ2g=" * 8)
        folding.update("tool_call_content_chunk", toolCallId="t", content=item("a"))
    return process_time() - started


@pytest.mark.slow
def test_appending_costs_the_same_however_much_is_there() -> None:
    ratios = [_seconds(8000) / _seconds(2000) for _ in range(3)]

    assert min(ratios) < 8
