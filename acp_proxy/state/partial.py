"""Which part of a state is wanted, and how to have it alone: what it costs is that part then.

Tool calls, terminals, permissions and turns depend on nothing but themselves and their
session; messages depend on most of it, so they come with a session as a whole only.
"""

from typing import TYPE_CHECKING, Final, NamedTuple

from acp_proxy.events.vocabulary import SubagentUpdated
from acp_proxy.state.permissions import Permission
from acp_proxy.state.snapshot import PLACES
from acp_proxy.state.terminals import Terminal
from acp_proxy.state.tool_calls import ToolCall
from acp_proxy.state.turns import Turn

if TYPE_CHECKING:
    from collections.abc import Collection

    from acp_proxy.events.event import Event
    from acp_proxy.state.fold import State

_APART: Final = {
    "tool_calls": ToolCall,
    "terminals": Terminal,
    "permissions": Permission,
    "turns": Turn,
}
THINGS: Final = tuple(_APART)
"""What can be had without the rest of its session."""


class Wanted(NamedTuple):
    """A part of a state.

    Attributes:
        sessions: Only these; None: all.
        things: Only these of THINGS, beside what sessions tell of themselves; None: all there is.

    """

    sessions: "Collection[str] | None" = None
    things: "Collection[str] | None" = None

    @property
    def kinds(self) -> tuple[str, ...] | None:
        """The kinds of thing as checkpoints name them, None for all."""
        return None if self.things is None else tuple(_APART[one].__name__ for one in self.things)

    def about(self, events: "list[Event]") -> "list[Event]":
        """Return the events that may change it."""
        if self.sessions is None:
            return events
        return [event for event in events if self._is_about(event, self.sessions)]

    def _is_about(self, event: "Event", sessions: "Collection[str]") -> bool:
        if event.session_id is None or event.session_id in sessions:
            return True
        return isinstance(event, SubagentUpdated) and event.child_id in sessions

    def trim(self, state: "State") -> None:
        """Take out of a state what is not wanted, and may not be right."""
        if self.sessions is not None:
            for name in [name for name in state.sessions if name not in self.sessions]:
                del state.sessions[name]
        if self.things is None:
            return
        for session in state.sessions.values():
            for name, _ in PLACES.values():
                if name not in self.things:
                    getattr(session, name).clear()


WHOLE: Final = Wanted()
"""All of a state."""
