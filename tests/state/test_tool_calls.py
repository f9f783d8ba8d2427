"""Tool calls, by the rules of docs/protocol.md (Patches, Tool calls), in both versions."""

import json
from typing import Any

import pytest

from acp_proxy.wire.jsonrpc import Direction, classify
from tests.state.folding import Folding, item

DEFAULTS = {"kind": "other", "status": "pending", "content": [], "locations": []}
WHOLE: dict[str, Any] = {
    "name": "n",
    "title": "T",
    "kind": "edit",
    "status": "completed",
    "content": [item("a")],
    "locations": [{"path": "/a", "line": 1}],
    "rawInput": {"a": None},
    "rawOutput": 0,
}


@pytest.fixture
def v1() -> Folding:
    return Folding(1)


@pytest.fixture
def v2() -> Folding:
    return Folding(2)


# D.1: defaults.


def test_v2_the_first_update_fills_defaults(v2: Folding) -> None:
    v2.update("tool_call_update", toolCallId="t")

    assert v2.call() == {"toolCallId": "t", **DEFAULTS}


def test_v1_a_tool_call_fills_defaults(v1: Folding) -> None:
    v1.update("tool_call", toolCallId="t", title="T")

    assert v1.call() == {"toolCallId": "t", "title": "T", **DEFAULTS}


# C.2: the patch algebra.


@pytest.mark.parametrize("key", WHOLE)
def test_v2_an_absent_field_is_unchanged_and_null_clears_it(v2: Folding, key: str) -> None:
    v2.update("tool_call_update", toolCallId="t", **WHOLE)
    v2.update("tool_call_update", toolCallId="t")
    assert v2.call() == {"toolCallId": "t", **WHOLE}

    v2.update("tool_call_update", toolCallId="t", **{key: None})

    rest = {name: value for name, value in WHOLE.items() if name != key}
    default = {key: DEFAULTS[key]} if key in DEFAULTS else {}
    assert v2.call() == {"toolCallId": "t", **rest, **default}


@pytest.mark.parametrize("key", WHOLE)
def test_v1_null_and_absent_change_nothing(v1: Folding, key: str) -> None:
    v1.update("tool_call", toolCallId="t", **WHOLE)
    v1.update("tool_call_update", toolCallId="t", **{key: None})
    v1.update("tool_call_update", toolCallId="t")

    assert v1.call() == {"toolCallId": "t", **WHOLE}


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("key", ["content", "locations"])
def test_an_empty_array_empties(version: int, key: str) -> None:
    folding = Folding(version)
    folding.update("tool_call_update", toolCallId="t", **WHOLE)
    folding.update("tool_call_update", toolCallId="t", **{key: []})

    assert folding.call() == {"toolCallId": "t", **WHOLE, key: []}


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize(
    ("key", "wrong"),
    [
        ("name", 5), ("title", ["x"]), ("kind", False), ("status", {}), ("content", "oops"),
        ("locations", {"path": "/a"}), ("_meta", "x"),
    ],
)  # fmt: skip
def test_a_malformed_field_counts_as_omitted_and_is_noted(
    version: int, key: str, wrong: Any
) -> None:
    folding = Folding(version)
    folding.update("tool_call_update", toolCallId="t", **WHOLE)
    folding.update("tool_call_update", toolCallId="t", **{"rawOutput": 1, key: wrong})

    assert folding.call() == {"toolCallId": "t", **WHOLE, "rawOutput": 1}
    assert any(note.startswith(f"{key} is no ") for note in folding.notes)


@pytest.mark.parametrize("version", [1, 2])
def test_malformed_items_stay_as_sent_and_are_noted(version: int) -> None:
    folding = Folding(version)
    content = [5, {"type": "content"}, {"type": "_x", "a": {"b": None}}, {"type": "terminal"}]
    locations = [{"line": 3}, {"path": "/a", "line": 0}, None]
    folding.update("tool_call_update", toolCallId="t", content=content, locations=locations)

    assert (folding.call()["content"], folding.call()["locations"]) == (content, locations)
    for place in ("content[0]", "content[1]", "content[3]", "locations[0]", "locations[2]"):
        assert any(note.startswith(place) for note in folding.notes), place


