"""What the documents say of settings is true."""

from pathlib import Path

import click
import pytest

from acp_proxy.cli.commands import acp_proxy
from acp_proxy.cli.defaults import option_defaults
from acp_proxy.settings import CONFIG_VARIABLE, VARIABLES, Settings, label_of, load
from tests.test_docs import blocks, first_cells, page, section


def test_the_settings_in_the_page_are_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    [text] = blocks(page("settings.md"), "toml")
    path = tmp_path / "config.toml"
    path.write_text(text)
    monkeypatch.setenv(CONFIG_VARIABLE, str(path))
    settings = load()
    assert {name: bool(getattr(settings, name)) for name in Settings._fields} == dict.fromkeys(
        Settings._fields, True
    )
    for name in settings.defaults:
        command = acp_proxy.get_command(click.Context(acp_proxy), name)
        assert command is not None
        assert option_defaults(settings, name, command, click.Context(command))


def test_every_variable_is_told() -> None:
    told = first_cells(section(page("cli.md"), "What all commands share"))
    assert {*VARIABLES.values(), CONFIG_VARIABLE, "ACP_PROXY_OFF"} <= set(told)


def test_every_field_of_a_label_is_told() -> None:
    fields = first_cells(section(page("settings.md"), "Labels"))
    assert len(fields) == 7
    for field in fields:
        assert label_of(field, ["x"], "/somewhere") != field
