"""The updates that both versions have and mean alike but for nulls and ``_meta``."""

from collections.abc import Callable
from typing import Any

from acp_proxy.events.event import UNSET, Event, MetaRule, Unset
from acp_proxy.events.fields import Patch, block_fault, plan_fault
from acp_proxy.events.vocabulary import (
    CommandsChanged,
    CompactionSummaryAdded,
    CompactionUpdated,
    ConfigOptionsChanged,
    NoticeGiven,
    PlanRemoved,
    PlanUpdated,
    SessionInfoChanged,
    SessionMessageChunkAdded,
    SessionMessageUpdated,
    SubagentUpdated,
    UpdateReceived,
    UsageChanged,
)
from acp_proxy.wire.exact_json import ExactFloat

_NUMBERS = (int, float, ExactFloat)
Reading = Callable[[int, str, dict[str, Any]], list[Event]]
"""From seq, session and update to events."""


def untagged(update: dict[str, Any]) -> dict[str, Any]:
    """Return an update without its tag."""
    return {key: value for key, value in update.items() if key != "sessionUpdate"}


def ignored(seq: int, session: str, patch: Patch) -> list[Event]:
    """Return the event of an update that changes nothing; the notes say why."""
    kind = patch.payload.get("sessionUpdate")
    return [
        UpdateReceived(
            seq, session, patch.payload, tuple(patch.notes), kind if type(kind) is str else None
        )
    ]


def block_of(patch: Patch) -> Any:
    """Return the one content block of a chunk, None with a note when it is malformed (docs/protocol.md: Patches)."""
    block = patch.payload.get("content")
    if (fault := block_fault(block)) is not None:
        patch.note(f"content: {fault}: the message changes nothing")
        return None
    return block


def commands(seq: int, session: str, update: dict[str, Any]) -> list[Event]:
    """Read an ``available_commands_update``."""
    patch = Patch(update, UNSET)
    found = patch.commands()
    if type(found) is not list:
        patch.note("availableCommands is missing: the message changes nothing")
        return ignored(seq, session, patch)
    return [CommandsChanged(seq, session, update, tuple(patch.notes), found)]


def config_options(seq: int, session: str, update: dict[str, Any]) -> list[Event]:
    """Read a ``config_option_update``."""
    patch = Patch(update, UNSET)
    found = patch.options()
    if type(found) is not list:
        patch.note("configOptions is missing: the message changes nothing")
        return ignored(seq, session, patch)
    return [ConfigOptionsChanged(seq, session, update, tuple(patch.notes), found)]


def session_info(rule: MetaRule) -> Reading:
    """Return the reader of ``session_info_update``: title and time are three-state in both versions."""

    def read(seq: int, session: str, update: dict[str, Any]) -> list[Event]:
        patch = Patch(update, None)
        event = SessionInfoChanged(
            seq,
            session,
            update,
            (),
            patch.text("title"),
            patch.text("updatedAt"),
            patch.object("_meta"),
            rule,
        )
        event.notes = tuple(patch.notes)
        return [event]

    return read


def usage(null: Unset | None) -> Reading:
    """Return the reader of ``usage_update``; a null cost clears in v2 only (docs/protocol.md: Plans, modes, options)."""

    def read(seq: int, session: str, update: dict[str, Any]) -> list[Event]:
        patch = Patch(update, null)
        for key in ("used", "size"):
            if type(update.get(key)) is not int:
                patch.note(f"{key} is missing or no integer: the message changes nothing")
                return ignored(seq, session, patch)
        cost = patch.nested("cost", amount=_NUMBERS, currency=(str,))
        found = {key: value for key, value in untagged(update).items() if key != "cost"}
        return [UsageChanged(seq, session, update, tuple(patch.notes), found, cost)]

    return read


def notice(seq: int, session: str, update: dict[str, Any]) -> list[Event]:
    """Read a ``notice``."""
    patch = Patch(update, UNSET)
    if patch.required("severity") is None or patch.required("title") is None:
        return ignored(seq, session, patch)
    return [NoticeGiven(seq, session, update, (), untagged(update))]