def test_v2_an_unknown_kind_or_status_is_stored_as_is(v2: Folding) -> None:
    v2.update("tool_call_update", toolCallId="t", kind="_deploy", status="stalled")

    assert v2.call() == {"toolCallId": "t", **DEFAULTS, "kind": "_deploy", "status": "stalled"}


def test_v1_an_unknown_kind_or_status_is_dropped_and_noted(v1: Folding) -> None:
    v1.update("tool_call", toolCallId="t", kind="edit", status="in_progress")
    v1.update("tool_call_update", toolCallId="t", kind="_deploy", status="stalled")
    assert v1.call() == {
        "toolCallId": "t", **DEFAULTS, "kind": "edit", "status": "in_progress"
    }  # fmt: skip

    v1.update("tool_call", toolCallId="t", kind="_deploy", status="stalled")

    assert v1.call() == {"toolCallId": "t", **DEFAULTS}
    assert sum("unknown in this version" in note for note in v1.notes) == 4


@pytest.mark.parametrize("status", ["cancelled", "paused", "_queued"])
def test_v1_a_status_of_version_2_is_dropped_noted_and_kept_in_the_event(status: str) -> None:
    v1 = Folding(1)
    v1.update("tool_call", toolCallId="t", title="T", status="in_progress")
    update = {
        "sessionUpdate": "tool_call_update",
        "toolCallId": "t",
        "status": status,
        "title": "U",
    }
    params = {"sessionId": "s", "update": update}
    line = json.dumps({"jsonrpc": "2.0", "method": "session/update", "params": params}).encode()
    [message] = classify(line)
    [event] = v1.decoder.add(Direction.AGENT, message)
    v1.state.apply(event)

    assert (v1.call()["status"], v1.call()["title"]) == ("in_progress", "U")  # as clients show it
    assert event.notes == (f'status "{status}" is unknown in this version: ignored',)
    assert event.raw == update


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("missing", [{}, {"toolCallId": None}, {"toolCallId": 7}])
def test_without_an_id_nothing_changes(version: int, missing: dict[str, Any]) -> None:
    folding = Folding(version)
    folding.update("tool_call_update", title="T", **missing)

    assert folding.session()["toolCalls"] == []
    assert folding.notes


@pytest.mark.parametrize("value", [0, False, "", {}, [], 1.0, {"a": [None, {"b": None}]}])
@pytest.mark.parametrize("version", [1, 2])
def test_raw_values_of_any_type_are_values(version: int, value: Any) -> None:
    folding = Folding(version)
    folding.update("tool_call_update", toolCallId="t", rawInput=value, rawOutput=value)

    call = folding.call()
    assert (repr(call["rawInput"]), repr(call["rawOutput"])) == (repr(value), repr(value))


def test_v2_raw_values_are_replaced_never_merged(v2: Folding) -> None:
    v2.update("tool_call_update", toolCallId="t", rawInput={"a": 1, "b": {"c": 1}})
    v2.update("tool_call_update", toolCallId="t", rawInput={"b": {"d": None}})

    assert v2.call()["rawInput"] == {"b": {"d": None}}


# _meta (docs/protocol.md: Patches).


def test_v2_meta_is_patched_by_top_level_key(v2: Folding) -> None:
    v2.update("tool_call_update", toolCallId="t", _meta={"a": 1, "b": {"x": 1, "y": None}})
    v2.update("tool_call_update", toolCallId="t", _meta={"a": None, "b": {"z": None}, "c": 0})
    assert v2.call()["_meta"] == {"b": {"z": None}, "c": 0}

    v2.update("tool_call_update", toolCallId="t", _meta={})
    assert v2.call()["_meta"] == {"b": {"z": None}, "c": 0}

    v2.update("tool_call_update", toolCallId="t", _meta=None)
    assert "_meta" not in v2.call()


def test_v1_meta_is_merged_by_key_and_null_is_data(v1: Folding) -> None:
    v1.update("tool_call", toolCallId="t", _meta={"a": 1, "b": 1})
    v1.update("tool_call_update", toolCallId="t", _meta={"a": None, "c": 2})
    v1.update("tool_call_update", toolCallId="t", _meta=None)

    assert v1.call()["_meta"] == {"a": None, "b": 1, "c": 2}


