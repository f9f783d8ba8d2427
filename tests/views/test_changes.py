"""What differs between two JSON values: told exactly, and enough to make one of the other."""

import copy
import json
from typing import Any

from hypothesis import given

from acp_proxy.state.growing import Blocks
from acp_proxy.views.changes import MISSING, Change, change_object, change_text, changes
from acp_proxy.views.state_json import state_text
from acp_proxy.wire.exact_json import parse_exactly
from tests.strategies import json_values


def test_a_thing_that_is_new_is_written_whatever_its_numbers_are() -> None:
    number = parse_exactly(b"1.10").value
    call = {"toolCallId": "t", "content": Blocks([{"n": 1}]), "rawInput": number}
    before = {"sessions": [{"sessionId": "s", "toolCalls": []}]}
    after = {"sessions": [{"sessionId": "s", "toolCalls": [call]}]}

    [change] = changes(before, after)

    assert '"content":[{"n":1}],"rawInput":1.10' in state_text(change_object(change))
    assert '"content":[{"n":1}],"rawInput":1.10' in change_text(change)


def written(value: Any) -> str:
    """Return a value as JSON text, whatever the order of its keys."""
    return json.dumps(value, sort_keys=True)


def applied(value: Any, found: list[Change]) -> Any:
    """Return a value with changes made to it."""
    whole = [copy.deepcopy(value)]
    removals = [change for change in found if change.after is MISSING]
    for change in [*(c for c in found if c.after is not MISSING), *removals[::-1]]:
        place: Any = whole
        path = (0, *change.path)
        for key in path[:-1]:
            place = place[key]
        if change.after is MISSING:
            del place[path[-1]]
        elif isinstance(place, list) and path[-1] == len(place):
            place.append(change.after)
        else:
            place[path[-1]] = change.after
    return whole[0]


@given(json_values(), json_values())
def test_the_changes_make_one_value_the_other(before: Any, after: Any) -> None:
    found = changes({"a": before}, {"a": after})

    assert bool(found) == (written(before) != written(after))
    assert written(applied({"a": before}, found)) == written({"a": after})


@given(json_values(), json_values())
def test_a_change_is_one_harmless_line(before: Any, after: Any) -> None:
    for change in changes(before, after):
        assert not set(map(chr, range(32))) & set(change_text(change))


def state(*calls: dict[str, Any], output: str = "") -> dict[str, Any]:
    """Return a state document of one session."""
    terminal = {"owner": "agent", "terminalId": "t", "output": {"data": output}}
    return {"sessions": [{"sessionId": "s", "toolCalls": list(calls), "terminals": [terminal]}]}


def test_things_with_ids_are_compared_by_them() -> None:
    one, two = {"toolCallId": "1", "status": "x"}, {"toolCallId": "2", "status": "x"}

    found = changes(state(one, two), state(two, {**one, "status": "y"}))
    assert found == [Change(("sessions", "s", "toolCalls", "1", "status"), "x", "y")]


def test_lists_that_were_sent_are_compared_by_place() -> None:
    sent: list[dict[str, Any]] = [{"toolCalls": [1, 2]}, {"toolCalls": [2]}]

    found = changes(*(state({"toolCallId": "1", "rawInput": value}) for value in sent))
    place = ("sessions", "s", "toolCalls", "1", "rawInput", "toolCalls")
    assert found == [Change((*place, 0), 1, 2), Change((*place, 1), 2, MISSING)]


def test_what_a_terminal_wrote_is_told_in_its_own_words() -> None:
    def told(before: str, after: str) -> str:
        [change] = changes(state(output=before), state(output=after))
        return change_text(change).partition(": ")[2]

    assert told("YQ==", "YWIb") == "1 -> 3 bytes, added: b\\e"
    assert told("YQ==", "Yg==") == "1 -> 1 bytes, replaced"
