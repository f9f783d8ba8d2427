"""Whether all is well with this installation, its log, its settings and the agents it is to start.

Each check returns findings, and never raises: what it cannot look at is a finding too. Nothing
is changed or mended; journals that wait get their chance to get into the log first, as
with every command. Prints nothing.
"""

import itertools
from typing import TYPE_CHECKING

from acp_proxy.doctor import agents, editors, installation, recorded, self_test
from acp_proxy.doctor.findings import NOTE, OK, PROBLEM, Finding
from acp_proxy.settings import load_leniently

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["NOTE", "OK", "PROBLEM", "Finding", "examine"]


def examine(
    log: str | None = None, command: "Sequence[str]" = (), *, plays: bool = True
) -> "Iterator[Finding]":
    """Yield what was found, check by check: some 2 s in all, most of it the self-test.

    Args:
        log: Path of the log; None for the one that the settings say.
        command: An agent's command that is to be found too.
        plays: Whether to hold a conversation for the self-test.

    """
    settings, trouble = load_leniently()
    checks = itertools.chain(
        [
            installation.program,
            installation.libraries,
            lambda: installation.configuration(settings, trouble),
        ],
        recorded.checks(log, settings),
        [
            editors.settings_files,
            lambda: agents.commands(settings, command),
            *([self_test.self_test] if plays else []),
        ],
    )
    for check in checks:
        try:
            yield from check()
        except Exception as error:  # noqa: BLE001 - one check that cannot be made must not stop the others
            yield Finding("doctor", PROBLEM, f"a check failed: {error!r}", "please report this")
