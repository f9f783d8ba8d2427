"""Settings with agents put behind acp-proxy, and taken out again: from text to text. Pure.

What is changed is checked before anybody gets it: the new text, read again, must
say what was meant, and all else as before.
"""

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from acp_proxy.editors import edits, entries, jsonc
from acp_proxy.editors.edits import Edit, Style
from acp_proxy.editors.quoting import json_layout, json_string, shell_line

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from acp_proxy.editors.entries import Entry, Shape

_RUN = ["run", "--"]
_LAUNCH_KEYS = ("command", "args", "argv")


class Outcome(NamedTuple):
    """What became of settings.

    Attributes:
        text: The settings now.
        done: The agents that were changed: the name, and what became of it.
        left: Those that were not: the name, and why.

    """

    text: str
    done: list[tuple[str, str]]
    left: list[tuple[str, str]]


class TakenError(ValueError):
    """The settings have another agent of that name."""


def ours(text: str, shape: "Shape") -> list[str]:
    """Return the names of the agents that go through acp-proxy.

    Raises:
        JsoncError: The settings cannot be understood.

    """
    return [entry.name for entry in read(text, shape) if entries.is_ours(entry.words)]


def add(text: str, shape: "Shape", name: str, command: "Sequence[str]") -> Outcome:
    """Return settings with an agent added at the end of those that are there.

    Args:
        text: The settings; may be empty.
        shape: How the editor is told.
        name: What the editor is to call it.
        command: All of its words, acp-proxy's first.

    Raises:
        JsoncError: The settings cannot be understood.
        TakenError: An agent of that name is there, with another command.

    """
    root = jsonc.parse(text)
    found = entries.find_entries(text, root, shape)
    for entry in found:
        if entry.name == name and entry.words == list(command):
            return Outcome(text, [], [(name, "it is there already")])
        if entry.name == name:
            raise TakenError(f"there is another agent called {json_string(name)} already")
    holder = entries.find_holder(text, root, shape)
    value = shape.entry(list(command))
    style = edits.style_of(text, root)
    if root is None:
        changed = _begun(text, {shape.key: {name: value}}, style)
    elif holder is None:
        changes = edits.append_member(text, root, shape.key, {name: value}, style)
        changed = edits.apply(text, changes)
    else:
        changed = edits.apply(text, edits.append_member(text, holder.value, name, value, style))
    expected = {entry.name: entry.words for entry in found} | {name: list(command)}
    _check(text, changed, shape, expected, [name])
    return Outcome(changed, [(name, f"added: {shell_line(command)}")], [])


def _begun(text: str, value: Any, style: Style) -> str:
    """Return settings in which nothing stood but comments, with a value at their end."""
    line_end = "" if text in ("", jsonc.BOM) or text.endswith("\n") else style.newline
    return f"{text}{line_end}{json_layout(value, '', style.unit, style.newline)}{style.newline}"


def wrap(text: str, shape: "Shape", proxy: "Sequence[str]", home: str) -> Outcome:
    """Return settings in which each agent with a command of its own goes through acp-proxy.

    Args:
        text: The settings.
        shape: How the editor is told.
        proxy: The words that start acp-proxy.
        home: What ``~`` stands for: editors expand it in a program's name, not in arguments.

    Raises:
        JsoncError: The settings cannot be understood.

    """
    style = edits.style_of(text, jsonc.parse(text))
    changes: list[Edit] = []
    done: list[tuple[str, str]] = []
    left: list[tuple[str, str]] = []
    expected: dict[str, list[str]] = {}
    for entry in read(text, shape):
        expected[entry.name] = entry.words
        if not entry.words:
            left.append((entry.name, "it names no command; the editor has one of its own"))
        elif entries.is_ours(entry.words):
            left.append((entry.name, "it goes through acp-proxy already"))
        elif _is_too_odd(entry, shape, proxy):
            left.append((entry.name, f"acpx takes no {proxy[0]} as command; tell it as argv"))
        else:
            agent = _expanded(entry, home)
            changes += _wrapped(text, entry, proxy, agent[0], style)
            done.append((entry.name, f"goes through acp-proxy: {shell_line(entry.words)}"))
            expected[entry.name] = [*proxy, *_RUN, *agent]
    changed = edits.apply(text, changes)
    _check(text, changed, shape, expected)
    return Outcome(changed, done, left)


def _is_too_odd(entry: "Entry", shape: "Shape", proxy: "Sequence[str]") -> bool:
    """Tell whether acpx would refuse our program's name beside separate arguments."""
    is_split = entry.command is not None and not entry.line
    return shape.has_lines and is_split and shell_line(proxy[:1]) != proxy[0]


