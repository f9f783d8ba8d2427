"""Running commands in this process, as a person would at a prompt."""

import json
from typing import Any

from click.testing import CliRunner, Result

from acp_proxy.cli.commands import acp_proxy


def invoke(*arguments: object, code: int = 0, stdin: bytes | None = None) -> Result:
    """Run a command and check its exit code."""
    result = CliRunner().invoke(acp_proxy, [str(word) for word in arguments], input=stdin)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code, f"{arguments}: {result.output}"
    return result


def objects(*arguments: object, code: int = 0) -> list[dict[str, Any]]:
    """Return what a listing command prints with --jsonl."""
    lines = invoke(*arguments, "--jsonl", code=code).stdout.splitlines()
    return [json.loads(line) for line in lines]


def document(*arguments: object, code: int = 0) -> Any:
    """Return what a command prints with --json."""
    return json.loads(invoke(*arguments, "--json", code=code).stdout)
