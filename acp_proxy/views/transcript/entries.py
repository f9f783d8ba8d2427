"""Entries of the timeline: a thing of the state, or messages as they came, as data."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from acp_proxy.state.asides import Compaction, SessionMessage, Subagent
from acp_proxy.views.safe_text import decode
from acp_proxy.views.state_json import permission_object, terminal_object, tool_call_object
from acp_proxy.views.transcript.source import Body, body_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from acp_proxy.state.messages import Message
    from acp_proxy.state.permissions import Permission
    from acp_proxy.state.sessions import Session
    from acp_proxy.state.terminals import Terminal
    from acp_proxy.state.tool_calls import ToolCall
    from acp_proxy.state.turns import Turn
    from acp_proxy.views.transcript.shelving import Values
    from acp_proxy.views.transcript.source import Source

Entry = dict[str, Any]
"""One entry; its keys are described in docs/transcripts.md."""

_ASIDES: dict[type, str] = {
    Compaction: "compaction",
    Subagent: "subagent",
    SessionMessage: "sessionMessage",
}
_TOLD = (
    "compaction_id", "session_id", "message_id", "status", "title", "description", "state", "cwd",
    "additional_directories", "capabilities", "sender_session_id", "recipient_session_id",
    "sender_message_id", "recipient_message_id", "error", "summary", "content", "meta",
)  # fmt: skip
_OWN = ("seq", "firstSeq", "lastSeq")  # what the entry itself says


class Words:
    """Makes entries of one connection."""

    def __init__(self, source: "Source", values: "Values") -> None:
        self._source, self._values = source, values

    def body(self, seq: int) -> Body:
        """Return what a message says."""
        return body_of(self._source.row(seq))

    def between(self, first: int | None, last: int | None) -> dict[str, int]:
        """Return ``duration_ns`` from one message to another, nothing when it is unknown."""
        if first is None or last is None:
            return {}
        times = self._source.times((first, last))
        begun, ended = times.get(first), times.get(last)
        return {} if begun is None or ended is None else {"duration_ns": ended - begun}

    def content(self, session: "Session", thing: Any) -> Any:
        """Return the value of a thing that grows."""
        return self._values.content(session, thing)

    def message(self, session: "Session", message: "Message") -> Entry:
        """Tell a message, a thought or a v1 prompt."""
        return {
            "entry": "message",
            "role": message.role,
            **_given(messageId=message.message_id),
            "content": joined(self.content(session, message)),
            **_given(_meta=message.meta or None),
        }

    def prompt(self, seq: int, answer: int) -> Entry:
        """Tell a v2 prompt of which no message came."""
        params = self.body(seq).params
        content = params.get("prompt") if isinstance(params, dict) else None
        return {
            "entry": "message",
            "role": "user",
            "content": joined(content) if isinstance(content, list) else [],
            **({"unanswered": True} if answer == seq else _outcome(self.body(answer))),
        }

    def tool_call(
        self,
        session: "Session",
        call: "ToolCall",
        ended: int | None,
        terminals: "Iterable[Terminal]",
    ) -> Entry:
        """Tell a tool call with the terminals that it shows."""
        told = tool_call_object(self._values.whole(call), values=lambda _: None)
        told["content"] = list(self.content(session, call))
        shown = [self.terminal_object(session, terminal) for terminal in terminals]
        return {
            "entry": "toolCall",
            **_without(told, _OWN),
            **_given(endedSeq=ended),
            **(self.between(call.first_seq, ended) if ended != call.first_seq else {}),
            **_given(terminals=shown or None),
        }

    def terminal(self, session: "Session", terminal: "Terminal") -> Entry:
        """Tell a terminal that no tool call shows."""
        return {"entry": "terminal", **_without(self.terminal_object(session, terminal), _OWN)}

    def terminal_object(self, session: "Session", terminal: "Terminal") -> Entry:
        """Return a terminal with its output as text."""
        told = terminal_object(replace(terminal, output=None))
        if terminal.output is not None:
            output = bytes(self.content(session, terminal))
            told["bytes"] = len(output)
            told["text"] = decode(output)
        return told

    def permission(self, permission: "Permission", calls: "Mapping[str, ToolCall]") -> Entry:
        """Tell a question for permission, the answer, and how long it took."""
        told = permission_object(self._values.whole(permission))
        call = told.get("toolCall")
        id_ = call.get("toolCallId") if isinstance(call, dict) else None
        about = calls.get(id_) if isinstance(id_, str) else None
        if about is not None and about.title is not None:
            told["toolCallTitle"] = about.title
        waited = self.between(permission.seq, permission.answered_seq)
        return {
            "entry": "permission",
            **_without(told, ("seq",)),
            **_given(waited_ns=waited.get("duration_ns")),
        }

    def question(self, seq: int, answer: int) -> Entry:
        """Tell a question for other input."""
        told = self.request(seq, answer)
        waited = told.pop("duration_ns", None)
        return {**told, "entry": "question", **_given(waited_ns=waited)}

    def request(self, seq: int, answer: int) -> Entry:
        """Tell any request with its answer; there is none when both seqs are equal."""
        body = self.body(seq)
        told: Entry = {"entry": "request", "from": body.row.stream, "method": body.row.method}
        told |= _said(body, "params")
        if answer != seq:
            told |= {"answerSeq": answer, **_outcome(self.body(answer))}
            told |= self.between(seq, answer)
        return told

    def notification(self, seq: int) -> Entry:
        """Tell any notification."""
        body = self.body(seq)
        told = {"entry": "notification", "from": body.row.stream, "method": body.row.method}
        return {**told, **_said(body, "params")}

    def update(self, seq: int, word: str) -> Entry:
        """Tell an update as it was sent."""
        body = self.body(seq)
        return {"entry": word, **(_text(body) if body.update is None else {"update": body.update})}

    def plan(self, seq: int) -> Entry:
        """Tell a plan as it stood."""
        update = self.body(seq).update or {}
        plan = update.get("plan", {k: one for k, one in update.items() if k != "sessionUpdate"})
        return {"entry": "plan", "plan": plan}

    def answer(self, seq: int) -> Entry:
        """Tell an answer that nobody asked for."""
        body = self.body(seq)
        return {"entry": "answer", "from": body.row.stream, "id": _id(body), **_outcome(body)}

    def notice(self, seq: int) -> Entry:
        """Tell a notice."""
        update = self.body(seq).update or {}
        return {"entry": "notice", "notice": _without(update, ("sessionUpdate",))}

    def aside(self, session: "Session", thing: "Compaction | Subagent | SessionMessage") -> Entry:
        """Tell a compaction, a subagent, or a message between sessions."""
        told: Entry = {"entry": _ASIDES[type(thing)]}
        for name in _TOLD:
            value = getattr(thing, name, None)
            if name in ("summary", "content") and value is not None:
                value = joined(self.content(session, thing))
            if value not in (None, {}):
                told[_camel(name)] = value
        return told

    def turn_end(self, turn: "Turn", seq: int, usage: int | None) -> Entry:
        """Tell how a turn ended, and what it used."""
        body = self.body(seq)
        said = body.update
        if said is None and body.value is not None:
            said = body.value.get("result")
        used = said.get("usage") if isinstance(said, dict) else None
        context = None if usage is None else self.body(usage).update
        return {
            "entry": "turnEnd",
            "startedSeq": turn.started_seq,
            **_given(promptSeq=turn.prompt_seq, stopReason=turn.stop_reason, error=turn.error),
            **self.between(turn.started_seq, seq),
            **_given(
                usage=used,
                context=None if context is None else _without(context, ("sessionUpdate",)),
            ),
        }


def joined(content: "Iterable[Any]") -> list[Any]:
    """Return content blocks with plain texts that follow one another as one."""
    found: list[Any] = []
    texts: list[str] = []
    for block in content:
        if _is_plain(block):
            texts.append(block["text"])
            continue
        if texts:
            found.append({"type": "text", "text": "".join(texts)})
            texts = []
        found.append(block)
    return [*found, {"type": "text", "text": "".join(texts)}] if texts else found


def _is_plain(block: Any) -> bool:
    return (
        isinstance(block, dict)
        and block.get("type") == "text"
        and type(block.get("text")) is str
        and len(block) == 2  # noqa: PLR2004 - nothing but type and text
    )


def _said(body: Body, key: str) -> Entry:
    """Return a member of a message; of one that cannot be read, its text."""
    if body.value is None:
        return _text(body)
    return {key: body.value[key]} if key in body.value else {}


def _outcome(body: Body) -> Entry:
    if body.value is None:
        return _text(body)
    return {key: body.value[key] for key in ("result", "error") if key in body.value}


def _text(body: Body) -> Entry:
    return {"text": decode(body.row.raw).rstrip("\r\n")}


def _id(body: Body) -> Any:
    return None if body.value is None else body.value.get("id")


def _camel(name: str) -> str:
    """Return a name as the protocol writes it; ``meta`` is ``_meta``."""
    first, *rest = name.split("_")
    return "_meta" if name == "meta" else first + "".join(word.capitalize() for word in rest)


def _without(told: Entry, keys: "Iterable[str]") -> Entry:
    return {key: value for key, value in told.items() if key not in keys}


def _given(**values: Any) -> Entry:
    return {key: value for key, value in values.items() if value is not None}
