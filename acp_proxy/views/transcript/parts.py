"""What an entry is shown as, whatever the format: a headline, facts, and parts in order.

Texts are as they were sent: each format makes them harmless in its own way.
"""

from dataclasses import dataclass, field
from typing import NamedTuple


class Prose(NamedTuple):
    """Text that is meant as Markdown."""

    text: str


class Code(NamedTuple):
    """Text to be shown letter by letter: JSON, a file, lines."""

    title: str
    text: str
    language: str = ""


class Diff(NamedTuple):
    """Lines of a unified diff."""

    title: str
    lines: list[str]


class Screen(NamedTuple):
    """What a terminal was sent, with its control sequences; None is unknown."""

    title: str
    text: str | None


class Picture(NamedTuple):
    """An image of a kind that is safe to show, in base64."""

    title: str
    mime: str
    data: str


class Items(NamedTuple):
    """A list: marks and texts."""

    rows: list[tuple[str, str]]


class Line(NamedTuple):
    """One line of ours, with something of theirs in it."""

    text: str


Part = Prose | Code | Diff | Screen | Picture | Items | Line


@dataclass(slots=True)
class Shown:
    """One entry as it is shown.

    Attributes:
        sort: What it is, one of few: formats give each a look.
        who: The first word or two of the headline.
        title: The rest of it, one line.
        tags: Words about how it stands, one or two each.
        facts: Names and values, one line each.
        parts: All the rest.
        is_quiet: It is beside the conversation: shown small, or closed.
        seq: The message where it stands.
        last: The last message about it.
        elapsed_ns: When, since the connection began; None when unknown.

    """

    sort: str
    who: str
    title: str = ""
    tags: list[str] = field(default_factory=list)
    facts: list[tuple[str, str]] = field(default_factory=list)
    parts: list[Part] = field(default_factory=list)
    is_quiet: bool = False
    seq: int = 0
    last: int = 0
    elapsed_ns: int | None = None
