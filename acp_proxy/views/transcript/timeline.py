"""The timeline: session after session, entry after entry, with secrets blanked in each."""

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from acp_proxy.advance import Advance, counted, unwatched
from acp_proxy.views.jsonlines import rfc3339
from acp_proxy.views.transcript.entries import Entry, Words, joined
from acp_proxy.views.transcript.gathering import OPENING
from acp_proxy.views.transcript.marks import Kind, Mark, Section
from acp_proxy.views.transcript.source import line_text
from acp_proxy.wire.exact_json import write

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from acp_proxy.log.rows import ConnectionRow
    from acp_proxy.state.fold import State
    from acp_proxy.state.sessions import Session
    from acp_proxy.views.transcript.gathering import Gatherer
    from acp_proxy.views.transcript.shelving import Values
    from acp_proxy.views.transcript.source import Redactor, Source

_BLANKED_APART = 5  # levels of an entry that are ours, or that shapes look into
_LINES = 500  # of one entry at most
_LOOK_AHEAD = 50  # marks after a v2 prompt among which its message is looked for
_THOUGHTS = "messages of thoughts"
_OTHERS = "messages of other sessions, and of none"


class Chapter(NamedTuple):
    """One session, or what came before the first one.

    Attributes:
        head: What is known of it as a whole; no ``sessionId`` before the first session.
        entries: To be read once, before the next chapter is asked for.

    """

    head: Entry
    entries: "Iterator[Entry]"


class Timeline:
    """What was gathered of a connection, as data.

    Attributes:
        blanked: How many values were blanked so far.
        not_shown: How many messages of which sort have no entry; whole when all was read.
        advance: Is told of each mark (``marks``) that chapters went by.

    """

    def __init__(
        self,
        source: "Source",
        gatherer: "Gatherer",
        state: "State",
        values: "Values",
        redactor: "Redactor",
        session: str | None = None,
    ) -> None:
        self.blanked = 0
        self.not_shown: Counter[str] = Counter()
        self.advance: Advance = unwatched
        self._source, self._gatherer, self._state = source, gatherer, state
        self._words = Words(source, values)
        self._redactor = redactor
        self._session = session
        self._with_thoughts = True

    def leave_out_thoughts(self) -> None:
        """Tell no thoughts; they count as not shown."""
        self._with_thoughts = False

    def marks(self) -> int:
        """Return how many marks chapters will go by: about as many as there are entries."""
        return sum(len(section.marks) for _, section in self._wanted())

    def facts(self, row: "ConnectionRow", at: int) -> Entry:
        """Return the facts of the connection: what differs when a log is imported elsewhere."""
        known = {
            "connection": row.id,
            "uuid": row.uuid,
            "label": row.label,
            "command": row.command,
            "cwd": row.cwd,
            "client": row.client or None,
            "agent": row.agent or None,
            "started": rfc3339(row.started_ns),
            "duration_ns": row.duration_ns,
            "status": row.status,
            "exitCode": row.exit_code,
            "signal": row.signal,
            "protocolVersion": self._state.protocol_version,
            "messages": row.messages,
            "at": at,
            "gaps": row.gaps or None,
        }
        return self._blank({key: value for key, value in known.items() if value is not None})

    def names(self) -> list[str]:
        """Return the ids of the sessions that chapters will tell, empty before the first one."""
        named = [id_ or "" for id_, section in self._wanted()]
        names: list[str] = self._blank({"names": named})["names"]
        return names

    def _wanted(self) -> "Iterator[tuple[str | None, Section]]":
        for id_, section in self._gatherer.sections.items():
            if self._session in (None, id_) and (len(section.marks) or section.hidden):
                yield id_, section

    def chapters(self) -> "Iterator[Chapter]":
        """Yield what is wanted, in the order in which it was first said."""
        shown = 0
        for id_, section in self._wanted():
            session = None if id_ is None else self._state.sessions.get(id_)
            telling = _Telling(self._words, self._source, section, session, self._blank)
            telling.is_alone = self._session is not None
            telling.with_thoughts = self._with_thoughts
            yield Chapter(self._head(section, session), telling.entries(self.advance))
            shown += telling.shown + sum(section.hidden.values())
            self.not_shown += section.hidden
            if telling.thoughts:
                self.not_shown[_THOUGHTS] += telling.thoughts
                shown += telling.thoughts
        del self.not_shown[OPENING]
        if self._session is not None:
            self.not_shown[_OTHERS] = self._state.seq - shown

    def _head(self, section: Section, session: "Session | None") -> Entry:
        if session is None:
            return {"messages": 0}
        known = {
            "sessionId": session.session_id,
            "title": session.title,
            "cwd": session.cwd,
            "mode": session.mode,
            "updatedAt": session.updated_at,
            "usage": session.usage,
            "closed": session.closed or None,
            "opened": [self._opened(seq, answer) for seq, answer in section.opened] or None,
        }
        told = {key: value for key, value in known.items() if value is not None}
        return self._blank({**told, "messages": section.hidden[OPENING]})

    def _opened(self, seq: int, answer: int) -> Entry:
        elapsed = self._source.times((seq,)).get(seq)
        when = {} if elapsed is None else {"elapsed_ns": elapsed}
        return {"seq": seq, **when, **self._words.request(seq, answer)}

    def _blank(self, entry: Entry) -> Entry:
        """Blank what is secret: the only way out for what a peer said."""
        blanked: Entry = self._blank_value(entry, _BLANKED_APART)
        return blanked

    def _blank_value(self, value: Any, levels: int) -> Any:
        """Blank a value; of one that is blanked as a whole (too deep), only what is too deep."""
        found, count = self._redactor.redact_value(value)
        if levels and isinstance(value, dict | list) and not isinstance(found, dict | list):
            if isinstance(value, list):
                return [self._blank_value(one, levels - 1) for one in value]
            return {key: self._blank_value(one, levels - 1) for key, one in value.items()}
        self.blanked += count
        return found


