"""How large a log is, and why, as JSON and as a page for people."""

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from acp_proxy.views.safe_text import visible
from acp_proxy.views.tables import table
from acp_proxy.views.units import count, size
from acp_proxy.views.upkeep import pruned_lines

if TYPE_CHECKING:
    from acp_proxy.log.space import Space

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DAYS_SHOWN = 7
_LARGEST_SHOWN = 5
_WEEK = 7


def space_document(found: "Space", ratio: float | None) -> dict[str, Any]:
    """Return how large a log is, and why.

    Args:
        found: As the log tells it.
        ratio: How large what is not compacted would be if it were, as a part; None for unknown.

    """
    relayed, compacted = found.relayed
    last = found.days[-1].day if found.days else 0
    week = sum(day.bytes for day in found.days if day.day > last - _WEEK)
    return {
        "fileBytes": found.pages.file,
        "usedBytes": found.pages.used,
        "freeBytes": found.pages.free,
        "parts": found.parts,
        "relayedBytes": relayed,
        "compactedBytes": compacted,
        "compactWouldFree": None if ratio is None else int((relayed - compacted) * (1 - ratio)),
        "days": [
            {
                "day": f"{_EPOCH + timedelta(days=one.day):%Y-%m-%d}",
                "connections": one.connections,
                "messages": one.messages,
                "bytes": one.bytes,
            }
            for one in found.days
        ],
        "lastWeekBytes": week,
        "largest": [{"connection": id_, "bytes": takes} for id_, takes in found.largest],
        "olderThanDays": {
            str(age): {"connections": many, "bytes": takes}
            for age, (many, takes) in found.older.items()
        },
        "pruned": pruned_lines(found.pruned),
        "halfDeleted": [one.connection_id for one in found.pruned if not one.finished],
    }


def space_parts(document: dict[str, Any]) -> list[str]:
    """Return that for people, as the parts of a page."""
    lines = [_fact("in use", f"{size(document['usedBytes'])}, {size(document['freeBytes'])} free")]
    if document["parts"]:
        parts = (f"{what} {size(takes)}" for what, takes in document["parts"].items())
        lines.append(_fact("made of", ", ".join(parts)))
    lines.append(
        _fact(
            "relayed",
            f"{size(document['relayedBytes'])}, {size(document['compactedBytes'])} of it compacted; "
            f"{size(document['lastWeekBytes'])} in the last week",
        )
    )
    largest = document["largest"][:_LARGEST_SHOWN]
    if largest:
        told = (f"{one['connection']} ({size(one['bytes'])})" for one in largest)
        lines.append(_fact("largest", f"connections {', '.join(told)}"))
    lines += _could_go(document)
    gone = document["pruned"]
    lines += [_fact("deleted", visible(line)) for line in gone[:_LARGEST_SHOWN]]
    if len(gone) > _LARGEST_SHOWN:
        lines.append(_fact("deleted", f"{len(gone) - _LARGEST_SHOWN} times more, before"))
    if document["halfDeleted"]:
        ids = ", ".join(map(str, document["halfDeleted"]))
        lines.append(_fact("half gone", f"{ids}: acp-proxy log vacuum completes that"))
    days = document["days"][-_DAYS_SHOWN:]
    page = ["\n".join(lines)]
    if len(days) > 1:
        rows = (
            (one["day"], one["connections"], one["messages"], size(one["bytes"])) for one in days
        )
        page.append(
            table(
                ("DAY", "CONNECTIONS", "MESSAGES", "BYTES"),
                rows,
                right="CONNECTIONS MESSAGES BYTES",
            )
        )
    return page


def _could_go(document: dict[str, Any]) -> list[str]:
    """Return what pruning and compacting would free."""
    lines = []
    ages = [
        f"{count(one['connections'], 'connection')} older than {age}d (about {size(one['bytes'])})"
        for age, one in document["olderThanDays"].items()
        if one["connections"]
    ]
    if ages:
        lines.append(_fact("prune", ", ".join(ages)))
    if document["compactWouldFree"]:
        lines.append(_fact("compact", f"would free about {size(document['compactWouldFree'])}"))
    if document["freeBytes"] > document["usedBytes"] // 10:
        lines.append(_fact("vacuum", f"would give back {size(document['freeBytes'])}"))
    return lines


def _fact(name: str, text: str) -> str:
    return f"{name + ':':14}{text}"
