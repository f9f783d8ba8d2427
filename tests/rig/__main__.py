"""``python -m tests.rig``: plays conversations with shipping agents and compares; one table."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from tests.rig.agents import ACPX, AGENTS, NODE
from tests.rig.judging import judge
from tests.rig.playing import SCRIPTS, hold, prepare
from tests.rig.plays import PLAYS, Play

_HEAD = (
    *("PLAY", "CLIENT", "ASKED", "SPOKEN", "VERSION", "MESSAGES", "CALLS", "PERMISSIONS"),
    *("TERMINALS", "PLANS", "TEXTS", "ODD", "TOOK", "RESULT"),
)
_SAME, _ABSENT = "same", "not installed"
_HOW = """\
A rig is a copy of the folder shared/rig with its parts installed (tests/rig/README.md says how).
"""


class Row(NamedTuple):
    """A line of the table, and what is wrong with that play."""

    cells: tuple[str, ...]
    result: str
    complaints: list[str]


def main() -> int:
    """Do what the arguments say; 1 when anything differed."""
    arguments = _arguments()
    if os.geteuid() == 0 and not arguments.here:
        _without_network(arguments.rig)
    folder = arguments.folder or Path(tempfile.mkdtemp(prefix="acp-proxy-rig-"))
    prepare(arguments.rig, folder)
    rows = []
    for each in arguments.plays:
        rows.append(_row(each, arguments.rig, folder))
        print(f"{each.name}: {rows[-1].result}", file=sys.stderr, flush=True)
    print(_table([_HEAD, *((*row.cells, row.result) for row in rows)]))
    for each, row in zip(arguments.plays, rows, strict=True):
        for complaint in row.complaints:
            print(f"\n{each.name}: {complaint}")
    print(f"\nlogs and captures: {folder}")
    return 0 if {row.result for row in rows} - {_ABSENT} == {_SAME} else 1


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.rig", description=__doc__, epilog=_HOW)
    parser.add_argument("--rig", type=Path, required=True, help="an installed copy of shared/rig")
    parser.add_argument(
        "names", nargs="*", metavar="PLAY", help=f"default: all: {', '.join(p.name for p in PLAYS)}"
    )
    parser.add_argument("--folder", type=Path, help="where to play; default: a new temporary one")
    parser.add_argument(
        "--here", action="store_true", help="also as root, use no network namespace of its own"
    )
    arguments = parser.parse_args()
    arguments.rig = arguments.rig.resolve()
    missing = [name for name in (*SCRIPTS, NODE, ACPX) if not (arguments.rig / name).exists()]
    if missing:
        parser.error(f"{arguments.rig} lacks {missing[0]}. {_HOW}")
    arguments.plays = [
        each for each in PLAYS if each.name in arguments.names or not arguments.names
    ]
    if unknown := set(arguments.names) - {each.name for each in PLAYS}:
        parser.error(f"no play {unknown.pop()}; there are {', '.join(p.name for p in PLAYS)}")
    if arguments.folder:
        arguments.folder = arguments.folder.resolve()
        if arguments.folder.exists() and any(arguments.folder.iterdir()):
            parser.error(f"{arguments.folder} is not empty")
    return arguments


def _without_network(rig: Path) -> None:
    """Begin again where there is nothing but loopback: agents like to call home."""
    again = [sys.executable, "-m", "tests.rig", *sys.argv[1:], "--here"]
    os.execvp("bash", ["bash", str(rig / "netns.sh"), *again])


def _row(each: Play, rig: Path, folder: Path) -> Row:
    asked = (each.name, each.client, str(each.protocol))
    blank = ("",) * (len(_HEAD) - len(asked) - 1)
    if missing := AGENTS[each.agent].missing(rig):
        return Row((*asked, *blank), _ABSENT, [f"{missing} is not there"])
    began = time.monotonic()
    try:
        played = hold(each, rig, folder)
        seen, flags, complaints = judge(each, played)
    except (OSError, AssertionError) as error:
        return Row((*asked, *blank), "FAILED", [str(error)])
    cells = (
        *asked,
        str(seen.version),
        str((played.log.connection()["agent"] or {}).get("version")),
        str(seen.messages),
        *(str(len(x)) for x in (seen.tool_calls, seen.permissions, seen.terminals, seen.plans)),
        str(sum(map(len, seen.told.values()))),
        ", ".join(f"{n} {flag}" for flag, n in sorted(flags.items())) or "-",
        f"{time.monotonic() - began:.0f} s",
    )
    return Row(cells, "DIFFERS" if complaints else _SAME, complaints)


def _table(rows: list[tuple[str, ...]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )


if __name__ == "__main__":
    sys.exit(main())
