"""Rules of docs/protocol.md: Patches, Tool calls that the tests of one kind of thing do not have, by their paragraph."""

from __future__ import annotations

from typing import Any

import pytest

from tests.state.folding import Folding, item, text

BOTH = pytest.mark.parametrize("version", [1, 2])
ROLES = {"user_message": "user", "agent_message": "agent", "agent_thought": "thought"}


@pytest.fixture
def v1() -> Folding:
    return Folding(1)


@pytest.fixture
def v2() -> Folding:
    return Folding(2)


# C.2: the patch algebra.


@BOTH
def test_c2_an_item_of_an_unknown_type_stays_whole(version: int) -> None:
    folding = Folding(version)
    odd = {"type": "_new", "deep": [None, {"a": 1.0}], "_meta": {"k": None}}
    folding.update("tool_call_update", toolCallId="t", content=[odd, item("a")])

    assert folding.call()["content"] == [odd, item("a")]
    noted = ["content[0]: its type is unknown in version 1: kept as sent"]
    assert folding.notes == (noted if version == 1 else [])


@pytest.mark.parametrize("tag", ROLES)
def test_c2_v2_a_message_without_a_list_is_unchanged_and_bad_blocks_stay(
    v2: Folding, tag: str
) -> None:
    v2.update(tag, messageId="m", content=[text("a")])
    v2.update(tag, messageId="m", content="b")
    assert v2.texts() == [(ROLES[tag], "a")]

    v2.update(tag, messageId="m", content=[{"type": "text"}, 7, {"type": "_x"}])
    [message] = v2.session()["messages"]
    assert message["content"] == [{"type": "text"}, 7, {"type": "_x"}]
    assert v2.notes == [
        "content is no array: ignored",
        "content[0]: text without text: kept as sent",
        "content[1]: no content block: kept as sent",
    ]


@BOTH
@pytest.mark.parametrize(
    "plan",
    [
        {"type": "items", "planId": "p"},
        {"type": "items", "planId": "p", "entries": {}},
        {"type": "file", "planId": "p", "uri": 5},
        {"type": "markdown", "planId": "p"},
        {"planId": "p", "entries": []},
        {"type": "items", "entries": []},
        [],
        None,
    ],
)
def test_c2_a_bad_payload_of_a_known_type_changes_nothing(version: int, plan: Any) -> None:
    folding = Folding(version)
    folding.update("plan_update", plan={"type": "items", "planId": "p", "entries": []})
    folding.update("plan_update", plan=plan)

    assert folding.session()["plans"] == [{"type": "items", "planId": "p", "entries": []}]
    assert any("changes nothing" in note for note in folding.notes)


@BOTH
@pytest.mark.parametrize("cost", [{}, {"amount": "1", "currency": "EUR"}, {"amount": 1}, 5, []])
def test_c2_a_bad_nested_object_counts_as_omitted(version: int, cost: Any) -> None:
    folding = Folding(version)
    folding.update("usage_update", used=1, size=9, cost={"amount": 0.5, "currency": "EUR"})
    folding.update("usage_update", used=2, size=9, cost=cost)
    folding.update("subagent_update", sessionId="c", state={"state": "running"})
    folding.update("subagent_update", sessionId="c", state={"stopReason": "error"})

    assert folding.session()["usage"] == {
        "used": 2, "size": 9, "cost": {"amount": 0.5, "currency": "EUR"},
    }  # fmt: skip
    assert folding.session()["subagents"][0]["state"] == {"state": "running"}
    assert len(folding.notes) == 2


@BOTH
def test_c2_malformed_members_of_lists_stay_and_are_noted(version: int) -> None:
    folding = Folding(version)
    entries = [{"content": "a", "priority": "high", "status": "pending"}, {"content": "b"}, 7]
    commands = [{"name": "n", "description": "d"}, {"name": "n"}]
    options = [{"configId": "c", "name": "C"}, {"id": "c", "name": "C"}, {"configId": "c"}, {}]
    folding.update("plan_update", plan={"type": "items", "planId": "p", "entries": entries})
    folding.update("plan", entries=entries)
    folding.update("available_commands_update", availableCommands=commands)
    folding.update("config_option_update", configOptions=options)

    session = folding.session()
    assert [plan["entries"] for plan in session["plans"]] == [entries, entries]
    assert (session["availableCommands"], session["configOptions"]) == (commands, options)
    assert [note for note in folding.notes if "kept as sent" in note] == [
        "entries[1]: without priority: kept as sent",
        "entries[2]: no object: kept as sent",
        "entries[1]: without priority: kept as sent",
        "entries[2]: no object: kept as sent",
        "availableCommands[1]: without description: kept as sent",
        "configOptions[2]: without name: kept as sent",
        "configOptions[3]: without id: kept as sent",
    ]


def test_c2_v1_a_tool_call_without_a_title_is_made_and_noted(v1: Folding) -> None:
    v1.update("tool_call", toolCallId="t")

    assert v1.call()["status"] == "pending"
    assert v1.notes == ["title is missing, which version 1 wants"]


# C.2: _meta at each level.

KEYED: dict[str, tuple[dict[str, Any], str]] = {
    "tool_call_update": ({"toolCallId": "t"}, "toolCalls"),
    "terminal_update": ({"terminalId": "x"}, "terminals"),
    "user_message": ({"messageId": "m"}, "messages"),
    "agent_message": ({"messageId": "m"}, "messages"),
    "agent_thought": ({"messageId": "m"}, "messages"),
    "compaction_update": ({"compactionId": "c", "status": "completed"}, "compactions"),
    "subagent_update": ({"sessionId": "child"}, "subagents"),
    "session_message": ({"messageId": "m"}, "sessionMessages"),
}


