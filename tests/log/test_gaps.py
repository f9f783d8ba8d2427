"""Gaps, however they lie, are no damage: verify knows them and export writes all that is there."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_proxy.log.rows import Gaps
from tests.cli.commands import invoke

FIRST, SECOND = b"first line\n", b"second line\n"
Span = tuple[int, int]
"""Where a gap begins in its stream, and how many bytes it is long."""

LAYOUTS: dict[str, tuple[list[Span], int, int, int]] = {
    # name: gaps, where the first frame begins, where the second does, where the stream ends
    "adjoining": ([(11, 5), (16, 7)], 0, 23, 35),
    "adjoining, in another order": ([(16, 7), (11, 5)], 0, 23, 35),
    "overlapping": ([(11, 9), (14, 9)], 0, 23, 35),
    "one within another": ([(11, 12), (13, 2)], 0, 23, 35),
    "the same twice": ([(11, 12), (11, 12)], 0, 23, 35),
    "at the start": ([(0, 4), (4, 6)], 10, 21, 33),
    "at the end": ([(23, 3), (26, 4), (30, 5)], 0, 11, 35),
    "empty ones": ([(0, 0), (11, 0), (11, 12), (23, 0), (35, 0)], 0, 23, 35),
    "everywhere": ([(0, 2), (2, 2), (15, 1), (16, 1), (29, 1), (30, 5)], 4, 17, 35),
}


def log_with(tmp_path: Path, stream: str, layout: tuple[list[Span], int, int, int]) -> Path:
    """Return a log of two frames of a stream with gaps around them."""
    gaps, first, second, end = layout
    log = tmp_path / "log.db"
    lines = [json.dumps({"from": stream, "data": raw[:-1].decode()}) for raw in (FIRST, SECOND)]
    invoke("import", "-", "--log", log, stdin="\n".join(lines).encode())
    noted = json.dumps([{"from": stream, "offset": at, "bytes": size} for at, size in gaps])
    with closing(sqlite3.connect(log)) as db, db:
        for seq, offset in enumerate((first, second), 1):
            db.execute("UPDATE frames SET offset = ?, crc = NULL WHERE seq = ?", (offset, seq))
        columns = f"gaps = ?, {stream}_bytes = ?, crc = NULL"
        db.execute(f"UPDATE connections SET {columns}", (noted, end))
    return log


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("stream", ["client", "agent", "stderr"])
@pytest.mark.parametrize("name", LAYOUTS)
def test_gaps_however_they_lie_are_not_damage(
    tmp_path: Path, name: str, stream: str, packed: bool
) -> None:
    log = log_with(tmp_path, stream, LAYOUTS[name])
    if packed:
        invoke("compact", 1, "--log", log)

    problems: list[dict[str, Any]] = json.loads(
        invoke("verify", "--json", "--log", log, code=1).stdout
    )["problems"]
    assert len(problems) == len(LAYOUTS[name][0])  # the gaps, and nothing else
    assert all("relayed but not recorded" in one["problem"] for one in problems)
    out = tmp_path / "out"
    invoke("export", "--stream", stream, "--log", log, "-o", out)
    assert out.read_bytes() == FIRST + SECOND
    assert invoke("export", "--stream", stream, "--log", log).stdout_bytes == FIRST + SECOND


@pytest.mark.parametrize(
    "layout",
    [
        ([(11, 5)], 0, 23, 35),  # 7 bytes are missing that no gap tells
        ([(5, 3)], 0, 23, 35),  # a gap where there are bytes
        ([], 0, 11, 35),  # the end is missing
    ],
)
@pytest.mark.parametrize("to_file", [False, True])
def test_what_no_gap_tells_is_damage_and_what_is_there_is_written_first(
    tmp_path: Path, layout: tuple[list[Span], int, int, int], to_file: bool
) -> None:
    log = log_with(tmp_path, "agent", layout)

    out = tmp_path / "out"
    words = ["-o", out] if to_file else []
    result = invoke("export", "--stream", "agent", "--log", log, *words, code=1)

    assert (out.read_bytes() if to_file else result.stdout_bytes) == FIRST + SECOND
    assert "bytes from the agent of connection 1 are missing" in result.stderr
    assert "agent" in invoke("verify", "--log", log, code=1).stdout


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 20))), st.integers(0, 60))
def test_skipping_gaps_is_skipping_their_bytes(spans: list[Span], offset: int) -> None:
    gaps = Gaps([{"from": "agent", "offset": at, "bytes": n} for at, n in spans], "agent")
    lost = {byte for at, n in spans for byte in range(at, at + n)}
    right = offset
    while right in lost:
        right += 1

    assert gaps.bytes == len(lost)
    assert gaps.skip(offset) == right
    assert Gaps([{"from": "client", "offset": 0, "bytes": 9}], "agent").skip(0) == 0
