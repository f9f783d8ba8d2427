"""What a person's configuration says of a command's options: ``[defaults.COMMAND]``. Prints nothing."""

import difflib
from typing import Any

import click

from acp_proxy.settings import Settings, SettingsError


def option_defaults(
    settings: Settings, name: str, command: click.Command, ctx: click.Context
) -> dict[str, Any]:
    """Return a command's defaults as click takes them: by the names of its parameters.

    Args:
        settings: Those that were loaded.
        name: The command's name.
        command: It.
        ctx: Of the group that it is in.

    Raises:
        SettingsError: There is no such option, or the value is none for it.

    """
    found: dict[str, Any] = {}
    options = {
        spelled: option
        for option in command.params
        if isinstance(option, click.Option)
        for spelled in option.opts
    }
    for key, value in settings.defaults.get(name, {}).items():
        option = options.get("--" + key.replace("_", "-"))
        if option is None or option.name is None:
            known = ", ".join(sorted(spelled[2:] for spelled in options if spelled[:2] == "--"))
            raise _wrong(settings, name, key, f"there is no such option; known: {known or 'none'}")
        found[option.name] = _converted(settings, name, key, value, option, ctx)
    return found


def spelled(
    settings: Settings, name: str, command: click.Command, arguments: list[str]
) -> list[str]:
    """Return the defaults of a command as one would write them, without those given anyway.

    Args:
        settings: Those that were loaded.
        name: The command's name.
        command: It.
        arguments: What was written after the name.

    """
    given = {word.partition("=")[0] for word in arguments}
    written = []
    for key, value in settings.defaults.get(name, {}).items():
        option = "--" + key.replace("_", "-")
        names = {name for param in command.params if option in param.opts for name in param.opts}
        if value is not False and not names & given:
            written.append(option if value is True else f"{option} {value}")
    return written


def wrong_defaults(settings: Settings, ctx: click.Context) -> str | None:
    """Return what is wrong with the defaults of any command, None when all can be taken."""
    from acp_proxy.cli.commands import WITHOUT_SETTINGS  # it imports this module

    root = ctx.find_root()
    assert isinstance(root.command, click.Group)
    for name in settings.defaults:
        command = root.command.get_command(root, name)
        where = f"{settings.path}: defaults.{name}: "
        if command is None:
            near = difflib.get_close_matches(name, root.command.list_commands(root), 1)
            return f"{where}there is no such command{f'; did you mean {near[0]}?' if near else ''}"
        if name in WITHOUT_SETTINGS:
            return f"{where}this command takes no defaults"
        try:
            option_defaults(settings, name, command, root)
        except SettingsError as error:
            return str(error)
    return None


def _converted(
    settings: Settings, name: str, key: str, value: Any, option: click.Option, ctx: click.Context
) -> Any:
    """Return a default as the option would take it, checked."""
    if option.is_flag:
        if not isinstance(value, bool):
            raise _wrong(settings, name, key, "it is on or off; write true or false")
        return value
    values = value if isinstance(value, list) and option.multiple else [value]
    for one in values:
        if isinstance(one, bool | list | dict):
            raise _wrong(settings, name, key, f"{one} is no value for it; write it in quotes")
        try:
            option.type.convert(str(one), option, ctx)
        except click.BadParameter as error:
            raise _wrong(settings, name, key, error.message) from error
    texts = [str(one) for one in values]
    return texts if option.multiple else texts[0]


def _wrong(settings: Settings, name: str, key: str, what: str) -> SettingsError:
    return SettingsError(f"{settings.path}: defaults.{name}.{key}: {what}")