class _Telling:
    """Goes through the marks of one section."""

    def __init__(
        self,
        words: Words,
        source: "Source",
        section: Section,
        session: "Session | None",
        blank: "Callable[[Entry], Entry]",
    ) -> None:
        self.shown = 0
        self.thoughts = 0  # messages of thoughts that were left out
        self.is_alone = False
        self.with_thoughts = True
        self._words, self._source = words, source
        self._section, self._session = section, session
        self._blank = blank
        self._notes: dict[int, list[tuple[str, int, int]]] = {}
        self._shows: dict[str, list[Mark]] = {}  # terminals, by the call that shows them
        self._inside: set[int] = set()  # marks of terminals and prompts that others tell
        self._open_prompts: set[int | None] = set()
        self._prompts: dict[int, Mark] = {}  # v2 prompts, by the mark of their message

    def entries(self, advance: Advance) -> "Iterator[Entry]":
        """Yield the entries in order."""
        self._prepare()
        for index in counted(range(len(self._section.marks)), advance):
            mark = self._section.marks[index]
            if mark.kind is Kind.GONE or index in self._inside:
                continue
            if self.is_alone and mark.is_foreign:
                continue
            if self._is_unwanted(mark):
                self.thoughts += mark.messages
                continue
            for entry in self._tell(index, mark):
                self.shown += entry["messages"]
                yield self._blank(entry)

    def _is_unwanted(self, mark: Mark) -> bool:
        is_thought = mark.kind is Kind.MESSAGE and mark.thing.role == "thought"
        return is_thought and not self.with_thoughts

    # What belongs to what.

    def _prepare(self) -> None:
        for note, (index, seq, more) in self._section.notes.items():
            self._notes.setdefault(index, []).append((note, seq, more))
        if self._session is None:
            return
        self._open_prompts = {
            turn.prompt_seq for turn in self._session.turns if turn.ended_seq is None
        }
        shown_by = self._terminals_shown(self._session)
        for index in range(len(self._section.marks)):
            mark = self._section.marks[index]
            if mark.kind is Kind.TERMINAL and mark.thing[1] in shown_by:
                self._shows.setdefault(shown_by[mark.thing[1]], []).append(mark)
                self._inside.add(index)
            elif mark.kind is Kind.PROMPT:
                message = self._message_of(self._session, index, mark)
                if message is not None and message not in self._prompts:
                    self._prompts[message] = mark
                    self._inside.add(index)

    def _terminals_shown(self, session: "Session") -> dict[str, str]:
        """Return by terminal the first tool call that shows it, or has its id (docs/protocol.md: Terminals in _meta)."""
        if not session.terminals:
            return {}
        found = {id_: id_ for owner, id_ in session.terminals if owner == "meta"}
        found = {id_: id_ for id_ in found if id_ in session.tool_calls}
        for call in session.tool_calls.values():
            for item in self._words.content(session, call):
                if isinstance(item, dict) and item.get("type") == "terminal":
                    id_ = item.get("terminalId")
                    if isinstance(id_, str):
                        found.setdefault(id_, call.tool_call_id)
        return found

    def _message_of(self, session: "Session", index: int, mark: Mark) -> int | None:
        """Return the mark of the message that a v2 prompt became."""
        marks = self._section.marks
        if mark.thing is not None:
            known = session.known_messages.get(("user", mark.thing))
            return None if known is None else marks.find(Kind.MESSAGE, known.first_seq)
        prompt = self._words.prompt(mark.seq, mark.seq)["content"]
        for later in range(index + 1, min(index + _LOOK_AHEAD, len(marks))):
            other = marks[later]
            if other.kind is Kind.MESSAGE and other.thing.role == "user":
                content = joined(self._words.content(session, other.thing))
                is_same = later not in self._prompts and write(content) == write(prompt)
                return later if is_same else None
        return None

    # Entries.

    def _tell(self, index: int, mark: Mark) -> "Iterator[Entry]":
        if mark.kind is Kind.LINES:
            yield from self._lines(mark)
            return
        told = self._of_kind(index, mark)
        extra = told.pop("inside", 0)
        word = told.pop("entry")
        elapsed = self._source.times((mark.seq,)).get(mark.seq)
        last = self._last_of(mark)
        entry: Entry = {"entry": word, "seq": mark.seq}
        if last > mark.seq:
            entry["lastSeq"] = last
        entry["messages"] = mark.messages + extra
        if elapsed is not None:
            entry["elapsed_ns"] = elapsed
        if mark.is_replayed:
            entry["replay"] = True
        notes = [
            {"seq": seq, "note": note, **({"more": more} if more else {})}
            for note, seq, more in self._notes.get(index, ())
        ]
        yield {**entry, **told, **({"notes": notes} if notes else {})}

    def _last_of(self, mark: Mark) -> int:
        """Return the last message of what a mark stands for."""
        session = self._session
        last: int | None = None
        if mark.kind is Kind.MESSAGE:
            last = mark.thing.last_seq
        elif session is not None and mark.kind in _WHERE:
            thing = getattr(session, _WHERE[mark.kind]).get(mark.thing)
            last = None if thing is None else thing.last_seq
        return mark.last if last is None else last

    def _of_kind(self, index: int, mark: Mark) -> Entry:
        words, session = self._words, self._session
        if mark.kind is Kind.MESSAGE:
            return self._message(index, mark)
        if session is not None and mark.kind in _THINGS:
            return _THINGS[mark.kind](self, session, mark)
        if mark.kind in (Kind.REQUEST, Kind.QUESTION, Kind.PROMPT):
            tell = {Kind.REQUEST: words.request, Kind.QUESTION: words.question}
            return tell.get(mark.kind, words.prompt)(mark.seq, mark.last)
        if mark.kind in (Kind.NOTIFICATION, Kind.ANSWER):
            tells = words.answer if mark.kind is Kind.ANSWER else words.notification
            return tells(mark.last)
        if mark.kind is Kind.PLAN:
            return words.plan(mark.last)
        return words.update(mark.last, "change" if mark.kind is Kind.CHANGE else "update")

    def _message(self, index: int, mark: Mark) -> Entry:
        assert self._session is not None
        told = self._words.message(self._session, mark.thing)
        if mark.thing.replay and not mark.is_replayed:
            told["retold"] = True
        if mark.seq in self._open_prompts:
            told["unanswered"] = True
        prompt = self._prompts.get(index)
        if prompt is not None:
            told |= {"promptSeq": prompt.seq, "inside": prompt.messages}
        return told

    def _tool_call(self, session: "Session", mark: Mark) -> Entry:
        shown = self._shows.get(mark.thing, [])
        terminals = (session.terminals[one.thing] for one in shown)
        ended = mark.last or None
        told = self._words.tool_call(session, session.tool_calls[mark.thing], ended, terminals)
        return {**told, "inside": sum(one.messages for one in shown)}

    def _terminal(self, session: "Session", mark: Mark) -> Entry:
        return self._words.terminal(session, session.terminals[mark.thing])

    def _permission(self, session: "Session", mark: Mark) -> Entry:
        return self._words.permission(session.permissions[mark.thing], session.tool_calls)

    def _turn_end(self, _session: "Session", mark: Mark) -> Entry:
        usage = self._section.usages.get(mark.seq)
        return self._words.turn_end(mark.thing, mark.seq, usage)

    def _notice(self, _session: "Session", mark: Mark) -> Entry:
        return self._words.notice(mark.seq)

    def _aside(self, session: "Session", mark: Mark) -> Entry:
        return self._words.aside(session, getattr(session, _WHERE[mark.kind])[mark.thing])

    def _lines(self, mark: Mark) -> "Iterator[Entry]":
        stream, kind = mark.thing
        texts: list[str] = []
        first: Any = None
        last = mark.seq
        for row in self._source.lines(stream, kind, mark.seq, mark.last):
            if kind == "invalid":
                yield _line_entry(row, row.seq, [line_text(row)], row.reason)
                continue
            if first is None:
                first = row
            texts.append(line_text(row))
            last = row.seq
            if len(texts) == _LINES:
                yield _line_entry(first, last, texts, None)
                first, texts = None, []
        if first is not None:
            yield _line_entry(first, last, texts, None)


