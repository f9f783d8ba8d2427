"""``acp-proxy config``."""

import click

from acp_proxy.cli.config_show import show


@click.group()
def config() -> None:
    """Settings."""


config.add_command(show)
