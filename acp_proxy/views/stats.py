"""What a connection amounts to in numbers: counts, bytes, how long things took."""

import math
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from acp_proxy.events.labels import FINAL_STATUSES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from acp_proxy.log.rows import ConnectionRow
    from acp_proxy.log.statistics import CallMessage, Prompt, Tally, Things, Wait

_ASKS = "session/request_permission"
_LOADS = ("session/load", "session/resume")
_STREAMS = ("client", "agent", "stderr")
_KINDS = ("request", "notification", "result", "error", "text", "invalid")
_PERCENTILES = (50, 90, 99)


Spans = dict[tuple[str | None, str], tuple[int, int]]


class Counted(NamedTuple):
    """What was counted, and what the state says beside it.

    Attributes:
        connection: Which.
        tallies: Messages that are alike.
        flags: How many messages have each flag.
        waits: Requests that were answered.
        prompts: Prompts, and the first update after each.
        spans: The first and last message of each tool call, by session and id (``call_spans``).
        at: The last message that counts.
        things: What the state after it holds.
        times: When the messages came that things, prompts and permissions name, in ns.

    """

    connection: "ConnectionRow"
    tallies: "list[Tally]"
    flags: dict[str, int]
    waits: "list[Wait]"
    prompts: "list[Prompt]"
    spans: "Spans"
    at: int
    things: "Things"
    times: dict[int, int | None]


def call_spans(said: "Iterable[CallMessage]", waits: "list[Wait]") -> Spans:
    """Return the messages between which each tool call went on.

    What is said after its end does not make it longer, nor what is told again when
    its session is loaded or resumed.
    """
    windows: dict[str | None, list[Wait]] = {}
    for wait in waits:
        if wait.method in _LOADS:
            windows.setdefault(wait.session_id, []).append(wait)
    spans: Spans = {}
    over: set[tuple[str | None, str]] = set()
    for session, call, seq, is_after in said:
        key = (session, call)
        if windows and any(wait.seq < seq < wait.answer_seq for wait in windows.get(session, ())):
            continue
        if is_after:
            over.add(key)
        if key not in over:
            known = spans.get(key)
            spans[key] = (seq if known is None else known[0], seq)
    return spans


def named_seqs(
    things: "Things", waits: "list[Wait]", prompts: "list[Prompt]", spans: Spans
) -> set[int]:
    """Return the messages whose times are needed."""
    seqs = {first for first, _ in spans.values()} | {last for _, last in spans.values()}
    seqs |= {seq for prompt in prompts for seq in prompt if seq is not None}
    seqs |= {seq for wait in waits if wait.method == _ASKS for seq in (wait.seq, wait.answer_seq)}
    return seqs | {seq for turn in things.turns for seq in turn[:2] if seq is not None}


def spread(values: "Iterable[int | None]") -> dict[str, int] | None:
    """Return how durations spread; None when none is known.

    A percentile is exact: the smallest value that at least so many percent do not exceed.

    >>> spread([30, 10, None, 20, 40])
    {'count': 4, 'p50': 20, 'p90': 40, 'p99': 40, 'max': 40, 'total': 100}
    """
    known = sorted(value for value in values if value is not None)
    if not known:
        return None
    points = {
        f"p{percent}": known[math.ceil(percent * len(known) / 100) - 1] for percent in _PERCENTILES
    }
    return {"count": len(known), **points, "max": known[-1], "total": sum(known)}


def covered(intervals: "Iterable[tuple[int, int]]") -> int:
    """Return how long at least one of some intervals lasted.

    >>> covered([(0, 10), (5, 20), (30, 31)])
    21
    """
    whole, reached = 0, -math.inf
    for begin, end in sorted(intervals):
        begun = max(begin, reached)
        if end > begun:
            whole += int(end - begun)
            reached = end
    return whole


