"""``acp-proxy config show``: every setting, its value, and where that comes from."""

import os
import shlex
from typing import Any

import click

from acp_proxy.cli.defaults import wrong_defaults
from acp_proxy.cli.failures import Failure, failing_plainly
from acp_proxy.cli.options import (
    echo_table,
    json_option,
)
from acp_proxy.log.place import log_path
from acp_proxy.log.retention import wrong_keep
from acp_proxy.settings import DEFAULT, Settings, load
from acp_proxy.views.jsonlines import dumps
from acp_proxy.views.safe_text import visible
from acp_proxy.views.tables import table


@click.command()
@json_option
@click.pass_context
def show(ctx: click.Context, as_json: bool) -> None:
    """Print every setting, its value, and where the value comes from.

    An option of a command goes before its variable, the variable before the
    configuration file, the file before the default.
    """
    with failing_plainly():
        settings = load()
        rows = [
            {"setting": name, "value": value, "from": source}
            for name, value, source in all_settings(settings)
        ]
    if as_json:
        exists = settings.path is not None and os.path.isfile(settings.path)
        click.echo(dumps({"path": settings.path, "exists": exists, "settings": rows}))
    else:
        where = "none: this user has no home" if settings.path is None else visible(settings.path)
        is_there = settings.path is not None and os.path.exists(settings.path)
        click.echo(f"configuration: {where}{'' if is_there else ' (not there)'}\n")
        cells = [[row["setting"], _text(row["value"]), _source(row["from"])] for row in rows]
        echo_table(table(["SETTING", "VALUE", "FROM"], cells))
    if (problem := wrong_value(settings) or wrong_defaults(settings, ctx)) is not None:
        raise Failure(problem)


def all_settings(settings: Settings) -> list[tuple[str, Any, str]]:
    """Return each setting's name, value and source; the log's path is the one that is used.

    Raises:
        LogError: There is no place for a log.

    """
    in_file = settings.path or DEFAULT
    return [
        ("log", log_path(None, settings), settings.log.source),
        ("label", settings.label.value, settings.label.source),
        ("keep", settings.keep.value, settings.keep.source),
        ("redact_at_rest", settings.redact_at_rest.value, settings.redact_at_rest.source),
        *((f"redaction.{name}", texts, in_file) for name, texts in settings.rules.items()),
        *((f"agents.{name}", list(words), in_file) for name, words in settings.agents.items()),
        *(
            (f"defaults.{command}.{option}", value, in_file)
            for command, options in settings.defaults.items()
            for option, value in options.items()
        ),
    ]


def wrong_value(settings: Settings) -> str | None:
    """Return what is wrong with a value that only its user would find, and where it comes from."""
    if settings.keep.value is not None and (wrong := wrong_keep(settings.keep.value)) is not None:
        return f"{settings.keep.source}: keep: {wrong}"
    return None


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return shlex.join(map(str, value))
    return "" if value is None else str(value)


def _source(source: str) -> str:
    return source if source == DEFAULT or source.startswith("$") else "configuration"
