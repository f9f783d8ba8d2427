"""Messages to events: chooses the version for each message and keeps what answers need.

One Decoder follows one connection from its first message. It never raises on what
a peer sent, and no message is without an event: what has no meaning here keeps
its payload in a general one, what is ignored leaves a note.
"""

from collections.abc import Iterable, Iterator
from itertools import takewhile
from operator import attrgetter
from typing import Any

from acp_proxy.events import v1, v2
from acp_proxy.events.answers import (
    KEPT_PARAMS,
    OpenRequest,
    is_refusal,
    orphan,
    read_again,
    read_answer,
    refuse,
)
from acp_proxy.events.event import UNSET, Event
from acp_proxy.events.fields import Patch
from acp_proxy.events.updates import ignored
from acp_proxy.events.versions import Versions
from acp_proxy.events.vocabulary import (
    ElicitationCompleted,
    ElicitationRequested,
    LineWritten,
    NotificationSent,
    PermissionRequested,
    PromptSent,
    ReplayBegan,
    RequestCancelled,
    RequestSent,
    TurnCancelled,
)
from acp_proxy.wire.correlation import Correlator
from acp_proxy.wire.jsonrpc import Direction, Kind, Message

_PROMPT = "session/prompt"
# These name a session to change a list or ask about it, without having it on this connection
# (docs/protocol.md: Sessions); nes sessions are of another kind.
_NOT_ATTACHING = (
    "session/list", "session/delete", "session/archive", "session/unarchive", "session/status",
    "session/set_title", "nes/",
)  # fmt: skip


def decode(messages: Iterable[tuple[Direction, Message]]) -> Iterator[Event]:
    """Yield the events of a connection's messages in order.

    Args:
        messages: Who wrote it and what, from the first message on; a line of standard error
            counts too, or the seqs would differ from those of the log.

    >>> from acp_proxy import Direction, classify, decode
    >>> line = b'{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}'
    >>> [type(event).__name__ for event in decode((Direction.CLIENT, m) for m in classify(line))]
    ['TurnCancelled']
    """
    decoder = Decoder()
    for direction, message in messages:
        yield from decoder.add(direction, message)


