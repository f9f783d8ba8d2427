"""Keeping a log within the limits that ``run --keep`` gave, once a connection is in it.

Nobody waits for this: the conversation is over and all of it is in the log. What goes
is told in the log's table ``pruned``; a limit that cannot be understood, in the notes of
the connection.
"""

import contextlib
from typing import TYPE_CHECKING

from acp_proxy.errors import LogError
from acp_proxy.log.retention import parse_keep

if TYPE_CHECKING:
    from acp_proxy.journal.records import Facts


def keep_limits(log: str, facts: "Facts") -> None:
    """Delete what is beyond the limits that a connection's start asks for; never fails.

    The newest connection stays, however large. What cannot be done now, the next one does.

    Args:
        log: Path of the log.
        facts: Those of the start of a connection that has ended.

    """
    keep = facts.get("keep")
    if not isinstance(keep, str):
        return
    with contextlib.suppress(LogError, OSError):
        try:
            limits = parse_keep(keep)._replace(keep_last=1)
        except ValueError as error:
            _note(log, str(facts.get("uuid")), str(error))
            return
        from acp_proxy.log.pruning import chosen, prune  # noqa: PLC0415 - seldom needed
        from acp_proxy.log.upkeep import Upkeep  # noqa: PLC0415 - seldom needed
        from acp_proxy.log.vacuum import give_back_in_slices  # noqa: PLC0415 - seldom needed

        found, choice = chosen(log, limits)
        if choice.going or found.unfinished:
            with Upkeep(log) as upkeep:
                prune(upkeep, choice.going, f"run --keep {keep}")
                give_back_in_slices(upkeep)


def _note(log: str, uuid: str, why: str) -> None:
    from acp_proxy.log.reader import LogReader  # noqa: PLC0415 - seldom needed
    from acp_proxy.log.writer import LogWriter  # noqa: PLC0415 - seldom needed

    with LogWriter(log) as writer, LogReader(log) as reader, writer.transaction():
        row = reader.connection(uuid)
        writer.update(row.id, {"notes": [*row.notes, {"event": "keep ignored", "why": why}]})
