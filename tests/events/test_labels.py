"""Which session, update, tool call and terminal a message mentions, in both versions."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given

from acp_proxy.events.labels import NO_LABELS, Labels, labels_of
from acp_proxy.wire.jsonrpc import classify
from tests.strategies import message_lines

WRONG: list[Any] = [None, True, 0, 7, 1.5, [], ["s"], {}, {"sessionId": "s"}]


def _labels(request: Labels = NO_LABELS, **message: Any) -> Labels:
    [found] = classify(json.dumps({"jsonrpc": "2.0", **message}).encode())
    return labels_of(found, request)


def _notified(**params: Any) -> Labels:
    return _labels(method="session/update", params=params)


def _asked(**params: Any) -> Labels:
    return _labels(id=1, method="session/request_permission", params=params)


def _meta(**meta: Any) -> Labels:
    update = {"sessionUpdate": "tool_call_update", "toolCallId": "t", "_meta": meta}
    return _notified(sessionId="s", update=update)


@pytest.mark.parametrize(
    ("update", "expected"),
    [
        ({"sessionUpdate": "agent_message_chunk"}, Labels("s", "agent_message_chunk")),
        ({"sessionUpdate": "tool_call", "toolCallId": "t"}, Labels("s", "tool_call", "t")),
        (
            {"sessionUpdate": "tool_call_update", "toolCallId": "t"},
            Labels("s", "tool_call_update", "t"),
        ),
        (
            {"sessionUpdate": "tool_call_content_chunk", "toolCallId": "t"},
            Labels("s", "tool_call_content_chunk", "t"),
        ),
        (
            {"sessionUpdate": "terminal_update", "terminalId": "x"},
            Labels("s", "terminal_update", None, "x"),
        ),
        (
            {"sessionUpdate": "terminal_output_chunk", "terminalId": "x", "data": ""},
            Labels("s", "terminal_output_chunk", None, "x"),
        ),
        ({"sessionUpdate": "_vendor/thing", "toolCallId": "t"}, Labels("s", "_vendor/thing", "t")),
        ({"sessionUpdate": "", "toolCallId": ""}, Labels("s", "", "")),
        ({"toolCallId": "t", "terminalId": "x"}, Labels("s", None, "t", "x")),
        ({}, Labels("s")),
    ],
)
def test_an_update_mentions_its_session_its_kind_and_its_ids(
    update: dict[str, Any], expected: Labels
) -> None:
    assert _notified(sessionId="s", update=update) == expected


@pytest.mark.parametrize(
    "key",
    [
        "terminal_info",
        "terminal_output",
        "terminal_output_delta",
        "terminal_exit",
        "terminal_input",
    ],
)
def test_a_terminal_in_the_meta_of_a_v1_update_is_mentioned(key: str) -> None:
    assert _meta(**{key: {"terminal_id": "x"}}) == Labels("s", "tool_call_update", "t", "x")


def test_a_terminal_of_the_update_itself_goes_before_one_of_its_meta() -> None:
    update = {"terminalId": "x", "_meta": {"terminal_info": {"terminal_id": "y"}}}
    assert _notified(sessionId="s", update=update).terminal_id == "x"


def test_a_part_of_the_meta_without_a_terminal_does_not_hide_the_next() -> None:
    for broken in ({}, {"cwd": "/"}, {"terminal_id": None}, {"terminal_id": 7}):
        labels = _meta(terminal_info=broken, terminal_exit={"terminal_id": "x"})
        assert labels.terminal_id == "x", broken


@pytest.mark.parametrize("wrong", WRONG)
def test_a_meta_of_another_type_mentions_nothing(wrong: Any) -> None:
    assert _meta(terminal_info=wrong).terminal_id is None
    assert _meta(terminal_info={"terminal_id": wrong}).terminal_id is None
    assert _notified(sessionId="s", update={"_meta": wrong}) == Labels("s")


def test_a_v1_permission_mentions_its_tool_call() -> None:
    call = {"toolCallId": "t", "sessionUpdate": "tool_call", "rawInput": {}}
    assert _asked(sessionId="s", toolCall=call, options=[]) == Labels("s", None, "t")


@pytest.mark.parametrize("key", ["terminal_info", "terminal_output", "terminal_output_delta"])
def test_a_v1_permission_mentions_the_terminal_in_the_meta_of_its_tool_call(key: str) -> None:
    call = {"toolCallId": "t", "_meta": {key: {"terminal_id": "x"}}}
    assert _asked(sessionId="s", toolCall=call) == Labels("s", None, "t", "x")


@pytest.mark.parametrize(
    ("subject", "tool_call", "terminal"),
    [
        ({"type": "tool_call", "toolCall": {"toolCallId": "t"}}, "t", None),
        ({"type": "command", "command": "ls", "cwd": "/"}, None, None),
        ({"type": "command", "toolCallId": "t", "terminalId": "x"}, "t", "x"),
        ({"type": "command", "toolCallId": None, "terminalId": "x"}, None, "x"),
        ({"type": "command", "toolCall": None, "toolCallId": "t"}, "t", None),
        ({"type": "_vendor"}, None, None),
        ({}, None, None),
    ],
)
def test_a_v2_permission_mentions_what_its_subject_is_about(
    subject: dict[str, Any], tool_call: str | None, terminal: str | None
) -> None:
    assert _asked(sessionId="s", title="?", subject=subject) == Labels(
        "s", None, tool_call, terminal
    )


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("key", ["subject", "toolCall", "update"])
def test_a_part_of_another_type_mentions_nothing(key: str, wrong: Any) -> None:
    assert _asked(sessionId="s", **{key: wrong}) == Labels("s")
    assert _asked(sessionId="s", subject={key: wrong}) == Labels("s")


@pytest.mark.parametrize("wrong", WRONG)
def test_an_id_of_another_type_is_not_mentioned(wrong: Any) -> None:
    ids = {"sessionId": wrong, "toolCallId": wrong, "terminalId": wrong}
    assert _asked(**ids) == NO_LABELS
    assert _asked(toolCall=ids, subject=ids, **ids) == NO_LABELS
    assert _notified(sessionId=wrong, update={**ids, "sessionUpdate": wrong}) == NO_LABELS
    assert _labels(Labels("s", None, "t", "x"), id=1, result=ids) == Labels("s", None, "t", "x")


@pytest.mark.parametrize("wrong", [None, True, 0, "s", 1.5, ["s"]])
def test_params_or_results_that_are_no_objects_mention_nothing(wrong: Any) -> None:
    assert _labels(method="session/update", params=wrong) == NO_LABELS
    assert _labels(id=1, method="session/prompt", params=wrong) == NO_LABELS
    assert _labels(Labels("s"), id=1, result=wrong) == Labels("s")


def test_an_empty_id_is_an_id() -> None:
    assert _asked(sessionId="", toolCall={"toolCallId": ""}) == Labels("", None, "")
    assert _asked(sessionId="", subject={"toolCallId": "", "terminalId": ""}) == Labels(
        "", None, "", ""
    )
    assert _labels(id=1, method="terminal/output", params={"terminalId": ""}).terminal_id == ""
    assert _labels(Labels("s", None, None, "x"), id=1, result={"sessionId": ""}).session_id == ""
    update = {"terminalId": "", "_meta": {"terminal_info": {"terminal_id": "x"}}}
    assert _notified(sessionId="s", update=update).terminal_id == ""


@pytest.mark.parametrize(
    ("method", "params", "expected"),
    [
        ("session/prompt", {"sessionId": "s", "prompt": []}, Labels("s")),
        ("session/cancel", {"sessionId": "s"}, Labels("s")),
        ("tool_call/cancel", {"sessionId": "s", "toolCallId": "t"}, Labels("s", None, "t")),
        ("terminal/cancel", {"sessionId": "s", "terminalId": "x"}, Labels("s", None, None, "x")),
        ("terminal/create", {"sessionId": "s", "command": "ls"}, Labels("s")),
        ("terminal/output", {"sessionId": "s", "terminalId": "x"}, Labels("s", None, None, "x")),
        ("elicitation/create", {"sessionId": "s", "toolCallId": "t"}, Labels("s", None, "t")),
        ("fs/read_text_file", {"sessionId": "s", "path": "/a"}, Labels("s")),
        ("session/new", {"cwd": "/"}, NO_LABELS),
        ("initialize", {"protocolVersion": 1}, NO_LABELS),
        ("_vendor/x", {"sessionId": "s"}, Labels("s")),
    ],
)
def test_a_request_mentions_the_ids_of_its_params(
    method: str, params: dict[str, Any], expected: Labels
) -> None:
    assert _labels(id=1, method=method, params=params) == expected
    assert _labels(method=method, params=params) == expected


def test_an_answer_is_about_what_its_request_was_about() -> None:
    request = Labels("s", None, "t", "x")
    assert _labels(request, id=1, result={"outcome": {"outcome": "cancelled"}}) == request
    assert _labels(request, id=1, result=None) == request
    assert _labels(request, id=1, error={"code": -1, "message": "m"}) == request
    assert (
        _labels(request, id=1, error={"code": -1, "message": "m", "sessionId": "other"}) == request
    )


def test_an_answer_mentions_what_it_made() -> None:
    assert _labels(id=1, result={"sessionId": "s"}) == Labels("s")
    assert _labels(Labels("s"), id=1, result={"terminalId": "x"}) == Labels("s", None, None, "x")
    assert _labels(Labels("old"), id=1, result={"sessionId": "fork"}) == Labels("fork")


def test_what_is_no_object_mentions_nothing() -> None:
    for raw in (b"\n", b"text\n", b"7\n", b"[]\n", b'{"id":1}\n', b'{"method":7}\n'):
        [message] = classify(raw)
        assert labels_of(message) == NO_LABELS


def test_a_lone_surrogate_is_made_visible() -> None:
    labels = _notified(sessionId="a\ud83d", update={"sessionUpdate": "é", "toolCallId": "\udfff"})
    assert labels == Labels("a\\ud83d", "é", "\\udfff")


@given(message_lines())
def test_labels_are_text_that_can_be_stored(raw: bytes) -> None:
    for message in classify(raw):
        for label in labels_of(message):
            assert label is None or label.encode() is not None