def _line_entry(first: Any, last: int, texts: list[str], reason: str | None) -> Entry:
    entry: Entry = {"entry": "lines", "seq": first.seq}
    if last > first.seq:
        entry["lastSeq"] = last
    entry |= {"messages": len(texts)}
    if first.elapsed_ns is not None:
        entry["elapsed_ns"] = first.elapsed_ns
    entry |= {"from": first.stream, "kind": first.kind, "text": "\n".join(texts)}
    return entry if reason is None else {**entry, "reason": reason}


_WHERE = {
    Kind.TOOL_CALL: "tool_calls",
    Kind.TERMINAL: "terminals",
    Kind.COMPACTION: "compactions",
    Kind.SUBAGENT: "subagents",
    Kind.SESSION_MESSAGE: "session_messages",
}
_THINGS: "dict[Kind, Callable[[_Telling, Session, Mark], Entry]]" = {
    Kind.TOOL_CALL: _Telling._tool_call,
    Kind.TERMINAL: _Telling._terminal,
    Kind.PERMISSION: _Telling._permission,
    Kind.TURN_END: _Telling._turn_end,
    Kind.NOTICE: _Telling._notice,
    Kind.COMPACTION: _Telling._aside,
    Kind.SUBAGENT: _Telling._aside,
    Kind.SESSION_MESSAGE: _Telling._aside,
}
