"""Sessions that came from a checkpoint: the things in each stay text until somebody asks for it.

A connection may have had many sessions with very many things; who looks at its state
wants some of them. How a thing is made from text is ``state.snapshot``'s affair.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from acp_proxy.state.sessions import Session

Things: TypeAlias = list[tuple[int, int, bytes, list[bytes]]]
"""Key, since, head and tails of each thing of a session."""


class StoredSessions(dict[str, Session]):
    """Sessions by their ids, in order of first mention.

    Args:
        build: Puts its things into a session; raises what it likes, then nothing is taken as built.

    """

    __slots__ = ("_build", "_text", "_todo")

    def __init__(self, build: Callable[[Session, Things], None]) -> None:
        super().__init__()
        self._build = build
        self._text: dict[str, Things] = {}
        self._todo: list[Callable[[Session], None]] = []

    def put(self, session: Session, things: Things) -> None:
        """Add a session that is not there yet."""
        self[session.session_id] = session
        self._text[session.session_id] = things

    def build_all(self) -> None:
        """Build what is still text."""
        for id_ in [*self._text]:
            self._wake(id_)

    def do(self, what: Callable[[Session], None]) -> None:
        """Do something to each session, to those that are text when somebody asks for them."""
        for id_, session in super().items():
            if id_ not in self._text:
                what(session)
        if self._text:
            self._todo.append(what)

    def counts(self, id_: str) -> Counter[str] | None:
        """Return how many things of which kind a session has, None when they are no text any more."""
        things = self._text.get(id_)
        if things is None:
            return None
        return Counter(head[3 : head.index(b'"', 3)].decode() for _, _, head, _ in things)

    def glance(self) -> "Iterator[Session]":
        """Yield the sessions as they are: what is text stays text, so that their things are missing."""
        yield from super().values()

    def _wake(self, id_: str) -> None:
        things = self._text.get(id_)
        if things is None:
            return
        session = super().__getitem__(id_)
        self._build(session, things)
        del self._text[id_]
        for what in self._todo:
            what(session)

    def __getitem__(self, id_: str) -> Session:
        self._wake(id_)
        return super().__getitem__(id_)

    def get(self, id_: str, default: Any = None) -> Any:
        """Return a session."""
        self._wake(id_)
        return super().get(id_, default)

    def values(self) -> Any:
        """Return the sessions."""
        self.build_all()
        return super().values()

    def items(self) -> Any:
        """Return the sessions with their ids."""
        self.build_all()
        return super().items()


def glance(sessions: dict[str, Session]) -> "Iterator[Session]":
    """Yield sessions without building their things: only what a session itself has is there."""
    yield from sessions.glance() if isinstance(sessions, StoredSessions) else sessions.values()
