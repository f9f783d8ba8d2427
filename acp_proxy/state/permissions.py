"""Permissions: asked, then answered or abandoned; known by the request's seq (docs/protocol.md: Permissions)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from acp_proxy.events.vocabulary import PermissionAnswered, PermissionRequested
    from acp_proxy.state.sessions import Session

PENDING = "pending"


@dataclass(slots=True)
class Permission:
    """One request for permission, as sent; None is "no value".

    ``status`` is ``pending``, ``selected``, ``cancelled``, ``other``, ``error`` or ``abandoned``.
    """

    request_id: Any
    seq: int
    status: str = PENDING
    title: Any = None
    description: Any = None
    subject: Any = None
    tool_call: Any = None
    options: Any = None
    option_id: str | None = None
    outcome: Any = None
    answered_seq: int | None = None
    number: int = 0


def requested(session: "Session", event: "PermissionRequested") -> None:
    """Open a permission."""
    permission = session.permissions[event.seq] = Permission(
        event.request_id,
        event.seq,
        PENDING,
        event.title,
        event.description,
        event.subject,
        event.tool_call,
        event.options,
    )
    session.touch(permission)


def answered(session: "Session", event: "PermissionAnswered") -> None:
    """Close a permission."""
    permission = session.permissions.get(event.request_seq)
    if permission is not None:
        permission.status = event.status
        permission.option_id = event.option_id
        permission.outcome = event.outcome
        permission.answered_seq = event.seq
        session.touch(permission)


def abandoned(session: "Session") -> None:
    """Close what is open: the connection ended first."""
    for permission in session.permissions.values():
        if permission.status == PENDING:
            permission.status = "abandoned"
            session.touch(permission)