class Decoder:
    """Follows one connection.

    Attributes:
        seq: The last message seen; 0 before the first.
        versions: Which version is spoken.

    """

    __slots__ = ("_batches", "_open", "_prompts", "_read", "seq", "versions")

    def __init__(self) -> None:
        self.seq = 0
        self.versions = Versions()
        self._open = Correlator[OpenRequest]()
        self._prompts: dict[str, dict[int, OpenRequest]] = {}  # the open ones, by session and seq
        self._read: dict[str, tuple[int, int]] = {}  # by session: as which version, up to which seq
        # Requests of arrays of which nothing is answered, by sender and first message.
        self._batches: dict[Direction, dict[int, list[OpenRequest]]] = {
            direction: {} for direction in Direction
        }

    def add(self, direction: Direction, message: Message) -> list[Event]:
        """Return the events of the next message: one at least."""
        self.seq += 1
        kind = message.kind
        if kind is Kind.NOTIFICATION:
            return self._notification(direction, message)
        if kind is Kind.REQUEST:
            return self._request(direction, message)
        if kind is Kind.RESULT or kind is Kind.ERROR:
            return self._answer(direction, message)
        notes = (message.reason,) if message.reason is not None else ()
        return [LineWritten(self.seq, None, message.value, notes)]

    def open_requests(self) -> list[OpenRequest]:
        """Return the requests without an answer in the order in which they came."""
        return sorted(self._open.pending(), key=attrgetter("seq"))

    def reopen(self, request: OpenRequest) -> None:
        """Take a request up again that ``open_requests`` of an earlier decoder gave, in its order."""
        self._open.request(request.sender, request.id, request)
        if request.method == _PROMPT and request.session_id is not None:
            self._prompts.setdefault(request.session_id, {})[request.seq] = request
        if request.batch is not None:
            self._batches[request.sender].setdefault(request.batch, []).append(request)

    # Answers.

    def _answer(self, direction: Direction, message: Message) -> list[Event]:
        answered = self._open.response(direction, message.id or "")
        if answered is not None:
            request = answered.request
            self._close(request)
            return read_answer(self.seq, message, request, direction, self.versions)
        asker = Direction.CLIENT if direction is Direction.AGENT else Direction.AGENT
        batches = self._batches[asker]
        oldest = next(iter(batches), None) if is_refusal(message) else None  # they are in order
        if oldest is None:
            return orphan(self.seq, message)
        events: list[Event] = []
        for request in batches[oldest]:
            self._open.drop(request.sender, request.id, request)
            self._close(request)
            events += refuse(self.seq, message, request, oldest, self.versions)
        return events

    def _close(self, request: OpenRequest) -> None:
        """Forget an open request; the array that it came in is not refused as a whole then."""
        session = request.session_id or ""
        prompts = self._prompts.get(session, {})
        if prompts.pop(request.seq, None) is not None and not prompts:
            del self._prompts[session]
            self._read.pop(session, None)
        if request.batch is not None:
            for member in self._batches[request.sender].pop(request.batch, ()):
                member.batch = None

    # Notifications.

    def _notification(self, direction: Direction, message: Message) -> list[Event]:
        method, params = message.method or "", _params(message)
        if method == "session/update":
            if direction is Direction.AGENT:
                return self._update(params)
            notes = ("a client sends no session/update: the message changes nothing",)
            return [NotificationSent(self.seq, None, params, notes, method)]
        session = _session(method, params)
        if method == "session/cancel" and direction is Direction.CLIENT:
            return [TurnCancelled(self.seq, session, params, ())]
        if method == "$/cancel_request":
            return [RequestCancelled(self.seq, None, params, ())]
        if method == "elicitation/complete":
            return [ElicitationCompleted(self.seq, session, params, ())]
        self.versions.of_method(method)
        return [NotificationSent(self.seq, session, params, (), method)]

    def _update(self, params: dict[str, Any]) -> list[Event]:
        seq, session, update = self.seq, params.get("sessionId"), params.get("update")
        if type(session) is not str or type(update) is not dict:
            notes = ("sessionId or update is missing: the message changes nothing",)
            named = session if type(session) is str else None
            return [NotificationSent(seq, named, params, notes, "session/update")]
        tag = update.get("sessionUpdate")
        if type(tag) is not str:
            patch = Patch(update, UNSET)
            patch.note("sessionUpdate is missing or no string: the message changes nothing")
            return ignored(seq, session, patch)
        version = self.versions.of_update(tag, update)
        read = (v1.READINGS if version == 1 else v2.READINGS).get(tag)
        if read is None:
            patch = Patch(update, UNSET)
            patch.note(f'"{tag}" is no update of version {version}: it changes nothing')
            return ignored(seq, session, patch)
        events = read(seq, session, update)
        if (note := self.versions.other_version_note(version)) is not None:
            events[0].notes = (*events[0].notes, note)
        if session in self._prompts:
            events[:0] = self._prompts_again(session, version)
        return events

    def _prompts_again(self, session: str, version: int) -> list[Event]:
        """Read the open prompts of a session again if an update tells that they were misread."""
        prompts = self._prompts.get(session)
        if prompts is None or (right := self.versions.reads_prompts_as(version)) is None:
            return []
        known, last = self._read.get(session, (None, 0))
        self._read[session] = (right, self.seq)
        wanted = [
            *takewhile(lambda one: known != right or one.seq > last, reversed(prompts.values()))
        ]
        return [
            event for prompt in reversed(wanted) for event in read_again(self.seq, prompt, right)
        ]

    # Requests.

    def _request(self, direction: Direction, message: Message) -> list[Event]:
        method, params = message.method or "", _params(message)
        session = _session(method, params)
        request = OpenRequest(direction, message.id or "", self.seq, method, session)
        if (kept := KEPT_PARAMS.get(method)) is not None:
            request.params = {key: params[key] for key in kept if key in params}
        if message.batch_index is not None:
            request.batch = self.seq - message.batch_index
        self.reopen(request)
        self.versions.of_method(method)
        self.versions.learn(params)
        read = _REQUESTS.get((direction, method))
        if method == "elicitation/create" and direction is Direction.AGENT:
            return [ElicitationRequested(self.seq, session, params, ())]
        if read is not None and session is not None:
            return read(self, request, message, params)
        notes = ("sessionId is missing",) if read is not None else ()
        return [RequestSent(self.seq, session, params, notes, method)]

    def _prompt(
        self, request: OpenRequest, _message: Message, params: dict[str, Any]
    ) -> list[Event]:
        patch = Patch(params, UNSET)
        prompt = patch.blocks("prompt")
        request.is_turn = self.versions.spoken == 1
        if request.is_turn and self.versions.negotiated is not None:
            request.params = {}  # certain: it need not be read again
        return [
            PromptSent(
                self.seq,
                request.session_id,
                params,
                tuple(patch.notes),
                prompt if type(prompt) is list else [],
                request.is_turn,
            )
        ]

    def _history(
        self, request: OpenRequest, _message: Message, params: dict[str, Any]
    ) -> list[Event]:
        """Read load, or resume: a replay window opens when history is asked for (docs/protocol.md: Sessions)."""
        if request.method == "session/load" or params.get("replayFrom") is not None:
            request.is_replay = True
            return [ReplayBegan(self.seq, request.session_id, params, ())]
        return [RequestSent(self.seq, request.session_id, params, (), request.method)]

    def _permission(
        self, request: OpenRequest, message: Message, params: dict[str, Any]
    ) -> list[Event]:
        """Read a permission request: its tool call is upserted before it is asked (docs/protocol.md: Permissions)."""
        version = self.versions.of_permission(params)
        session = request.session_id or ""
        subject = params.get("subject")
        read, call = v1.tool_call_update, params.get("toolCall")
        if version == 2:  # noqa: PLR2004 - the version
            read, call = v2.tool_call_update, None
            if type(subject) is dict and subject.get("type") == "tool_call":
                call = subject.get("toolCall")
        events = read(self.seq, session, call) if type(call) is dict else []
        note = self.versions.other_version_note(version)
        asked = PermissionRequested(
            self.seq,
            session,
            params,
            () if note is None else (note,),
            message.value["id"],
            params.get("title"),
            params.get("description"),
            subject,
            params.get("toolCall"),
            params.get("options"),
        )
        return [*events, asked]


_REQUESTS = {
    (Direction.CLIENT, _PROMPT): Decoder._prompt,
    (Direction.CLIENT, "session/load"): Decoder._history,
    (Direction.CLIENT, "session/resume"): Decoder._history,
    (Direction.AGENT, "session/request_permission"): Decoder._permission,
}


def _params(message: Message) -> dict[str, Any]:
    """Return the params as an object; absent, null and arrays stand for an empty one."""
    value = message.value
    params = value.get("params") if type(value) is dict else None
    return params if type(params) is dict else {}


def _session(method: str, params: dict[str, Any]) -> str | None:
    session = params.get("sessionId")
    if type(session) is not str or method.startswith(_NOT_ATTACHING):
        return None
    return session
