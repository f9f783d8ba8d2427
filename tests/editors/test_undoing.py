"""In settings that were changed since, what we added goes, and what we wrapped stays."""

from __future__ import annotations

import json
from typing import Any

import pytest

from acp_proxy.editors import undoing, wrapping
from acp_proxy.editors.known import EDITORS, ZED, short_name

PROXY = ["/usr/local/bin/acp-proxy"]
DIRECT = {"command": "goose", "args": ["acp"]}
CUSTOM = {"type": "custom", "command": "goose", "args": ["acp"], "env": {}}


def called(agent: list[str]) -> str:
    return EDITORS["zed"].name_of(short_name(agent))


def settings(**agents: Any) -> str:
    return json.dumps({"x": 1, "agent_servers": agents}, indent=2)


def wrapped(text: str) -> str:
    return wrapping.wrap(text, ZED, PROXY, "/home/me").text


def added(text: str, name: str, *agent: str) -> str:
    return wrapping.add(text, ZED, name, [*PROXY, "run", "--", *agent]).text


def undone(text: str, *before: str) -> Any:
    return json.loads(undoing.undo(text, ZED, before, called).text)["agent_servers"]


def test_the_added_goes_and_the_wrapped_stays() -> None:
    first = settings(mine=CUSTOM)
    second = wrapped(first)
    third = added(second, "new", "codex-acp")

    assert undone(third, first, second) == {"mine": CUSTOM}
    assert undone(third, second, first) == {"mine": CUSTOM}


def test_an_agent_with_another_name_now_is_not_taken_for_added() -> None:
    first = settings(mine=CUSTOM)
    renamed = wrapped(first).replace('"mine"', '"yours"')

    assert undone(renamed, first) == {"yours": CUSTOM}


def test_an_agent_that_was_direct_once_is_not_taken_for_added() -> None:
    long_ago = settings()
    lately = settings(mine=CUSTOM)

    assert undone(wrapped(lately), long_ago, lately) == {"mine": CUSTOM}


def test_an_agent_of_another_shape_is_not_taken_for_added() -> None:
    later = wrapped(settings(mine=DIRECT))

    assert undone(later, settings()) == {"mine": DIRECT}


def test_without_backups_only_our_own_names_tell() -> None:
    text = added(added(settings(), "goose (acp-proxy)", "goose"), "other", "goose")

    assert list(undone(text)) == ["other"]


def test_an_agent_in_which_a_person_has_put_a_comment_is_not_taken_for_added() -> None:
    first = settings()
    there = added(first, "goose (acp-proxy)", "goose").replace('"env"', '/* mine */ "env"')

    text = undoing.undo(there, ZED, [first], called).text

    assert '"command": "goose"' in text
    assert "/* mine */" in text


def test_that_there_was_no_file_does_not_tell_what_was_in_it_later() -> None:
    # It was made by us; an agent of the person's was wrapped later; that backup was cleared away.
    there = wrapped(added(settings(mine=CUSTOM), "goose (acp-proxy)", "goose"))

    assert undone(there, "") == {"mine": CUSTOM}


def test_a_backup_that_cannot_be_read_is_as_good_as_none() -> None:
    text = added(settings(), "goose (acp-proxy)", "goose")

    assert undone(text, "{ no", "[]") == {}


def test_an_empty_list_of_agents_goes_if_there_was_none() -> None:
    before = '{\n  "x": 1 // one\n}\n'
    there = added(before, "goose (acp-proxy)", "goose") + "// more\n"

    assert undoing.undo(there, ZED, [before], called).text == before + "// more\n"


@pytest.mark.parametrize(
    ("text", "is_so"),
    [("", True), ("{}\n", True), ("\ufeff{ }", True), ("{ // c\n}", False), ('{"a": 1}', False)],
)
def test_settings_in_which_nothing_is_left_are_known(text: str, is_so: bool) -> None:
    assert undoing.is_empty(text) is is_so
