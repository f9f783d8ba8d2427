"""Groups of commands that tell what a mistyped command may have meant; nothing is ever run for it."""

import contextlib
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

import click

from acp_proxy.views.safe_text import visible, visible_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

SYNONYMS = {
    "record": ["run"],
    "start": ["run"],
    "wrap": ["run"],
    "list": ["connections"],
    "ls": ["connections"],
    "runs": ["connections"],
    "logs": ["log", "messages"],
    "frames": ["messages"],
    "follow": ["tail"],
    "watch": ["tail"],
    "replay": ["state"],
    "calls": ["tool-calls"],
    "tools": ["tool-calls"],
    "find": ["search"],
    "grep": ["search"],
    "save": ["export"],
    "load": ["import"],
    "check": ["verify"],
    "delete": ["prune"],
    "remove": ["prune"],
    "rm": ["prune"],
}
"""What others call our commands."""
_NEAR = 0.72  # of 1, as difflib counts
_DASHES = f"{__name__}.dashes"


class Group(click.Group):
    """A group of commands that tells which is near a word that is none.

    Attributes:
        synonyms: What others call its commands.

    """

    synonyms: "ClassVar[Mapping[str, list[str]]]" = MappingProxyType({})

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return name, command and its arguments; else fail with what may have been meant."""
        name = args[0]
        is_known = self.get_command(ctx, name) is not None
        if is_known or ctx.resilient_parsing or name.startswith("-"):
            return super().resolve_command(ctx, args)
        hints = " ".join(self.help_hints(ctx, args) or self.hints(ctx, args))
        raise click.UsageError(f"No such command {name!r}. {hints}".rstrip(), ctx)

    def hints(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Return sentences on what somebody wanted whose first word is no command."""
        names = self.synonyms.get(args[0].lower(), [])
        return _did_you_mean(names) if names else _nearest(args[0], self.list_commands(ctx))

    def help_hints(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Return a sentence on how to get help if that is what somebody wanted."""
        if args[0] != "help":
            return []
        known = [word for word in args[1:2] if self.get_command(ctx, word) is not None]
        return [f"For help: {' '.join([ctx.command_path, *known, '--help'])}"]


class Root(Group):
    """The group of all commands: it also knows what others call them, and agents without ``run``."""

    synonyms = SYNONYMS

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the options; remember whether nothing but ``--`` stood before the first word."""
        ctx.meta[_DASHES] = args[:1] == ["--"]
        with _harmless_errors():
            return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command that the arguments name."""
        with _harmless_errors():
            return super().invoke(ctx)

    def hints(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Return sentences on what somebody wanted whose first word is no command."""
        import shlex
        import shutil

        from acp_proxy.agents import KNOWN

        near = super().hints(ctx, args)
        if len(args) == 1 and args[0] in KNOWN and not ctx.meta[_DASHES]:
            return [f"To record an agent: acp-proxy run {args[0]}"]
        if ctx.meta[_DASHES] or not near:
            return [f"To record an agent: acp-proxy run -- {shlex.join(args)}"]
        if args[0] not in self.synonyms and shutil.which(args[0]):
            near.append(f"To record the program of that name: acp-proxy run -- {shlex.join(args)}")
        return near


@contextlib.contextmanager
def _harmless_errors() -> "Iterator[None]":
    """In this context, make errors harmless for a terminal: they quote what a person typed or pasted."""
    try:
        yield
    except click.ClickException as error:
        vars(error)["message"] = visible_lines(error.message)  # final only to type checkers
        if isinstance(error, click.FileError):
            vars(error)["ui_filename"] = visible(error.ui_filename)
        raise


def _nearest(name: str, names: list[str]) -> list[str]:
    from difflib import get_close_matches

    return _did_you_mean(get_close_matches(name, names, cutoff=_NEAR))


def _did_you_mean(names: list[str]) -> list[str]:
    """Return the question in click's words, none without names."""
    quoted = ", ".join(map(repr, names))
    if len(names) > 1:
        return [f"(Did you mean one of: {quoted}?)"]
    return [f"Did you mean {quoted}?"] if names else []
