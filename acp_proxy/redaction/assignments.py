"""Secrets that a name gives away in running text: ``KEY=value``, ``password: x``, ``--api-key x``.

Code is full of such names too; what is assigned there is mostly no secret but another name, a
call or a type, and stays.
"""

import re
from typing import TYPE_CHECKING, Final

from acp_proxy.redaction.finding import Finder
from acp_proxy.redaction.names import KEYWORD, MARKER, may_be_secret, says_password, says_secret
from acp_proxy.redaction.shapes import Span, is_dense

if TYPE_CHECKING:
    from collections.abc import Iterator

_SEPARATOR = r"(?::[ ]?[A-Za-z][\w.<>|?\[\]]{0,30}+[ ]=(?!=)|=>|:=|[:=](?!=))"
QUOTE: Final = r"\\{0,3}[\"'`]"
"""How a quote stands in text, JSON in JSON included, as a pattern."""
_ASSIGNMENT = re.compile(
    rf"(?:{KEYWORD})(?P<after>[A-Za-z0-9_-]{{0,40}}+)"
    rf"(?:{QUOTE})?[ \t]{{0,8}}+\]?[ \t]{{0,8}}+(?P<separator>{_SEPARATOR})[ \t]{{0,8}}+"
    rf"(?:[rbuf]?(?P<quote>{QUOTE}))?"
    r"(?P<value>(?:(?<=\")[^\"\r\n\\]{1,4096}+|(?<=')[^'\r\n\\]{1,4096}+|(?<=`)[^`\r\n\\]{1,4096}+"
    r"|[^\s\"'`,;&|<>(){}\[\]\\]{1,4096}+))",
    re.IGNORECASE | re.ASCII,
)
# How KEYWORD begins, in lower case.
_BEGINNINGS = Finder((
    "pass", "pwd", "secret", "token", "api", "access", "private", "auth", "account", "master",
    "signing", "encrypt", "service", "session", "shared", "storage", "subscription", "license",
    "deploy", "admin", "proxy", "client", "webhook", "root", "credential", "cookie", "connection",
    "dsn", "jwt", "_key", "_pass",
))  # fmt: skip
_NAME_BEFORE = re.compile(r"[A-Za-z0-9_.-]*\Z")
_LONGEST_BEFORE = 60
_FLAG = re.compile(
    r"(?<![\w-])(?:-(?P<short>[A-Za-z]\w{1,30}+)|--(?P<name>[A-Za-z][\w-]{1,60}+))[ \t]+[\"'`]?(?P<value>[^\s\"'`\\-][^\s\"'`\\]*+)"
)
# YAML: a name and a value on two lines; shells: set -x NAME value, setenv NAME value.
_PAIR = re.compile(
    r"(?:\bname:[ \t]{1,8}[\"']?(?P<of>[\w.-]{2,60}+)[\"']?[ \t\r]{0,8}\n[ \t+|>-]{0,60}value:[ \t]{1,8}[\"']?"
    r"|\bset(?:env|x|(?:[ ]{1,4}--?[A-Za-z]{1,20}+){1,4})[ ]{1,4}(?P<variable>\w{2,60}+)[ ]{1,4}[\"']?)"
    r"(?P<value>[^\s\"'\\]{3,4096}+)",
    re.ASCII,
)
# XML: an element of that name, or one whose attributes are a name and a value.
_ELEMENT = re.compile(
    r"(?:<(?P<tag>[A-Za-z][\w.-]{1,60}+)>(?=[^<]{1,4096}+</)|(?:key|name)=\\{0,3}[\"'](?P<key>[\w.-]{2,60}+)\\{0,3}[\"']"
    r"[ \t]{1,8}value=\\{0,3}[\"'])(?P<value>[^<>\"'\s\\]{3,4096}+)",
    re.IGNORECASE | re.ASCII,
)
_PROSE = re.compile(r"[A-Za-z][A-Za-z'\u2019]*+(?:[ ,.:;?!'\u2019()-]++[A-Za-z'\u2019]*+)+")
_IDENTIFIER = re.compile(r"[A-Za-z_$][\w$]*+(?:(?:\.|->|::|\?\.)[A-Za-z_$][\w$]*+)*+")
_WORDS = re.compile(r"[a-z]+(?:[-_.][a-z]+)*")
_MIN_PLAIN, _MIN_MIXED, _MIN_SET = 8, 6, 3
_CODE_AFTER = ("(", "[", "{")
_CODE = ("$", "%", "<", "*", "process.env", "os.environ", "import.meta")
_CLOSING = " )]}>,;:.+|&"
_END_OF_LINE = ("", "\n", "\r")