def _expanded(entry: "Entry", home: str) -> list[str]:
    program, *rest = entry.words
    if entry.command is not None and not entry.line and (program + "/").startswith("~/"):
        program = home + program[1:]
    return [program, *rest]


def _wrapped(
    text: str, entry: "Entry", proxy: "Sequence[str]", agent: str, style: Style
) -> list[Edit]:
    program, *rest = [json_string(word) for word in [*proxy, *_RUN]]
    if entry.command is None:
        assert entry.args is not None
        return edits.prepend_items(text, entry.args.value, [program, *rest])
    value = entry.command.value
    if entry.line:
        pasted = json_string(shell_line([*proxy, *_RUN]) + " ")[1:-1]
        return [Edit(value.start + 1, value.start + 1, pasted)]
    own = text[value.start : value.end] if agent == entry.words[0] else json_string(agent)
    change = Edit(value.start, value.end, program)
    if entry.args is not None:
        return [change, *edits.prepend_items(text, entry.args.value, [*rest, own])]
    args = f"[{', '.join([*rest, own])}]"
    return [change, *edits.insert_member_after(text, entry.command, "args", args, style)]


def unwrap(text: str, shape: "Shape", added: "Collection[str]" = ()) -> Outcome:
    """Return settings in which no agent goes through acp-proxy.

    Args:
        text: The settings.
        shape: How the editor is told.
        added: Agents that were not there before acp-proxy: they go.

    Raises:
        JsoncError: The settings cannot be understood.

    """
    changes: list[Edit] = []
    done: list[tuple[str, str]] = []
    left: list[tuple[str, str]] = []
    gone: list[str] = []
    expected: dict[str, list[str]] = {}
    for entry in read(text, shape):
        expected[entry.name] = entry.words
        at = entries.agent_at(entry.words)
        if not entries.is_ours(entry.words):
            continue
        if at is None:
            left.append((entry.name, "its command has a form of its own; change it by hand"))
        elif entry.name in added:
            gone.append(entry.name)
            done.append((entry.name, "removed"))
            del expected[entry.name]
        else:
            changes += _unwrapped(entry, at)
            expected[entry.name] = entry.words[at:]
            done.append((entry.name, f"is started directly: {shell_line(entry.words[at:])}"))
    changed = edits.apply(text, changes)
    for name in gone:
        changed = _without(changed, shape, name)
    _check(text, changed, shape, expected, gone)
    return Outcome(changed, done, left)


def _unwrapped(entry: "Entry", at: int) -> list[Edit]:
    if entry.command is None:
        assert entry.args is not None
        return edits.remove_first_items(entry.args.value, at)
    value = entry.command.value
    if entry.line:
        return [Edit(value.start, value.end, json_string(value.scalar[entry.line[at] :]))]
    assert entry.args is not None
    assert entry.args.value.items is not None
    change = Edit(value.start, value.end, json_string(entry.words[at]))
    return [change, *edits.remove_first_items(entry.args.value, at)]


def _without(text: str, shape: "Shape", name: str) -> str:
    holder = entries.find_holder(text, jsonc.parse(text), shape)
    assert holder is not None
    members = holder.value.members
    assert members is not None
    index = [member.key for member in members].index(name)
    return edits.apply(text, edits.remove_item(text, members, index))


def read(text: str, shape: "Shape") -> "list[Entry]":
    """Return the agents that settings name.

    Raises:
        JsoncError: The settings cannot be understood.

    """
    return entries.find_entries(text, jsonc.parse(text), shape)


def _check(
    before: str,
    after: str,
    shape: "Shape",
    expected: "Mapping[str, list[str]]",
    changed: "Collection[str]" = (),
) -> None:
    """Make sure of a changed text; a fault of ours must not get into a person's file."""
    said = {entry.name: entry.words for entry in read(after, shape)}
    if said != expected or _rest(before, shape, changed) != _rest(after, shape, changed):
        raise AssertionError("the changed settings would not say what they should")


def _rest(text: str, shape: "Shape", without: "Collection[str]") -> str:
    """Return all that settings say but which command starts which agent."""
    root = jsonc.parse(text)
    data = {} if root is None else root.data
    agents = {
        name: {key: value for key, value in entry.items() if key not in _LAUNCH_KEYS}
        for name, entry in data.pop(shape.key, {}).items()
        if name not in without
    }
    return json.dumps([data, agents])
