"""What a conversation came to, in plain values, so that two tellers can be compared.

No reading here: ``reading`` fills one from what the client saw, ``asking`` one from the log.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

Json = dict[str, Any]


@dataclass
class Account:
    """Sessions' things by names that are easy to find: ``SESSION ID``.

    Attributes:
        messages: All lines and members of batches, those of standard error too.
        version: The protocol version that the agent answered, if it did.
        updates: How many ``session/update`` of which kind.
        tool_calls: Title, kind and status of each at the end.
        permissions: In the order in which they were asked: for which call, with which options,
            and what came of it.
        terminals: Output as it stood at the end (None: unknown) and exit (None: running).
        plans: Each session's plans as they stood at the end.
        ends: Why each session's turns ended, in their order.
        texts: What the agent wrote and thought in each session, message by message, as it stands at
            the end: a version 1 agent that tells a session again has it begin anew.
        told: All that it ever wrote and thought in each session, in no order, each text once.
    """

    messages: int = 0
    version: int | None = None
    updates: dict[str, int] = field(default_factory=dict)
    tool_calls: dict[str, Json] = field(default_factory=dict)
    permissions: list[Json] = field(default_factory=list)
    terminals: dict[str, Json] = field(default_factory=dict)
    plans: dict[str, Any] = field(default_factory=dict)
    ends: dict[str, list[str]] = field(default_factory=dict)
    texts: dict[str, list[str]] = field(default_factory=dict)
    told: dict[str, list[str]] = field(default_factory=dict)


def differences(seen: Account, told: Account) -> list[str]:
    """Return a line for each thing of which the client saw one thing and the log tells another."""
    found = []
    for name in [each.name for each in fields(Account)]:
        one, other = getattr(seen, name), getattr(told, name)
        if isinstance(one, list):
            one, other = dict(enumerate(one)), dict(enumerate(other))
        if not isinstance(one, dict):
            one, other = {"": one}, {"": other}
        found += [
            f"{name} {key}: seen {one.get(key)!r}, told {other.get(key)!r}"
            for key in sorted(one.keys() | other.keys(), key=str)
            if one.get(key) != other.get(key)
        ]
    return found
