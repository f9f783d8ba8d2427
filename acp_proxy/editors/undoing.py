"""Settings that a person has changed since acp-proxy did, without acp-proxy again. Pure."""

from typing import TYPE_CHECKING

from acp_proxy.editors import edits, entries, jsonc, wrapping

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from acp_proxy.editors.entries import Entry, Shape
    from acp_proxy.editors.wrapping import Outcome


def undo(
    text: str, shape: "Shape", before: "Sequence[str]", default_name: "Callable[[list[str]], str]"
) -> "Outcome":
    """Return settings in which no agent goes through acp-proxy, and those that we added are gone.

    Args:
        text: The settings now.
        shape: How the editor is told.
        before: The settings as they were before each time acp-proxy changed them, if known.
        default_name: What we would call an agent, given its command.

    Raises:
        JsoncError: The settings cannot be understood.

    """
    known = [older for older in before if _is_readable(older, shape)]
    added = added_names(text, shape, known, default_name)
    outcome = wrapping.unwrap(text, shape, added)
    had_agents = [entries.find_holder(older, jsonc.parse(older), shape) for older in known]
    if added and known and not any(had_agents):
        outcome = outcome._replace(text=_without_empty_holder(outcome.text, shape))
    return outcome


def added_names(
    text: str, shape: "Shape", before: "Sequence[str]", default_name: "Callable[[list[str]], str]"
) -> list[str]:
    """Return which agents we added to settings, as against wrapped; in doubt an agent is not added.

    Raises:
        JsoncError: The settings cannot be understood.

    """
    found = wrapping.read(text, shape)
    names = {entry.name for entry in found}
    once = [{old.name: old.words for old in wrapping.read(older, shape)} for older in before]
    # An agent that was there and is not now may have been given another name.
    lost = [words for old in once for name, words in old.items() if name not in names]

    def is_added(entry: "Entry") -> bool:
        at = entries.agent_at(entry.words)
        if at is None or entry.member.value.data != shape.entry(entry.words):
            return False
        if jsonc.has_comment(text, entry.member.start, entry.member.value.end):
            return False  # a person's words go nowhere
        agent = entry.words[at:]
        if not any(before):  # backups may have been cleared away, and with them what was direct
            return entry.name == default_name(agent)
        was_direct = [entry.name in old and not entries.is_ours(old[entry.name]) for old in once]
        was_absent = [entry.name not in old for old in once]
        return any(was_absent) and not any(was_direct) and agent not in lost

    return [entry.name for entry in found if is_added(entry)]


def is_empty(text: str) -> bool:
    """Tell whether nothing is left in settings: no member, no comment."""
    return "".join(text.removeprefix(jsonc.BOM).split()) in ("", "{}")


def _is_readable(text: str, shape: "Shape") -> bool:
    try:
        wrapping.read(text, shape)
    except jsonc.JsoncError:
        return False
    return True


def _without_empty_holder(text: str, shape: "Shape") -> str:
    """Return settings without the member for agents if there is nothing in it, no comment either."""
    root = jsonc.parse(text)
    holder = entries.find_holder(text, root, shape)
    if root is None or holder is None:
        return text
    if text[holder.value.start + 1 : holder.value.end - 1].strip():
        return text
    assert root.members is not None
    return edits.apply(text, edits.remove_item(text, root.members, root.members.index(holder)))
