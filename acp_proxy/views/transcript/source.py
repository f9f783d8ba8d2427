"""What the timeline asks for beside the state: messages and their times; and who blanks secrets."""

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from acp_proxy.views.preview import member_of
from acp_proxy.views.safe_text import decode
from acp_proxy.wire.jsonrpc import classify

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from acp_proxy.log.rows import MessageRow


class Source(Protocol):
    """The messages of one connection."""

    def row(self, seq: int) -> "MessageRow":
        """Return a message with its frame."""

    def lines(self, stream: str, kind: str, first: int, last: int) -> "Iterator[MessageRow]":
        """Yield the messages of a stream and a kind from one to another."""

    def times(self, seqs: "Iterable[int]") -> dict[int, int | None]:
        """Return when messages came, in ns since the connection began."""


class Redactor(Protocol):
    """Blanks secrets."""

    def redact_value(self, value: Any) -> tuple[Any, int]:
        """Return a JSON value with its secrets blanked, and how many there were."""


class NothingBlanked:
    """A redactor that leaves all as it is."""

    def redact_value(self, value: Any) -> tuple[Any, int]:
        """Return the value."""
        return value, 0


class Body(NamedTuple):
    """What a message says.

    Attributes:
        row: The message.
        value: It as JSON, None when it is none that can be read.
        params: Its params, None when there are none.
        update: The update in them, None when there is none.

    """

    row: "MessageRow"
    value: dict[str, Any] | None
    params: Any
    update: dict[str, Any] | None


def body_of(row: "MessageRow") -> Body:
    """Return what a message says, every number as it was written."""
    value = classify(member_of(row), as_written=True)[0].value
    if not isinstance(value, dict):
        return Body(row, None, None, None)
    params = value.get("params")
    update = params.get("update") if isinstance(params, dict) else None
    return Body(row, value, params, update if isinstance(update, dict) else None)


def line_text(row: "MessageRow") -> str:
    """Return a line without its end, or the member of a batch; invalid UTF-8 becomes surrogates."""
    return decode(member_of(row)).removesuffix("\n").removesuffix("\r")