def stats_document(counted: Counted) -> dict[str, Any]:
    """Return all numbers, as ``stats --json`` prints them."""
    row, kinds = counted.connection, {stream: dict.fromkeys(_KINDS, 0) for stream in _STREAMS}
    sizes = dict.fromkeys(_STREAMS, 0)
    for tally in counted.tallies:
        kinds[tally.stream][tally.kind] += tally.messages
        sizes[tally.stream] += tally.bytes
    return {
        "connection": row.id,
        "at": counted.at,
        "status": row.status,
        "duration_ns": row.duration_ns,
        "bytes": sizes,
        "kinds": kinds,
        "flags": counted.flags,
        "methods": _methods(counted),
        "prompts": {
            "count": len(counted.prompts),
            "firstUpdate_ns": spread(
                _between(counted.times, prompt.seq, prompt.update_seq) for prompt in counted.prompts
            ),
        },
        "turns": _turns(counted),
        "permissions": _permissions(counted),
        "toolCalls": _tool_calls(counted),
        "usage": counted.things.usage,
    }


def _between(times: dict[int, int | None], first: int | None, last: int | None) -> int | None:
    begun = None if first is None else times.get(first)
    ended = None if last is None else times.get(last)
    return None if begun is None or ended is None else ended - begun


def _methods(counted: Counted) -> list[dict[str, Any]]:
    """Return requests and notifications by who sent them and their method, most frequent first."""
    waits: dict[tuple[str, str], list[Wait]] = {}
    for wait in counted.waits:
        waits.setdefault((wait.stream, wait.method), []).append(wait)
    found = []
    for tally in counted.tallies:
        if tally.kind not in ("request", "notification"):
            continue
        one: dict[str, Any] = {"from": tally.stream, "kind": tally.kind, "method": tally.method}
        if tally.update is not None:
            one["sessionUpdate"] = tally.update
        one |= {"count": tally.messages, "bytes": tally.bytes}
        if tally.kind == "request":
            answers = waits.get((tally.stream, tally.method or ""), [])
            one |= {
                "answered": len(answers),
                "errors": sum(wait.is_error for wait in answers),
                "answerBytes": sum(wait.bytes for wait in answers),
                "latency_ns": spread(wait.duration_ns for wait in answers),
            }
        found.append(one)
    return found


def _turns(counted: Counted) -> dict[str, Any]:
    turns, reasons = counted.things.turns, dict[str, int]()
    for turn in turns:
        if turn.end_seq is not None:
            word = "error" if turn.is_error else turn.stop_reason or "none"
            reasons[word] = reasons.get(word, 0) + 1
    return {
        "count": len(turns),
        "open": sum(turn.end_seq is None for turn in turns),
        "stopReasons": reasons,
        "duration_ns": spread(
            _between(counted.times, turn.begin_seq, turn.end_seq) for turn in turns
        ),
    }


def _permissions(counted: Counted) -> dict[str, Any]:
    """Return what a person was asked; the wait is the time in which at least one question stood."""
    asked, answers = counted.things.permissions, dict[str, int]()
    for status in asked:
        answers[status] = answers.get(status, 0) + 1
    waits = [wait for wait in counted.waits if wait.method == _ASKS]
    intervals = []
    for wait in waits:
        begun, ended = counted.times.get(wait.seq), counted.times.get(wait.answer_seq)
        if begun is not None and ended is not None:
            intervals.append((begun, ended))
    return {
        "count": len(asked),
        "answers": answers,
        "wait_ns": spread(wait.duration_ns for wait in waits),
        "waited_ns": covered(intervals) if intervals or not waits else None,
    }


def _tool_calls(counted: Counted) -> list[dict[str, Any]]:
    """Return the tool calls by kind."""
    kinds: dict[str, Counter[str]] = {}
    lasted: dict[str, list[int | None]] = {}
    times, spans = counted.times, counted.spans
    for session, id_, kind, status in counted.things.calls:
        if kind not in kinds:
            kinds[kind] = Counter()
        kinds[kind][status] += 1
        span = spans.get((session, id_))
        if span is not None and status in FINAL_STATUSES:
            lasted.setdefault(kind, []).append(_between(times, *span))
    return [
        {
            "kind": kind,
            "count": statuses.total(),
            **{status: statuses[status] for status in FINAL_STATUSES},
            "unfinished": sum(
                number for status, number in statuses.items() if status not in FINAL_STATUSES
            ),
            "duration_ns": spread(lasted.get(kind, ())),
        }
        for kind, statuses in sorted(kinds.items(), key=lambda item: (-item[1].total(), item[0]))
    ]
