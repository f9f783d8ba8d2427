"""Secrets that a name gives away in text: every form in which people and programs write a setting.

A name that says secret (``names``) is followed by something that separates, and by a value. What
separates and how a value is written are small tables here; whether the value is a secret is decided
by ``judge``. A match that is rejected goes on behind the name, never behind the value.
"""

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from acp_proxy.redaction.finding import Finder
from acp_proxy.redaction.names import (
    ANCHORS,
    MARKER,
    is_code,
    is_harmless,
    is_label,
    is_path,
    is_random,
    is_setting_name,
    may_be_secret,
    says_password,
    says_secret,
)
from acp_proxy.redaction.vendors import Span

if TYPE_CHECKING:
    from collections.abc import Iterator

_NAME_CHARACTERS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-$"
_ANCHORS = Finder(ANCHORS)
_LONGEST_BEFORE = 60
_TAIL = re.compile(r"(?:[\w$-]|\.(?=\w))*+")
_SPACED_TAIL = re.compile(
    r"(?:[ ](?:keys?|tokens?|codes?|phrases?|passwords?|strings?|secrets?|id|hash)\b)?",
    re.IGNORECASE,
)
_SECOND_WORDS = frozenset(
    {"key", "keys", "code", "codes", "passe", "phrase", "string", "token", "secret", "pass"}
)
_FIRST_WORDS = re.compile(r"(?:[A-Za-z]{2,20}[ ]){1,2}\Z")
_LONGEST_NAME = 100
_MAX = 16384  # characters of a value

_Q = r"\\{0,7}[\"'`]"
QUOTE: Final = r"\\{0,3}[\"'`]"
_CLOSE = re.compile(
    rf"(?:{_Q}|[*_\])]|\[\]|&quot;|%22|</?(?:b|i|td|th|tr|strong|code|em|span|dt|dd|key|string|label)[^<>\s]{{0,20}}>"
    r"|[ ]\([^()\n]{1,20}\)){0,6}+"
)
_TYPE = r"(?:[ ]?:[ ]?[&*A-Za-z'][\w.<>|?&'\[\], *]{0,40}?|[ ][A-Za-z&*][\w.<>\[\]*]{0,30}|[ ]?\{[ ]?get;[^{}\n]{0,30}\})"
_ASSIGN = r"(?:\?\?=|\|\|=|[?:+~]=|=>|->|={1,3}|!={1,2})"
_SEPARATOR = re.compile(
    rf"(?P<typed>{_TYPE}[ \t]{{0,8}}(?:=(?!=)|(?=\{{[\"'])))"
    rf"|[ \t]{{0,60}}(?P<assign>{_ASSIGN}|[:\uff1a](?!:)|%3[aAdD])"
    r"|[ \t]{0,40}(?P<table>\|+|\u2502)"
    rf"|[ \t]{{0,8}}(?P<comma>,)(?=[ \t\n]{{0,40}}(?:{_Q}))"
    r"|(?P<call>[({][ ]?)(?=[bruf@N]?[\"'`])"
    r"|[ \t]{1,8}(?P<words>(?:(?:changed|set|reset|rotated|updated)[ ])?(?:is|was|are|to|of|be|from|lautet|ist|war|=)(?:[ ](?:now|still|set[ ]to|called))?[:]?)(?=[ \t])"
    r"|(?P<element>>)|(?P<space>[ \t]{1,60})(?=[^\s])",
)
_PREFIX = re.compile(
    r"(?:[ \t]*(?:[*_]{1,2}|(?:!!?[A-Za-z]\w{0,20}|&[A-Za-z]\w{0,20})(?=[ ])"
    r"|</?[a-z]{1,8}>|base64:|%20|N(?=')|(?:bearer|basic|token|apikey|digest|negotiate)(?=[ \t]+[^\s=:]))){0,4}+[ \t]*",
    re.IGNORECASE,
)
_NEXT_LINE = re.compile(r"[ \t]*\r?\n(?P<indent>[ \t]*)")
_QUOTED_PREFIX = re.compile(r"(?:[bBrRuUfF@$NL]{0,2}|r#{1,3})(?=\\{0,7}[\"'`])")
_OPENING = re.compile(r"\\{0,7}(?:\"\"\"|'''|[\"'`])|&quot;|%22")
_BLOCK = re.compile(r"[|>][+-]?\d?[ \t]*(?:#[^\n]*)?\r?\n(?P<indent>[ \t]+)(?=\S)")
_HEREDOC = re.compile(r"<<[-~]?[\"']?(?P<word>\w{1,40})[\"']?\r?\n")
_BARE = re.compile(rf"[^\s]{{1,{_MAX}}}+")
_REST = re.compile(r"[^\r\n]{0,512}")
_STRINGS = re.compile(
    r"\"(?:[^\"\\\r\n]|\\.){3,4096}+\"|'(?:[^'\\\r\n]|\\.){3,4096}+'|`[^`\r\n]{3,4096}+`"
)
_NEXT_SETTING = re.compile(
    r"&[\w.%\[\]-]{1,60}=|;[ ]?[\w. -]{1,60}=|,[ ]?[\w.-]{1,60}[=:]|&amp;|[\"'`]?[,;][ ]|</|\\?[\"'`](?=[\s,;)\]}&|]|\Z)"
)
_TRAILING = "\"'`,;)]}>|*"
_PAIRS = {")": "(", "]": "[", "}": "{", ">": "<"}
_COMMENT = re.compile(r"[`\"'|].*|[ \t]+(?:#|//|;)[ \t].*|[ \t]+->.*|[ \t]+\(.*")
_LINE_START = re.compile(
    r"(?:(?:\A|\n)[ \t]*(?:[#>*+-][ \t]*)*[\"']?(?:[\w.$-]*[ _.-])?|[`'\"/|:(][ ]?)\Z"
)
_FEW = 3
_CROWD = 8  # names without a space between them
_SHORT, _SHORTEST = 256, 48
_CROWDED = re.compile(r"[\"'`]?[=:][\"'`]?[^\s=]{0,40}[0-9]")
_DIGIT = re.compile("[0-9]")
_QUICK = re.compile(r"[ \t*_]{0,8}(?:[\"'`{\[(\\&%$<!b]|[^\s\d]{0,64}\d)", re.IGNORECASE)
_CLOSING = " )]},;"


