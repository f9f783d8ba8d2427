"""Secrets in running text: assignments, headers, addresses with passwords, keys, known shapes.

Text is anything: prose, code, a shell's output, a configuration file, JSON in a string. What is
found is given as parts that never hold a line's end: blanking keeps the lines.
"""

import base64
import binascii
import re
from typing import TYPE_CHECKING, NamedTuple

from acp_proxy.redaction import assignments, folding
from acp_proxy.redaction.literals import Edit
from acp_proxy.redaction.names import MARKER, is_harmless
from acp_proxy.redaction.shapes import Span, find_shapes, is_dense

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from acp_proxy.redaction.known import Known


class Part(NamedTuple):
    """A piece of a secret in a text; of each secret the first becomes the marker."""

    start: int
    end: int
    is_first: bool


_QUOTE = assignments.QUOTE
_AUTHORIZATION = re.compile(
    rf"authorization(?:{_QUOTE})?[ \t]*+[:=,][ \t]*+(?:{_QUOTE})?"
    r"(?:(?:Digest|AWS4-HMAC-SHA256|OAuth|Hawk)[ \t]++(?P<all>[^\r\n`\\]{4,4096}+)"
    r"|(?:[A-Za-z][\w-]{1,20}+[ \t]++)?(?P<value>[^\s\"'`,;<>\\]{6,4096}+))",
    re.IGNORECASE | re.ASCII,
)
_BEARER = re.compile(
    r"\bbearer(?:[ \t]|%20)++(?P<value>[A-Za-z0-9._~+/-]{6,4096}+=*+)",
    re.IGNORECASE | re.ASCII,
)
_BASIC = re.compile(
    r"\bbasic[ \t]++(?P<value>[A-Za-z0-9+/]{6,4096}+={0,2}+)", re.IGNORECASE | re.ASCII
)
_COOKIE = re.compile(
    rf"\b(?:set-)?cookie2?(?:{_QUOTE})?[ \t]*+:[ \t]*+(?:{_QUOTE})?"
    r"(?P<value>[\w.$!#%&'*+^|~-]{1,128}+=[^\r\n\"'`\\]{1,4096}+)",
    re.IGNORECASE | re.ASCII,
)
_USER_IN_URL = re.compile(
    r"://(?P<user>[^\s/:@\"'`<>\\]{0,512}+)(?::(?P<value>[^\s/@\"'`<>\\]{1,512}+))?@"
)
_QUERY = re.compile(
    r"[?&#](?:key|sig|signature|code|state|auth)=(?P<value>[^\s&#\"'`<>\\]{16,2048}+)",
    re.IGNORECASE,
)
_USER_OPTION = re.compile(
    r"[ ](?:-u|--(?:proxy-)?user)[ =]?[\"']?[^\s:\"'/]{1,64}+:(?P<value>[^\s\"'/:]{3,512}+)"
)
_USER_HINTS = (" -u", " --user", " --proxy-user")
# Each with a word that stands near it, and with texts one of which it begins with.
_COMMANDS: tuple[tuple[str, tuple[str, ...], re.Pattern[str]], ...] = (
    ("curl", _USER_HINTS, _USER_OPTION),
    ("curl", (" -b",), re.compile(r"[ ]-b[ ]?[\"']?(?P<value>[\w.-]{1,128}+=[^\"'\s]{3,4096}+)")),
    ("wget", _USER_HINTS, _USER_OPTION),
    ("sshpass", ("sshpass",), re.compile(r"\bsshpass[ ]+-p[ ]*[\"']?(?P<value>[^\s\"']{1,512}+)")),
    (
        "login ",
        ("login ",),
        re.compile(r"\blogin[ ]+\S{1,128}+\s{1,8}+password[ ]+(?P<value>\S{1,512}+)"),
    ),
    (
        "identified",
        ("",),
        re.compile(r"\bidentified[ ]+by[ ]+[\"'](?P<value>[^\"'\n]{1,512}+)", re.IGNORECASE),
    ),
)
_PEM_BEGIN = re.compile(r"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----")
_PEM_END = re.compile(r"-----END [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----")
_MIN_BODY = 16  # or it is only the name of such keys
_PEM_BODY = re.compile(r"(?:[A-Za-z0-9+/=\s]|\\[nrt]|[\"',+|>#*:.()-](?=\W))*+")
_NO_TEXT = re.compile(rf"{folding.ESCAPE}|\\{{1,4}}[nrt]")
_LINE = re.compile(r"[^\r\n]+")
_WORDS = re.compile(r"[a-z]+(?:[-_.][a-z]+)*")
_MIN_OPAQUE = 20
SHORTEST = 7
"""No text below that holds a secret: ``pwd=abc``."""


