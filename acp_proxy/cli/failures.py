"""How a command fails in a person's sight: a message on stderr and an exit code."""

import contextlib
from typing import TYPE_CHECKING, Any

import click

from acp_proxy.errors import AcpProxyError
from acp_proxy.views.safe_text import visible

if TYPE_CHECKING:
    from collections.abc import Iterator


class Failure(click.ClickException):
    """What an AcpProxyError becomes at the command line: its text, exit code 1."""

    exit_code = 1

    def show(self, file: Any = None) -> None:
        """Print the message with no character in it that acts on a terminal."""
        click.echo(f"acp-proxy: {visible(self.message)}", file=file, err=True)


@contextlib.contextmanager
def failing_plainly() -> "Iterator[None]":
    """In this context, turn our errors into messages."""
    try:
        yield
    except AcpProxyError as error:
        raise Failure(str(error)) from error