def find(text: str) -> "Iterator[Span]":
    """Yield the values of assignments whose name says secret."""
    for match in _assignments(text):
        before = _NAME_BEFORE.search(text[max(match.start() - _LONGEST_BEFORE, 0) : match.start()])
        assert before is not None  # it fits nothing as well
        if text.endswith("://", 0, match.start() - len(before[0])):  # user:password in an address
            continue
        name = before[0] + text[match.start() : match.end("after")]
        if says_secret(name) and _is_secret(name, match, text):
            yield Span(*match.span("value"), is_open=True)
    for pattern in (_ELEMENT, _PAIR):
        for match in pattern.finditer(text):
            first, second, value = match.groups()
            name = first or second
            if says_secret(name) and may_be_secret(name, value) and not value.startswith(_CODE):
                yield Span(*match.span("value"), is_open=False)
    for match in _FLAG.finditer(text):
        name, value = match["name"] or match["short"], match["value"]
        if not says_secret(name) or not may_be_secret(name, value) or value.startswith(_CODE):
            continue
        if says_password(name) or not _WORDS.fullmatch(value):
            yield Span(*match.span("value"), is_open=True)


def _assignments(text: str) -> "Iterator[re.Match[str]]":
    """Yield what _ASSIGNMENT finds in a text; it is tried only where one of its words begins."""
    lower = text.lower()
    if len(lower) != len(text):  # a letter became two: places would not be the same
        yield from _ASSIGNMENT.finditer(text)
        return
    done = 0
    for start in _BEGINNINGS.starts(lower):
        match = _ASSIGNMENT.match(text, start) if start >= done else None
        if match is not None:
            yield match
            done = match.end()


def _is_secret(name: str, match: re.Match[str], text: str) -> bool:
    """Tell whether the value of an assignment is a secret, and no code or type or word."""
    value = match["value"]
    if not may_be_secret(name, value) or MARKER in value or len(value) < _MIN_SET:
        return False
    if value.startswith(("http://", "https://")):  # what is secret in an address is found there
        return False
    if match["quote"]:
        return _is_quoted_secret(name, value)
    after = text[match.end() : match.end() + 1]
    is_code = after in _CODE_AFTER or value.startswith(_CODE)
    return not is_code and _is_bare_secret(name, match, text, after)


def _is_bare_secret(name: str, match: re.Match[str], text: str, after: str) -> bool:
    """Tell whether a value without quotes is a secret, and no code."""
    value = match["value"]
    is_setting = match["separator"] == "=" and text[match.end("separator")] == value[0]
    if is_setting and (name.isupper() or name.startswith("-") or _is_query(text, match, name)):
        return True
    if "." in value and _IDENTIFIER.fullmatch(value):
        return False
    return is_dense(value) or _is_plain_secret(name, value, after)


def _is_quoted_secret(name: str, value: str) -> bool:
    """Tell whether a quoted value is a secret, and no name or sentence."""
    if value[0] in _CLOSING:  # the quote ended a text, and opened none
        return False
    if says_password(name):
        return True
    is_name = _IDENTIFIER.fullmatch(value) and not any(map(str.isdigit, value))
    return not (is_name or _PROSE.fullmatch(value) or _WORDS.fullmatch(value))


def _is_plain_secret(name: str, value: str, after: str) -> bool:
    """Tell whether a value without quotes, as in ``name: value``, is a secret, and no code."""
    is_mixed = any(map(str.isdigit, value)) or not _IDENTIFIER.fullmatch(value)
    if says_password(name):
        is_word = value.isalpha() and value.islower() and after in _END_OF_LINE
        return len(value) >= _MIN_MIXED if is_mixed else len(value) >= _MIN_PLAIN and is_word
    return len(value) >= _MIN_PLAIN and is_mixed and not _IDENTIFIER.fullmatch(value.rstrip(".:"))


def _is_query(text: str, match: re.Match[str], name: str) -> bool:
    start = match.end("after") - len(name)
    return start > 0 and text[start - 1] in "?&"
