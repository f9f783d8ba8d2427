"""The transcript as JSON: the timeline as data, one entry a line (docs/transcripts.md)."""

from typing import TYPE_CHECKING, Any

from acp_proxy.views.state_json import state_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acp_proxy.log.rows import ConnectionRow
    from acp_proxy.views.transcript.timeline import Timeline

VERSION = 1


class JSONWriter:
    """Writes a transcript as one JSON document."""

    def pieces(self, timeline: "Timeline", row: "ConnectionRow", at: int) -> "Iterator[str]":
        """Yield the document in pieces."""
        yield f'{{"acp-proxy-transcript": {VERSION},\n'
        yield f'"connection": {state_text(timeline.facts(row, at))},\n"sessions": ['
        before = "\n"
        for chapter in timeline.chapters():
            yield f"{before}{_opened(chapter.head)}"
            comma = "\n"
            for entry in chapter.entries:
                yield f"{comma}{state_text(entry)}"
                comma = ",\n"
            yield "\n]}"
            before = ",\n"
        yield f'\n],\n"notShown": {state_text(dict(timeline.not_shown))}}}\n'


def _opened(head: dict[str, Any]) -> str:
    """Return the head of a session, with the list of its entries begun."""
    return f'{state_text(head)[:-1]}, "entries": ['