def test_v2_the_last_key_removed_leaves_no_meta(v2: Folding) -> None:
    v2.update("tool_call_update", toolCallId="t", _meta={"a": 1})
    v2.update("tool_call_update", toolCallId="t", _meta={"a": None})

    assert "_meta" not in v2.call()


def test_v2_the_meta_of_a_chunk_and_of_an_item_is_not_the_calls(v2: Folding) -> None:
    within = {**item("a"), "_meta": {"i": 1}}
    v2.update("tool_call_content_chunk", toolCallId="t", content=within, _meta={"c": 1})

    assert v2.call() == {"toolCallId": "t", **DEFAULTS, "content": [within]}


# C.3: create, restart, chunks.


def test_v2_a_chunk_before_any_update_makes_the_call(v2: Folding) -> None:
    v2.update("tool_call_content_chunk", toolCallId="t", content=item("a"))
    v2.update("tool_call_update", toolCallId="t", title="late")
    v2.update("tool_call_content_chunk", toolCallId="t", content=item("b"))

    assert v2.call() == {
        "toolCallId": "t", **DEFAULTS, "title": "late", "content": [item("a"), item("b")]
    }  # fmt: skip


def test_v2_replace_then_append(v2: Folding) -> None:
    v2.update("tool_call_content_chunk", toolCallId="t", content=item("a"))
    v2.update("tool_call_update", toolCallId="t", content=[item("b")])
    v2.update("tool_call_content_chunk", toolCallId="t", content=item("c"))

    assert v2.call()["content"] == [item("b"), item("c")]


@pytest.mark.parametrize("content", [None, "x", [], {}, {"type": "content"}, {"type": "terminal"}])
def test_v2_a_malformed_chunk_changes_nothing(v2: Folding, content: Any) -> None:
    v2.update("tool_call_content_chunk", toolCallId="t", content=content)

    assert v2.session()["toolCalls"] == []
    assert any("changes nothing" in note for note in v2.notes)


def test_v1_a_second_tool_call_restarts_and_keeps_its_place(v1: Folding) -> None:
    v1.update("tool_call", toolCallId="t", _meta={"a": 1}, **WHOLE)
    v1.update("tool_call", toolCallId="u", title="U")
    v1.update("tool_call", toolCallId="t", title="again")

    assert v1.call() == {"toolCallId": "t", "title": "again", **DEFAULTS}
    first = v1.session()["toolCalls"][0]
    assert (first["toolCallId"], first["firstSeq"], first["lastSeq"]) == ("t", 3, 5)


@pytest.mark.parametrize("version", [1, 2])
def test_an_update_for_an_unknown_id_makes_the_call(version: int) -> None:
    folding = Folding(version)
    folding.update("tool_call_update", toolCallId="ghost", status="in_progress")

    assert folding.call("ghost")["status"] == "in_progress"


@pytest.mark.parametrize("version", [1, 2])
def test_a_final_status_can_be_left(version: int) -> None:
    folding = Folding(version)
    for status in ("completed", "in_progress"):
        folding.update("tool_call_update", toolCallId="t", status=status)

    assert folding.call()["status"] == "in_progress"


def test_cancelling_marks_no_call(v1: Folding) -> None:
    v1.update("tool_call", toolCallId="t", status="in_progress")
    v1.client(method="session/cancel", params={"sessionId": "s"})

    assert v1.call()["status"] == "in_progress"


def test_equal_ids_in_two_sessions_are_two_calls(v2: Folding) -> None:
    v2.update("tool_call_update", toolCallId="t", title="one")
    v2.update("tool_call_update", "s2", toolCallId="t", title="two")

    assert v2.call()["title"] == "one"
    assert v2.session("s2")["toolCalls"][0]["title"] == "two"


def test_an_update_before_the_answer_to_new_is_kept(v1: Folding) -> None:
    v1.client(id=1, method="session/new", params={"cwd": "/w"})
    v1.update("tool_call", toolCallId="t", title="early")
    v1.agent(id=1, result={"sessionId": "s"})

    assert (v1.call()["title"], v1.session()["cwd"]) == ("early", "/w")


def test_v2_capabilities_are_replaced_whole(v2: Folding) -> None:
    v2.update("tool_call_update", toolCallId="t", capabilities={"cancel": {}, "x": 1})
    v2.update("tool_call_update", toolCallId="t", capabilities={"y": {}})

    assert v2.call()["capabilities"] == {"y": {}}
