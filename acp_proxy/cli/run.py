"""``acp-proxy run``: stand between a client and an agent, and record."""

import os
import sys
from typing import TYPE_CHECKING, NamedTuple

from acp_proxy.errors import AgentError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

_VALUED = ("--log", "--label", "--keep")
_REDACT = "--redact-at-rest"
_NOT_FOUND = 127


class Asked(NamedTuple):
    """What the arguments of ``run`` ask for."""

    command: "Sequence[str]"
    log: str | None
    label: str | None
    redact_at_rest: bool = False
    keep: str | None = None
    is_name: bool = False  # one word without ``--``: it may be an agent's short name


def read_plainly(arguments: "Sequence[str]") -> Asked | None:
    """Return what plain arguments ask for; None when click must see to them.

    What follows the first word that is no option of ours belongs to the agent, verbatim.
    """
    values: dict[str, str] = {}
    at = 0
    is_verbatim = False
    while at < len(arguments):
        word = arguments[at]
        if not word.startswith("-"):
            break
        if word == "--":
            is_verbatim = True
            at += 1
            break
        if word == _REDACT:
            values[word] = ""
            at += 1
            continue
        name, equals, value = word.partition("=")
        if name not in _VALUED or (not equals and at + 1 >= len(arguments)):
            return None
        values[name] = value if equals else arguments[at + 1]
        at += 1 if equals else 2
    command = list(arguments[at:])
    keep = values.get("--keep")
    if not command or (keep is not None and not _is_keep(keep)):
        return None
    is_name = len(command) == 1 and not is_verbatim
    log, label = values.get("--log"), values.get("--label")
    return Asked(command, log, label, _REDACT in values, keep, is_name)


def _is_keep(text: str) -> bool:
    from acp_proxy.log.retention import wrong_keep

    return wrong_keep(text) is None


def start(asked: Asked) -> "NoReturn":
    """Run the proxy; end as the agent ends."""
    from acp_proxy.settings import OFF_VARIABLE

    command, failure = _named(asked.command[0]) if asked.is_name else (asked.command, None)
    if os.environ.get(OFF_VARIABLE, "") not in ("", "0"):
        _become(command, failure)
    from acp_proxy.proxy import run_proxy

    try:
        run_proxy(
            command,
            failure=failure,
            log=asked.log,
            label=asked.label,
            redact_at_rest=asked.redact_at_rest,
            keep=asked.keep,
        )
    except AgentError as error:
        _fail(error, command[0])


def _named(name: str) -> "tuple[Sequence[str], AgentError | None]":
    """Return the command for an agent's short name, and why it cannot be run; other words stay."""
    from acp_proxy.agents import find
    from acp_proxy.settings import load_leniently

    try:
        return find(name, load_leniently()[0].agents) or [name], None
    except AgentError as error:
        return [name], error


def _become(command: "Sequence[str]", failure: AgentError | None) -> "NoReturn":
    """Replace this process by the agent: nothing is recorded."""
    if failure is not None:
        _fail(failure)
    import signal
    from errno import EACCES

    from acp_proxy.relay.agent import environment, explain

    for name in ("SIGPIPE", "SIGXFSZ"):  # Python ignores them, and that would be inherited
        signal.signal(getattr(signal, name), signal.SIG_DFL)
    try:
        os.execvpe(command[0], list(command), environment())  # noqa: S606 - running the agent is our purpose
    except ValueError:  # an empty name, which only Python refuses
        _fail(explain(command[0], PermissionError(EACCES, os.strerror(EACCES))))
    except OSError as error:
        _fail(explain(command[0], error), command[0])


def _fail(error: AgentError, program: str = "") -> "NoReturn":
    hint = _meant(program) if error.exit_code == _NOT_FOUND else ""
    sys.stderr.write(f"acp-proxy: {error}{hint}\n")
    sys.stderr.flush()
    os._exit(error.exit_code)


def _meant(program: str) -> str:
    """Return which agent's short name somebody may have meant by a program that is not there."""
    from difflib import get_close_matches

    from acp_proxy.agents import KNOWN
    from acp_proxy.settings import load_leniently

    names = [*load_leniently()[0].agents, *KNOWN]
    near = get_close_matches(program, names, 1, cutoff=0.8)
    return f"; the agent {near[0]}: acp-proxy run {near[0]}" if near else ""