def metas(folding: Folding, tag: str, *values: Any) -> list[Any]:
    """Return the thing's ``_meta`` after each update; a value of ... is left out."""
    fields, place = KEYED[tag]
    seen = []
    for value in values:
        folding.update(tag, **fields, **({} if value is ... else {"_meta": value}))
        seen.append(folding.session()[place][0].get("_meta"))
    return seen


@pytest.mark.parametrize("tag", KEYED)
def test_c2_v2_meta_of_a_thing_is_patched_by_key(v2: Folding, tag: str) -> None:
    whole = {"a": 1, "b": {"x": None}}

    assert metas(v2, tag, whole, ..., {}, "no object", {"a": None, "c": 0}, None) == [
        whole, whole, whole, whole, {"b": {"x": None}, "c": 0}, None,
    ]  # fmt: skip


@pytest.mark.parametrize("tag", ["compaction_update", "subagent_update", "session_message"])
def test_c2_v1_meta_of_a_three_state_thing_is_replaced_whole(v1: Folding, tag: str) -> None:
    assert metas(v1, tag, {"a": 1}, ..., "no object", {"b": None}, {}, {"c": 1}, None) == [
        {"a": 1}, {"a": 1}, {"a": 1}, {"b": None}, None, {"c": 1}, None,
    ]  # fmt: skip


def test_c2_v2_meta_of_a_permissions_call_is_patched_too(v2: Folding) -> None:
    v2.update("tool_call_update", toolCallId="t", _meta={"a": 1, "b": 2})
    call = {"toolCallId": "t", "_meta": {"a": None}}
    params = {"sessionId": "s", "title": "T", "subject": {"type": "tool_call", "toolCall": call}}
    v2.agent(id=1, method="session/request_permission", params={**params, "options": []})

    assert v2.call()["_meta"] == {"b": 2}


@BOTH
def test_c2_meta_of_the_envelope_and_of_a_chunk_is_of_no_thing(version: int) -> None:
    folding = Folding(version)
    update = {"sessionUpdate": "agent_message_chunk", "messageId": "m", "content": text("a")}
    params = {"sessionId": "s", "update": {**update, "_meta": {"b": 1}}, "_meta": {"a": 1}}
    folding.agent(method="session/update", params=params)

    [message] = folding.session()["messages"]
    assert "_meta" not in message
    assert "_meta" not in folding.session()


@BOTH
def test_c2_meta_of_an_item_lives_and_dies_with_it(version: int) -> None:
    folding = Folding(version)
    diff = {"type": "diff", "path": "/a", "newText": "", "_meta": {"k": 1}} if version == 1 else {
        "type": "diff", "changes": [{"operation": "add", "path": "/a", "_meta": {"k": None}}],
    }  # fmt: skip
    where = {"path": "/a", "line": 1, "_meta": {"k": None}}
    folding.update("tool_call_update", toolCallId="t", content=[diff], locations=[where])
    assert (folding.call()["content"], folding.call()["locations"]) == ([diff], [where])

    folding.update("tool_call_update", toolCallId="t", content=[], locations=[])
    assert (folding.call()["content"], folding.call()["locations"]) == ([], [])


# C.3: transitions.


@BOTH
def test_c3_a_things_place_is_that_of_its_first_mention(version: int) -> None:
    folding = Folding(version)
    call = {"toolCallId": "b", "title": "B"}
    asked = {"toolCall": call} if version == 1 else {
        "title": "?", "subject": {"type": "tool_call", "toolCall": call}
    }  # fmt: skip
    params = {"sessionId": "s", "options": [], **asked}
    folding.agent(id=1, method="session/request_permission", params=params)
    folding.update("tool_call_update", toolCallId="a", status="completed")
    folding.update("tool_call_update", toolCallId="b", status="completed")

    calls = folding.session()["toolCalls"]
    assert [(one["toolCallId"], one["firstSeq"], one["lastSeq"]) for one in calls] == [
        ("b", 3, 5), ("a", 4, 4),
    ]  # fmt: skip


@BOTH
def test_c3_removing_a_plan_that_is_not_there_changes_nothing(version: int) -> None:
    folding = Folding(version)
    folding.update("plan_update", plan={"type": "file", "planId": "p", "uri": "file:///p"})
    folding.update("plan_removed", planId="q")
    assert len(folding.session()["plans"]) == 1

    folding.update("plan_removed", planId="p")
    assert folding.session()["plans"] == []


@BOTH
def test_c3_an_unknown_status_of_a_compaction_is_stored(version: int) -> None:
    folding = Folding(version)
    folding.update("compaction_update", compactionId="c", status="_half")

    assert folding.session()["compactions"][0]["status"] == "_half"


# D: tool calls.


@BOTH
def test_d2_asking_to_cancel_a_call_or_terminal_changes_neither(version: int) -> None:
    folding = Folding(version)
    folding.update("tool_call_update", toolCallId="t", status="in_progress")
    folding.update("terminal_update", terminalId="x", command="make")
    before = folding.session()
    folding.ask("tool_call/cancel", {"sessionId": "s", "toolCallId": "t"}, {})
    folding.ask("terminal/cancel", {"sessionId": "s", "terminalId": "x"}, {})

    assert folding.session() == before


@BOTH
def test_d3_an_option_that_was_not_offered_is_no_approval(version: int) -> None:
    folding = Folding(version)
    options = [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}, 7]
    params = {"sessionId": "s", "title": "T", "options": options}
    for id_, chosen in ((1, "yes"), (2, "always")):
        folding.agent(id=id_, method="session/request_permission", params=params)
        folding.restart()
        folding.client(id=id_, result={"outcome": {"outcome": "selected", "optionId": chosen}})

    assert folding.notes[-1] == "the selected option was not offered: no approval"
    assert folding.notes.count(folding.notes[-1]) == 1
