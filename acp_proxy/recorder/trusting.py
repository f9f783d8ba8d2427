"""The owner's word that a log and the journals beside it are his own."""

import os
from typing import Any

from acp_proxy.errors import LogError
from acp_proxy.journal import spool
from acp_proxy.log import identity, schema
from acp_proxy.log.opened import OpenedLog


def trust(path: str) -> dict[str, Any]:
    """Register a log, and seal the journals beside it, as made by this installation.

    The log is looked at through a private copy first: what cannot be read is not trusted.

    Args:
        path: The log; where there is none, only journals are taken over.

    Returns:
        What was found, for people and as JSON.

    Raises:
        LogError: There is nothing, it is damaged or not a log, or it belongs to another user.

    """
    found: dict[str, Any] = {"path": path, "exists": os.path.exists(path)}
    if found["exists"]:
        found |= _trust_log(path)
    found["journals"] = _adopt(path)
    if not (found["exists"] or found["journals"]):
        raise LogError(
            f"there is neither a log at {path} nor a journal beside it", "check the path"
        )
    return found


def _trust_log(path: str) -> dict[str, Any]:
    with schema.explaining(path):
        with OpenedLog(path) as log:
            was_known = log.notice is None
            facts = {**log.counts(), "size": log.size(), "wasKnown": was_known}
        if not was_known and not identity.trust(path):
            raise LogError(
                f"there is no place to register {path}",
                "make the folder acp-proxy in your state folder (~/.local/state) writable",
            )
    return facts


def _adopt(path: str) -> list[str]:
    taken = []
    for journal in spool.waiting(path):
        try:
            if not spool.is_ours(journal) and spool.adopt(journal):
                taken.append(journal)
        except OSError as error:
            raise LogError(
                f"{journal} cannot be taken over: {error.strerror}", "make it writable"
            ) from error
    return taken