class _Value(NamedTuple):
    """A value as it stands behind a name."""

    start: int
    end: int
    quoted: bool
    whole_line: bool = False


class _Named(NamedTuple):
    """A name that says secret, and where its value begins.

    Attributes:
        name: The name.
        start: Where it begins.
        kind: The group of ``_SEPARATOR`` that separates.
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


def names(text: str, lower: str) -> "Iterator[tuple[str, int, int]]":
    """Yield each name that says secret, and where it begins and ends."""
    done = 0
    for at, anchor in _ANCHORS.matches(lower):
        if at < done:
            continue
        end = _TAIL.match(text, at + len(anchor) if not anchor.isascii() else at).end()  # type: ignore[union-attr]
        before = text[max(at - _LONGEST_BEFORE, 0) : at]
        start = at - (len(before) - len(before.rstrip(_NAME_CHARACTERS)))
        done = end
        if end - start > _LONGEST_NAME:
            continue
        name = text[start:end].strip("-.")
        if name.lower() in _SECOND_WORDS:
            first = _FIRST_WORDS.search(text, max(start - 40, 0), start)
            if first is not None and says_secret(longer := first[0] + name):
                yield longer, first.start(), end
                continue
        if name == "PWD" and text[start - 1 : start] == ";":
            name = "pwd"
        if says_secret(name):
            yield name, start, end
        spaced = _SPACED_TAIL.match(text, end)
        if spaced is not None and spaced[0] and says_secret(longer := name + spaced[0]):
            done = spaced.end()
            yield longer, start, spaced.end()


def folded(text: str) -> str:
    """Return a text in lower case, each character in its place."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(each if len(small := each.lower()) != 1 else small for each in text)


def find(text: str, lower: str) -> "Iterator[Span]":
    """Yield the values of what a name says to be secret.

    Args:
        text: Any text.
        lower: What ``folded`` gives for it.

    """
    token_end = crowd = 0
    for name, start, end in names(text, lower):
        if start >= token_end:
            token_end, crowd = _token_end(text, start), 0
        crowd += 1
        if crowd > _SHORT and not _CROWDED.match(text, end):
            continue
        close = _CLOSE.match(text, end)
        at = end if close is None else close.end()
        separator = _SEPARATOR.match(text, at)
        if "<" in text[end:at] and (separator is None or separator.lastgroup == "space"):
            yield from _spans(
                text,
                _Named(name, start, "element", "", at, _SHORT if crowd <= _SHORT else _SHORTEST),
            )
            continue
        if separator is None:
            continue
        kind = separator.lastgroup or ""
        if (
            kind in ("space", "words")
            and text[start] != "-"
            and not _QUICK.match(text, separator.end())
        ):
            continue
        found = _Named(
            name,
            start,
            kind,
            separator[kind],
            separator.end(),
            _MAX if crowd <= _CROWD else _SHORT if crowd <= _SHORT else _SHORTEST,
        )
        between = text[end:at]
        if kind == "typed" and any(map(between.__contains__, "\"'`")):
            continue
        if kind == "element" and text[start - 1 : start] != "<":
            continue
        if text.startswith("${", start - 2) and not text.startswith((":-", "-", ":=", "="), end):
            continue
        yield from _spans(text, found)


