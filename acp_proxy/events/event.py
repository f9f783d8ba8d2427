"""What every event has, and the values that its fields are made of.

A patch field of an event is UNSET (the message does not change it), None (it is
cleared), or its new value as it was sent. Which of the three a null on the wire
means is the dialect's affair, so that reducers need not know versions.
"""

from dataclasses import dataclass
from enum import Enum, StrEnum
from typing import Any, Final, TypeAlias


class Unset(Enum):
    """The type of UNSET: a field that a message does not change."""

    UNSET = "unset"


UNSET: Final = Unset.UNSET

TextPatch: TypeAlias = str | Unset | None
ArrayPatch: TypeAlias = list[Any] | Unset | None
ObjectPatch: TypeAlias = dict[str, Any] | Unset | None
JSON: TypeAlias = Any
"""A value as it was sent; None, in a patch, clears."""


class MetaRule(StrEnum):
    """What a concrete ``_meta`` does to that of an entity (docs/protocol.md: Patches)."""

    PATCH = "patch"  # v2: key by key, null removes the key
    MERGE = "merge"  # v1 tool calls and session info: key by key, null is data
    REPLACE = "replace"  # v1 compactions, subagents, session messages: whole


class Owner(StrEnum):
    """Who has a terminal; each has an id space of its own (docs/protocol.md: Terminals)."""

    AGENT = "agent"  # v2 terminal_update
    CLIENT = "client"  # v1 terminal/* requests
    META = "meta"  # v1 _meta.terminal_* convention


class Role(StrEnum):
    """Whose message it is."""

    USER = "user"
    AGENT = "agent"
    THOUGHT = "thought"


@dataclass(slots=True)
class Event:
    """What one message means, or a part of it.

    Attributes:
        seq: The message, counted from 1 in its connection.
        session_id: The session that it is about, None when it names none.
        raw: The payload as it was sent: the update, the params, the result or the error.
        notes: What was ignored or is odd, in words.

    """

    seq: int
    session_id: str | None
    raw: Any
    notes: tuple[str, ...]
