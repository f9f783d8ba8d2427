"""Plans: replaced whole, removed (docs/protocol.md: Plans, modes, options)."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from acp_proxy.events.vocabulary import PlanRemoved, PlanUpdated
    from acp_proxy.state.sessions import Session


def updated(session: "Session", event: "PlanUpdated") -> None:
    """Replace a plan, whatever its type; its place in the list is kept."""
    session.plans[event.plan_id] = event.plan


def removed(session: "Session", event: "PlanRemoved") -> None:
    """Remove a plan; that of an unknown id does nothing."""
    session.plans.pop(event.plan_id, None)
