"""Text that a peer sent, made harmless for a terminal: what is not to be seen becomes visible."""

import re

# Control characters, and what changes the direction or the place of text: a reader's terminal
# must not obey an agent. Tabs and line ends count too; callers that want lines split first.
_HARMFUL = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e007f\ud800-\udfff]"
)
_NAMED = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\x1b": "\\e"}


def visible(text: str) -> str:
    r"""Return text in which every harmful character is written as an escape.

    >>> visible("a\x1b[2Jb\n")
    'a\\e[2Jb\\n'
    """
    return _HARMFUL.sub(_escape, text)


def visible_lines(text: str) -> str:
    r"""Return text made harmless line by line; line ends (``\n``) and tabs stay."""
    return _HARMFUL.sub(lambda match: match[0] if match[0] in "\n\t" else _escape(match), text)


def escape_in_json(text: str) -> str:
    r"""Return JSON text with every harmful character inside its strings as a ``\u`` escape."""
    if text.isascii() and "\x7f" not in text:
        return text
    return _HARMFUL.sub(_json_escape, text)


def _json_escape(match: re.Match[str]) -> str:
    encoded = match[0].encode("utf-16-be", errors="surrogatepass")
    return "".join(f"\\u{encoded[at : at + 2].hex()}" for at in range(0, len(encoded), 2))


def decode(raw: bytes) -> str:
    """Return bytes as text; what is not UTF-8 shows as an escape when made visible."""
    return raw.decode(errors="surrogateescape")


def _escape(match: re.Match[str]) -> str:
    character = match[0]
    if character in _NAMED:
        return _NAMED[character]
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:  # noqa: PLR2004 - surrogateescape's range: a byte that is no UTF-8
        return f"\\x{code - 0xDC00:02x}"
    if code <= 0xFF:  # noqa: PLR2004 - a byte
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"  # noqa: PLR2004
