"""Measures redaction: ``python -m tests.redaction.measure`` counts what leaks and what is blanked.

Every pair of a shape and a place becomes a connection of its own. By default one pair of four is
taken, always the same (``--every 1`` takes all, some six minutes of one core). They go through what
an export writes, and one of 400 through the commands' own outputs too (export, ``show --share`` of
messages, the transcript in its four formats); ``--full`` sends all of the chosen ones there.
"""

import argparse
import base64
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

from tests.cli.commands import invoke
from tests.redaction.conversations import CONVERSATIONS, OPENING
from tests.redaction.innocents import INNOCENTS
from tests.redaction.places import Frames
from tests.redaction.table import (
    BLANKETS,
    SHAPES,
    Pair,
    blanked,
    of_frames,
    of_page,
    pairs,
    survivors,
)

FORMATS = ("text", "markdown", "html", "json")
_SAMPLE = 400
_MOST_SHOWN = 10  # messages of a connection that are shown one by one, evenly spread
_SHOWN = 25


class Leak(NamedTuple):
    """A pair of which something survived."""

    pair: Pair
    output: str
    survived: tuple[str, ...]

    def line(self) -> str:
        """Return it as a line of a file."""
        text = SHAPES[self.pair.shape].text
        return json.dumps([*self.pair, self.output, self.survived[:3], text[:200]])


def leaks_of_export(some: Sequence[Pair]) -> list[Leak]:
    """Return which pairs leak in what an export writes of their frames."""
    found = []
    for pair in some:
        left = survivors(SHAPES[pair.shape], of_frames(blanked(pair.frames())))
        if left:
            found.append(Leak(pair, "frames", tuple(sorted(left))))
    return found


def leaks_of_commands(some: Sequence[Pair]) -> list[Leak]:
    """Return which pairs leak in the outputs of the commands, and in which."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log.db"
        for number, pair in enumerate(some, 1):
            frames = pair.frames()
            imported(log, frames)
            for output, said in outputs(log, number, len(frames)):
                left = survivors(SHAPES[pair.shape], said)
                if left:
                    found.append(Leak(pair, output, tuple(sorted(left))))
    return found


def imported(log: Path, frames: Frames) -> None:
    """Import frames as a connection of their own."""
    lines = [
        json.dumps({
            "from": stream,
            "dataBase64": base64.b64encode(raw.rstrip(b"\r\n")).decode(),
            "end": raw[len(raw.rstrip(b"\r\n")) :].decode(),
        }).encode()
        for stream, raw in frames
    ]  # fmt: skip
    invoke("import", "-", "--log", log, stdin=b"\n".join(lines))


def outputs(log: Path, number: int, messages: int) -> Iterable[tuple[str, str]]:
    """Yield everything that the commands make of a connection to be shared, by the output's name."""
    exported = invoke("export", number, "--jsonl", "--log", log).stdout_bytes
    yield "export", of_frames(_frames(exported))
    for form in FORMATS:
        page = invoke("transcript", number, "--full", "--format", form, "--log", log).stdout
        if form == "json":
            page = of_frames([page.encode()])
        yield f"transcript {form}", of_page(page) if form == "html" else page
    first = min(OPENING + 1, messages)
    some = range(first, messages + 1, max((messages - first + 1) // _MOST_SHOWN, 1))
    for name, options in {"show --share --json": ("--json",), "show --share": ()}.items():
        shown = [
            invoke("show", number, seq, "--share", *options, "--log", log).stdout_bytes
            for seq in some
        ]
        yield name, of_frames(shown) if options else b"".join(shown).decode()


def _frames(export: bytes) -> list[bytes]:
    found = []
    for line in export.splitlines()[1:]:
        frame = json.loads(line)
        data = frame.get("data")
        body = base64.b64decode(frame["dataBase64"]) if data is None else data.encode()
        found.append(body + frame["end"].encode())
    return found


def blanked_innocents(every: int = 1) -> list[tuple[str, str]]:
    """Return which innocent text changes in which place."""
    return [
        (label, place)
        for number, (label, text) in enumerate(INNOCENTS.items())
        for at, (place, make) in enumerate(CONVERSATIONS.items())
        if place not in BLANKETS and (number + at) % every == 0
        for frames in [make(text)]
        if blanked(frames) != [raw for _, raw in frames]
    ]


def _table(title: str, leaks: Counter[str], totals: Counter[str], most: int) -> str:
    rows = sorted(leaks.items(), key=lambda row: (-row[1] / totals[row[0]], row[0]))
    lines = [f"  {count:6} of {totals[name]:6}  {name}" for name, count in rows[:most]]
    more = [f"  and {len(rows) - most} more"] if len(rows) > most else []
    return "\n".join([title, *(lines or ["  none"]), *more])


def report(some: Sequence[Pair], leaks: Sequence[Leak], most: int = _SHOWN) -> str:
    """Return the counts as a text."""
    leaking = {leak.pair for leak in leaks}
    parts = [f"{len(some)} pairs, {len(leaking)} leak"]
    for title, key in {
        "by group": lambda pair: SHAPES[pair.shape].group,
        "by place": lambda pair: pair.place,
        "by shape": lambda pair: pair.shape,
    }.items():
        parts.append(_table(title, Counter(map(key, leaking)), Counter(map(key, some)), most))
    by_output = Counter(leak.output for leak in leaks)
    parts.append(f"by output: {dict(by_output)}")
    return "\n".join(parts)


def _split(some: Sequence[Pair], jobs: int) -> list[Sequence[Pair]]:
    return [some[first :: 4 * jobs] for first in range(4 * jobs)]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--shape", help="only shapes whose name contains this")
    parser.add_argument("--place", help="only places whose name contains this")
    parser.add_argument("--group", choices=("vendor", "name", "known"))
    parser.add_argument("--every", type=int, default=4, help="one pair of so many")
    parser.add_argument("--full", action="store_true", help="all pairs through the commands")
    parser.add_argument("--frames", action="store_true", help="no pair through the commands")
    parser.add_argument("--innocents", action="store_true", help="only the innocent texts")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--top", type=int, default=_SHOWN, help="rows of each table")
    parser.add_argument("--raw-list", metavar="FILE", help="write every leak there, one a line")
    chosen = parser.parse_args()
    begun = time.perf_counter()
    every = 1 if chosen.shape else chosen.every
    some = pairs(chosen.group, chosen.shape, chosen.place, every)
    leaks: list[Leak] = []
    with ProcessPoolExecutor(chosen.jobs) as pool:
        whole = some if chosen.full else [] if chosen.frames else some[::_SAMPLE]
        if not chosen.innocents:
            for found in pool.map(
                leaks_of_export, [] if chosen.full else _split(some, chosen.jobs)
            ):
                leaks += found
            for found in pool.map(leaks_of_commands, _split(whole, chosen.jobs)):
                leaks += found
            print(report(some, leaks, chosen.top))
    if chosen.raw_list:
        Path(chosen.raw_list).write_text("".join(f"{leak.line()}\n" for leak in leaks))
    if chosen.innocents or not (chosen.shape or chosen.group):
        hurt = blanked_innocents()
        names = sorted({label for label, _ in hurt})
        places = len(CONVERSATIONS) - len(BLANKETS)
        print(f"innocents: {len(names)} of {len(INNOCENTS)} blanked somewhere")
        print(f"innocent pairs: {len(hurt)} of {len(INNOCENTS) * places}")
        for label in names:
            print(f"  {sum(row[0] == label for row in hurt):4} of {places} places  {label}")
    print(f"{time.perf_counter() - begun:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