def _token_end(text: str, at: int) -> int:
    match = _BARE.match(text, at)
    return at if match is None else match.end()


def _spans(text: str, named: _Named) -> "Iterator[Span]":
    if (
        text.startswith("://", named.start - 3)
        and named.kind == "assign"
        and named.separator == ":"
    ):
        return  # user:password in an address
    for value in _values(text, named):
        said = text[value.start : value.end]
        if MARKER in said:
            continue
        if _is_secret(text, named, value, said):
            yield Span(value.start, value.end, is_open=not value.quoted)


def _values(text: str, named: _Named) -> "Iterator[_Value]":
    """Yield what may be the value: one string, a block of lines, or the strings of an expression."""
    at = named.after
    prefix = _PREFIX.match(text, at)
    at = at if prefix is None else prefix.end()
    line = _NEXT_LINE.match(text, at)
    if line is not None:
        if named.separator not in (":", "=", "(", ">", "\uff1a") or not _goes_down(
            text, named, line
        ):
            return
        at = line.end()
        item = re.compile(r"-[ ]|value:[ ]|\(").match(text, at)
        at = at if item is None else item.end()
    for form in (_block, _heredoc, _quoted):
        found = list(form(text, at))
        if found:
            yield from found
            return
    if line is None or named.separator != "(":
        yield from _bare(text, named, at, in_line=line is not None)
        if named.limit == _MAX:
            yield from _in_expression(text, at)


def _goes_down(text: str, named: _Named, line: re.Match[str]) -> bool:
    """Tell whether a value stands on the line below its name: deeper, or in quotes."""
    if named.separator == ">":
        return True
    begin = text.rfind("\n", max(named.start - 200, 0), named.start) + 1
    indent = len(text[begin : named.start]) - len(text[begin : named.start].lstrip(" \t"))
    return len(line["indent"]) > indent or text[line.end() : line.end() + 1] in "\"'`"


def _block(text: str, at: int) -> "Iterator[_Value]":
    """Yield the lines of a YAML block scalar."""
    match = _BLOCK.match(text, at)
    if match is None:
        return
    indent, start = match["indent"], match.end() - len(match["indent"])
    while text.startswith(indent, start):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        yield _Value(
            start + len(indent),
            len(text[:end].rstrip("\r")) if end - start < _FEW else end,
            quoted=True,
        )
        start = end + 1


def _heredoc(text: str, at: int) -> "Iterator[_Value]":
    match = _HEREDOC.match(text, at)
    if match is not None:
        end = text.find(f"\n{match['word']}", match.end(), match.end() + _MAX)
        if end > 0:
            yield _Value(match.end(), end, quoted=True)


_KEY = re.compile(r"\s{0,4}:\s{0,40}")


def _quoted(text: str, at: int) -> "Iterator[_Value]":
    """Yield a quoted string; in a list, or one after the other, all of them."""
    opened = re.compile(r"[\[({][ \t\n]{0,8}").match(text, at)
    if opened is not None:
        at = opened.end()
    for _ in range(8):
        prefix = _QUOTED_PREFIX.match(text, at)
        at = at if prefix is None else prefix.end()
        quote = _OPENING.match(text, at)
        if quote is None:
            return
        raw = prefix is not None and prefix[0].startswith("r#")
        end = _closing(text, quote)
        if raw:
            found = text.find(quote[0] + "#", quote.end(), quote.end() + _MAX)
            end = end if found < 0 else found
        start = quote.end()
        after = end + len(quote[0])
        key = _KEY.match(text, after)
        if key is not None and opened is not None:
            if text[start:end] != "value":
                return
            at = key.end()
            continue
        while text[start : start + 1] in ("\n", "\r") and start < end:
            start += 1
        while end > start and text[end - 1] in "\n\r":
            end -= 1
        if end > start:
            yield _Value(start, end, quoted=True)
        more = re.compile(r"[ \t]*\\?(?:\r?\n)?[ \t]*(?=['\"])|,[ ]?(?=['\"])").match(text, after)
        if (
            more is None
            or (opened is None and not more[0])
            or (opened is None and "\n" not in more[0])
        ):
            return
        at = more.end()


