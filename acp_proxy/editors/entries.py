"""The agents that an editor's settings name: how their commands are told, whose go through us. Pure."""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from acp_proxy.editors.jsonc import JsoncError, Member, Node

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

PROGRAM = "acp-proxy"
MODULE = "acp_proxy"


class Shape(NamedTuple):
    """Where an editor's settings name its agents, and how a new one is told.

    Attributes:
        key: The member of the settings that holds them.
        entry: Makes the value of one from the words of its command.
        has_lines: Whether it also takes ``argv``, and a command with its arguments in one string.

    """

    key: str
    entry: "Callable[[list[str]], dict[str, object]]"
    has_lines: bool = False


@dataclass(slots=True)
class Entry:
    """An agent in the settings.

    Attributes:
        member: Where it stands.
        words: Its command, word by word; empty when it names none: the editor has one then.
        command: The member with its program, or with all of its command in one string.
        args: The member with its further words, or with all of them when ``command`` is None.
        line: Where in the string ``command`` each of the words begins; empty for other forms.

    """

    member: Member
    words: list[str]
    command: Member | None = None
    args: Member | None = None
    line: "tuple[int, ...]" = ()

    @property
    def name(self) -> str:
        """What the editor calls it."""
        return self.member.key


def find_entries(text: str, root: Node | None, shape: Shape) -> list[Entry]:
    """Return the agents that settings name.

    Raises:
        JsoncError: They are not told as the editor documents it, or twice.

    """
    holder = find_holder(text, root, shape)
    if holder is None:
        return []
    assert holder.value.members is not None
    _only_once(text, holder.value)
    return [_entry(text, member, shape) for member in holder.value.members]


def find_holder(text: str, root: Node | None, shape: Shape) -> Member | None:
    """Return the member of the settings that holds the agents; None when there is none yet.

    Raises:
        JsoncError: The settings are no object, or the member is none, or stands there twice.

    """
    if root is None:
        return None
    if root.members is None:
        raise JsoncError(text, root.start, "the settings should be an object: { ... }")
    found = [member for member in root.members if member.key == shape.key]
    if len(found) > 1:
        raise JsoncError(text, found[1].start, f'"{shape.key}" stands here a second time')
    if found and found[0].value.members is None:
        raise JsoncError(
            text, found[0].value.start, f'"{shape.key}" should be an object: {{ ... }}'
        )
    return found[0] if found else None


def _only_once(text: str, node: Node) -> None:
    seen: set[str] = set()
    for member in node.members or ():
        if member.key in seen:
            raise JsoncError(text, member.start, f'"{member.key}" stands here a second time')
        seen.add(member.key)


def _entry(text: str, member: Member, shape: Shape) -> Entry:
    node = member.value
    if node.members is None:
        raise JsoncError(text, node.start, f'"{member.key}" should be an object: {{ ... }}')
    _only_once(text, node)
    by_key = {part.key: part for part in node.members}
    if shape.has_lines and "argv" in by_key:
        return _from_argv(text, member, by_key["argv"])
    if "command" not in by_key:
        return Entry(member, [])
    command = by_key["command"]
    if not isinstance(command.value.scalar, str) or not command.value.scalar:
        raise JsoncError(text, command.value.start, f'"command" of "{member.key}" should be a text')
    args = by_key.get("args")
    if args is None and shape.has_lines:
        return _from_line(text, member, command)
    words = [] if args is None else _words(text, member.key, args)
    return Entry(member, [command.value.scalar, *words], command=command, args=args)


def _from_argv(text: str, member: Member, argv: Member) -> Entry:
    words = _words(text, member.key, argv)
    if not words or not words[0]:
        raise JsoncError(text, argv.value.start, f'"argv" of "{member.key}" should name a program')
    return Entry(member, words, args=argv)


def _from_line(text: str, member: Member, command: Member) -> Entry:
    found = split_line(command.value.scalar)
    if not found or not found[0][1]:
        what = f'"command" of "{member.key}" should be a command, with its quotes closed'
        raise JsoncError(text, command.value.start, what)
    words = [word for _, word in found]
    return Entry(member, words, command=command, line=tuple(at for at, _ in found))


def _words(text: str, name: str, args: Member) -> list[str]:
    for item in args.value.items or ():
        if not isinstance(item.value.scalar, str):
            raise JsoncError(text, item.start, f'"{args.key}" of "{name}" should hold texts only')
    if args.value.items is None:
        raise JsoncError(
            text, args.value.start, f'"{args.key}" of "{name}" should be a list: [ ... ]'
        )
    return [item.value.scalar for item in args.value.items]


_SPACE = r"\t-\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"  # to JavaScript
_PIECE = re.compile(
    rf"""(?P<space>[{_SPACE}]+)|\\(?P<escaped>.)|'(?P<single>[^']*)'|"(?P<double>(?:[^"\\]|\\.)*)"|"""
    rf"""(?P<plain>[^{_SPACE}'"\\]+|\\\Z)""",
    re.DOTALL,
)


def split_line(line: str) -> list[tuple[int, str]] | None:
    r"""Return the words of a line as acpx splits it, with where each begins; None if a quote is open.

    A backslash escapes whatever follows, but in single quotes. No shell reads it.

    >>> split_line("run 'a b' c\\ d")
    [(0, 'run'), (4, 'a b'), (10, 'c d')]
    """
    words: list[tuple[int, str]] = []
    at = 0
    is_within = False
    while at < len(line):
        found = _PIECE.match(line, at)
        if found is None:
            return None
        if found["space"] is not None:
            is_within = False
        else:
            if not is_within:
                words.append((at, ""))
            is_within = True
            words[-1] = (words[-1][0], words[-1][1] + _meaning(found))
        at = found.end()
    return words


def _meaning(piece: re.Match[str]) -> str:
    if piece["double"] is not None:
        return re.sub(r"\\(.)", r"\1", piece["double"], flags=re.DOTALL)
    return next(piece[name] for name in ("escaped", "single", "plain") if piece[name] is not None)


_STARTERS = re.compile(r"env|uvx?|pipx|python[0-9.]*|(?:ba|da|fi|z)?sh")
_SOMEWHERE = re.compile(rf"(?:(?<![\w.-]){PROGRAM}|-m\s+{MODULE})['\"]?\s+run(?!\S)")


def is_ours(words: "Sequence[str]") -> bool:
    """Tell whether a command goes through acp-proxy, whichever and however.

    >>> is_ours(["uvx", "acp-proxy", "run", "claude"]), is_ours(["sh", "-c", "exec acp-proxy run x"])
    (True, True)
    """
    if not words or _run_at(words) is not None:
        return bool(words)
    is_started = _STARTERS.fullmatch(words[0].rpartition("/")[2]) is not None
    return is_started and _SOMEWHERE.search(" ".join(words)) is not None


def agent_at(words: "Sequence[str]") -> int | None:
    """Return which word of a command through acp-proxy begins the agent's own; None if unclear."""
    run = _run_at(words)
    if run is None or words[run + 1 : run + 2] == [] or not words[run + 1].startswith("-"):
        return None  # a short name, or a form of the person's own
    try:
        at = list(words).index("--", run) + 1
    except ValueError:
        return None
    return at if at < len(words) else None


def _run_at(words: "Sequence[str]") -> int | None:
    if not words:
        return None
    if words[0].rpartition("/")[2] == PROGRAM:
        at = 1
    elif list(words[1:3]) == ["-m", MODULE]:
        at = 3
    else:
        return None
    return at if list(words[at : at + 1]) == ["run"] else None
