"""Secrets that the connection itself gives away, and that stand naked elsewhere, in any encoding."""

import base64
import html
import json
import textwrap
from collections.abc import Callable
from urllib.parse import quote

from tests.redaction.conversations import SOURCES
from tests.redaction.made_up import Random, Shape

# What a value becomes: the text, and the pieces of the encoded form that must not survive.
_Encoding = Callable[[str], str]


def _base64_at(shift: int, value: str) -> str:
    """Return a value in base64 as it reads when ``shift`` other bytes stand before it."""
    return base64.b64encode(b"xyz"[:shift] + value.encode() + b"!").decode()


def _core(shift: int, value: str) -> str:
    """Return those characters of base64 that depend on nothing but the value."""
    size = len(value.encode())
    first = -(-shift * 8 // 6)
    last = (shift + size) * 8 // 6
    return _base64_at(shift, value)[first:last]


def _url64(value: str) -> str:
    return base64.urlsafe_b64encode(value.encode()).decode().rstrip("=")


def _dumped(value: str) -> str:
    return json.dumps(value)[1:-1]


def _unicode(value: str) -> str:
    return "".join(f"\\u{ord(each):04x}" for each in value)


def _percent(value: str) -> str:
    return "".join(f"%{byte:02X}" for byte in value.encode())


def _coloured(value: str) -> str:
    half = len(value) // 2
    return f"\x1b[32m{value[:half]}\x1b[1;31m{value[half:]}\x1b[0m"


def _shell(value: str) -> str:
    return "".join(each if each.isalnum() else f"\\{each}" for each in value)


def _wrapped(value: str) -> str:
    text = f"{'and so on ' * 6}{value}"
    return "\n".join(text[at : at + 76] for at in range(0, len(text), 76))


_ODD = "{a}@/:{b}&\"{c}'$+"

ENCODINGS: dict[str, tuple[_Encoding, _Encoding | None]] = {
    "naked": (lambda value: value, None),
    "in a word": (lambda value: f"x{value}y", None),
    "in quotes": (lambda value: f"'{value}'", None),
    "base64, first alignment": (lambda v: f"see {_base64_at(0, v)} there", lambda v: _core(0, v)),
    "base64, second alignment": (lambda v: f"see {_base64_at(1, v)} there", lambda v: _core(1, v)),
    "base64, third alignment": (lambda v: f"see {_base64_at(2, v)} there", lambda v: _core(2, v)),
    "base64url": (_url64, _url64),
    "base64 in base64": (
        lambda v: base64.b64encode(base64.b64encode(v.encode())).decode(),
        lambda v: base64.b64encode(base64.b64encode(v.encode()))[:-4].decode(),
    ),
    "base64 of a user": (
        lambda v: base64.b64encode(f"bob:{v}".encode()).decode(),
        lambda v: base64.b64encode(f"bob:{v}".encode())[8:-4].decode(),
    ),
    "base64, wrapped": (
        lambda v: "\n".join(textwrap.wrap(base64.b64encode(f"{'x' * 50}{v}".encode()).decode(), 76)),
        lambda v: base64.b64encode(f"{'x' * 50}{v}".encode()).decode()[67:-4],
    ),
    "hex": (lambda v: v.encode().hex(), lambda v: v.encode().hex()),
    "hex in capitals": (lambda v: v.encode().hex().upper(), lambda v: v.encode().hex().upper()),
    "hex with colons": (lambda v: v.encode().hex(":"), lambda v: v.encode().hex(":")),
    "percent, what must": (lambda v: quote(v, safe=""), None),
    "percent, all": (_percent, None),
    "percent in small letters": (lambda v: _percent(v).lower(), None),
    "percent twice": (lambda v: quote(quote(v, safe=""), safe=""), None),
    "JSON": (lambda v: f'{{"v": "{_dumped(v)}"}}', None),
    "JSON in JSON": (lambda v: json.dumps(json.dumps({"v": v})), None),
    "escapes": (_unicode, None),
    "escapes of Python": (lambda v: "".join(f"\\x{ord(c):02x}" for c in v), None),
    "HTML": (html.escape, None),
    "HTML, numbers": (lambda v: "".join(f"&#{ord(c)};" for c in v), None),
    "HTML, hexadecimal": (lambda v: "".join(f"&#x{ord(c):x};" for c in v), None),
    "coloured": (_coloured, None),
    "wrapped": (_wrapped, None),
    "shell": (_shell, None),
    "shell, quotes": (lambda v: "'" + v.replace("'", "'\"'\"'") + "'", None),
    "quotes turned": (lambda v: '"' + v.replace('"', '\\"') + '"', None),
    "Markdown": (lambda v: "".join(f"\\{c}" if c in "_*`[]-" else c for c in v), None),
    "cut off": (lambda v: v[: len(v) * 2 // 3], None),
    "without its beginning": (lambda v: v[len(v) // 3 :], None),
    "hex with 0x": (lambda v: "0x" + v.encode().hex(), lambda v: v.encode().hex()),
    "printed by od": (lambda v: " ".join(f"{b:02x}" for b in v.encode()), None),
}  # fmt: skip


def _plain(label: str) -> str:
    return Random(f"known {label}").alnum(22)


def _odd(label: str) -> str:
    random = Random(f"known odd {label}")
    return _ODD.format(a=random.alnum(7), b=random.alnum(6), c=random.alnum(6))


def _shape(name: str, source: str, encoding: str, value: str) -> Shape:
    encoded, core = ENCODINGS[encoding]
    text = encoded(value)
    secrets = (value,) if core is None else (value, core(value))
    if encoding == "printed by od":
        secrets = (value, text)
    return Shape(name, "known", text, secrets, source, value)


KNOWN = [
    *(
        _shape(f"{encoding}, from env", "env", encoding, _plain(encoding))
        for encoding in ENCODINGS
    ),
    *(
        _shape(f"{encoding}, odd characters", "settings in raw input", encoding, _odd(encoding))
        for encoding in ENCODINGS
        if encoding not in ("cut off", "without its beginning")
    ),
    *(
        _shape(f"naked, from {source}", source, "naked", _plain(f"source {source}"))
        for source in SOURCES
        if source != "env"
    ),
    *(
        _shape(f"base64, from {source}", source, "base64, second alignment", _plain(f"b {source}"))
        for source in SOURCES
    ),
]  # fmt: skip
