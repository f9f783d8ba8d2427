"""Every value of the vectors' messages, one after the other, of every wrong type: nothing raises."""

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from acp_proxy.events.decoder import Decoder
from acp_proxy.events.index import Indexer
from acp_proxy.state.fold import State
from acp_proxy.views.state_json import state_document
from acp_proxy.wire.framing import Frame
from acp_proxy.wire.jsonrpc import Direction, classify

WRONG: list[Any] = [{}, [], None, True, 0, 1.5, "", {"type": {}}, [[]]]


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the paths of all values inside a value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    for key, member in inner:
        yield (*path, key)
        if isinstance(member, dict | list):
            yield from places(member, (*path, key))


def changed(message: Any, path: tuple[Any, ...], value: Any) -> Any:
    """Return a message with another value at a path."""
    message = copy.deepcopy(message)
    holder = message
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = value
    return message


@pytest.mark.parametrize("version", [1, 2])
def test_a_value_of_a_wrong_type_never_raises(vectors: Path, version: int) -> None:
    seen: set[str] = set()
    for vector in json.loads((vectors / "state.json").read_text()):
        if vector["version"] != version:
            continue
        before: list[tuple[Direction, bytes]] = []
        for frame in vector["frames"]:
            direction, message = Direction(frame["from"]), frame["message"]
            kind = message.get("params", {}).get("update", {}).get("sessionUpdate")
            for path in places(message):
                keys = [key for key in path if isinstance(key, str)]
                shape = f"{message.get('method')} {kind} {keys}"
                if shape in seen:
                    continue
                seen.add(shape)
                for value in WRONG:
                    raw = json.dumps(changed(message, path, value)).encode()
                    follow([*before, (direction, raw)])
            before.append((direction, json.dumps(message).encode()))
    assert len(seen) > 80


def follow(lines: list[tuple[Direction, bytes]]) -> None:
    """Take lines all the way from bytes to the document."""
    decoder, state, index = Decoder(), State(), Indexer()
    for direction, raw in lines:
        index.rows(direction, Frame(0, raw, len(raw)), 0)
        for message in classify(raw):
            for event in decoder.add(direction, message):
                state.apply(event)
    assert state_document(state, 1)
