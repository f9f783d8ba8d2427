"""``acp-proxy config``: how each editor is told to start an agent through acp-proxy, and our settings."""

import functools
from typing import TYPE_CHECKING

import click

from acp_proxy.cli import config_files
from acp_proxy.cli.agent_words import AgentCommand, is_verbatim, resolved
from acp_proxy.cli.config_show import show
from acp_proxy.cli.mistyped import Group
from acp_proxy.cli.options import echo_lines, only_one
from acp_proxy.editors import places
from acp_proxy.editors.known import (
    EDITORS,
    PLACEHOLDER,
    Editor,
    Launch,
    settings_data,
    short_name,
)
from acp_proxy.editors.quoting import json_layout, shell_line
from acp_proxy.views.safe_text import visible, visible_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


_CALLED = {
    "agent-shell": "emacs",
    "codecompanion": "neovim nvim vim",
    "avante": "neovim nvim vim",
    "jetbrains": "clion goland idea intellij phpstorm pycharm rider rubymine rustrover webstorm",
    "vscode": "code codium vs-code vscodium",
}
_SYNONYMS = {
    other: [name for name, others in _CALLED.items() if other in others.split()]
    for other in " ".join(_CALLED.values()).split()
}


class _Editors(Group):
    """The group of editors: it also knows what else they are called, and where plugins belong."""

    synonyms = _SYNONYMS

    def hints(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Return sentences on what somebody wanted whose first word is no editor that we know."""
        anywhere = "Any other client: put before the agent's command: acp-proxy run --"
        return super().hints(ctx, args) or [anywhere]


@click.group(cls=_Editors)
def config() -> None:
    """Tell an editor to start its agent through acp-proxy; show the settings."""


_NAME = click.Option(["--name", "label"], metavar="NAME", help="What to call the agent there.")
_FILE_OPTIONS = [
    click.Option(["--json", "as_json"], is_flag=True, help="Only the settings, as JSON."),
    click.Option(
        ["--write"],
        is_flag=True,
        help="Add the agent to the settings; without AGENT: let each agent that they name go "
        "through acp-proxy.",
    ),
    click.Option(
        ["--unwrap"], is_flag=True, help="Undo that: byte for byte if nothing else changed."
    ),
    click.Option(["--dry-run"], is_flag=True, help="With these two: show the difference only."),
    click.Option(["--file"], metavar="PATH", help="The settings; default: where the editor looks."),
]


def _command(name: str, editor: Editor) -> click.Command:
    """Return the command for an editor."""
    what = "Print what to tell it"
    callback: Callable[..., None] = _print_for
    if editor.shape is None:
        why_not = f"Say why that is not possible: {editor.why_not}."
        options = [click.Option(["--write"], is_flag=True, help=why_not)]
    else:
        what += ", or put that into its settings"
        callback = _configure
        options = _FILE_OPTIONS
    return AgentCommand(
        name,
        callback=functools.partial(callback, name),
        params=[
            _NAME,
            *options,
            click.Argument(
                ["agent"], nargs=-1, type=click.UNPROCESSED, metavar="[AGENT [ARGS]...]"
            ),
        ],
        help=f"{editor.title}: start AGENT through acp-proxy.\n\n{what}. AGENT is the command that "
        "starts it; one of the names that `acp-proxy agents` lists, alone and without --, stands "
        "for that agent's command.",
        short_help=f"{editor.title}.",
        context_settings={"allow_interspersed_args": False},
        options_metavar="[OPTIONS] [--]",
    )


def _print_for(name: str, agent: "Sequence[str]", label: str | None, *, write: bool) -> None:
    """Answer for an editor whose settings we do not change."""
    _print_page(name, _launch(name, agent, label))
    if write:
        why_not = EDITORS[name].why_not
        raise click.UsageError(f"acp-proxy cannot write that: {why_not}; do as it says above")


def _configure(
    name: str,
    agent: "Sequence[str]",
    label: str | None,
    *,
    as_json: bool,
    write: bool,
    unwrap: bool,
    dry_run: bool,
    file: str | None,
) -> None:
    """Answer for an editor whose settings we can change."""
    only_one({"--json": as_json, "--write": write, "--unwrap": unwrap})
    if (dry_run or file is not None) and not (write or unwrap):
        raise click.UsageError("--dry-run and --file are for --write and --unwrap")
    if file == "":
        raise click.UsageError("--file needs a path")
    if unwrap and (agent or label is not None):
        raise click.UsageError("--unwrap is for all agents in the settings: without AGENT, --name")
    if write and label is not None and not agent:
        raise click.UsageError("--name is for an AGENT that is added: give one")
    if unwrap:
        config_files.undo(name, file, dry_run=dry_run)
    elif write and not agent:
        config_files.wrap_all(name, file, _proxy(), dry_run=dry_run)
    elif write:
        config_files.add_one(name, file, _launch(name, agent, label), dry_run=dry_run)
    elif as_json:
        shape = EDITORS[name].shape
        assert shape is not None
        click.echo(json_layout(settings_data(shape, _launch(name, agent, label))))
    else:
        _print_page(name, _launch(name, agent, label))


def _launch(name: str, agent: "Sequence[str]", label: str | None) -> Launch:
    """Return what the editor is to start, with whole paths; say on stderr what is odd about it."""
    if not agent:
        _remark(
            f"no AGENT was named: this is for {PLACEHOLDER[0]}; for yours: "
            f"acp-proxy config {name} -- AGENT ARGS"
        )
    _warn_of_late_options(agent)
    words = resolved(agent) or PLACEHOLDER
    for word in [*words, label or ""]:
        if any("\ud800" <= character <= "\udfff" for character in word):
            raise click.UsageError(f"{visible(word)} is not UTF-8, which an editor cannot be told")
    if label == "":
        raise click.UsageError("--name needs a name")
    _warn_of_another_program(name, words)
    whole, is_found = places.whole_command(words)
    if agent and not is_found:
        _remark(
            f"{words[0]} is not found: give its path, or install it before you start the editor"
        )
    default = EDITORS[name].name_of(short_name(whole))
    return Launch(_proxy(), whole, default if label is None else label)


def _warn_of_late_options(agent: "Sequence[str]") -> None:
    """Say so when an option of ours stands behind the agent, to whom it then belongs."""
    context = click.get_current_context()
    if is_verbatim():
        return
    ours = {name for option in context.command.params for name in option.opts}
    for word in agent[1:]:
        if word.startswith("-") and word in ours | set(context.help_option_names):
            _remark(
                f"{word} stands after AGENT, so it is taken for the agent's; "
                f"for acp-proxy's, put it before: {context.command_path} {word} ..."
            )


def _warn_of_another_program(name: str, words: "Sequence[str]") -> None:
    """Say so when a person gave the program that people talk to, and not the one that speaks ACP."""
    from acp_proxy.agents import KNOWN

    known = KNOWN.get(words[0]) if len(words) == 1 else None
    if known is not None and tuple(words) not in known.commands:
        _remark(
            f"{words[0]} alone does not speak ACP, as far as is known: "
            f"{shell_line(known.commands[0])} does; for that: acp-proxy config {name} {words[0]}"
        )


def _proxy() -> list[str]:
    command = places.own_command()
    if places.is_passing(command):
        _remark(
            f"{command[0]} lies in a cache and may vanish: install acp-proxy for good "
            "(with uv tool install, or pipx install, from where this one came) and run this again"
        )
    return command


def _remark(text: str) -> None:
    click.echo(f"acp-proxy: {visible(text)}", err=True)


def _print_page(name: str, launch: Launch) -> None:
    editor = EDITORS[name]
    try:
        snippet = editor.snippet(launch)
    except ValueError as error:
        raise click.UsageError(f"{editor.title} cannot be told that: {error}") from error
    agent = visible(short_name(launch.agent))
    place = places.settings_of(name)
    do = "type this into a shell"
    if place is not None:
        do = f"put this into {visible(place)}, beside what is there"
    click.echo(f"{editor.title}: to start {agent} through acp-proxy, {do}:")
    click.echo(f"\n{visible_lines(snippet)}\n")
    if editor.shape is not None:
        line = shell_line(["acp-proxy", "config", name, "--write", "--", *launch.agent])
        click.echo(f"To have it put there: {visible(line)}")
    for note in editor.notes:
        echo_lines(f"- {note}")
    echo_lines(f"To undo: {editor.undo}")


config.add_command(show)
for _name, _editor in EDITORS.items():
    config.add_command(_command(_name, _editor))
