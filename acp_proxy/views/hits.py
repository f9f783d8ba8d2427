"""What a search found, as a table and as JSON."""

from typing import TYPE_CHECKING, Any

from acp_proxy.views.preview import clip
from acp_proxy.views.safe_text import visible
from acp_proxy.views.tables import table

if TYPE_CHECKING:
    from collections.abc import Iterable

    from acp_proxy.log.search import Hit

_CELL = 40


def hits_table(hits: "Iterable[Hit]") -> str:
    """Return what was found, one a line, the words that were looked for between » and «."""
    return table(
        ("CONNECTION", "SEQ", "KIND", "SESSION", "TEXT"),
        (
            (hit.connection_id, hit.seq, hit.kind, clip(visible(hit.session_id or ""), _CELL), _marked(hit))
            for hit in hits
        ),
        right="CONNECTION SEQ",
    )  # fmt: skip


def hit_object(hit: "Hit") -> dict[str, Any]:
    """Return what was found as JSON: ``marks`` are start and length in ``text``."""
    return {
        "connection": hit.connection_id,
        "seq": hit.seq,
        "lastSeq": hit.last_seq,
        "kind": hit.kind,
        **({} if hit.session_id is None else {"sessionId": hit.session_id}),
        "text": hit.text,
        "marks": [list(mark) for mark in hit.marks],
    }


def _marked(hit: "Hit") -> str:
    text, at = "", 0
    for start, length in hit.marks:
        text += f"{hit.text[at:start]}»{hit.text[start : start + length]}«"
        at = start + length
    return " ".join((text + hit.text[at:]).split())
