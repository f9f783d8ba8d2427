"""How far a value reaches behind its name: a string, a setting, a block of lines, a list. Pure."""

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from acp_proxy.redaction.names import is_random, says_password

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX: Final = 16384
"""So many characters of a value are looked at."""
_FEW = 3  # strings of an expression, and values of a list, that are looked at
_MOST_LINES = 100  # of a block
_MOST_VALUES = 8  # of a list
_MOST_WORDS = 12  # of a password
_PREFIX = re.compile(
    r"(?:[ \t]*(?:[*_]{1,2}|(?:!!?[A-Za-z]\w{0,20}|&[A-Za-z]\w{0,20})(?=[ ])"
    r"|</?[a-z]{1,8}>|base64:|N(?=')|(?:bearer|basic|token|apikey|digest|negotiate)(?=[ \t]+[^\s=:]))){0,4}+[ \t]*",
    re.IGNORECASE,
)
_NEXT_LINE = re.compile(r"[ \t]*\r?\n(?P<indent>[ \t]*)")
_QUOTED_PREFIX = re.compile(r"(?:[bBrRuUfF@$NL]{0,2}|r#{1,3})(?=\\{0,7}[\"'`])")
_OPENING = re.compile(r"\\{0,7}(?:\"\"\"|'''|[\"'`])")
_BLOCK = re.compile(r"[|>][+-]?\d?[ \t]*(?:#[^\n]*)?\r?\n(?P<indent>[ \t]+)(?=\S)")
_HEREDOC = re.compile(r"<<[-~]?[\"']?(?P<word>\w{1,40})[\"']?\r?\n")
_BARE = re.compile(rf"[^\s]{{1,{MAX}}}+")
_REST = re.compile(r"[^\r\n]{0,512}")
_STRINGS = re.compile(
    r"\"(?:[^\"\\\r\n]|\\.){3,4096}+\"|'(?:[^'\\\r\n]|\\.){3,4096}+'|`[^`\r\n]{3,4096}+`"
)
_NEXT_SETTING = re.compile(
    r"&[\w.%\[\]-]{1,60}=|;[ ]?[\w. -]{1,60}=|,[ ]?[\w.-]{1,60}[=:]|&amp;|[\"'`]?[,;][ ]|</|\\?[\"'`](?=[\s,;)\]}&|]|\Z)"
)
_TRAILING = "\"'`,;)]}>|*\\"
_PAIRS = {")": "(", "]": "[", "}": "{", ">": "<"}
_COMMENT = re.compile(r"[`\"'|].*|[ \t]+(?:#|//|;)[ \t].*|[ \t]+->.*|[ \t]+\(.*")
_LINE_START = re.compile(
    r"(?:(?:\A|\n)[ \t]*(?:[#>*+-][ \t]*)*[\"']?(?:[\w.$-]*[ _.-])?|[`'\"/|:(][ ]?)\Z"
)
_DIGIT = re.compile("[0-9]")
_NO_VALUE = re.compile(r"\\+(?:[nrt]|u[0-9a-f]{4}\\)|[\[({][\s\"'`]|[\[({]\\*\"")
_KEY = re.compile(r"\s{0,4}:\s{0,40}")
_ITEM = re.compile(r"-[ ]|value:[ ]|\(")
_OPENED = re.compile(r"[\[({][ \t\n]{0,8}")
_IN_LIST = re.compile(r"[ \t]*\\?(?:\r?\n)?[ \t]*(?=['\"])|,[ ]?(?=['\"])")
_IN_SUM = re.compile(r"[ \t]*\\?\r?\n[ \t]*(?=['\"])")
_CONTINUED = re.compile(r"[^\s]{4,4096}")
_DEFAULT = re.compile(r"\"?\$\{\w{1,60}:?[-=](?P<value>[^}\s]{4,4096})\}")
_SETTING_IN_WORDS = re.compile(r"[=:,]")


class Value(NamedTuple):
    """A value as it stands behind a name."""

    start: int
    end: int
    quoted: bool


