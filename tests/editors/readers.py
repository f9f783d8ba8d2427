"""Small readers of strings in other languages, written from their manuals. No tests."""

from __future__ import annotations

import re

JAVASCRIPT_SPACE = "[\t-\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]"
_LUA = re.compile(r'"((?:[^"\\\n]|\\[0-9]{1,3}|\\["\\abfnrtv])*)"')
_LUA_PART = re.compile(r"\\([0-9]{1,3})|\\(.)|([^\\]+)", re.DOTALL)
_LUA_NAMED = dict(zip("abfnrtv", "\a\b\f\n\r\t\v", strict=True))
_ELISP = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
_ELISP_PART = re.compile(r"\\u([0-9a-f]{4})|\\U([0-9a-f]{8})|\\(.)|([^\\]+)", re.DOTALL)


def lua_strings(code: str) -> list[str]:
    """Return the strings in double quotes that stand in Lua code."""
    return [_lua(found[1]) for found in _LUA.finditer(code)]


def _lua(body: str) -> str:
    data = b""
    for number, named, plain in _LUA_PART.findall(body):
        if number:
            data += bytes([int(number)])
        elif named:
            data += _LUA_NAMED.get(named, named).encode()
        data += plain.encode()
    return data.decode()


def elisp_strings(code: str) -> list[str]:
    """Return the strings that stand in Emacs Lisp code."""
    return [_elisp(found[1]) for found in _ELISP.finditer(code)]


def _elisp(body: str) -> str:
    text = ""
    for short, long, named, plain in _ELISP_PART.findall(body):
        if short or long:
            text += chr(int(short or long, 16))
        elif named:
            text += {"n": "\n"}.get(named, named)
        text += plain
    return text


def acpx_words(line: str) -> list[str]:
    """Return the words of a line as acpx' splitter makes them: character by character."""
    words: list[str] = []
    current: str | None = None
    quote = ""
    characters = iter(line)
    for character in characters:
        if character == "\\" and quote != "'":
            current = (current or "") + next(characters, "\\")
        elif quote:
            current = current or ""
            if character == quote:
                quote = ""
            else:
                current += character
        elif character in "'\"":
            quote, current = character, current or ""
        elif re.fullmatch(JAVASCRIPT_SPACE, character):
            words += [] if current is None else [current]
            current = None
        else:
            current = (current or "") + character
    assert not quote
    return words + ([] if current is None else [current])


def string_argv(line: str) -> list[str]:
    """Return the words of a line as npm's string-argv makes them, for words quoted as wholes."""
    found = re.finditer(r"[^\s\ufeff'\"]+|(['\"])(.*?)\1", line, re.DOTALL)
    return [match[0] if match[1] is None else match[2] for match in found]
