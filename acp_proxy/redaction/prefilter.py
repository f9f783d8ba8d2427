"""Whether bytes may hold a secret at all: the fast path, for most frames hold none.

Yes may be said in vain, no never. Looked at is a frame without what cuts words in pieces (line
ends, indentation, colours) and with what its base64 says.
"""

import base64
import binascii
import re
from itertools import groupby

from acp_proxy.redaction.finding import finder_in_bytes
from acp_proxy.redaction.shapes import ANCHORS, DISCORD

_INDENT = r"(?:[ \t]|\\t|\xe2\x94[\x82\x83]|[|>])*+"
_SEQUENCE = r"(?:\[[0-?]*+[ -/]*+[@-~]|[()][0-9A-Z]|\][^\x07\x1b\\]{0,400}+)"
_SEAM = re.compile(
    (
        rf"\\{{1,8}}+(?:r(?:\\{{1,8}}+n)?+{_INDENT}|n{_INDENT}|u001[bB]{_SEQUENCE})"
        rf"|\n{_INDENT}|\r\n{_INDENT}|\x1b{_SEQUENCE}"
    ).encode("latin-1")
)
_BASE64 = re.compile(rb'"(?:data|blob)\\{0,7}+"[ ]?:[ ]?\\{0,7}+"([A-Za-z0-9+/]{8,}+={0,2})')
_ESCAPED = re.compile(rb"\\/|\\u00(?!2[67]|3[cCeE])[2-7]")

# Words one of which stands in every name that says secret, in lower case.
_WORDS = (
    b"pass", b"pwd", b"secret", b"token", b"key", b"credential", b"auth", b"cookie", b"connection",
    b"dsn", b"jwt",
)  # fmt: skip
_WORD = "(?:pass|pwd|secret|token|key|credential|auth|cookie|connection|dsn|jwt)"
_TAIL = r"[a-z0-9_. +|>-]{0,100}+[\\\"'`\] \t]{0,64}+[:=]"
_NAMED = re.compile(
    (
        rf"(?:pass|pwd){_TAIL}|{_WORD}{_TAIL}"
        r"(?![ \t]{0,8}(?:-?[0-9.]{1,20}[ \t]{0,8}[,}\]]|\{|\[[\]{]|true|false|null))"
    ).encode()
)
# A name elsewhere than before a colon: a flag, a member `name` beside `value`, .netrc.
_ELSEWHERE = re.compile(
    rf"-[a-z0-9_-]{{0,100}}?{_WORD}"
    rf"|{_WORD}[a-z0-9_. -]{{0,100}}+(?:\\{{0,64}}+\"[ \t]{{0,8}}(?:[,}}]|value)|>)|\blogin |set(?:env|x| +-)".encode()
)
# What else gives a place or a name to a secret, in lower case.
_PLACES = (
    b"authorization", b"bearer", b"basic ", b"basic\t", b"curl", b"wget", b"sshpass", b"identified",
    b"private key",
)  # fmt: skip
_BLANKETS = (b'"env', b"eaders", b"proxy")
_BLANKET = re.compile(
    rb'"(?:env[a-z_-]{0,30}|[a-z_-]{0,30}headers|proxy[_-]{0,4}config)\\{0,64}+"[ \t\r\n]*+:'
)
_USER = re.compile(rb"://[^\s/@\"'<>`]{1,1100}+@")
_QUERY = re.compile(rb"[?&#](?:key|sig|signature|code|state|auth)=", re.IGNORECASE)

_SEPARATORS = "_-."


def _shapes() -> re.Pattern[bytes]:
    """Return a pattern that fits where an anchor of a shape stands.

    It begins with characters that are rare in messages: what is before them is looked back at.
    """
    more = {
        "_": [],
        "-": ["(?=us[0-9]|Signature=)"],
        ".": [r"(?=[0-9a-f]{64}|slack\.com/|webhook\.)", DISCORD.removeprefix(r"\.")],
    }
    found = [
        r"A(?:[KSB]I[AD]|CCA|BSK|Iza|KCp|QVN|T[AC]TT3|GE-S|(?<=:A)A)",
        r"LTAI|EAA[A-Za-z0-9_-]{8}|SK[0-9a-f]{8}|J(?<=eyJ)[A-Za-z0-9_-]{8}|Q~",
    ]
    for separator, others in more.items():
        words = sorted((anchor for anchor in ANCHORS if anchor[-1] == separator), key=len)
        behind = [
            f"(?<={'|'.join(re.escape(word) for word in group)})"
            for _, group in groupby(words, key=len)
        ]
        follows = rf"(?=[A-Za-z0-9][A-Za-z0-9+/=_.%-]{{7}})(?:{'|'.join(behind)})"
        found.append(f"{re.escape(separator)}(?:{'|'.join([follows, *others])})")
    return re.compile("|".join(found).encode())


_SHAPES = _shapes()
_UNANCHORED = re.compile(rf"{DISCORD}|\.[0-9a-f]{{64}}".encode())
_MAYBE = {
    anchor.encode()
    for anchor in ANCHORS
    if anchor[-1] in _SEPARATORS or _SHAPES.search(anchor.encode() + b"0" * 64)
}  # what _SHAPES looks at more closely
_RARE = {anchor.encode() for anchor in ANCHORS if anchor != "pat"} - _MAYBE  # "pat": _UNANCHORED
_ADDRESS = (
    b"://",
    *(b"%b=" % name for name in (b"key", b"sig", b"ature", b"code", b"state", b"auth")),
)


_find_anchors = finder_in_bytes([*sorted(_MAYBE), *sorted(_RARE)])
_HINTS = (*_PLACES, *_BLANKETS, *_WORDS, *_ADDRESS)
_find_hints = finder_in_bytes(_HINTS)


def flat(raw: bytes) -> bytes:
    """Return bytes without what cuts words in pieces, and with what stands in base64."""
    found = raw
    if b"\\" in raw or b"\n" in raw[:-1] or b"\x1b" in raw:
        found = _SEAM.sub(b"", raw)
    if b"data" in raw or b"blob" in raw:
        for match in _BASE64.finditer(raw):
            try:
                decoded = base64.b64decode(match[1], validate=True)
            except binascii.Error:
                continue
            found += b"\n" + _SEAM.sub(b"", decoded)
    return found


def is_suspicious(flattened: bytes) -> bool:
    """Tell whether what ``flat`` gave must be looked at; never wrongly no."""
    if b"\\" in flattened and _ESCAPED.search(flattened):
        return True
    if _UNANCHORED.search(flattened) or (_find_anchors(flattened) and _is_shape(flattened)):
        return True
    lower = flattened.lower()
    return bool(_find_hints(lower)) and _is_hinted(flattened, lower)


def _is_shape(flattened: bytes) -> bool:
    return _SHAPES.search(flattened) is not None or any(map(flattened.__contains__, _RARE))


def _is_hinted(flattened: bytes, lower: bytes) -> bool:
    if _is_address(flattened) or any(map(lower.__contains__, _PLACES)):
        return True
    return (any(map(lower.__contains__, _BLANKETS)) and _BLANKET.search(lower) is not None) or (
        any(map(lower.__contains__, _WORDS))
        and (_NAMED.search(lower) is not None or _ELSEWHERE.search(lower) is not None)
    )


def _is_address(flattened: bytes) -> bool:
    return (b"://" in flattened and b"@" in flattened and _USER.search(flattened) is not None) or (
        b"=" in flattened and _QUERY.search(flattened) is not None
    )