class Named(NamedTuple):
    """A name that says secret, and where its value begins.

    Attributes:
        name: The name.
        start: Where it begins.
        kind: How it is separated from its value: a group of the pattern in ``forms``.
        separator: What separates.
        after: Where what follows begins.
        limit: So many characters of a value without quotes are looked at.

    """

    name: str
    start: int
    kind: str
    separator: str
    after: int
    limit: int


def values(text: str, named: Named) -> "Iterator[Value]":
    """Yield what may be the value: one string, a block of lines, or the strings of an expression."""
    prefix = _PREFIX.match(text, named.after)
    at = named.after if prefix is None else prefix.end()
    line = _NEXT_LINE.match(text, at)
    if line is not None:
        if not _goes_down(text, named, line):
            return
        item = _ITEM.match(text, line.end())
        at = line.end() if item is None else item.end()
    for form in (_block, _heredoc, _quoted):
        found = list(form(text, at))
        if found:
            yield from found
            return
    if line is None or named.separator != "(":
        yield from _bare(text, named, at, in_line=line is None)
        if named.limit == MAX:
            yield from _in_expression(text, at)


def _goes_down(text: str, named: Named, line: re.Match[str]) -> bool:
    """Tell whether a value stands on the line below its name: deeper, or in quotes."""
    if named.separator == ">":
        return True
    if named.separator not in (":", "=", "(", "\uff1a"):
        return False
    begin = text.rfind("\n", max(named.start - 200, 0), named.start) + 1
    before = text[begin : named.start]
    indent = len(before) - len(before.lstrip(" \t"))
    return len(line["indent"]) > indent or text[line.end() : line.end() + 1] in "\"'`"


def _block(text: str, at: int) -> "Iterator[Value]":
    """Yield the lines of a YAML block scalar."""
    match = _BLOCK.match(text, at)
    if match is None:
        return
    indent, start = match["indent"], match.end() - len(match["indent"])
    for _ in range(_MOST_LINES):
        if not text.startswith(indent, start):
            return
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        yield Value(start + len(indent), end - text.endswith("\r", start, end), quoted=True)
        start = end + 1


def _heredoc(text: str, at: int) -> "Iterator[Value]":
    match = _HEREDOC.match(text, at)
    if match is not None:
        end = text.find(f"\n{match['word']}", match.end(), match.end() + MAX)
        if end > 0:
            yield Value(match.end(), end, quoted=True)


def _quoted(text: str, at: int) -> "Iterator[Value]":
    """Yield a quoted string; in a list, or one after the other, all of them."""
    opened = _OPENED.match(text, at)
    at = at if opened is None else opened.end()
    more = _IN_SUM if opened is None else _IN_LIST
    for _ in range(_MOST_VALUES):
        found = _string(text, at)
        if found is None:
            return
        value, after = found
        key = _KEY.match(text, after) if opened is not None else None
        if key is not None:
            if text[value.start : value.end] != "value":
                return
            at = key.end()
            continue
        if value.end > value.start:
            yield value
        following = more.match(text, after)
        if following is None:
            return
        at = following.end()


def _string(text: str, at: int) -> tuple[Value, int] | None:
    """Return the content of the string at a place, and where what follows it begins."""
    prefix = _QUOTED_PREFIX.match(text, at)
    at = at if prefix is None else prefix.end()
    quote = _OPENING.match(text, at)
    if quote is None:
        return None
    start, end = quote.end(), _closing(text, quote)
    if prefix is not None and prefix[0].startswith("r#"):
        raw = text.find(quote[0] + "#", start, start + MAX)
        end = end if raw < 0 else raw
    after = end + len(quote[0])
    inner = text[start:end]
    first = start + len(inner) - len(inner.lstrip("\r\n"))
    return Value(first, max(first, start + len(inner.rstrip("\r\n"))), quoted=True), after


