"""Text that a peer sent, made harmless for a terminal: characters nobody sees become escapes."""

import re

# What a terminal obeys, and what nobody sees: control characters, line and paragraph separators,
# surrogates, all of Unicode's format characters (Cf) and default-ignorable code points (variation
# selectors, joiners, fillers, tags, assigned or not), and the blank Braille pattern. There is no
# exception for emoji: a selector or joiner may hide anywhere, and whoever inspects a conversation
# wants to know of it; the emoji itself stays. Combining accents are visible and stay too. Tabs and
# line ends count: callers that want lines split first. Written out, since which characters are
# escaped must not depend on the Unicode version of the Python that runs this.
_HARMFUL = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160"
    "\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ud800-\udfff"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f"
    "\U00016fe4\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
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
