"""Valid updates, made from the published schemas: each is named, whole, and leaves no note."""

from __future__ import annotations

import base64
import json
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_proxy.events.vocabulary import UpdateReceived
from acp_proxy.wire.jsonrpc import Direction
from tests.conftest import SHARED
from tests.events.decoding import Decoding
from tests.state.folding import Folding
from tests.strategies import json_values

if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDER = SHARED / "schema"
_AGENT = Direction.AGENT
NAMES = ("v1", "v1.unstable", "v2", "v2.unstable")
# Where a schema is open, "any other string" must not be one of the known ones.
_TAGS = ("type", "state", "stopReason", "operation", "mode", "action")

pytestmark = pytest.mark.skipif(
    not FOLDER.is_dir(), reason="../shared/schema is absent: this clone stands alone"
)


@cache
def _definitions(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text())["$defs"]
    return found


def _updates(name: str) -> list[dict[str, Any]]:
    """Return the kinds of update that a schema has; the open one of v2 is no kind."""
    union = _definitions(name)["SessionUpdate"]
    kinds = union.get("oneOf") or union["anyOf"]
    return [kind for kind in kinds if "const" in kind["properties"]["sessionUpdate"]]


def _resolved(draw: st.DrawFn, name: str, node: dict[str, Any]) -> dict[str, Any]:
    """Return a node with what it refers to, and one choice of its alternatives, put into it."""
    if "$ref" in node:
        node = {**_definitions(name)[node["$ref"].rpartition("/")[2]], **node}
    whole = {key: node[key] for key in node if key not in ("$ref", "allOf", "anyOf", "oneOf")}
    parts = [_resolved(draw, name, part) for part in node.get("allOf", ())]
    parts += [
        _resolved(draw, name, draw(st.sampled_from(node[key])))
        for key in ("anyOf", "oneOf")
        if key in node
    ]
    for part in parts:
        properties = {**part.get("properties", {}), **whole.get("properties", {})}
        required = [*whole.get("required", ()), *part.get("required", ())]
        whole = {**part, **whole, "properties": properties, "required": required}
    return whole


@st.composite
def _values(draw: st.DrawFn, name: str, node: Any, key: str = "", depth: int = 0) -> Any:
    if node is True or not node:
        return draw(json_values())
    node = _resolved(draw, name, node)
    if "const" in node or "enum" in node:
        return draw(st.sampled_from(node.get("enum") or [node["const"]]))
    kinds = node.get("type", "object" if node.get("properties") else None)
    kind = draw(st.sampled_from(kinds)) if isinstance(kinds, list) else kinds
    if kind == "object":
        return draw(_objects(name, node, depth))
    if kind == "array":
        items = _values(name, node.get("items", True), "", depth + 1)
        return draw(st.lists(items, min_size=node.get("minItems", 0), max_size=2))
    low, high = node.get("minimum", -(2**63)), node.get("maximum", 2**63 - 1)
    scalars: dict[Any, st.SearchStrategy[Any]] = {
        "null": st.none(),
        "boolean": st.booleans(),
        "string": _strings(node, key),
        "integer": st.integers(low, high) if kind == "integer" else st.none(),
        "number": st.integers(0, 9),
    }
    return draw(scalars.get(kind, json_values()))


@st.composite
def _objects(draw: st.DrawFn, name: str, node: dict[str, Any], depth: int) -> dict[str, Any]:
    made: dict[str, Any] = {}
    required = set(node.get("required", ()))
    for key, part in sorted(node.get("properties", {}).items()):
        if key in required or (depth < 4 and draw(st.booleans())):
            made[key] = draw(_values(name, part, key, depth + 1))
    if draw(st.booleans()):
        made["_example.org/new"] = {"deep": [None]}
    return made


def _strings(node: dict[str, Any], key: str) -> st.SearchStrategy[str]:
    if node.get("contentEncoding") == "base64":
        return st.binary(max_size=4).map(lambda data: base64.b64encode(data).decode())
    if key in _TAGS:
        return st.just("_example.org/other")
    return st.text(min_size=max(1, node.get("minLength", 0)), max_size=3)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
@given(st.data())
def test_a_valid_update_is_named_whole_and_leaves_no_note(name: str, data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from(_updates(name)))
    update = data.draw(_values(name, kind))

    events = Decoding(int(name[1])).line(_AGENT, _line(update))

    assert not isinstance(events[0], UpdateReceived), events[0].notes
    assert json.dumps(events[0].raw) == json.dumps(update)
    # A line 0 is in the schema of version 1, and no line by its text (docs/protocol.md: Tool calls).
    assert not [note for event in events for note in event.notes if "from 1" not in note]


def _nodes(value: Any) -> Iterator[str]:
    """Yield every value within a document as text."""
    yield json.dumps(value)
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for one in inner:
        yield from _nodes(one)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
@given(st.data())
def test_what_a_valid_update_says_is_in_the_state(name: str, data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from(_updates(name)))
    update = data.draw(_values(name, kind))
    folding = Folding(int(name[1]))
    folding.line(_AGENT, _line(update))
    folding.restart()

    found = set(_nodes(folding.document()))
    if update["sessionUpdate"] == "plan_removed":
        return
    for key, value in update.items():
        if value is None or key.startswith("_") or key == "sessionUpdate":
            continue  # what clears, what is the message's own, and the name of the event
        said = value["data"] if key == "output" else value  # its bytes; its _meta may be empty
        assert json.dumps(said) in found, key


def _line(update: dict[str, Any]) -> bytes:
    params = {"sessionId": "s", "update": update}
    return json.dumps({"jsonrpc": "2.0", "method": "session/update", "params": params}).encode()
