"""What the log's ``messages`` table says of a frame: classified, paired, labelled, its oddities flagged.

One Indexer follows one connection from its first frame. It is all that the
recorder, ``log reindex``, ``import`` and ``verify`` know of messages, so that
they cannot differ. Pure: it gets times, it reads no clock.
"""

from typing import Any, NamedTuple

from acp_proxy.events.labels import (
    FINAL_STATUSES,
    NO_LABELS,
    V1_ONLY_METHODS,
    V1_ONLY_UPDATES,
    V2_ONLY_METHODS,
    V2_ONLY_UPDATES,
    Labels,
    labels_of,
)
from acp_proxy.wire.correlation import Correlator
from acp_proxy.wire.exact_json import ExactFloat
from acp_proxy.wire.framing import Frame
from acp_proxy.wire.jsonrpc import (
    Direction,
    Kind,
    Message,
    classify_frame,
    id_text,
    text_message,
)

_STREAM_CODES = {Direction.CLIENT: 0, Direction.AGENT: 1, Direction.STDERR: 2}
_KIND_CODES = {
    Kind.NOTIFICATION: 0,
    Kind.REQUEST: 1,
    Kind.RESULT: 2,
    Kind.ERROR: 3,
    Kind.TEXT: 4,
    Kind.INVALID: 5,
}
_INITIALIZE = (
    "initialize",
    "proxy/initialize",
    "_proxy/initialize",
)  # docs/protocol.md: Versions, Extensions
_TELL_AGAIN = ("session/load", "session/resume")  # until they are answered
_ID_TYPES = (int, str, float, ExactFloat, type(None))
_MAX_INTEGER = 2**63 - 1

Row = tuple[
    int, int | None, int, int, int, str | None, str | None, str | None, str | None, str | None,
    str | None, int | None, int | None, int | None, str | None, str | None,
]  # fmt: skip
"""A row of ``messages``: its seq, then the columns of acp_proxy.log.rows.IndexRow in their order."""


class _Request(NamedTuple):
    """What is remembered of a request until it is answered."""

    seq: int
    elapsed_ns: int | None
    method: str | None
    labels: Labels


