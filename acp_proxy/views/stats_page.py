"""The numbers of a connection as a page for people; harmless text."""

from typing import Any

from acp_proxy.views.safe_text import visible
from acp_proxy.views.tables import table
from acp_proxy.views.units import count, duration, size

_LISTED = ("completed", "failed", "cancelled", "unfinished")
_POINTS = ("p50", "p90", "p99", "max")
Fact = tuple[str, str]


def stats_parts(document: dict[str, Any]) -> list[str]:
    """Return those numbers for people, as the parts of a page."""
    parts: list[str] = [_head(document)]
    if document["at"]:
        parts.append(_kinds_table(document))
    if document["methods"]:
        parts.append(_methods_table(document["methods"]))
    facts = [
        *_flags(document["flags"]),
        *_prompts(document["prompts"]),
        *_turns(document["turns"]),
        *_permissions(document["permissions"]),
        *[("usage", _usage(one)) for one in document["usage"]],
    ]
    if facts:
        parts.append("\n".join(f"{name + ':':12}{visible(text)}" for name, text in facts))
    if document["toolCalls"]:
        parts.append(_tool_calls_table(document["toolCalls"]))
    return parts


def _head(document: dict[str, Any]) -> str:
    long = duration(document["duration_ns"])
    kinds = document["kinds"].values()
    messages = count(sum(sum(each.values()) for each in kinds), "message")
    whole = size(sum(document["bytes"].values()))
    took = f", {long}" if long else ""
    return (
        f"connection {document['connection']} ({visible(document['status'])}) up to message "
        f"{document['at']}: {messages}, {whole} bytes{took}"
    )


def _kinds_table(document: dict[str, Any]) -> str:
    kinds = [
        kind
        for kind in document["kinds"]["client"]
        if any(each[kind] for each in document["kinds"].values())
    ]
    heads = [kind.upper() for kind in kinds]
    rows = [
        (stream, size(document["bytes"][stream]), *[each[kind] or "" for kind in kinds])
        for stream, each in document["kinds"].items()
        if any(each.values())
    ]
    return table(("FROM", "BYTES", *heads), rows, right=" ".join(["BYTES", *heads]))


def _methods_table(methods: list[dict[str, Any]]) -> str:
    rows = []
    for one in methods:
        is_request = one["kind"] == "request"
        rows.append((
            one["from"],
            " ".join(filter(None, (one["method"], one.get("sessionUpdate")))),
            one["count"],
            size(one["bytes"]),
            one["errors"] or "" if is_request else "",
            one["count"] - one["answered"] or "" if is_request else "",
            size(one["answerBytes"]) if is_request and one["answered"] else "",
            *_points(one.get("latency_ns")),
        ))  # fmt: skip
    heads = (
        "FROM",
        "METHOD",
        "COUNT",
        "BYTES",
        "ERRORS",
        "OPEN",
        "ANSWERS",
        "P50",
        "P90",
        "P99",
        "MAX",
    )
    return table(heads, rows, right=" ".join(heads[2:]))


def _points(spread: dict[str, int] | None) -> list[str]:
    return [duration(spread[point]) if spread else "" for point in _POINTS]


def _flags(flags: dict[str, int]) -> list[Fact]:
    return [("flags", _counts(flags))] if flags else []


def _prompts(prompts: dict[str, Any]) -> list[Fact]:
    first = _spread_text(prompts["firstUpdate_ns"])
    after = f"; first update after {first}" if first else ""
    return [("prompts", f"{prompts['count']}{after}")] if prompts["count"] else []


def _turns(turns: dict[str, Any]) -> list[Fact]:
    ends = {**turns["stopReasons"], **({"open": turns["open"]} if turns["open"] else {})}
    took = _spread_text(turns["duration_ns"])
    lasted = f"; lasted {took}" if took else ""
    return [("turns", f"{turns['count']} ({_counts(ends)}){lasted}")] if turns["count"] else []


def _permissions(permissions: dict[str, Any]) -> list[Fact]:
    if not permissions["count"]:
        return []
    text = f"{permissions['count']} ({_counts(permissions['answers'])})"
    if took := _spread_text(permissions["wait_ns"]):
        text += f"; answered after {took}"
    if permissions["waited_ns"]:
        text += f"; somebody was waited for during {duration(permissions['waited_ns'])}"
    return [("permission", text)]


def _usage(usage: dict[str, Any]) -> str:
    cost = usage.get("cost")
    paid = f", cost {cost.get('amount')} {cost.get('currency')}" if isinstance(cost, dict) else ""
    return (
        f"context {usage.get('used')} of {usage.get('size')}{paid} (session {usage['sessionId']})"
    )


def _counts(numbers: dict[str, int]) -> str:
    return ", ".join(f"{number} {what}" for what, number in numbers.items())


def _tool_calls_table(kinds: list[dict[str, Any]]) -> str:
    heads = (
        "TOOL CALLS",
        "COUNT",
        *[status.upper() for status in _LISTED],
        "P50",
        "P90",
        "P99",
        "MAX",
    )
    rows = [
        (
            one["kind"],
            one["count"],
            *[one[status] or "" for status in _LISTED],
            *_points(one["duration_ns"]),
        )
        for one in kinds
    ]
    return table(heads, rows, right=" ".join(heads[1:]))


def _spread_text(spread: dict[str, int] | None) -> str:
    if spread is None:
        return ""
    if spread["count"] == 1:
        return duration(spread["max"])
    return ", ".join(f"{point} {duration(spread[point])}" for point in _POINTS)
