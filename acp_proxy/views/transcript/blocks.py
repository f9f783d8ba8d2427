"""Content blocks and items of tool calls as parts to show."""

import re
from typing import TYPE_CHECKING, Any

from acp_proxy.views.diffs import diff_lines
from acp_proxy.views.preview import clip
from acp_proxy.views.safe_text import decode
from acp_proxy.views.state_json import state_text
from acp_proxy.views.transcript.parts import Code, Diff, Line, Part, Picture, Prose, Screen
from acp_proxy.views.units import size
from acp_proxy.wire import jsontext

if TYPE_CHECKING:
    from collections.abc import Callable

Thing = dict[str, Any]

_FENCE = re.compile(r"^ {0,3}(?:```|~~~)", re.MULTILINE)
_DIFF_HEAD = re.compile(r"(?:---|\+\+\+) (?:[ab]?/)")
_COMMAND = 200  # characters of a terminal's command, so that its exit is seen behind it
_PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")  # no script can be in these


def block_parts(block: Any) -> list[Part]:
    """Return a content block, whatever it is, to show."""
    if isinstance(block, dict) and isinstance(block.get("type"), str):
        show = _BLOCKS.get(block["type"])
        shown = None if show is None else show(block)
        if shown is not None:
            return shown
    return [generic("content", block)]


def item_parts(item: Any, terminals: dict[str, Thing], title: str) -> list[Part]:
    """Return an item of a tool call's content to show.

    Args:
        item: As it was sent.
        terminals: Those that the call shows, by id; a terminal is taken out when it is shown.
        title: The call's; a command that it says is not repeated.

    """
    kind = item.get("type") if isinstance(item, dict) else None
    if kind == "content" and isinstance(item.get("content"), dict):
        return [_as_output(part) for part in block_parts(item["content"])]
    if kind == "diff":
        lines = diff_lines(item)
        return [Diff(_paths(item), lines)] if lines else [generic("diff", item)]
    if kind == "terminal" and isinstance(item.get("terminalId"), str):
        terminal = terminals.pop(item["terminalId"], None)
        if terminal is None:
            return [Line(f"terminal {item['terminalId']}")]
        return terminal_parts(terminal, title)
    return [generic("content", item)]


def _as_output(part: Part) -> Part:
    """Return a text as lines, since tools write those, unless it has a block of code in it."""
    if isinstance(part, Prose) and not _FENCE.search(part.text):
        return Code("", part.text)
    return part


def terminal_parts(terminal: Thing, title: str = "") -> list[Part]:
    """Return a terminal to show; without its command when the title says it."""
    command = terminal.get("command")
    if isinstance(command, str) and command and command in title:
        return [Screen(exit_words(terminal), terminal.get("text"))]
    return [Screen(terminal_title(terminal), terminal.get("text"))]


def terminal_title(terminal: Thing) -> str:
    """Return a terminal's command, and how it stands."""
    args = terminal.get("args") or []
    command = " ".join(map(str, [terminal.get("command") or "", *args])).strip()
    words = [f"$ {command}" if command else f"terminal {terminal['terminalId']}"]
    words += [f"in {terminal['cwd']}"] if terminal.get("cwd") else []
    return "; ".join([clip(" ".join(words), _COMMAND), exit_words(terminal)])


def exit_words(terminal: Thing) -> str:
    """Return how a terminal stands."""
    status = terminal.get("exitStatus")
    words = "not exited"
    if isinstance(status, dict):
        told = [
            f"{word} {status[key]}"
            for key, word in (("exitCode", "code"), ("signal", "signal"))
            if status.get(key) is not None
        ]
        words = f"exited with {', '.join(told)}" if told else "exited"
    more: list[str] = [word for word in ("killed", "released") if word in terminal]
    more += ["cut at its beginning"] if terminal.get("truncated") else []
    return ", ".join([words, *more])


def diff_sign(line: str) -> str:
    """Return what a line of a diff is: ``+``, ``-``, ``@`` for what is about lines, or another sign.

    >>> [diff_sign(line) for line in ("--- /a", "+++ b/c", "--- comment", "+x", "@@ -1 +1 @@")]
    ['@', '@', '-', '+', '@']
    """
    return "@" if _DIFF_HEAD.match(line) else line[:1]


def generic(title: str, value: Any) -> Code:
    """Return any value as JSON."""
    return Code(title, pretty(value), "json")


def pretty(value: Any) -> str:
    """Return a value as JSON laid out on lines, every number as it was sent."""
    return decode(jsontext.pretty(state_text(value).encode()))


def value_part(title: str, value: Any) -> Code:
    """Return a value; a text as it is."""
    return Code(title, value) if isinstance(value, str) else generic(title, value)


def _text(block: Thing) -> list[Part] | None:
    text = block.get("text")
    return [Prose(text)] if isinstance(text, str) else None


def _image(block: Thing) -> list[Part] | None:
    mime, data = block.get("mimeType"), block.get("data")
    if not (isinstance(mime, str) and isinstance(data, str)):
        return None
    title = f"image {mime}, {_bytes(data)}"
    title += f", {block['uri']}" if isinstance(block.get("uri"), str) else ""
    return [Picture(title, mime, data) if mime in _PICTURES else Line(title)]


def _audio(block: Thing) -> list[Part] | None:
    mime, data = block.get("mimeType"), block.get("data")
    if not (isinstance(mime, str) and isinstance(data, str)):
        return None
    return [Line(f"audio {mime}, {_bytes(data)}")]


def _link(block: Thing) -> list[Part] | None:
    name, uri = block.get("name"), block.get("uri")
    if not (isinstance(name, str) and isinstance(uri, str)):
        return None
    title = block.get("title")
    words = [f"attached: {name}"]
    words += [title] if isinstance(title, str) and title != name else []
    words += [] if uri == name else [uri]
    length = block.get("size")
    words += [size(length)] if type(length) is int else []
    return [Line(", ".join(words))]


def _resource(block: Thing) -> list[Part] | None:
    resource = block.get("resource")
    if not isinstance(resource, dict) or not isinstance(resource.get("uri"), str):
        return None
    title = f"attached: {resource['uri']}"
    title += f", {resource['mimeType']}" if isinstance(resource.get("mimeType"), str) else ""
    if isinstance(resource.get("text"), str):
        return [Code(title, resource["text"])]
    if isinstance(resource.get("blob"), str):
        return [Line(f"{title}, {_bytes(resource['blob'])}")]
    return None


def _bytes(data: str) -> str:
    return f"{size(len(data.rstrip('=')) * 3 // 4)} bytes"


def _paths(item: Thing) -> str:
    if isinstance(item.get("path"), str):
        return str(item["path"])
    changes = item.get("changes")
    if not isinstance(changes, list):
        return ""
    paths = [change.get("path") for change in changes if isinstance(change, dict)]
    return ", ".join(path for path in paths if isinstance(path, str))


_BLOCKS: "dict[str, Callable[[Thing], list[Part] | None]]" = {
    "text": _text,
    "image": _image,
    "audio": _audio,
    "resource_link": _link,
    "resource": _resource,
}