def _closing(text: str, quote: re.Match[str]) -> int:
    """Return where a quoted string ends: at its quote, or at the end of the line."""
    opening = quote[0]
    limit = min(quote.end() + _MAX, len(text))
    at = quote.end()
    escapes = not opening.startswith(("\\", "&", "%"))
    while True:
        end = text.find(opening, at, limit)
        if end < 0:
            line = text.find("\n", quote.end(), limit)
            return limit if line < 0 else line
        if escapes and len(opening) == 1 and _is_escaped(text, quote.end(), end):
            at = end + 1
            continue
        if (
            opening == "'"
            and text.startswith("''", end)
            and end > quote.end()
            and not text.startswith("'''", end)
        ):
            at = end + 2
            continue
        break
    line = text.find("\n", quote.end(), end)
    if line >= 0 and len(opening) == 1:
        inner = text[quote.end() : end]
        if (
            opening != '"'
            or inner.count("\n") > 64
            or "=" in inner
            or ": " in inner
            or "{" in inner
        ):
            return line
    return end


def _is_escaped(text: str, start: int, at: int) -> bool:
    before = text[max(at - 64, start) : at]
    return (len(before) - len(before.rstrip("\\"))) % 2 == 1


def _bare(text: str, named: _Named, at: int, *, in_line: bool) -> "Iterator[_Value]":
    match = _BARE.match(text, at, at + named.limit)
    if match is None:
        return
    end = match.end()
    cut = _NEXT_SETTING.search(text, at + 1, end + 1)
    if cut is not None:
        end = min(cut.start(), end)
    if (
        text[at] == "{"
        and (brace := text.find("}", at, at + 512)) > 0
        and text[named.start - 1 : named.start] == ";"
    ):
        yield _Value(at + 1, brace, quoted=True)
        return
    if named.kind == "table":
        bar = text.find("|", at, end)
        end = bar if bar > 0 else end
    end = _trimmed(text, at, end)
    if end <= at:
        return
    if (
        named.separator in (":", "=")
        and cut is None
        and says_password(named.name)
        and _LINE_START.search(text, max(named.start - 40, 0), named.start)
        and _DIGIT.search(text, at, end)
    ):
        rest = _REST.match(text, end)
        line_end = end if rest is None else rest.end()
        comment = _COMMENT.search(text, at, line_end)
        line_end = line_end if comment is None else comment.start()
        words = text[end:line_end]
        if (
            0 < len(words.split()) <= 12
            and words.isprintable()
            and "=" not in words
            and ":" not in words
            and "," not in words
        ):
            yield _Value(at, at + len(text[at:line_end].rstrip()), quoted=False, whole_line=True)
            return
    if (
        not in_line and end < len(text) and text.startswith("\\\n", end - 1)
    ):  # goes on in the next line
        more = re.compile(r"[^\s]{4,4096}").match(text, end + 1)
        if more is not None:
            yield _Value(at, more.end(), quoted=False)
            return
    yield _Value(at, end, quoted=False)


def _trimmed(text: str, start: int, end: int) -> int:
    """Return where a bare value ends: without what closes something opened before it."""
    while end > start and text[end - 1] in _TRAILING:
        last = text[end - 1]
        opener = _PAIRS.get(last)
        if opener is not None and text.count(opener, start, end) >= text.count(last, start, end):
            break
        if last in "*|>;)" and end - start > 1 and text[end - 2] not in _TRAILING and last == "*":
            pass
        end -= 1
    if end > start and text[end - 1] in ".!?" and (end == len(text) or text[end] in " \n\r"):
        end -= 1
    return end


def _in_expression(text: str, at: int) -> "Iterator[_Value]":
    """Yield the strings in the rest of a statement: ``f(...,  'x')``, ``a || 'x'``, ``${A:-x}``."""
    rest = _REST.match(text, at)
    if rest is None:
        return
    for number, match in enumerate(_STRINGS.finditer(text, at, rest.end())):
        value = text[match.start() + 1 : match.end() - 1]
        if is_random(value):
            yield _Value(match.start() + 1, match.end() - 1, quoted=True)
        if number >= _FEW:
            return
    default = re.compile(r"\"?\$\{\w{1,60}:?[-=](?P<value>[^}\s]{4,4096})\}").match(text, at)
    if default is not None:
        yield _Value(*default.span("value"), quoted=True)


