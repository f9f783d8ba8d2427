"""config --write and --unwrap on whatever settings: back to the byte, or to the same meaning."""

import json
import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_proxy.editors.jsonc import parse
from tests.cli.commands import invoke
from tests.editors.settings_texts import SHAPES, launches, rest, settings

AGENT = ("--", "goose", "acp")


@pytest.mark.slow
@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("agent", [(), AGENT], ids=["wrap", "add"])
@given(data=st.data())
def test_what_was_written_is_unwrapped_to_the_byte(
    name: str, agent: tuple[str, ...], data: st.DataObject
) -> None:
    shape = SHAPES[name]
    text = data.draw(settings(shape))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "settings.json")
        path.write_bytes(text.encode())
        there = _written(name, path, agent)
        if agent:
            assert len(launches(there, shape)) == len(launches(text, shape)) + 1
        else:
            assert rest(there, shape) == rest(text, shape)
        assert _written(name, path, agent) == there
        if there != text:
            invoke("config", name, "--unwrap", "--file", path)
        assert path.read_bytes() == text.encode()
        assert list(Path(folder).iterdir()) == [path]


EDITS: list[Callable[[str], str]] = [
    lambda text: text + " // later",
    lambda text: re.sub(r"\{", '{ "new": { "x": [1, 2] },', text, count=1),
    lambda text: re.sub(r"\{", "{ /* later */", text, count=1),
    lambda text: text.replace("\n", "\n\n"),
]


@pytest.mark.slow
@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("agent", [(), AGENT], ids=["wrap", "add"])
@given(data=st.data())
def test_what_was_changed_since_means_the_same_again(
    name: str, agent: tuple[str, ...], data: st.DataObject
) -> None:
    shape = SHAPES[name]
    text = data.draw(settings(shape))
    edit = data.draw(st.sampled_from(EDITS))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "settings.json")
        path.write_bytes(text.encode())
        there = _written(name, path, agent)
        path.write_bytes(_edited(there, edit).encode())
        invoke("config", name, "--unwrap", "--file", path)
        back = path.read_bytes().decode()
    expected = _edited(text, edit)
    assert launches(back, shape) == launches(expected, shape)
    assert _without_nothing(rest(back, shape)) == _without_nothing(rest(expected, shape))


def _written(name: str, path: Path, agent: tuple[str, ...]) -> str:
    """Write, where there is something to write, and return the settings then."""
    before = path.read_bytes().decode()
    some = any(launches(before, SHAPES[name]).values())
    invoke("config", name, "--write", "--file", path, *agent, code=0 if agent or some else 1)
    return path.read_bytes().decode()


def _edited(text: str, edit: Callable[[str], str]) -> str:
    """Edit behind the comments that settings may begin with."""
    root = parse(text)
    assert root is not None
    return text[: root.start] + edit(text[root.start :])


def _without_nothing(said_rest: str) -> Any:
    """Return settings without a list of agents in which there is none."""
    data = json.loads(said_rest)
    return {key: value for key, value in data.items() if value != {} or key.startswith("k")}
