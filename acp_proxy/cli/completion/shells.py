"""How bash, zsh and fish ask what fits, and how they are told; built on click's completion.

Each shell has a script, which calls the program with the line up to the cursor in its
environment and gets two lines for each answer: what kind it is, and a text. Kinds are
``plain``, ``file``, and ``command``: complete the command that is wrapped. Nothing that
stands on the line or in the log is ever evaluated; bash, which inserts what it is given
as it is, is given it quoted.
"""

import contextlib
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import click
from click.shell_completion import (
    CompletionItem,
    ShellComplete,
    add_completion_class,
    shell_complete,
)

from acp_proxy.cli.run import read_plainly

if TYPE_CHECKING:
    from collections.abc import Sequence

    Item = CompletionItem[str]

_PIECE = r"""(?:[^\s'"\\]|\\.|\\$|'[^']*(?:'|$)|"(?:[^"\\]|\\.)*(?:"|\\?$))"""
_WORD = re.compile(f"{_PIECE}+", re.DOTALL)
_UNQUOTED = re.compile(
    r"""'(?P<single>[^']*)'?|"(?P<double>(?:[^"\\]|\\.)*)\\?"?|\\(?P<one>.?)|(?P<plain>[^'"\\]+)""",
    re.DOTALL,
)
_NOT_SAFE = re.compile(r"[^\w@%+=:,./-]")


def unquote(raw: str) -> str:
    r"""Return a word as a shell takes it, variables and the like left as they are.

    >>> unquote("a\\ b'c $d'")
    'a bc $d'
    """

    def plain(piece: re.Match[str]) -> str:
        if (double := piece["double"]) is not None:
            return re.sub(r'\\([$`"\\])', r"\1", double)
        return piece["single"] or piece["one"] or piece["plain"] or ""

    return _UNQUOTED.sub(plain, raw)


def split(line: str) -> tuple[list[str], str]:
    """Return the words of a line up to the cursor, unquoted, and the last as it was typed.

    >>> split("acp-proxy show 'a b' c")
    (['acp-proxy', 'show', 'a b'], 'c')
    >>> split("acp-proxy show ")
    (['acp-proxy', 'show'], '')
    """
    found = list(_WORD.finditer(line))
    typed = found.pop()[0] if found and found[-1].end() == len(line) else ""
    return [unquote(match[0]) for match in found], typed


class _Shell(ShellComplete):
    """What the three shells have in common."""

    def source(self) -> str:
        """Return the script."""
        return Path(__file__).with_name(f"acp-proxy.{self.name}").read_text(encoding="utf-8")

    def complete(self) -> str:
        """Return the answer to a shell, two lines for each item."""
        (_, *before), typed = split(os.environ["COMP_WORDS"])
        word = unquote(typed)
        if before[:1] == ["run"] and (wrapped := read_plainly(before[1:])) is not None:
            items = [_wrapped(wrapped.command)]  # click would take its options for ours
        else:
            items = self.get_completions(*_joined(before, word))
        option, equals, _ = word.partition("=")
        is_joined = equals and option.startswith("--") and "--" not in before
        joined = option + equals if is_joined else ""
        return "".join(self._lines(item, joined, typed) for item in items)

    def _lines(self, item: "Item", joined: str, typed: str) -> str:
        """Return the two lines of an item; nothing when this shell cannot take it.

        Args:
            item: What may stand there.
            joined: The option with its ``=`` in the same word, if any.
            typed: The word as it is now, as it was typed.

        """
        text: str | None = item.value
        if item.type == "plain":
            begins = (joined + item.value).startswith(unquote(typed))  # click has a view of its own
            text = self.plain_text(item, joined, typed) if begins else None
        return f"{item.type}\n{text}\n" if text is not None else ""

    def plain_text(self, item: "Item", joined: str, typed: str) -> str | None:
        """Return an item that is plain for the script of this shell, None when it cannot take it."""
        raise NotImplementedError


def _joined(before: list[str], word: str) -> tuple[list[str], str]:
    """Return the words with an option and its value as one.

    Otherwise click, which misses the value, would forget the arguments before it.
    """
    if not before or not re.match("--?[^-]", before[-1]) or word.startswith("-"):
        return before, word
    return before[:-1], f"{before[-1]}={word}"


def _wrapped(command: "Sequence[str]") -> "Item":
    """Return what tells a script to complete the next word of a command: how many there are."""
    return CompletionItem(str(len(command)), type="command", help=command[0])


class _Bash(_Shell):
    name: ClassVar[str] = "bash"

    def _lines(self, item: "Item", joined: str, typed: str) -> str:
        """Return the two lines of an item; a wrapped command is told by its first word."""
        if item.type == "command":
            item = CompletionItem(item.help or "", type="command")
        return super()._lines(item, joined, typed)

    def plain_text(self, item: "Item", joined: str, typed: str) -> str | None:
        """Return what replaces the end of the word, quoted: bash breaks it at ``:`` and ``=`` too."""
        replaced = _replaced(typed, os.environ.get("COMP_WORDBREAKS", ""))
        if replaced is None:
            return None
        start, quote = replaced
        return _quoted((joined + item.value)[len(unquote(typed[:start])) :], quote)


def _replaced(typed: str, breaks: str) -> tuple[int, str] | None:
    """Return where that which bash replaces begins in a word, and the quote that is open there.

    None in a word of which a part is quoted: bash is not of one mind about these.
    """
    at = start = 0
    while at < len(typed):
        character = typed[at]
        at += 2 if character == "\\" else 1
        if character in "'\"":
            return None if character in typed[at:] else (at, character)
        if character in breaks:
            start = at
    return start, ""


def _quoted(text: str, quote: str) -> str | None:
    """Return a text as bash has to read it behind an open quote, or none; None if it cannot."""
    if quote == "'":
        return text if "'" not in text else None
    if quote == '"':  # a history expansion cannot be quoted here
        return re.sub(r'([$`"\\])', r"\\\1", text) if "!" not in text else None
    return _NOT_SAFE.sub(r"\\\g<0>", text)


class _Zsh(_Shell):
    name: ClassVar[str] = "zsh"

    def plain_text(self, item: "Item", joined: str, typed: str) -> str | None:
        """Return value and help as ``_describe`` takes them, which quotes what it inserts."""
        value = re.sub(r"[\\:]", r"\\\g<0>", joined + item.value)
        about = (item.help or "").replace("\\", "\\\\")
        return f"{value}:{about}" if about else value


class _Fish(_Shell):
    name: ClassVar[str] = "fish"

    def plain_text(self, item: "Item", joined: str, typed: str) -> str | None:
        """Return value and help with a tab between, as fish takes them; it quotes what it inserts."""
        return f"{joined}{item.value}\t{item.help or ''}"


SHELLS = {shell.name: shell for shell in (_Bash, _Zsh, _Fish)}


def script(shell: str) -> str:
    """Return the script of one of ``SHELLS``."""
    return SHELLS[shell](click.Command(None), {}, "acp-proxy", "").source()


def answer(command: click.Command, instruction: str) -> int:
    """Answer a shell's question, whatever goes wrong in silence: a prompt is no place for a message.

    Args:
        command: The program.
        instruction: What the shell's script asks, as click has it: ``bash_complete``.

    Returns:
        The exit code.

    """
    for shell in SHELLS.values():
        add_completion_class(shell)
    with open(os.devnull, "w", encoding="utf-8") as nothing, contextlib.redirect_stderr(nothing):
        try:
            return shell_complete(command, {}, "acp-proxy", "", instruction)
        except Exception:  # noqa: BLE001 - see above
            return 1