def _is_secret(text: str, named: _Named, value: _Value, said: str) -> bool:
    """Tell whether the value of a name is a secret, and no code, type or word."""
    name = named.name
    if len(said) < _FEW or (is_harmless(said) and not may_be_secret(name, said)):
        return False
    if is_path(said):
        return False
    if is_label(said) or said.startswith(("http://", "https://", "op://", "vault:", "ENC[")):
        return False
    if value.quoted and said[0] in _CLOSING and not is_random(said):  # the quote ended a text
        return False
    if named.kind in ("words", "space", "table", "comma", "element", "call"):
        return _is_loose(text, named, value, said)
    if named.separator.startswith(("==", "!=", "->")) and not is_random(said):
        return False
    if value.quoted:
        return is_quoted_secret(name, said)
    return _is_bare_secret(text, named, value, said)


def _is_loose(text: str, named: _Named, value: _Value, said: str) -> bool:
    """Tell whether what only follows a name is its secret value."""
    if is_random(said):
        return not is_code(said)
    before = text[max(named.start - 3, 0) : named.start]
    is_flag = named.kind == "space" and text[named.start : named.start + 1] == "-"
    if named.kind == "comma" and text[named.start : named.start + 1] != "-":
        return (
            says_password(named.name)
            and any(map(str.isdigit, said))
            and not _is_word(said)
            and not is_code(said)
        )
    if is_flag or named.kind == "comma":
        if said.startswith("-") or is_code(said) or said.isupper():
            return False
        return (
            is_quoted_secret(named.name, said)
            if value.quoted
            else (
                (says_password(named.name) and not said.isalpha())
                or (any(map(str.isdigit, said)) and not _is_word(said))
            )
        ) and not before.endswith("[-")
    if value.quoted:
        return (
            named.kind in ("space", "call", "words")
            and says_password(named.name)
            and any(map(str.isdigit, said))
            and not _is_word(said)
        ) or (named.kind == "space" and is_setting_name(named.name) and any(map(str.isdigit, said)))
    return named.kind == "element" and is_quoted_secret(named.name, said)


_IDENTIFIER = re.compile(r"[A-Za-z_$][\w$]*+(?:(?:\.|->|::|\?\.)[A-Za-z_$][\w$]*+)*+")
_PROSE = re.compile(r"[A-Za-z\u00c0-\u017f][\w'\u2019-]*+(?:[ ,.:;?!'\u2019()/-]++[\w'\u2019-]*+)+")
_WORDS = re.compile(r"[a-z]+(?:[-_.][a-z]+)*")
_DOTTED = re.compile(r"[A-Za-z][A-Za-z]*(?:[-_./:][A-Za-z]+)*[0-9]{0,4}")


def _is_word(said: str) -> bool:
    """Tell whether a value is a word, or words that something joins, with a number at its end."""
    return _DOTTED.fullmatch(said) is not None


def is_quoted_secret(name: str, value: str) -> bool:
    """Tell whether a quoted value is a secret, and no name or sentence."""
    if is_code(value) or is_label(value) or is_harmless(value):
        return False
    if says_password(name):
        return True
    if is_random(value):
        return True
    is_name = _IDENTIFIER.fullmatch(value) and not any(map(str.isdigit, value))
    return not (is_name or _PROSE.fullmatch(value) or _WORDS.fullmatch(value) or _is_word(value))


def _is_bare_secret(text: str, named: _Named, value: _Value, said: str) -> bool:
    """Tell whether a value without quotes is a secret, and no code."""
    name, separator = named.name, named.separator
    after = text[value.end : value.end + 1]
    if is_code(said) or (after in ("(", "[") and not is_random(said)):
        return False
    is_setting = separator == "=" and named.after == value.start
    if is_setting and (
        is_setting_name(name)
        or text[named.start : named.start + 1] == "-"
        or text[max(named.start - 1, 0) : named.start] in ("?", "&", ";")
    ):
        return says_password(name) or not _is_word(said) or is_random(said)
    if is_random(said):
        return True
    if "." in said and _IDENTIFIER.fullmatch(said):
        return False
    has_digit = any(map(str.isdigit, said))
    is_mixed = has_digit or not _IDENTIFIER.fullmatch(said)
    if says_password(name):
        if is_mixed:
            return len(said) >= 6 and not said.endswith(("(", ":", "?"))
        return len(said) >= 8 and said.islower() and after in ("", "\n", "\r")
    return (
        len(said) >= 8
        and is_mixed
        and has_digit
        and not _is_word(said.rstrip(".:"))
        and not _IDENTIFIER.fullmatch(said.rstrip(".:"))
    )
