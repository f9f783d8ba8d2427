"""Words as strings of the languages that editors are configured in. Pure."""

import json
import re
import shlex
from typing import TYPE_CHECKING, Any

from acp_proxy.views.safe_text import escape_in_json, visible

if TYPE_CHECKING:
    from collections.abc import Sequence

_WIDE = 72  # a list of words longer than this goes one word a line


def json_string(word: str) -> str:
    r"""Return a word as a JSON string; only what could act on a terminal is escaped.

    >>> print(json_string('say "é"\n'))
    "say \"é\"\n"
    """
    return escape_in_json(json.dumps(word, ensure_ascii=False))


def json_layout(value: Any, indent: str = "", unit: str = "  ", newline: str = "\n") -> str:
    """Return a tree of objects, lists and words as JSON, as a person would lay it out.

    Args:
        value: Objects with members go over several lines, lists stay on one where they fit.
        indent: What stands before the line on which it begins.
        unit: What a further level is indented by.
        newline: What ends a line.

    """
    inner = indent + unit
    if isinstance(value, dict) and value:
        parts = [
            f"{json_string(key)}: {json_layout(part, inner, unit, newline)}"
            for key, part in value.items()
        ]
        return f"{{{newline}{inner}" + f",{newline}{inner}".join(parts) + f"{newline}{indent}}}"
    if isinstance(value, list):
        words = [json_layout(part, inner, unit, newline) for part in value]
        line = f"[{', '.join(words)}]"
        if len(line) <= _WIDE or not words:
            return line
        return f"[{newline}{inner}" + f",{newline}{inner}".join(words) + f"{newline}{indent}]"
    return json_string(value) if isinstance(value, str) else json.dumps(value)


def lua_string(word: str) -> str:
    r"""Return a word as a Lua string, for any Lua since 5.1.

    >>> print(lua_string('a "b" \\ é\n'))
    "a \"b\" \\ é\010"
    """
    return '"' + "".join(map(_lua_character, word)) + '"'


def _lua_character(character: str) -> str:
    if character in '"\\':
        return "\\" + character
    if _is_harmful(character):
        return "".join(f"\\{byte:03d}" for byte in character.encode())
    return character


def lua_list(words: "Sequence[str]") -> str:
    """Return words as a Lua table."""
    return "{ " + ", ".join(map(lua_string, words)) + " }" if words else "{}"


def elisp_string(word: str) -> str:
    r"""Return a word as an Emacs Lisp string.

    >>> print(elisp_string('a "b" \\ é\n'))
    "a \"b\" \\ é\n"
    """
    return '"' + "".join(map(_elisp_character, word)) + '"'


def _elisp_character(character: str) -> str:
    if character in '"\\':
        return "\\" + character
    if character == "\n":
        return "\\n"
    if _is_harmful(character):
        code = ord(character)
        return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"  # noqa: PLR2004
    return character


def elisp_list(words: "Sequence[str]") -> str:
    """Return words as a quoted Emacs Lisp list."""
    return "'(" + " ".join(map(elisp_string, words)) + ")"


def shell_line(words: "Sequence[str]") -> str:
    """Return words as a line for a POSIX shell."""
    return shlex.join(words)


def string_argv_line(words: "Sequence[str]") -> str:
    """Return words as a line for npm's string-argv, in which nothing escapes a quote.

    Raises:
        ValueError: A word cannot be told that way; the text says which, and why.

    """
    return " ".join(map(_string_argv_word, words))


def _string_argv_word(word: str) -> str:
    if word and not re.search(r"[\s'\"\ufeff]", word):
        return word
    for quote in "\"'":
        if quote not in word:
            return f"{quote}{word}{quote}"
    raise ValueError(f"{json_string(word)} has quotes of both kinds, which cannot be told there")


def _is_harmful(character: str) -> bool:
    return visible(character) != character