def _closing(text: str, quote: re.Match[str]) -> int:
    """Return where a quoted string ends: at its quote, or at the end of the line."""
    opening, start = quote[0], quote.end()
    limit = min(start + MAX, len(text))
    end = _end_quote(text, opening, start, limit)
    line = text.find("\n", start, limit if end < 0 else end)
    if end < 0:
        return limit if line < 0 else line
    if line < 0 or len(opening) > 1:
        return end
    inner = text[start:end]
    is_text = opening == '"' and inner.count("\n") <= _MOST_LINES
    return line if not is_text or any(map(inner.__contains__, ("=", ": ", "{"))) else end


def _end_quote(text: str, opening: str, start: int, limit: int) -> int:
    """Return where the quote stands that ends a string; -1 for nowhere."""
    at = start
    while True:
        end = text.find(opening, at, limit)
        if end < 0 or len(opening) > 1:
            return end
        if _is_escaped(text, start, end):
            at = end + 1
        elif (
            opening == "'"
            and end > start
            and text.startswith("''", end)
            and text[end + 2 : end + 3] != "'"
        ):
            at = end + 2
        else:
            return end


def _is_escaped(text: str, start: int, at: int) -> bool:
    before = text[max(at - 64, start) : at]
    return (len(before) - len(before.rstrip("\\"))) % 2 == 1


def _bare(text: str, named: Named, at: int, *, in_line: bool) -> "Iterator[Value]":
    """Yield a value without quotes: up to the next setting, a space, or the end of the line."""
    match = _BARE.match(text, at, at + named.limit)
    if match is None or _NO_VALUE.match(text, at):
        return
    if text[at] == "{" and text[named.start - 1 : named.start] == ";":  # of ODBC
        brace = text.find("}", at, at + 512)
        if brace > 0:
            yield Value(at + 1, brace, quoted=True)
            return
    cut = _NEXT_SETTING.search(text, at + 1, match.end() + 1)
    end = match.end() if cut is None else min(cut.start(), match.end())
    if named.kind == "table":
        bar = text.find("|", at, end)
        end = bar if bar > 0 else end
    end = _trimmed(text, at, end)
    if end <= at:
        return
    if in_line and text.startswith(("\\\n", "\\\r\n"), end):
        more = _CONTINUED.match(text, text.index("\n", end) + 1)
        end = end if more is None else more.end()
    elif cut is None and says_password(named.name):
        end = _end_of_words(text, named, at, end)
    yield Value(at, end, quoted=False)


def _end_of_words(text: str, named: Named, at: int, end: int) -> int:
    """Return where a password of several words ends: with its line, when that is all words."""
    if (
        named.separator not in (":", "=")
        or not _LINE_START.search(text, max(named.start - 40, 0), named.start)
        or not _DIGIT.search(text, at, end)
    ):
        return end
    rest = _REST.match(text, end)
    last = end if rest is None else rest.end()
    comment = _COMMENT.search(text, at, last)
    last = last if comment is None else comment.start()
    words = text[end:last]
    if (
        len(words.split()) > _MOST_WORDS
        or not words.isprintable()
        or _SETTING_IN_WORDS.search(words)
    ):
        return end
    return max(end, at + len(text[at:last].rstrip()))


def _trimmed(text: str, start: int, end: int) -> int:
    """Return where a bare value ends: without what closes something opened before it."""
    while end > start and text[end - 1] in _TRAILING:
        last = text[end - 1]
        opener = _PAIRS.get(last)
        if opener is not None and text.count(opener, start, end) >= text.count(last, start, end):
            break
        end -= 1
    if end > start and text[end - 1] in ".!?" and (end == len(text) or text[end] in " \n\r"):
        end -= 1
    return end


def _in_expression(text: str, at: int) -> "Iterator[Value]":
    """Yield the strings in the rest of a statement: ``f(...,  'x')``, ``a || 'x'``, ``${A:-x}``."""
    rest = _REST.match(text, at)
    last = at if rest is None else rest.end()
    for number, match in enumerate(_STRINGS.finditer(text, at, last)):
        if number > _FEW:
            break
        if is_random(match[0][1:-1]):
            yield Value(match.start() + 1, match.end() - 1, quoted=True)
    default = _DEFAULT.match(text, at)
    if default is not None:
        yield Value(*default.span("value"), quoted=True)
