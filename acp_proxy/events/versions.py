"""Which version of the protocol a connection speaks, and which one a message is read by.

The number in the agent's latest successful answer to ``initialize`` decides;
without one the first evidence does, else version 1 (docs/protocol.md: Versions). A tag or shape
that exists in one version only is read by that version, whatever was agreed on.
"""

from typing import Any

from acp_proxy.events.evidence import evidence_of
from acp_proxy.events.labels import (
    V1_ONLY_METHODS,
    V1_ONLY_UPDATES,
    V2_ONLY_METHODS,
    V2_ONLY_UPDATES,
)

_CHUNKS = frozenset({"user_message_chunk", "agent_message_chunk", "agent_thought_chunk"})
_V2_STATUSES = ("paused", "cancelled")


class Versions:
    """What is known so far of one connection.

    Attributes:
        negotiated: As the agent's answer says it, None before.
        guessed: 1 or 2 by evidence, None before the first.
        saw_tool_call: The agent has sent a ``tool_call``: its ``tool_call_update``s are of v1.

    """

    __slots__ = ("guessed", "negotiated", "saw_tool_call")

    def __init__(self) -> None:
        self.negotiated: int | str | None = None
        self.guessed: int | None = None
        self.saw_tool_call = False

    @property
    def agreed(self) -> int:
        """1 or 2: what holds for what both versions have. A number above 2 is read like 2."""
        if self.negotiated is None:
            return self.guessed or 1
        return 2 if type(self.negotiated) is int and self.negotiated > 1 else 1

    @property
    def spoken(self) -> int:
        """The same, but 1 for an agent that speaks v1 whatever it answered."""
        return 1 if self.saw_tool_call else self.agreed

    @property
    def is_settled(self) -> bool:
        """Whether no update but a ``tool_call`` can change what others mean.

        When version 1 was agreed on, not even that; until a connection is opened anew.
        """
        if self.negotiated is None:
            return False
        return self.agreed == 1 or (self.guessed == 2 and not self.saw_tool_call)  # noqa: PLR2004

    def negotiate(self, result: dict[str, Any]) -> int | str | None:
        """Take the version from a successful answer to ``initialize``; return it."""
        version = result.get("protocolVersion")
        if type(version) is int or type(version) is str:
            self.negotiated = version
            return version
        if "agentCapabilities" in result:  # the answer counts for more than the question
            self.guessed = 1
        elif "capabilities" in result:
            self.guessed = 2
        return None

    def guess(self, version: int) -> None:
        """Take evidence; the first decides."""
        if self.guessed is None:
            self.guessed = version

    def learn(self, payload: dict[str, Any], *, is_opening: bool = False) -> None:
        """Take the shape of params, an update or a result as evidence, while there is no other.

        ``is_opening``: it is a result that opens a session, where version 2 tells commands.
        """
        if self.negotiated is None and self.guessed is None:
            is_second = is_opening and "availableCommands" in payload
            self.guessed = 2 if is_second else evidence_of(payload)

    def of_method(self, method: str) -> int:
        """Return the version of a request or notification, and learn from it."""
        if method in V1_ONLY_METHODS:
            self.guess(1)
            return 1
        if method in V2_ONLY_METHODS:
            self.guess(2)
            return 2
        return self.agreed

    def of_permission(self, params: dict[str, Any]) -> int:
        """Return the version of a permission request: a root ``toolCall`` is v1, a subject v2.

        A root ``toolCall`` beside a title is of an early draft of version 2 (docs/protocol.md: Versions): evidence
        for that, but read as the only thing it can mean.
        """
        if "subject" in params or "title" in params:
            self.guess(2)
        elif "toolCall" in params:
            self.guess(1)
        else:
            return self.agreed
        return 1 if "toolCall" in params and "subject" not in params else 2

    def of_prompt_result(self, result: dict[str, Any]) -> int:
        """Return the version of a prompt's answer: ``stopReason`` is v1, ``messageId`` v2.

        Neither is what an early draft of version 2 answers (docs/protocol.md: Turns); version 1 may not.
        """
        if "stopReason" in result:
            version = 1
        elif "messageId" in result or self.negotiated is None:
            version = 2
        else:
            return self.spoken
        self.guess(version)
        return version if version == 1 or "messageId" in result else self.spoken

    def of_update(self, tag: str, update: dict[str, Any]) -> int:
        """Return the version of a ``session/update``, and learn from it."""
        if tag in V1_ONLY_UPDATES:
            self.guess(1)
            self.saw_tool_call = self.saw_tool_call or tag == "tool_call"
            return 1
        if tag in V2_ONLY_UPDATES:
            self.guess(2)
            return 2
        self.learn(update)
        if tag == "tool_call_update":
            if "capabilities" in update or update.get("status") in _V2_STATUSES:
                self.guess(2)
            return self.spoken
        if tag in _CHUNKS and update.get("messageId") is None:
            self.guess(1)
            return 1
        return self.agreed

    def reads_prompts_as(self, version: int) -> int | None:
        """Return the version that open prompts were of, now that an update is of ``version``.

        None: that update does not tell. It tells when the agent answered 2 but what it sent
        first is of version 1, and when nothing was agreed on but now there is evidence.
        """
        if self.negotiated is None:
            return None if self.guessed is None else self.spoken
        if version == self.agreed or version != 1:
            return None
        return 1 if self.guessed == 1 or self.saw_tool_call else None

    def other_version_note(self, version: int) -> str | None:
        """Return a note when something was read by another version than was agreed on."""
        if self.negotiated is None or version == self.agreed:
            return None
        return f"read as version {version}, though version {self.negotiated} was agreed on"
