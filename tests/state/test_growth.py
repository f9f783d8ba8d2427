"""Many open prompts and requests cost as many times more as there are, not their square."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from acp_proxy.events.index import Indexer, messages_of
from acp_proxy.wire.framing import Frame
from acp_proxy.wire.jsonrpc import Direction
from tests.state.folding import Folding, text
from tests.wire.shape import LINEAR, growth

if TYPE_CHECKING:
    from collections.abc import Callable

SIZE = 3000


def _asked(folding: Folding, count: int) -> None:
    for number in range(count):
        params = {"sessionId": "s", "prompt": [text("hello")]}
        folding.client(id=number, method="session/prompt", params=params)


# What tells which version the prompts were of: what was agreed on, and what comes later.
EVIDENCE: dict[str, tuple[int | None, str, dict[str, Any]]] = {
    "agreed on 2, speaks 1": (2, "tool_call", {"toolCallId": "t", "title": "T"}),
    "nothing agreed on, speaks 2": (None, "state_update", {"state": "running"}),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", EVIDENCE)
def test_prompts_that_turn_out_to_be_of_the_other_version(name: str) -> None:
    version, tag, fields = EVIDENCE[name]

    def prepare(count: int) -> Callable[[], object]:
        folding = Folding(version)
        _asked(folding, count)

        def work() -> None:
            folding.update(tag, **fields)
            for number in range(count):
                folding.agent(id=number, result={"stopReason": "end_turn"})

        return work

    assert growth(prepare, SIZE, tries=1) < LINEAR


@pytest.mark.slow
def test_open_turns_are_found_by_their_prompts() -> None:
    def prepare(count: int) -> Callable[[], object]:
        folding = Folding(1)
        _asked(folding, count)

        def work() -> None:
            for number in range(count):
                folding.agent(id=number, result={"stopReason": "end_turn"})

        return work

    assert growth(prepare, SIZE, tries=1) < LINEAR


def _add(index: Indexer, side: Direction, line: bytes) -> None:
    frame = Frame(0, line, len(line))
    index.rows(side, frame, None, messages_of(side, frame))


def test_requests_of_one_id_that_are_taken_back_again_and_again() -> None:
    ask = b'{"jsonrpc":"2.0","id":1,"method":"m"}\n'
    cancel = b'{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":1}}\n'
    answer = b'{"jsonrpc":"2.0","id":1,"result":{}}\n'

    def prepare(count: int) -> Callable[[], object]:
        def work() -> None:
            index = Indexer()
            for side, line in (
                (Direction.CLIENT, ask), (Direction.CLIENT, cancel), (Direction.AGENT, answer),
            ):  # fmt: skip
                for _ in range(count):
                    _add(index, side, line)

        return work

    assert growth(prepare, SIZE, tries=1) < LINEAR


def test_arrays_of_requests_of_one_id_that_are_refused() -> None:
    array = b"[" + b",".join([b'{"jsonrpc":"2.0","id":1,"method":"m"}'] * 20) + b"]"
    refusal = {"id": None, "error": {"code": -32600, "message": "no arrays"}}

    def prepare(count: int) -> Callable[[], object]:
        def work() -> None:
            folding = Folding(1)
            for _ in range(count):
                folding.line(Direction.AGENT, array)
                folding.line(Direction.CLIENT, array)
            for _ in range(count):
                folding.agent(**refusal)
            assert len(folding.decoder.open_requests()) == 20 * count

        return work

    assert growth(prepare, SIZE // 20, tries=1) < LINEAR
