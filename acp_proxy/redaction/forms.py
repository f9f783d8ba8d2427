"""Secrets that a name gives away in text: every form in which people and programs write a setting.

A name that says secret (``names``) is followed by something that separates, and by a value
(``values``); whether that is a secret is decided by ``judging``. A match that is rejected goes on
behind the name, never behind the value.
"""

import re
from typing import TYPE_CHECKING, Final

from acp_proxy.redaction.finding import Finder
from acp_proxy.redaction.judging import is_secret
from acp_proxy.redaction.names import ANCHORS, MARKER, says_secret
from acp_proxy.redaction.values import MAX, Named, values
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

_Q = r"\\{0,7}[\"'`]"
_CLOSE = re.compile(
    rf"(?:{_Q}|[*_\])]|\[\]|</?(?:b|i|td|th|tr|strong|code|em|span|dt|dd|key|string|label)[^<>\s]{{0,20}}>"
    r"|[ ]\([^()\n]{1,20}\)){0,6}+"
)
_TYPE = r"(?:[ ]?:[ ]?[&*A-Za-z'][\w.<>|?&'\[\], *]{0,40}?|[ ][A-Za-z&*][\w.<>\[\]*]{0,30}|[ ]?\{[ ]?get;[^{}\n]{0,30}\})"
_ASSIGN = r"(?:\?\?=|\|\|=|[?:+~]=|=>|->|={1,3}|!={1,2})"
_SEPARATOR = re.compile(
    rf"(?P<typed>{_TYPE}[ \t]{{0,8}}(?:=(?!=)|(?=\{{[\"'])))"
    rf"|[ \t]{{0,60}}(?P<assign>{_ASSIGN}|[:\uff1a](?!:))"
    r"|[ \t]{0,40}(?P<table>\|+|\u2502)"
    rf"|[ \t]{{0,8}}(?P<comma>,)(?=[ \t\n]{{0,40}}(?:{_Q}))"
    r"|(?P<call>[({][ ]?)(?=[bruf@N]?[\"'`])"
    r"|[ \t]{1,8}(?P<words>(?:(?:changed|set|reset|rotated|updated)[ ])?(?:is|was|are|to|of|be|from|lautet|ist|war|=)(?:[ ](?:now|still|set[ ]to|called))?[:]?)(?=[ \t])"
    r"|(?P<element>>)|(?P<space>[ \t]{1,60})(?=[^\s])",
)
_CROWD = 8  # names without a space between them
_SHORT, _SHORTEST = 256, 48  # characters of a value, where names are crowded
_CROWDED = re.compile(r"[\"'`]?[=:][\"'`]?[^\s=]{0,40}[0-9]")
_QUICK = re.compile(r"[ \t*_]{0,8}(?:[\"'`{\[(\\&%$<!b]|[^\s\d]{0,64}\d)", re.IGNORECASE)
_TOKEN = re.compile(rf"[^\s]{{1,{MAX}}}+")
_LONGEST_ELEMENT = 4096
_DEFAULTS = (":-", "-", ":=", "=")  # behind the name of a variable in braces


def find(text: str, lower: str) -> "Iterator[Span]":
    """Yield the values of what a name says to be secret.

    Args:
        text: Any text.
        lower: What ``folded`` gives for it.

    """
    token_end = crowd = covered = 0
    for name, start, end in names(text, lower):
        if start < covered:
            continue
        if start >= token_end:
            token, crowd = _TOKEN.match(text, start), 0
            token_end = start if token is None else token.end()
        crowd += 1
        if crowd > _SHORT and not _CROWDED.match(text, end):
            continue
        limit = MAX if crowd <= _CROWD else _SHORT if crowd <= _SHORT else _SHORTEST
        named = _named(text, name, start, end, limit)
        if named is None:
            continue
        for value in values(text, named):
            if MARKER not in text[value.start : value.end] and is_secret(text, named, value):
                covered = max(covered, value.end if value.quoted else 0)
                yield Span(value.start, value.end, is_open=not value.quoted)


def _named(text: str, name: str, start: int, end: int, limit: int) -> Named | None:
    """Return what separates a name from its value; None when nothing does."""
    close = _CLOSE.match(text, end)
    at = end if close is None else close.end()
    between = text[end:at]
    separator = _SEPARATOR.match(text, at)
    kind = "" if separator is None else separator.lastgroup or ""
    if "<" in between and kind in ("", "space"):
        return Named(name, start, "element", "", at, min(limit, _SHORT))
    if separator is None:
        return None
    is_reference = text.startswith("${", start - 2) and not text.startswith(_DEFAULTS, end)
    is_in_address = text.startswith("://", start - 3) and separator[kind] == ":"
    if (
        is_reference
        or is_in_address
        or (kind == "typed" and any(map(between.__contains__, "\"'`")))
        or (kind == "element" and not _is_element(text, start, at))
        or (
            kind in ("space", "words")
            and text[start] != "-"
            and not _QUICK.match(text, separator.end())
        )
    ):
        return None
    return Named(name, start, kind, separator[kind], separator.end(), limit)


def _is_element(text: str, start: int, at: int) -> bool:
    """Tell whether a name in angle brackets is an element's, and does not stand for a value."""
    return text[start - 1 : start] == "<" and text.find("</", at, at + _LONGEST_ELEMENT) > 0


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