def compaction(rule: MetaRule) -> Reading:
    """Return the reader of ``compaction_update``."""

    def read(seq: int, session: str, update: dict[str, Any]) -> list[Event]:
        patch = Patch(update, None)
        id_, status = patch.required("compactionId"), patch.required("status")
        if id_ is None or status is None:
            return ignored(seq, session, patch)
        event = CompactionUpdated(
            seq,
            session,
            update,
            (),
            id_,
            status,
            patch.blocks("summary"),
            patch.text("error"),
            patch.object("_meta"),
            rule,
        )
        event.notes = tuple(patch.notes)
        return [event]

    return read


def compaction_chunk(seq: int, session: str, update: dict[str, Any]) -> list[Event]:
    """Read a ``compaction_summary_chunk``."""
    patch = Patch(update, UNSET)
    id_, block = patch.required("compactionId"), block_of(patch)
    if id_ is None or block is None:
        return ignored(seq, session, patch)
    return [CompactionSummaryAdded(seq, session, update, (), id_, block)]


def subagent(rule: MetaRule) -> Reading:
    """Return the reader of ``subagent_update``."""

    def read(seq: int, session: str, update: dict[str, Any]) -> list[Event]:
        patch = Patch(update, None)
        id_ = patch.required("sessionId")
        if id_ is None:
            return ignored(seq, session, patch)
        event = SubagentUpdated(
            seq,
            session,
            update,
            (),
            id_,
            patch.text("title"),
            patch.text("description"),
            patch.object("capabilities"),
            patch.nested("state", state=(str,)),
            patch.text("cwd"),
            patch.array("additionalDirectories"),
            patch.object("_meta"),
            rule,
        )
        event.notes = tuple(patch.notes)
        return [event]

    return read


def session_message(rule: MetaRule) -> Reading:
    """Return the reader of ``session_message``."""

    def read(seq: int, session: str, update: dict[str, Any]) -> list[Event]:
        patch = Patch(update, None)
        id_ = patch.required("messageId")
        if id_ is None:
            return ignored(seq, session, patch)
        event = SessionMessageUpdated(
            seq,
            session,
            update,
            (),
            id_,
            patch.text("senderSessionId"),
            patch.text("recipientSessionId"),
            patch.text("senderMessageId"),
            patch.text("recipientMessageId"),
            patch.blocks("content"),
            patch.object("_meta"),
            rule,
        )
        event.notes = tuple(patch.notes)
        return [event]

    return read


def session_message_chunk(seq: int, session: str, update: dict[str, Any]) -> list[Event]:
    """Read a ``session_message_chunk``."""
    patch = Patch(update, UNSET)
    id_, block = patch.required("messageId"), block_of(patch)
    if id_ is None or block is None:
        return ignored(seq, session, patch)
    return [SessionMessageChunkAdded(seq, session, update, (), id_, block)]


def plan_update(seq: int, session: str, update: dict[str, Any]) -> list[Event]:
    """Read a ``plan_update``: the plan is replaced whole, whatever its type."""
    patch = Patch(update, UNSET)
    plan = patch.object("plan")
    fault = plan_fault(plan) if type(plan) is dict else "plan is missing"
    if type(plan) is not dict or fault is not None:
        patch.note(f"{fault}: the message changes nothing")
        return ignored(seq, session, patch)
    if plan["type"] == "items":
        inner = Patch(plan, UNSET)
        inner.entries()
        patch.notes += inner.notes
    return [PlanUpdated(seq, session, update, tuple(patch.notes), plan["planId"], plan)]


def plan_removed(seq: int, session: str, update: dict[str, Any]) -> list[Event]:
    """Read a ``plan_removed``."""
    patch = Patch(update, UNSET)
    id_ = patch.required("planId")
    if id_ is None:
        return ignored(seq, session, patch)
    return [PlanRemoved(seq, session, update, (), id_)]


def readings(null: Unset | None, merge: MetaRule, whole: MetaRule) -> dict[str, Reading]:
    """Return the readers of a version.

    Args:
        null: What a null means where the versions differ.
        merge: What ``_meta`` does to that of a session.
        whole: What it does to that of a compaction, subagent or session message.

    """
    return {
        "available_commands_update": commands,
        "config_option_update": config_options,
        "session_info_update": session_info(merge),
        "usage_update": usage(null),
        "notice": notice,
        "compaction_update": compaction(whole),
        "compaction_summary_chunk": compaction_chunk,
        "subagent_update": subagent(whole),
        "session_message": session_message(whole),
        "session_message_chunk": session_message_chunk,
        "plan_update": plan_update,
        "plan_removed": plan_removed,
    }
