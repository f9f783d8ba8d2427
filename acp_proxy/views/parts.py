"""Parts of a state document: the same form with less in it."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Thing = dict[str, Any]


def narrowed(document: Thing, key: str, fits: "Callable[[Thing], bool]") -> Thing:
    """Return a document with only one list of each session, and of that only what fits.

    Sessions that have nothing of it are left out.

    >>> document = {"at": 3, "sessions": [{"sessionId": "s", "toolCalls": [{"status": "failed"}]}]}
    >>> narrowed(document, "toolCalls", lambda call: call["status"] == "completed")
    {'at': 3, 'sessions': []}
    """
    sessions = []
    for session in document["sessions"]:
        things = [thing for thing in session[key] if fits(thing)]
        if things:
            sessions.append({"sessionId": session["sessionId"], key: things})
    return {**document, "sessions": sessions}


def things(document: Thing, key: str) -> "Iterator[tuple[str, Thing]]":
    """Yield the things of one list of all sessions, each with the id of its session."""
    for session in document["sessions"]:
        for thing in session[key]:
            yield session["sessionId"], thing


def seqs_of(document: Thing, key: str) -> set[int]:
    """Return the messages that the things of a list name as their first, last, ask or answer."""
    return {
        thing[name]
        for _, thing in things(document, key)
        for name in ("firstSeq", "lastSeq", "seq", "answeredSeq")
        if name in thing
    }


def took(times: dict[int, int | None], first: int | None, last: int | None) -> int | None:
    """Return the ns between two messages, None when unknown."""
    begun = None if first is None else times.get(first)
    ended = None if last is None else times.get(last)
    return None if begun is None or ended is None else ended - begun
