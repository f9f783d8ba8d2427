"""What differs between two JSON values, exactly: False is not 0, and 1 is not 1.0."""

import base64
from typing import Any, NamedTuple

from acp_proxy.state.growing import Blocks, Output
from acp_proxy.views.preview import clip
from acp_proxy.views.safe_text import decode, visible
from acp_proxy.views.state_json import parsed, state_text
from acp_proxy.wire.exact_json import write

MISSING: Any = object()
"""Stands for the value of what is not there."""
Path = tuple[str | int, ...]

_WIDTH = 100
# Lists of the state document are compared by what their members are known by, not by place.
_KNOWN_BY: dict[str, tuple[str, ...]] = {
    "sessions": ("sessionId",),
    "toolCalls": ("toolCallId",),
    "terminals": ("owner", "terminalId"),
    "permissions": ("seq",),
}


class Change(NamedTuple):
    """One difference; MISSING before is an addition, MISSING after a removal."""

    path: Path
    before: Any
    after: Any


def changes(before: Any, after: Any) -> list[Change]:
    """Return what must be changed to make one value the other, in the order of the document.

    Members of objects are compared by key, their order is no difference; elements of
    lists by place, but for the lists of a state document whose members have ids.

    >>> for change in changes({"a": False, "b": [1, 2]}, {"a": 0, "b": [1.0, 2, 3]}):
    ...     print(change_text(change))
    ~ a: false -> 0
    ~ b/0: 1 -> 1.0
    + b/2: 3
    """
    found: list[Change] = []
    todo: list[Change] = [Change((), before, after)]
    while todo:
        change = todo.pop()
        _, old, new = change
        if old is new:
            continue
        if isinstance(old, Blocks | Output) or isinstance(new, Blocks | Output):
            if not _is_same_text(old, new):
                todo.append(Change(change.path, parsed(old), parsed(new)))
        elif isinstance(old, dict) and isinstance(new, dict):
            todo += _pairs(change.path, old, new)[::-1]
        elif isinstance(old, list) and isinstance(new, list):
            keys = _KNOWN_BY.get(_list_name(change.path))
            todo += _pairs(change.path, _members(old, keys), _members(new, keys))[::-1]
        elif not _is_same(old, new):
            found.append(Change(change.path, parsed(old), parsed(new)))
    return found


def change_object(change: Change) -> dict[str, Any]:
    """Return a change for ``--json``: what is missing has no key."""
    return {
        "path": list(change.path),
        **({} if change.before is MISSING else {"before": change.before}),
        **({} if change.after is MISSING else {"after": change.after}),
    }


def change_text(change: Change) -> str:
    """Return a change in one harmless line."""
    path = visible("/".join(map(str, change.path)))
    if change.path[2:3] == ("terminals",) and change.path[4:] == ("output", "data"):
        return f"~ {path}: {_output_text(change)}"
    if change.before is MISSING:
        return f"+ {path}: {_value(change.after)}"
    if change.after is MISSING:
        return f"- {path}: {_value(change.before)}"
    return f"~ {path}: {_value(change.before)} -> {_value(change.after)}"


def _list_name(path: Path) -> str:
    """Return which list of the state document a path leads to; none for what is as sent."""
    if len(path) == 1 or (len(path) == 3 and path[0] == "sessions"):  # noqa: PLR2004
        return str(path[-1])
    return ""


def _members(items: list[Any], keys: tuple[str, ...] | None) -> dict[str | int, Any]:
    """Return a list's elements by what they are known by."""
    if keys is None:
        return dict(enumerate(items))
    return {" ".join(str(item[key]) for key in keys): item for item in items}


def _pairs(path: Path, old: dict[Any, Any], new: dict[Any, Any]) -> list[Change]:
    names = [*old, *(name for name in new if name not in old)]
    return [Change((*path, name), old.get(name, MISSING), new.get(name, MISSING)) for name in names]


def _is_same(old: Any, new: Any) -> bool:
    if old is MISSING or new is MISSING or isinstance(old, dict | list):
        return False
    if isinstance(new, dict | list):
        return False
    return write(old) == write(new)


def _is_same_text(old: Any, new: Any) -> bool:
    """Tell whether two values that grow are the same without parsing them; no may be wrong."""
    if isinstance(old, Blocks) and isinstance(new, Blocks):
        return old.json() == new.json()
    if isinstance(old, Output) and isinstance(new, Output):
        return bytes(old) == bytes(new)
    return False


def _output_text(change: Change) -> str:
    """Return how a terminal's output changed: what was appended, or that it is another."""
    old, new = (base64.b64decode(data) for data in (change.before, change.after))
    if new.startswith(old):
        added = clip(visible(decode(new[len(old) :][:_WIDTH])), _WIDTH)
        return f"{len(old)} -> {len(new)} bytes, added: {added}"
    return f"{len(old)} -> {len(new)} bytes, replaced"


def _value(value: Any) -> str:
    return clip(visible(state_text(value)), _WIDTH)
