"""Turns: from a prompt to its answer (v1), from running to idle (v2) (docs/protocol.md: Turns)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from acp_proxy.state import messages

if TYPE_CHECKING:
    from acp_proxy.events.vocabulary import ActivityChanged, PromptAnswered, PromptSent
    from acp_proxy.state.sessions import Session

_WORKING = ("running", "requires_action")


@dataclass(slots=True)
class Turn:
    """One turn; None is "no value".

    Attributes:
        prompt_seq: The prompt that it answers; a v2 turn may have none.
        is_prompted: It is a v1 turn: the prompt's answer ends it.

    """

    started_seq: int
    prompt_seq: int | None = None
    ended_seq: int | None = None
    stop_reason: str | None = None
    error: Any = None
    message_id: str | None = None
    is_prompted: bool = False
    number: int = 0


@dataclass(slots=True)
class Prompt:
    """A v2 prompt that waits for a turn."""

    seq: int
    message_id: str | None = None


def prompted(session: "Session", event: "PromptSent") -> None:
    """Begin a v1 turn, or let a v2 prompt wait for its turn.

    A prompt that is read again gets what it should have had, at its own place. A turn
    that it began stays one: it ends as those of the other version do.
    """
    seq = event.seq if event.prompt_seq is None else event.prompt_seq
    turn = None if event.prompt_seq is None else session.prompted_turns.get(seq)
    if event.is_turn:
        session.prompts.pop(seq, None)
        if turn is None:
            turn = add(session, Turn(seq, seq))
        turn.is_prompted = True
        session.touch(turn)
        messages.prompted(session, event)
        return
    if event.prompt_seq is not None:
        messages.unprompted(session, seq)
    if turn is not None:
        turn.is_prompted = False
        session.touch(turn)
        return
    turn = _running(session)
    if turn is not None and turn.prompt_seq is None:
        turn.prompt_seq = seq
        session.prompted_turns[seq] = turn
        session.touch(turn)
    else:
        session.prompts[seq] = Prompt(seq)


def answered(session: "Session", event: "PromptAnswered") -> None:
    """End a v1 turn; in v2 learn the message, or that there is none."""
    turn = session.prompted_turns.get(event.prompt_seq)
    if event.is_turn or (event.error is not None and _began(turn)):
        if turn is None:  # asked as in v2, answered as in v1
            turn = Turn(event.prompt_seq, event.prompt_seq, is_prompted=True)
            _begun(session, turn)
        turn.ended_seq = event.seq
        turn.stop_reason = event.stop_reason
        turn.error = event.error
        session.touch(turn)
        session.open_message = session.open_prompt = None  # what comes now is of no prompt
        session.prompts.pop(event.prompt_seq, None)
    elif turn is not None:
        turn.message_id = event.message_id
        session.touch(turn)
    elif event.error is not None:
        session.prompts.pop(event.prompt_seq, None)
    elif event.prompt_seq in session.prompts:
        session.prompts[event.prompt_seq].message_id = event.message_id


def activity_changed(session: "Session", event: "ActivityChanged") -> None:
    """Replace the snapshot; begin or end a turn unless it is history (docs/protocol.md: Sessions, Turns)."""
    session.activity = event.activity
    if session.window is not None:
        return
    state = event.activity["state"]
    turn = _running(session)
    if state in _WORKING and turn is None:
        turn = Turn(event.seq)
        if session.prompts:
            prompt = session.prompts.pop(next(iter(session.prompts)))
            turn.prompt_seq, turn.message_id = prompt.seq, prompt.message_id
        _begun(session, turn)
    elif state == "idle" and turn is not None and not turn.is_prompted:
        turn.ended_seq = event.seq
        reason = event.activity.get("stopReason")
        turn.stop_reason = reason if type(reason) is str else None
        turn.error = event.activity.get("error")
        session.touch(turn)


def add(session: "Session", turn: Turn) -> Turn:
    """Put a turn behind the others."""
    session.turns.append(turn)
    if turn.prompt_seq is not None:
        session.prompted_turns[turn.prompt_seq] = turn
    return turn


def _begun(session: "Session", turn: Turn) -> None:
    session.touch(add(session, turn))


def _began(turn: Turn | None) -> bool:
    """Tell whether it was a prompt itself that began a turn, which was then read as v2."""
    return turn is not None and turn.started_seq == turn.prompt_seq


def _running(session: "Session") -> Turn | None:
    turn = session.turns[-1] if session.turns else None
    return turn if turn is not None and turn.ended_seq is None else None
