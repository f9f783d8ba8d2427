# ruff: noqa: INP001 - a module beside the documents, no package
"""Manual pages, one for each command, made from the help texts; ``generate.py`` writes them.

click-man was tried: it does not find commands that are imported late, escapes nothing, breaks
examples, and writes the day of its making into each page.
"""

import inspect
import re
from collections.abc import Iterator

import click

from acp_proxy import __version__

_NAMED = {
    "\\": r"\e", "-": r"\-", "'": r"\(aq", "`": r"\(ga", "^": r"\(ha", "~": r"\(ti", '"': r"\(dq",
}  # fmt: skip
_OPTION = re.compile(r"(?<![\w-])--?[a-z][\w-]*")
_WHOLE = 10_000  # characters of a summary


def pages(command: click.Command, name: str) -> Iterator[tuple[str, str]]:
    """Yield file name and text of the page of a command, and of all commands below it."""
    return _pages(click.Context(command, info_name=name, **command.context_settings))


def _pages(context: click.Context) -> Iterator[tuple[str, str]]:
    below = list(_below(context))
    yield f"{_name(context)}.1", "\n".join(_page(context, below)) + "\n"
    for one in below:
        yield from _pages(one)


def _below(context: click.Context) -> Iterator[click.Context]:
    group = context.command
    if isinstance(group, click.Group):
        for name in group.list_commands(context):
            command = group.get_command(context, name)
            if command is not None and not command.hidden:
                settings = command.context_settings
                yield click.Context(command, info_name=name, parent=context, **settings)


def _page(context: click.Context, below: list[click.Context]) -> Iterator[str]:
    command, name = context.command, _text(_name(context))
    # No date: that of the day would make the page stale, and the version tells more.
    yield f'.TH {name.upper()} 1 "" "acp\\-proxy {_text(__version__)}" "acp\\-proxy"'
    yield ".SH NAME"
    yield f"{name} \\- {_text(_summary(command)).rstrip('.')}"
    yield ".SH SYNOPSIS"
    yield f"{_bold(context.command_path)} {_text(' '.join(command.collect_usage_pieces(context)))}"
    yield ".SH DESCRIPTION"
    yield from _paragraphs(command.help or "")
    yield ".SH OPTIONS"
    for parameter in command.get_params(context):
        if isinstance(parameter, click.Option) and (record := parameter.get_help_record(context)):
            yield from _item(_with_bold_options(record[0]), record[1])
    if below:
        yield ".SH COMMANDS"
        for one in below:
            yield from _item(_bold(one.info_name or ""), _summary(one.command))
    yield ".SH SEE ALSO"
    near = [*([context.parent] if context.parent else []), *below]
    yield ",\n".join(f"{_bold(_name(one))}(1)" for one in near)


def _name(context: click.Context) -> str:
    return context.command_path.replace(" ", "-")


def _summary(command: click.Command) -> str:
    return command.get_short_help_str(_WHOLE)


def _paragraphs(text: str) -> Iterator[str]:
    """Yield a help text, with its lines as they are where click is told so."""
    for at, paragraph in enumerate(inspect.cleandoc(text).split("\n\n")):
        if at:
            yield ".PP"
        if paragraph.startswith("\b\n"):
            yield from (".nf", _lines(paragraph.removeprefix("\b\n")), ".fi")
        else:
            yield _lines(paragraph)


def _item(tag: str, text: str) -> Iterator[str]:
    yield from (".TP", tag, _lines(text))


def _lines(text: str) -> str:
    """Return lines of text, none of which roff takes for a request."""
    return "\n".join(_text(line) for line in text.split("\n"))


def _bold(text: str) -> str:
    return f"\\fB{_text(text)}\\fR"


def _with_bold_options(text: str) -> str:
    names = _OPTION.findall(text)
    between = _OPTION.split(text)
    return _text(between[0]) + "".join(
        _bold(name) + _text(rest) for name, rest in zip(names, between[1:], strict=True)
    )


def _text(text: str) -> str:
    """Return text as roff shows it letter for letter; it has to know names of others than ASCII."""
    escaped = "".join(_NAMED.get(c) or (c if c.isascii() else f"\\[u{ord(c):04X}]") for c in text)
    return f"\\&{escaped}" if escaped.startswith(".") else escaped
