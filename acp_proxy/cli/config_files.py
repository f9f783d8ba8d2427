"""What ``acp-proxy config EDITOR`` does with ``--write`` and ``--unwrap``: settings files changed."""

import difflib
import sys
from typing import TYPE_CHECKING

import click

from acp_proxy.cli.failures import Failure, failing_plainly
from acp_proxy.editors import files, places, undoing, wrapping
from acp_proxy.editors.jsonc import JsoncError
from acp_proxy.editors.known import EDITORS, Launch, short_name
from acp_proxy.editors.quoting import shell_line
from acp_proxy.views.safe_text import visible, visible_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from acp_proxy.editors.entries import Shape
    from acp_proxy.editors.files import SettingsFile
    from acp_proxy.editors.wrapping import Outcome


def add_one(name: str, file: str | None, launch: Launch, *, dry_run: bool) -> None:
    """Add an agent to an editor's settings."""
    settings, shape = _opened(name, file)
    outcome = _changed(settings, lambda text: wrapping.add(text, shape, launch.name, launch.words))
    _finish(name, file, settings, outcome, dry_run=dry_run)


def wrap_all(name: str, file: str | None, proxy: "Sequence[str]", *, dry_run: bool) -> None:
    """Let each agent in an editor's settings go through acp-proxy."""
    settings, shape = _opened(name, file)
    outcome = _changed(settings, lambda text: wrapping.wrap(text, shape, proxy, places.home()))
    if not outcome.done and not wrapping.ours(settings.text, shape):
        _tell(outcome)
        what = "is not there" if settings.data is None else "names no agent with a command"
        raise Failure(
            f"{settings.path} {what}; add an agent: acp-proxy config {name} --write -- AGENT ARGS"
        )
    _finish(name, file, settings, outcome, dry_run=dry_run)


def undo(name: str, file: str | None, *, dry_run: bool) -> None:
    """Take acp-proxy out of an editor's settings again."""
    settings, shape = _opened(name, file)
    if settings.data is None:
        raise Failure(f"there is no {settings.path}, so nothing to undo")
    with failing_plainly():
        before = files.paired(settings)
        if before is not None:
            _put_back(settings, before, shape, dry_run=dry_run)
            return
        earlier = files.earlier(settings)

    def called(agent: list[str]) -> str:
        return EDITORS[name].name_of(short_name(agent))

    outcome = _changed(settings, lambda text: undoing.undo(text, shape, earlier, called))
    if outcome.text == settings.text:
        _tell(outcome)
        click.echo(f"nothing to undo in {visible(settings.path)}")
    elif dry_run:
        _tell(outcome)
        _show_difference(settings, outcome.text)
    else:
        _rewrite(settings, outcome)
    if outcome.left:
        sys.exit(1)


def _opened(name: str, file: str | None) -> "tuple[SettingsFile, Shape]":
    shape = EDITORS[name].shape
    path = file or places.settings_of(name)
    assert shape is not None
    assert path is not None
    with failing_plainly():
        return files.read(path), shape


def _changed(settings: "SettingsFile", change: "Callable[[str], Outcome]") -> "Outcome":
    with failing_plainly():
        text = settings.text
    try:
        return change(text)
    except JsoncError as error:
        raise Failure(
            f"{settings.path}, {error}; nothing was changed; mend that and run this again"
        ) from error
    except wrapping.TakenError as error:
        raise Failure(
            f"{settings.path}: {error}; nothing was changed; choose another name with --name, "
            "or leave AGENT out to let those that are there go through acp-proxy; one that goes "
            "through an acp-proxy elsewhere: --unwrap first"
        ) from error


def _finish(
    name: str, file: str | None, settings: "SettingsFile", outcome: "Outcome", *, dry_run: bool
) -> None:
    if outcome.text == settings.text:
        _tell(outcome)
        click.echo(f"nothing to change in {visible(settings.path)}")
        return
    if dry_run:
        _tell(outcome)
        _show_difference(settings, outcome.text)
        return
    with failing_plainly():
        kept = files.write(settings, outcome.text)
    _tell(outcome)
    if settings.data is None:
        click.echo(f"made {visible(settings.path)}")
    else:
        click.echo(f"changed {visible(settings.path)}")
        click.echo(f"what it was is in {visible(kept)}")
    back = ["acp-proxy", "config", name, "--unwrap", *(["--file", file] if file else [])]
    click.echo(f"to undo: {visible(shell_line(back))}")


def _tell(outcome: "Outcome") -> None:
    for name, what in outcome.done:
        click.echo(f"{visible(name)}: {visible(what)}")
    for name, why in outcome.left:
        click.echo(f"{visible(name)}: left as it is: {visible(why)}")


def _put_back(
    settings: "SettingsFile", before: "SettingsFile", shape: "Shape", *, dry_run: bool
) -> None:
    if dry_run:
        _show_difference(settings, before.text)
        return
    files.put_back(settings, before)
    if before.data is None:
        click.echo(f"removed {visible(settings.path)}, which acp-proxy had made")
        return
    click.echo(f"{visible(settings.path)} is again what it was before acp-proxy changed it")
    for name in wrapping.ours(before.text, shape):
        click.echo(
            f"{visible(name)}: still goes through acp-proxy; run this again to undo that too"
        )


def _rewrite(settings: "SettingsFile", outcome: "Outcome") -> None:
    with failing_plainly():
        if files.was_made(settings) and undoing.is_empty(outcome.text):
            files.remove(settings)
            _tell(outcome)
            click.echo(f"removed {visible(settings.path)}, which acp-proxy had made")
            return
        files.rewrite(settings, outcome.text)
    _tell(outcome)
    click.echo(
        f"changed {visible(settings.path)}: it is not as acp-proxy left it, so each agent was undone"
    )
    for backup in files.backups(settings):
        click.echo(f"what it was once is in {visible(backup)}")


def _show_difference(settings: "SettingsFile", text: str) -> None:
    """Print what would change, line by line."""
    old, new = (whole.splitlines(keepends=True) for whole in (settings.text, text))
    path = settings.path
    for line in difflib.unified_diff(old, new, path, path):
        ending = "" if line.endswith("\n") else "\n\\ No newline at end of file"
        click.echo(visible_lines(line.removesuffix("\n")) + ending)
