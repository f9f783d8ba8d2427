"""Requests meet their answers: by sender, type and value of the id, the oldest first."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import NamedTuple

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from acp_proxy.wire.correlation import Answered, Correlator
from acp_proxy.wire.jsonrpc import Direction, classify

CLIENT, AGENT = Direction.CLIENT, Direction.AGENT
OTHER = {CLIENT: AGENT, AGENT: CLIENT}
UUID = '"0b6c0b6c-1111-4222-8333-444444444444"'

DIFFERENT = [
    "1", '"1"', "1.0", '"1.0"', "1.10", '"1.10"', "null", '"null"', UUID, "true", "0", "-1", '""', "1e400",
    "1e-400", "9007199254740993", "9007199254740993.0", "9007199254740992", "[1.0]", "[1]", '{"e":1}',
    "1234567890123456789012345678901234567890", "1234567890123456789012345678901234567891",
    "0.0", '"\\ud83d"', '"é"', '"e\u0301"',
]  # fmt: skip
EXTREME = [
    ("1.00000000000000000000000000000000001", "1.0"),
    ("1.00000000000000000000000000000000001", "1.00000000000000000000000000000000002"),
    ("1e1000000", "1e1000001"),
    ("1e-1000000", "1e-1000001"),
    ("1e-9999999", "0.0"),
]
SAME = [
    ("1.10", "1.1"), ("1.0", "1e0"), ("1.0", "1.000"), ("1e2", "100.0"), ("1E2", "1e+2"),
    ("15e-1", "1.5"), ("1e400", "10e399"), ("1e1000000", "10e999999"),
    ("1.00000000000000000000000000000000001", "1.000000000000000000000000000000000010"),
]  # fmt: skip


@pytest.mark.parametrize("id_text", DIFFERENT)
def test_an_id_pairs_with_none_that_differs_in_type_or_value(id_text: str) -> None:
    others = [other for other in DIFFERENT if other != id_text]
    correlator = Correlator[str]()
    for other in others:
        assert correlator.request(CLIENT, other, other) is False

    assert correlator.response(AGENT, id_text) is None
    assert correlator.request(CLIENT, id_text, id_text) is False
    assert correlator.response(AGENT, id_text) == Answered(id_text, False, False)
    assert correlator.pending() == others


@pytest.mark.parametrize(("one", "other"), EXTREME)
def test_ids_that_differ_in_the_last_digit_or_by_an_extreme_exponent_do_not_pair(
    one: str, other: str
) -> None:
    correlator = Correlator[int]()
    assert correlator.request(CLIENT, one, 7) is False
    assert correlator.response(AGENT, other) is None
    assert correlator.response(AGENT, one) == Answered(7, False, False)


@pytest.mark.parametrize(("one", "other"), SAME)
def test_spellings_of_one_number_pair(one: str, other: str) -> None:
    for asked, answered in ((one, other), (other, one)):
        correlator = Correlator[int]()
        correlator.request(AGENT, asked, 7)
        assert correlator.response(CLIENT, answered) == Answered(7, False, False)


def test_spellings_of_one_number_are_one_open_id() -> None:
    correlator = Correlator[int]()
    assert correlator.request(CLIENT, "1.10", 1) is False
    assert correlator.request(CLIENT, "1.1", 2) is True


def test_spellings_of_one_string_pair() -> None:
    ids = [
        classify(f'{{"id":{text},"method":"m"}}'.encode())[0].id or ""
        for text in (r'"a\/\u00e9\ud83d\ude00"', '"a/é😀"', r'"\u0061/\u00E9😀"')
    ]
    for asked, answered in itertools.permutations(ids, 2):
        correlator = Correlator[int]()
        correlator.request(CLIENT, asked, 7)
        assert correlator.response(AGENT, answered) == Answered(7, False, False)


@pytest.mark.parametrize(
    "text", ["1e999999999999999999999", "-1E+1000000", "1." + "1" * 100_000, "0e1"]
)
def test_no_number_makes_it_raise(text: str) -> None:
    correlator = Correlator[int]()
    correlator.request(CLIENT, text, 7)
    correlator.cancel(CLIENT, text)
    assert correlator.response(AGENT, text) == Answered(7, False, True)


def test_both_directions_may_use_one_id_at_once() -> None:
    correlator = Correlator[str]()
    assert correlator.request(CLIENT, "0", "from client") is False
    assert correlator.request(AGENT, "0", "from agent") is False

    assert correlator.response(CLIENT, "0") == Answered("from agent", False, False)
    assert correlator.response(CLIENT, "0") is None
    assert correlator.response(AGENT, "0") == Answered("from client", False, False)


def test_an_id_may_be_used_again_after_its_answer() -> None:
    correlator = Correlator[int]()
    for turn in range(3):
        assert correlator.request(AGENT, "0", turn) is False
        assert correlator.response(CLIENT, "0") == Answered(turn, False, False)
    assert correlator.pending() == []


def test_two_open_requests_with_one_id_are_answered_in_order_and_both_flagged() -> None:
    correlator = Correlator[int]()
    assert [correlator.request(CLIENT, "1", n) for n in (10, 11, 12)] == [False, True, True]

    assert [correlator.response(AGENT, "1") for _ in range(4)] == (
        [Answered(10, True, False), Answered(11, True, False), Answered(12, True, False), None]
    )


def test_a_sender_does_not_answer_itself() -> None:
    correlator = Correlator[int]()
    correlator.request(CLIENT, "1", 7)
    assert correlator.response(CLIENT, "1") is None
    assert correlator.pending() == [7]


def test_an_answer_after_cancel_is_late() -> None:
    correlator = Correlator[int]()
    correlator.request(CLIENT, "1", 7)
    correlator.request(AGENT, "1", 8)
    correlator.cancel(AGENT, "1")  # its own request, not the client's

    assert correlator.response(AGENT, "1") == Answered(7, False, False)
    assert correlator.response(CLIENT, "1") == Answered(8, False, True)


def test_cancel_holds_for_the_open_request_only() -> None:
    correlator = Correlator[int]()
    correlator.cancel(CLIENT, "1")
    correlator.request(CLIENT, "1", 7)
    assert correlator.response(AGENT, "1") == Answered(7, False, False)
    correlator.cancel(CLIENT, "1")
    correlator.request(CLIENT, "1", 8)
    assert correlator.response(AGENT, "1") == Answered(8, False, False)


class _Open(NamedTuple):
    sender: Direction
    key: tuple[str, object]
    request: int


def _key(text: str) -> tuple[str, object]:
    """Say in the simplest way when two ids are one."""
    if text.startswith('"') or text in ("null", "true"):
        return "word", text
    if "." in text or "e" in text.lower():
        return "fraction", Fraction(text)
    return "integer", int(text)


SENDERS = st.sampled_from([CLIENT, AGENT])
IDS = st.sampled_from(
    ["0", "1", '"1"', "1.0", "1e0", "1.10", "1.1", "null", UUID, "9007199254740993", "true"]
)


class Pairing(RuleBasedStateMachine):
    """The correlator against a list that is searched from its beginning."""

    def __init__(self) -> None:
        super().__init__()
        self.correlator = Correlator[int]()
        self.open: list[_Open] = []
        self.shared: set[int] = set()
        self.cancelled: set[int] = set()
        self.count = 0

    def _waiting(self, sender: Direction, id_text: str) -> list[_Open]:
        return [x for x in self.open if x.sender is sender and x.key == _key(id_text)]

    @rule(sender=SENDERS, id_text=IDS)
    def request(self, sender: Direction, id_text: str) -> None:
        self.count += 1
        before = self._waiting(sender, id_text)
        self.open.append(_Open(sender, _key(id_text), self.count))
        if before:
            self.shared |= {x.request for x in before} | {self.count}
        assert self.correlator.request(sender, id_text, self.count) is bool(before)

    @rule(responder=SENDERS, id_text=IDS)
    def response(self, responder: Direction, id_text: str) -> None:
        answered = self.correlator.response(responder, id_text)
        waiting = self._waiting(OTHER[responder], id_text)
        if not waiting:
            assert answered is None
            return
        number = waiting[0].request
        self.open.remove(waiting[0])
        assert answered == Answered(number, number in self.shared, number in self.cancelled)

    @rule(sender=SENDERS, id_text=IDS)
    def cancel(self, sender: Direction, id_text: str) -> None:
        self.correlator.cancel(sender, id_text)
        self.cancelled |= {x.request for x in self._waiting(sender, id_text)}

    @invariant()
    def what_is_open_is_pending(self) -> None:
        pending = self.correlator.pending()
        assert sorted(pending) == [x.request for x in self.open]
        for sender, key in {(x.sender, x.key) for x in self.open}:
            group = [x.request for x in self.open if (x.sender, x.key) == (sender, key)]
            assert [number for number in pending if number in group] == group


Pairing.TestCase.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
test_pairing_is_what_a_list_would_say = Pairing.TestCase


def test_a_dropped_request_is_answered_by_nobody_and_its_twin_is() -> None:
    correlator = Correlator[list[int]]()
    first, twin = [1], [1]
    correlator.request(Direction.CLIENT, "1", first)
    correlator.request(Direction.CLIENT, "1", twin)

    correlator.drop(Direction.CLIENT, "1", first)
    correlator.drop(Direction.CLIENT, "2", first)
    answered = correlator.response(Direction.AGENT, "1")

    assert answered is not None
    assert answered.request is twin
    assert correlator.response(Direction.AGENT, "1") is None
    correlator.request(Direction.CLIENT, "1", first)
    correlator.drop(Direction.CLIENT, "1", first)
    assert correlator.pending() == []