class Indexer:
    """Follows one connection.

    Attributes:
        seq: The seq of the last message seen; 0 before the first.
        protocol_version: As the agent's latest successful ``initialize`` answer says; None before.
        client: ``name``, ``title``, ``version`` as the client's ``initialize`` says.
        agent: The same of the agent's answer.

    """

    def __init__(self) -> None:
        self.seq = 0
        self.protocol_version: int | str | None = None
        self.client: dict[str, str] = {}
        self.agent: dict[str, str] = {}
        self._open = Correlator[_Request]()
        self._sessions: set[str] = set()
        self._final_calls: dict[str | None, set[str]] = {}  # by session
        self._retelling: set[str] = set()  # sessions of which the history is told again just now
        self._roots: dict[str, str] = {}  # child session: the one at the top

    def rows(
        self,
        direction: Direction,
        frame: Frame,
        elapsed_ns: int | None,
        messages: list[Message] | None = None,
    ) -> list[Row]:
        """Return the index rows of the next frame, one per message; their seqs follow ``seq``.

        Args:
            direction: Who wrote it.
            frame: The frame.
            elapsed_ns: When it came.
            messages: What ``messages_of`` gives for it, if somebody asked already.

        """
        if messages is None:
            messages = messages_of(direction, frame)
        stream = _STREAM_CODES[direction]
        if direction is Direction.STDERR:
            self.seq += 1
            flags = " ".join(messages[0].flags) or None
            return [
                (self.seq, None, stream, 4, frame.size, None, None, None, None, None, None, None,
                 None, None, flags, None)
            ]  # fmt: skip
        return [self._row(direction, stream, frame, message, elapsed_ns) for message in messages]

    def pending(self) -> list[int]:
        """Return the seqs of the requests that are not answered yet."""
        return [request.seq for request in self._open.pending()]

    def _row(
        self,
        direction: Direction,
        stream: int,
        frame: Frame,
        message: Message,
        elapsed_ns: int | None,
    ) -> Row:
        self.seq += 1
        kind = message.kind
        flags = message.flags
        request_seq = duration_ns = error_code = None
        if kind is Kind.NOTIFICATION:
            labels = labels_of(message)
            flags = self._judge_notification(direction, message, labels, flags)
        elif kind is Kind.REQUEST:
            labels = labels_of(message)
            flags = self._judge_request(direction, message, labels, elapsed_ns, flags)
        elif kind is Kind.RESULT or kind is Kind.ERROR:
            request, flags = self._pair(direction, message, flags)
            labels = labels_of(message, request.labels if request else NO_LABELS)
            if request is not None:
                request_seq = request.seq
                if elapsed_ns is not None and request.elapsed_ns is not None:
                    duration_ns = _within_64_bits(elapsed_ns - request.elapsed_ns)
                self._learn(direction, message, request)
            if kind is Kind.ERROR:
                error_code = _error_code(message)
            elif labels.session_id is not None:
                self._sessions.add(labels.session_id)
        else:
            labels = NO_LABELS
        return (
            self.seq,
            message.batch_index,
            stream,
            _KIND_CODES[kind],
            frame.size,
            _storable(message.method),
            message.id,
            labels.session_id,
            labels.session_update,
            labels.tool_call_id,
            labels.terminal_id,
            request_seq,
            duration_ns,
            error_code,
            " ".join(flags) or None,
            message.reason,
        )

    def _pair(
        self, direction: Direction, message: Message, flags: tuple[str, ...]
    ) -> tuple[_Request | None, tuple[str, ...]]:
        answered = self._open.response(direction, message.id or "")
        if answered is None:
            return None, (*flags, "orphan")
        if answered.ambiguous:
            flags = (*flags, "duplicate-id")
        if answered.cancelled:
            flags = (*flags, "late")
        return answered.request, flags

    def _judge_request(
        self,
        direction: Direction,
        message: Message,
        labels: Labels,
        elapsed_ns: int | None,
        flags: tuple[str, ...],
    ) -> tuple[str, ...]:
        request = _Request(self.seq, elapsed_ns, message.method, labels)
        if self._open.request(direction, message.id or "", request):
            flags = (*flags, "duplicate-id")
        method = message.method
        if direction is Direction.CLIENT:
            if labels.session_id is not None:
                self._sessions.add(labels.session_id)
                if method in _TELL_AGAIN:
                    self._retelling.add(labels.session_id)
            if method in _INITIALIZE:
                self.client = _names(_member(message.value, "params"), "clientInfo")
        elif labels.session_id is not None and labels.session_id not in self._sessions:
            flags = (*flags, "early")
        if method == "session/request_permission":
            params = _member(message.value, "params")
            return self._judge_version("toolCall" in params, "subject" in params, flags)
        return self._judge_version(method in V1_ONLY_METHODS, method in V2_ONLY_METHODS, flags)

    def _judge_notification(
        self, direction: Direction, message: Message, labels: Labels, flags: tuple[str, ...]
    ) -> tuple[str, ...]:
        if message.method == "$/cancel_request":
            target = _member(message.value, "params").get("requestId", ())
            if type(target) in _ID_TYPES:
                self._open.cancel(direction, id_text(target))
            return flags
        if direction is Direction.CLIENT:
            return flags
        update = labels.session_update
        if labels.session_id is not None and labels.session_id not in self._sessions:
            flags = (*flags, "early")
        if update is None:
            return flags
        if update == "subagent_update":  # it announces a session (docs/protocol.md: Sessions)
            child = _member(message.value["params"], "update").get("sessionId")
            if type(child) is str:
                self._sessions.add(child)
                if labels.session_id is not None:
                    self._roots[child] = self._roots.get(labels.session_id, labels.session_id)
        elif labels.tool_call_id is not None and update in ("tool_call", "tool_call_update"):
            flags = self._judge_tool_call(message, labels, flags)
        return self._judge_version(update in V1_ONLY_UPDATES, update in V2_ONLY_UPDATES, flags)

    def _judge_tool_call(
        self, message: Message, labels: Labels, flags: tuple[str, ...]
    ) -> tuple[str, ...]:
        final = self._final_calls.setdefault(labels.session_id, set())
        call = labels.tool_call_id or ""
        status = message.value["params"]["update"].get("status")
        if labels.session_update == "tool_call":
            final.discard(call)
            if status is None:
                flags = (*flags, "no-status")
        elif call in final and not self._is_told_again(labels.session_id):
            flags = (*flags, "after-final")
        if status in FINAL_STATUSES:
            final.add(call)
        return flags

    def _is_told_again(self, session: str | None) -> bool:
        """Tell whether the history of a session, or of the one at its top, is being told again."""
        return session is not None and (
            session in self._retelling or self._roots.get(session) in self._retelling
        )

    def _judge_version(
        self, is_v1_only: bool, is_v2_only: bool, flags: tuple[str, ...]
    ) -> tuple[str, ...]:
        """Flag what exists in the other version only than the one agreed on."""
        version = self.protocol_version
        if (version == 1 and is_v2_only) or (version == 2 and is_v1_only):  # noqa: PLR2004
            return (*flags, "other-version")
        return flags

    def _learn(self, direction: Direction, message: Message, request: _Request) -> None:
        """Take from an answer what it ends; from ``initialize`` who the agent is, and the version."""
        if request.method in _TELL_AGAIN and request.labels.session_id is not None:
            self._retelling.discard(request.labels.session_id)
        if (
            direction is not Direction.AGENT
            or request.method not in _INITIALIZE
            or message.kind is not Kind.RESULT
        ):
            return
        result = _member(message.value, "result")
        version = result.get("protocolVersion")
        if type(version) is str:
            self.protocol_version = _storable(version)
        elif type(version) is int:
            self.protocol_version = _within_64_bits(version)
        self.agent = _names(result, "agentInfo")


def messages_of(direction: Direction, frame: Frame) -> list[Message]:
    """Return the messages of a frame, every number as it was written."""
    if direction is not Direction.STDERR:
        return classify_frame(frame, as_written=True)
    # The cut of a prefix may go through a character: that is not the agent's fault.
    return [text_message(frame.raw if frame.size == len(frame.raw) else b"")]


def _names(holder: dict[str, Any], v1_key: str) -> dict[str, str]:
    """Return name, title and version of an Implementation: ``clientInfo``/``agentInfo`` or ``info``."""
    info = holder.get(v1_key, holder.get("info"))
    if type(info) is not dict:
        return {}
    return {
        key: _storable(info[key]) or ""
        for key in ("name", "title", "version")
        if type(info.get(key)) is str
    }


def _error_code(message: Message) -> int | None:
    code = _member(message.value, "error").get("code")
    return _within_64_bits(code) if type(code) is int else None


def _within_64_bits(number: int) -> int | None:
    return number if abs(number) <= _MAX_INTEGER else None


def _member(value: Any, key: str) -> dict[str, Any]:
    member = value.get(key) if type(value) is dict else None
    return member if type(member) is dict else {}


def _storable(text: str | None) -> str | None:
    """Return text as SQLite can hold it: a lone surrogate becomes visible."""
    if text is None or text.isascii():
        return text
    return text.encode(errors="backslashreplace").decode()
