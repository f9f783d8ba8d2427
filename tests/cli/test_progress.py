"""Progress bars at real terminals: when they are there, and what they say.

Bars that are to be seen in the middle of work are of work that waits for this test: for a pipe
to be read or written, or for a lock. All others are drawn at once, however short the work is.
"""

import os
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from acp_proxy.views.columns import width
from tests.cli.commands import invoke
from tests.cli.drawn import assert_truthful, plainly, run
from tests.harness import PROXY
from tests.log.killing import copied
from tests.log.long import put_long
from tests.terminals import Terminal


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log with a long connection; to be copied."""
    log = tmp_path_factory.mktemp("made") / "log.db"
    put_long(log, 3000)
    return log


@pytest.fixture
def log(made: Path, tmp_path: Path) -> Path:
    return copied(made, tmp_path / "log.db")


# While it works.


@contextmanager
def locked(log: Path) -> Iterator[None]:
    """In this context, nobody else can write to a log."""
    with closing(sqlite3.connect(log, isolation_level=None)) as db:
        db.execute("BEGIN IMMEDIATE")
        yield
        db.execute("ROLLBACK")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "label", "said"),
    [
        (["log", "reindex", "1"], "reindexing", "reindexed: 1 connection"),
        (["compact", "1"], "compacting", "compacted"),
        (["prune", "1", "--yes"], "deleting", "deleted"),
    ],
)
def test_a_bar_is_there_while_work_takes_long_and_gone_when_it_ends(
    log: Path, words: list[str], label: str, said: str
) -> None:
    with Terminal([str(PROXY), *words, "--log", str(log)], 100) as terminal:
        with locked(log):
            before = terminal.shown.wait_for(f"{label}:   0%|".encode())
        last = terminal.screen(terminal.end())

        assert terminal.process.wait() == 0
    assert f"{label}:   0%|" in terminal.screen(before)
    assert said in last
    assert label not in last


@pytest.mark.slow
def test_what_comes_through_a_pipe_is_counted_without_a_total(log: Path, tmp_path: Path) -> None:
    lines = plainly("export", "--jsonl", "--raw", log=log).stdout
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    into = tmp_path / "other.db"
    with Terminal([str(PROXY), "import", str(pipe), "--log", str(into)], 100) as terminal:
        with pipe.open("wb") as writer:
            writer.write(lines[:1000])
            writer.flush()
            before = terminal.shown.wait_for(b"receiving: 1.00kB, ")
            writer.write(lines[1000:])
        last = terminal.screen(terminal.end())

    assert re.search(
        r"^receiving: 1\.00kB, [\d.]+k?B/s, \d\d:\d\d$", terminal.screen(before), re.MULTILINE
    )
    assert re.fullmatch(r"connection 1: \d+ frames, \d+ messages", last)
    assert plainly("export", "--jsonl", "--raw", log=into).stdout == lines


# What it says.


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "labels"),
    [
        (["verify"], ["verifying"]),
        (["log", "reindex"], ["reindexing"]),
        (["compact", "--all"], ["compacting"]),
        (["prune", "--to-size", "0", "--yes"], ["deleting"]),
        (["export", "--jsonl"], ["redacting", "exporting"]),
        (["export", "--jsonl", "--raw"], ["exporting"]),
        (["export", "--stream", "agent"], ["exporting"]),
        (["transcript"], ["reading", "redacting", "writing"]),
        (["transcript", "--raw", "--at", "2000"], ["reading", "writing"]),
    ],
)
def test_bars_go_forwards_to_all_that_there_was(
    log: Path, tmp_path: Path, words: list[str], labels: list[str]
) -> None:
    found, last, code = run(*words, log=log, output=tmp_path / "output")

    assert code == 0
    assert_truthful(found.bars, *labels)
    assert last == found.rest.strip()
    assert all(line.startswith("acp-proxy: ") for line in last.splitlines())


@pytest.mark.slow
def test_undoing_and_importing_tell_all_too(log: Path, tmp_path: Path) -> None:
    invoke("compact", "--all", "--log", log)
    found, _, code = run("compact", "--all", "--undo", log=log)
    assert code == 0
    assert_truthful(found.bars, "undoing")

    file = tmp_path / "lines.jsonl"
    for header in (True, False):
        lines = plainly("export", "--jsonl", "--raw", log=log).stdout.splitlines(keepends=True)
        file.write_bytes(b"".join(lines[0 if header else 1 :]))
        found, last, code = run("import", file, log=tmp_path / f"{header}.db")
        assert code == 0
        assert_truthful(found.bars, "importing")
        assert re.fullmatch(r"connection 1: \d+ frames, \d+ messages", last)


@pytest.mark.slow
def test_what_cannot_be_counted_tells_the_time(log: Path) -> None:
    for words, labels in (
        (["verify"], {"checking"}),
        (["log", "vacuum"], {"merging", "vacuuming"}),
        (["log", "reindex"], {"search index"}),
    ):
        found, _, code = run(*words, log=log)

        assert code == 0
        timed = [bar for bar in found.bars if re.fullmatch(r"[a-z ]+: \d\d:\d\d", bar)]
        assert {bar.partition(":")[0] for bar in timed} == labels


@pytest.mark.slow
def test_pages_that_are_given_back_are_counted(log: Path) -> None:
    invoke("log", "vacuum", "--incremental", "--log", log)

    found, last, code = run("prune", "1", "--yes", "--vacuum", log=log)

    assert code == 0
    assert_truthful(found.bars, "deleting", "vacuuming")
    assert "less than before" in last


@pytest.mark.parametrize("columns", [20, 40, 80, 300])
def test_a_bar_keeps_within_its_terminal(log: Path, columns: int) -> None:
    found, last, code = run("verify", log=log, columns=columns)

    assert code == 0
    assert found.bars
    assert max(map(width, found.bars)) <= columns - 2
    if columns == 40:
        assert re.fullmatch(r"verifying 100% [\d.]+k? frames/s 00:00", found.bars[-1])
    elif columns > 40:
        assert max(map(width, found.bars)) == columns - 2
    assert last.replace("\n", "").startswith("all is well: 1 conne")


def test_a_terminal_that_is_no_utf_8_gets_a_bar_of_its_characters(log: Path) -> None:
    narrow = {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    found, _, code = run("verify", log=log, variables=narrow)

    assert code == 0
    assert_truthful(found.bars, "verifying")
    assert all(bar.isascii() and "\\" not in bar for bar in found.bars)
    assert "###" in found.bars[-1]
