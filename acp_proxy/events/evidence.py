"""What the shape of a payload says of the version that is spoken (docs/protocol.md: Versions).

Asked only while nothing was agreed on and nothing else has decided. Names of methods
and kinds of updates, which say it too, are in ``labels``.
"""

from collections.abc import Iterator
from itertools import chain
from typing import Any


def evidence_of(payload: dict[str, Any]) -> int | None:
    """Return 1 or 2 by the params of a message, an update or a result; None when it could be both.

    >>> evidence_of({"configOptions": [{"configId": "model"}]})
    2
    """
    return next(chain(_of_keys(payload), _of_options(payload), _of_items(payload)), None)


def _of_keys(payload: dict[str, Any]) -> Iterator[int]:
    if payload.get("replayFrom") is not None:
        yield 2
    if "clientCapabilities" in payload or "clientInfo" in payload:
        yield 1
    elif "protocolVersion" in payload and ("capabilities" in payload or "info" in payload):
        yield 2


def _of_options(payload: dict[str, Any]) -> Iterator[int]:
    for option in _objects(payload, "configOptions"):
        yield from _either(option, "configId", "id")
        for group in _objects(option, "options"):
            yield from _either(group, "groupId", "group")


def _of_items(payload: dict[str, Any]) -> Iterator[int]:
    for command in _objects(payload, "availableCommands"):
        given = command.get("input")
        if "type" in command or (type(given) is dict and "type" in given):
            yield 2
    for server in _objects(payload, "mcpServers"):
        if "command" in server:
            yield 2 if server.get("type") == "stdio" else 1
    for item in _objects(payload, "content"):
        if item.get("type") == "diff":
            yield from _either(item, "changes", "newText")


def _either(thing: dict[str, Any], second: str, first: str) -> Iterator[int]:
    """Yield 2 for the key that version 2 has, 1 for that of version 1."""
    if second in thing:
        yield 2
    elif first in thing:
        yield 1


def _objects(payload: dict[str, Any], key: str) -> Iterator[dict[str, Any]]:
    value = payload.get(key)
    if type(value) is list:
        yield from (item for item in value if type(item) is dict)
