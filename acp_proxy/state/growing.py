"""Values that only grow at their end: lists of JSON values, and the bytes of a terminal.

Their beginning may be text that nobody has parsed yet (a state that was loaded from a
checkpoint), or gone from memory altogether (in the recorder, whose log has it). Here
is how it is held; what is appended to what is the reducers' affair.
"""

from typing import TYPE_CHECKING, Any, Final

import orjson

from acp_proxy.errors import LogError
from acp_proxy.wire.exact_json import parse_exactly, write

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

PLAIN: Final = b"="
EXACT: Final = b"~"
_MOST: Final = 2**40
"""No list is as long as that."""


def pack(values: list[Any]) -> bytes:
    """Return values as one piece of text: a mark, then JSON without the brackets.

    The mark says whether a fast parser reads them exactly, or only ours: an integer beyond
    64 bits, a number that remembers its text, half of a surrogate pair, deep nesting.
    """
    try:
        return PLAIN + orjson.dumps(values)[1:-1]
    except (orjson.JSONEncodeError, RecursionError):
        return EXACT + write(values)[1:-1].encode(errors="surrogatepass")


def unpack(text: bytes) -> list[Any]:
    """Return the values that ``pack`` was given.

    Raises:
        LogError: It is no such text.

    """
    json = b"[%b]" % text[1:]
    try:
        values = orjson.loads(json) if text[:1] == PLAIN else parse_exactly(json).value
        if type(values) is list:
            return values
    except ValueError:
        pass
    raise damaged()


def damaged() -> LogError:
    """Return what to say of a checkpoint that cannot be read."""
    return LogError("a checkpoint in the log is damaged", "mend it with: acp-proxy log reindex")


class Packed(bytes):
    """A value as text (``pack``), where nobody will look into it again (in the recorder)."""

    __slots__ = ()

    @classmethod
    def of(cls, value: Any) -> "Packed":
        """Return a value packed."""
        return cls(pack([value]))

    @property
    def json(self) -> str:
        """The value as JSON, exactly."""
        return self[1:].decode()


def unpacked(value: Any) -> Any:
    """Return a value itself, whether it is packed or not."""
    return unpack(value)[0] if isinstance(value, Packed) else value


class Blocks:
    """A list of JSON values, as sent.

    Attributes:
        saved: How many of its first values the last checkpoint has.
        since: The first checkpoint that has any of them, None while none has.

    """

    __slots__ = ("_items", "_seen", "_texts", "saved", "since")

    def __init__(self, items: "Iterable[Any]" = ()) -> None:
        self._items = list(items) or None  # None: no list is held for what is often empty
        self._texts: list[bytes] | None = []  # None: let go
        self._seen: list[Any] | None = None  # the texts' values, once somebody asked for one
        self.saved = 0
        self.since: int | None = None

    @classmethod
    def stored(cls, texts: list[bytes], saved: int, since: int) -> "Blocks":
        """Return a list from what ``cut`` gave.

        Raises:
            ValueError: It cannot be as long as that.

        """
        blocks = cls.__new__(cls)
        blocks._items = blocks._seen = None
        blocks._texts = [text for text in texts if len(text) > 1]
        if not (0 < saved < _MOST if blocks._texts else saved == 0):
            raise ValueError(f"{saved} values in {len(blocks._texts)} pieces")
        blocks.saved, blocks.since = saved, since
        return blocks

    def append(self, value: Any) -> None:
        """Add a value at the end."""
        if self._items is None:
            self._items = []
        self._items.append(value)

    def tail(self, place: int) -> list[Any]:
        """Return the values from a place on that no checkpoint has."""
        return (self._items or [])[max(0, place - self.saved) :]

    def cut(self, seq: int) -> bytes:
        """Return as text what no checkpoint has yet, which the one at ``seq`` has from now on."""
        items = self._items or []
        text = pack(items)
        if self.since is None:
            self.since = seq
        if items and self._texts is not None:
            self._texts.append(text)
            self._seen = None
        self.saved += len(items)
        self._items = None
        return text

    def let_go(self) -> None:
        """Forget the values that checkpoints have; they cannot be read here any more."""
        self._texts, self._seen = None, None

    def json(self) -> bytes:
        """Return the list as JSON, without parsing what is text."""
        texts = [*self._stored(), pack(self._items or [])]
        return b"[%b]" % b",".join(text[1:] for text in texts if len(text) > 1)

    def _stored(self) -> list[bytes]:
        if self._texts is None and self.saved:
            raise RuntimeError("these values are in the log only")
        return self._texts or []

    def __len__(self) -> int:
        return self.saved + len(self._items or ())

    def __iter__(self) -> "Iterator[Any]":
        for text in self._stored():
            yield from unpack(text)
        yield from self._items or ()

    def __getitem__(self, place: int) -> Any:
        if place >= self.saved:
            return (self._items or [])[place - self.saved]
        if self._seen is None:
            self._seen = [value for text in self._stored() for value in unpack(text)]
        return self._seen[place]

    def __repr__(self) -> str:
        return f"<{len(self)} blocks>"


class Output:
    """The bytes of a terminal.

    Attributes:
        saved: How many of its first bytes the last checkpoint has.
        since: The first checkpoint that has any of them, None while none has.

    """

    __slots__ = ("_data", "_gone", "saved", "since")

    def __init__(self, data: bytes = b"") -> None:
        self._data = bytearray(data)
        self._gone = 0
        self.saved = 0
        self.since: int | None = None

    @classmethod
    def stored(cls, pieces: list[bytes], saved: int, since: int) -> "Output":
        """Return bytes from what ``cut`` gave.

        Raises:
            ValueError: They are not as many as there were.

        """
        output = cls(b"".join(pieces))
        if len(output) != saved:
            raise ValueError(f"{len(output)} bytes instead of {saved}")
        output.saved, output.since = saved, since
        return output

    def append(self, data: bytes) -> None:
        """Add bytes at the end."""
        self._data += data

    def tail(self, place: int) -> bytes:
        """Return the bytes from a place on, without a copy of those before it."""
        if place < self._gone:
            raise RuntimeError("these bytes are in the log only")
        return bytes(memoryview(self._data)[place - self._gone :])

    def cut(self, seq: int) -> bytes:
        """Return what no checkpoint has yet, which the one at ``seq`` has from now on."""
        if self.since is None:
            self.since = seq
        data = bytes(memoryview(self._data)[self.saved - self._gone :])
        self.saved = len(self)
        return data

    def let_go(self) -> None:
        """Forget the bytes that checkpoints have; they cannot be read here any more."""
        del self._data[: self.saved - self._gone]
        self._gone = self.saved

    def __len__(self) -> int:
        return self._gone + len(self._data)

    def __bytes__(self) -> bytes:
        if self._gone:
            raise RuntimeError("these bytes are in the log only")
        return bytes(self._data)
