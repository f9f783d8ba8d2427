"""What upkeep of a log would do, or did, as text and as JSON."""

from typing import TYPE_CHECKING, Any, NamedTuple

from acp_proxy.views.jsonlines import rfc3339
from acp_proxy.views.tables import connections_table, table
from acp_proxy.views.units import count, size

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from acp_proxy.log.compaction import Standing
    from acp_proxy.log.gone import Pruned
    from acp_proxy.log.pruning import Freed, Survey
    from acp_proxy.log.retention import Candidate, Choice
    from acp_proxy.log.rows import ConnectionRow
    from acp_proxy.log.vacuum import Vacuumed


def choice_parts(choice: "Choice", found: "Survey", rows: "Iterable[ConnectionRow]") -> list[str]:
    """Return what would be deleted, as parts of a page; ``rows`` are those of ``choice.going``."""
    parts = []
    if choice.going:
        parts.append(connections_table(rows))
    lines = []
    if choice.going:
        what = _what(choice.going)
        about = sum(one.bytes for one in choice.going)
        lines.append(f"to delete: {what}, about {size(about)} of {size(found.used_bytes)} in use")
    else:
        lines.append("to delete: nothing")
    lines += [f"stays:     connection {one.id}: {why}" for one, why in choice.staying]
    if found.unfinished:
        ids = ", ".join(str(one.connection_id) for one in found.unfinished)
        lines.append(f"half gone: {ids}: a pruning was interrupted; this one completes it")
    return [*parts, "\n".join(lines)]


def _what(ones: "Sequence[Candidate]") -> str:
    connections = count(len(ones), "connection")
    frames = count(sum(one.frames for one in ones), "frame")
    messages = count(sum(one.messages for one in ones), "message")
    return f"{connections}, {frames}, {messages}"


def freed_page(freed: "Freed", left: "Vacuumed | None") -> str:
    """Return what was deleted."""
    lines = [f"deleted:   {_what(freed.gone)}; {size(freed.bytes)} freed inside the log"]
    if freed.completed:
        lines.append(f"completed: {', '.join(map(str, freed.completed))}")
    if left is not None:
        lines.append(vacuumed_page(left))
    elif freed.bytes:
        lines.append(
            "the file is as large as before, and does not grow until that is used; "
            "acp-proxy log vacuum gives it back to the disk"
        )
    return "\n".join(lines)


def vacuumed_page(done: "Vacuumed") -> str:
    """Return what giving space back came to."""
    text = f"the log is {size(done.after)} now, {size(max(0, done.before - done.after))} less than before"
    if done.waits:
        text += "; somebody reads it: it becomes smaller when that ends and something is recorded"
    return text


def pruning_document(
    choice: "Choice", found: "Survey", freed: "Freed | None", left: "Vacuumed | None"
) -> dict[str, Any]:
    """Return what would be deleted, and, once it is, what was."""
    return {
        "toDelete": [
            {
                "connection": one.id,
                "uuid": one.uuid,
                "added": rfc3339(one.added_ns),
                "frames": one.frames,
                "messages": one.messages,
                "bytes": one.bytes,
            }
            for one in choice.going
        ],
        "staying": [{"connection": one.id, "why": why} for one, why in choice.staying],
        "halfDeleted": [one.connection_id for one in found.unfinished],
        "deleted": None
        if freed is None
        else {
            "connections": [one.id for one in freed.gone],
            "completed": freed.completed,
            "frames": sum(one.frames for one in freed.gone),
            "messages": sum(one.messages for one in freed.gone),
            "bytes": freed.bytes,
        },
        "vacuumed": None if left is None else vacuumed_document(left),
    }


def vacuumed_document(done: "Vacuumed") -> dict[str, Any]:
    """Return what giving space back came to."""
    return {
        "before": done.before,
        "after": done.after,
        "inSlices": done.in_slices,
        "waitsForReaders": done.waits,
    }


class Compacted(NamedTuple):
    """What compacting came to, or would.

    Attributes:
        choice: What is compacted, and what is not though somebody asked.
        undo: Whether it is the undoing of it.
        expected: How many bytes of frames it would free, None when that was not asked.
        packed: How much of each connection is compacted now, None when nothing was done.
        freed: By how much what the log holds has become less.
        left: What giving space back came to.

    """

    choice: "Choice"
    undo: bool
    expected: int | None = None
    packed: "dict[int, Standing] | None" = None
    freed: int | None = None
    left: "Vacuumed | None" = None


def compacted_parts(done: Compacted) -> list[str]:
    """Return what compacting came to, or would, as parts of a page."""
    parts: list[str] = []
    if done.packed and not done.undo:
        parts.append(_packed_table(done.choice.going, done.packed))
    what = _what(done.choice.going)
    if not done.choice.going:
        lines = [f"to {'undo' if done.undo else 'compact'}: nothing"]
    elif done.freed is None:
        lines = [f"to {'undo' if done.undo else 'compact'}: {what}"]
        if done.expected is not None:
            lines.append(f"would free about {size(done.expected)} of their frames")
    else:
        change = "freed" if done.freed >= 0 else "more"
        lines = [
            f"{'undone' if done.undo else 'compacted'}: {what}; {size(abs(done.freed))} {change} in the log"
        ]
    lines += [f"left alone: connection {one.id}: {why}" for one, why in done.choice.staying]
    if done.left is not None:
        lines.append(vacuumed_page(done.left))
    return [*parts, "\n".join(lines)]


def _packed_table(ones: "Sequence[Candidate]", packed: "dict[int, Standing]") -> str:
    return table(
        ("ID", "FRAMES", "BYTES", "PACKED", "PART"),
        (
            (
                one.id,
                packed[one.id].frames,
                size(packed[one.id].bytes),
                size(packed[one.id].packed_bytes),
                f"{packed[one.id].packed_bytes / max(1, packed[one.id].bytes):.0%}",
            )
            for one in ones
            if one.id in packed
        ),
        right="ID FRAMES BYTES PACKED PART",
    )


def compacted_document(done: Compacted) -> dict[str, Any]:
    """Return what compacting came to, or would."""
    packed = done.packed or {}
    return {
        "undo": done.undo,
        "connections": [
            {"connection": one.id, "uuid": one.uuid, "frames": one.frames}
            | (
                {"bytes": packed[one.id].bytes, "packedBytes": packed[one.id].packed_bytes}
                if one.id in packed
                else {}
            )
            for one in done.choice.going
        ],
        "staying": [{"connection": one.id, "why": why} for one, why in done.choice.staying],
        "expected": done.expected,
        "freed": done.freed,
        "vacuumed": None if done.left is None else vacuumed_document(done.left),
    }


def pruned_lines(gone: "Sequence[Pruned]") -> list[str]:
    """Return what a log tells of the connections that were deleted from it, newest reason first."""
    reasons: dict[str, list[Pruned]] = {}
    for one in sorted(gone, key=lambda one: one.pruned_ns, reverse=True):
        reasons.setdefault(one.why, []).append(one)
    return [
        f"{count(len(ones), 'connection')} by {why}, last on "
        f"{(rfc3339(ones[0].pruned_ns) or '')[:16].replace('T', ' ')}"
        for why, ones in reasons.items()
    ]