def find(text: str, known: "Known | None" = None, values: "list[str] | None" = None) -> list[Part]:
    """Return the parts of a text to be blanked, in order, none touching another's characters.

    Args:
        text: Any text.
        known: What is a secret wherever it stands.
        values: Takes the secrets that were found, each in one piece.

    """
    spans = _find_all(_bare(text), known)
    parts = [Part(span.start, span.end, is_first=True) for span in spans]
    parts += [
        Part(start, end, number == 0)
        for start, end in _private_keys(text)
        for number, (start, end) in enumerate(_lines_of(text, start, end))
    ]
    if values is not None:
        values += [text[span.start : span.end] for span in spans]
    for pieces in folding.find(text, spans, known):
        if values is not None:
            values.append("".join(text[start:end] for start, end in pieces))
        parts += [Part(start, end, number == 0) for number, (start, end) in enumerate(pieces)]
    return merged(parts)


def merged(parts: "Iterable[Part]") -> list[Part]:
    """Return parts in order, those that overlap as one."""
    found: list[Part] = []
    for part in sorted(parts, key=lambda part: (part.start, -part.end, not part.is_first)):
        if found and part.start < found[-1].end:
            if part.end > found[-1].end:
                found[-1] = found[-1]._replace(end=part.end)
        elif part.end > part.start:
            found.append(part)
    return found


def as_edits(parts: "Iterable[Part]") -> list[Edit]:
    """Return parts as what is to be done to them."""
    return [
        Edit(part.start, part.end, MARKER if part.is_first else "", int(part.is_first))
        for part in parts
    ]


def _bare(text: str) -> str:
    r"""Return a text with spaces for escape sequences and for ``\\n`` as code writes it.

    Their letters would seem to belong to the word behind them.
    """
    if "\x1b" not in text and "\\" not in text:
        return text
    return _NO_TEXT.sub(_as_space, text)


def _as_space(match: re.Match[str]) -> str:
    return ("\n" if match[0][0] == "\\" and match[0][-1] != "t" else " ") * len(match[0])


def _find_all(text: str, known: "Known | None") -> list[Span]:
    spans = list(find_shapes(text))
    if known is not None:
        spans += known.find(text)
    spans += assignments.find(text)
    spans += _in_headers(text)
    spans += _in_addresses(text)
    spans += _in_commands(text)
    return [span for span in spans if text[span.start : span.end] != MARKER]


def _span(match: re.Match[str], name: str = "value") -> Span:
    return Span(*match.span(name), is_open=True)


def _in_headers(text: str) -> "Iterator[Span]":
    """Yield credentials as they stand in HTTP headers."""
    lower = text.lower()
    if "authorization" in lower:
        for match in _AUTHORIZATION.finditer(text):
            if match["all"] is not None:
                yield _span(match, "all")
            elif _is_opaque(match["value"]):
                yield _span(match)
    if "bearer" in lower:
        yield from (_span(match) for match in _BEARER.finditer(text) if _is_opaque(match["value"]))
    if "basic" in lower:
        yield from (_span(match) for match in _BASIC.finditer(text) if _is_pair(match["value"]))
    if "cookie" in lower:
        yield from (
            _span(match) for match in _COOKIE.finditer(text) if MARKER not in match["value"]
        )


def _in_addresses(text: str) -> "Iterator[Span]":
    """Yield passwords and signatures in URLs."""
    if "://" not in text:
        return
    for match in _USER_IN_URL.finditer(text):
        name = "user" if match["value"] is None else "value"
        found = match[name]
        if is_dense(found) if name == "user" else not is_harmless(found):
            yield Span(*match.span(name), is_open=False)
    yield from (_span(match) for match in _QUERY.finditer(text) if _is_opaque(match["value"]))


def _in_commands(text: str) -> "Iterator[Span]":
    lower = text.lower()
    for word, hints, pattern in _COMMANDS:
        if word not in lower or not any(map(text.__contains__, hints)):
            continue
        for match in pattern.finditer(text):
            if not is_harmless(match["value"]) and match["value"][0] != "$":
                yield _span(match)


def _is_opaque(value: str) -> bool:
    """Tell whether a credential is one, and no word of a sentence."""
    if is_harmless(value) or value[0] in "$<{%":
        return False
    return any(map(str.isdigit, value)) or (
        len(value) >= _MIN_OPAQUE and not _WORDS.fullmatch(value)
    )


def _is_pair(text: str) -> bool:
    """Tell whether a text is ``user:password`` in base64."""
    try:
        return b":" in base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except (binascii.Error, ValueError):
        return False


def _private_keys(text: str) -> "Iterator[tuple[int, int]]":
    """Yield where private keys stand; one that does not end reaches as far as it looks like one."""
    if "PRIVATE KEY" not in text:
        return
    done = 0
    begins = list(_PEM_BEGIN.finditer(text))
    ends = [match.end() for match in _PEM_END.finditer(text)]
    at = 0
    for number, begin in enumerate(begins):
        if begin.start() < done:
            continue
        following = begins[number + 1].start() if number + 1 < len(begins) else len(text)
        while at < len(ends) and ends[at] <= begin.end():
            at += 1
        if at < len(ends) and ends[at] <= following:
            done = ends[at]
        else:
            body = _PEM_BODY.match(text, begin.end(), following)
            done = begin.end() if body is None else body.end()
            if done - begin.end() < _MIN_BODY:
                continue
        yield begin.start(), done


def _lines_of(text: str, start: int, end: int) -> "Iterator[tuple[int, int]]":
    return (match.span() for match in _LINE.finditer(text, start, end))
