"""Progress bars at real terminals: when they are there, what they say, and that nothing stays of them.

Bars that are to be seen in the middle of work are of work that waits for this test: for a pipe
to be read or written, or for a lock. All others are drawn at once, however short the work is.
"""

import os
import re
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pytest

from acp_proxy.views.columns import width
from tests.cli.commands import invoke
from tests.cli.conversations import V1, put
from tests.harness import LIMIT, PROXY, environment
from tests.log.killing import copied
from tests.log.long import ask, put_long
from tests.terminals import Terminal

AT_ONCE = [
    sys.executable,
    "-c",
    "from acp_proxy.cli import main, progress; progress._PATIENCE_SECONDS = 0; main()",
]
"""Our command line without its patience."""
ERASE = b"\r\x1b[K"
_SHOWN = re.compile(
    r"(?P<label>\w+): +(?P<percent>\d+)%\|.*\| (?P<done>[\d.]+[kM]?)/(?P<total>[\d.]+[kM]?)(?P<unit>\D+), "
    r"(?:\?|[\d.]+[kM]?)\D+/s, (?:\?|[\d:]+) left"
)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log with a long connection; to be copied."""
    log = tmp_path_factory.mktemp("made") / "log.db"
    put_long(log, 3000)
    return log


@pytest.fixture
def log(made: Path, tmp_path: Path) -> Path:
    return copied(made, tmp_path / "log.db")


class Drawn(NamedTuple):
    """What a terminal was shown, taken apart: bars, and all the rest."""

    bars: list[str]
    rest: str


def drawn(shown: bytes) -> Drawn:
    """Take apart what a terminal was shown, of which only bars do not end with a line."""
    first, *pieces = shown.split(ERASE)
    bars, rest = [], first.decode()
    for piece in pieces:
        bar, newline, after = piece.decode().partition("\r\n")
        if newline:
            rest += bar + newline + after
        elif bar:
            bars.append(bar)
    return Drawn(bars, rest.replace("\r\n", "\n"))


def run(
    *words: object,
    log: Path,
    output: Path | None = None,
    columns: int = 100,
    variables: dict[str, str] | None = None,
) -> tuple[Drawn, str, int]:
    """Run a command that draws at once; return what was drawn, the last screen, and the exit code."""
    command = [*AT_ONCE, *map(str, words), "--log", str(log)]
    if output is not None:
        command = ["sh", "-c", 'exec "$@" > "$0"', str(output), *command]
    with Terminal(command, columns, **(variables or {})) as terminal:
        shown = terminal.end()
        return drawn(shown), terminal.screen(shown), terminal.process.wait()


def plainly(*words: object, log: Path) -> subprocess.CompletedProcess[bytes]:
    """Run a command that has no terminal."""
    return subprocess.run(
        [str(PROXY), *map(str, words), "--log", str(log)],
        env=environment(TERM="xterm"),
        capture_output=True,
        timeout=LIMIT,
        check=False,
    )


def assert_truthful(bars: list[str], *labels: str) -> None:
    """Fail unless there were bars of these labels, each of which went forwards and to its end."""
    found: dict[str, list[re.Match[str]]] = {}
    for bar in bars:
        if match := _SHOWN.fullmatch(bar):
            found.setdefault(match["label"], []).append(match)
    assert list(found) == list(labels)
    for of_label in found.values():
        percents = [int(match["percent"]) for match in of_label]
        assert all(before <= after for before, after in pairwise(percents))
        assert percents[-1] == 100
        assert of_label[-1]["done"] == of_label[-1]["total"]
        assert len({match["total"] for match in of_label}) == 1


# While it works.


@contextmanager
def locked(log: Path) -> Iterator[None]:
    """In this context, nobody else can write to a log."""
    with closing(sqlite3.connect(log, isolation_level=None)) as db:
        db.execute("BEGIN IMMEDIATE")
        yield
        db.execute("ROLLBACK")


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


# Where there is none.


@pytest.mark.parametrize(
    ("variable", "value"), [("ACP_PROXY_NO_PROGRESS", "1"), ("TERM", "dumb"), ("TERM", "")]
)
def test_no_bar_is_drawn_when_nobody_wants_one(log: Path, variable: str, value: str) -> None:
    found, last, _ = run("verify", log=log, variables={variable: value})

    assert found.bars == []
    assert found.rest.strip() == last == plainly("verify", log=log).stdout.decode().strip()


def test_zero_switches_nothing_off(log: Path) -> None:
    found, _, _ = run("verify", log=log, variables={"ACP_PROXY_NO_PROGRESS": "0"})

    assert_truthful(found.bars, "verifying")


def test_no_bar_goes_to_what_is_no_terminal(log: Path) -> None:
    done = subprocess.run(
        [*AT_ONCE, "verify", "--log", str(log)],
        env=environment(TERM="xterm"),
        capture_output=True,
        timeout=LIMIT,
        check=True,
    )

    assert done.stderr == b""
    assert done.stdout == plainly("verify", log=log).stdout


def test_what_draws_is_not_imported_where_nothing_is_drawn(log: Path) -> None:
    code = (
        "import atexit, sys; from acp_proxy.cli import main\n"
        "atexit.register(lambda: print('tqdm' in sys.modules, file=sys.stderr))\nmain()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "verify", "--log", str(log)],
        capture_output=True,
        timeout=LIMIT,
        check=True,
    )

    assert done.stderr == b"False\n"


def test_no_bar_is_drawn_over_a_shell_that_put_us_into_the_background(log: Path) -> None:
    job = 'set -m; "$@" & wait'
    command = ["sh", "-c", job, "sh", *AT_ONCE, "verify", "--log", str(log)]
    with Terminal(command, 100) as terminal:
        found = drawn(terminal.end())

    assert found.bars == []
    assert "all is well" in found.rest


# Beside the output.


@pytest.mark.parametrize(
    "words",
    [
        ["export", "--jsonl"],
        ["export", "--jsonl", "--raw"],
        ["export", "--stream", "agent"],
        ["transcript"],
        ["transcript", "--format", "markdown"],
        ["verify", "--json"],
        ["show", "10", "--share", "--json"],
    ],
    ids=" ".join,
)
def test_the_output_is_the_same_with_and_without_a_bar(
    log: Path, tmp_path: Path, words: list[str]
) -> None:
    found, _, code = run(*words, log=log, output=tmp_path / "output")

    assert code == 0
    assert found.bars
    assert (tmp_path / "output").read_bytes() == plainly(*words, log=log).stdout


@pytest.mark.parametrize(
    ("words", "labels"),
    [
        (["export", "--jsonl", "--raw"], []),
        (["export", "--jsonl"], ["redacting", "exporting"]),
        (["transcript", "--no-pager"], ["reading", "redacting"]),
        (["transcript", "--format", "json"], ["reading", "redacting"]),
    ],
)
def test_no_bar_is_there_while_a_result_comes_to_the_terminal(
    log: Path, words: list[str], labels: list[str]
) -> None:
    command = [*AT_ONCE, *words, "--log", str(log)]
    for piped in (False, True):
        shell = ["sh", "-c", '"$@" | cat', "sh", *command]
        with Terminal(shell if piped else command, 100, NO_COLOR="1") as terminal:
            shown = terminal.end()

        bars, _, rest = shown.rpartition(ERASE)
        result = plainly(*words, log=log)
        assert_truthful(drawn(bars + ERASE).bars, *labels)
        told = rest.replace(b"\r\n", b"\n")
        assert told.count(result.stderr) == 1
        assert told.replace(result.stderr, b"") == result.stdout


def test_a_file_that_is_the_terminal_gets_no_bar_either(log: Path) -> None:
    found, _, code = run("export", "--stream", "stderr", "-o", "/dev/tty", log=log)

    assert code == 0
    assert found.bars == []


# When it goes wrong.


def test_an_error_stands_on_a_line_of_its_own(log: Path, tmp_path: Path) -> None:
    with closing(sqlite3.connect(log)) as db:
        db.execute("UPDATE frames SET raw = x'00' WHERE (id & 0xffffffff) = 2500")
        db.commit()

    found, last, code = run("export", "--raw", "--jsonl", "-o", tmp_path / "o", log=log)

    assert code == 1
    assert found.bars
    assert last.startswith("acp-proxy: ")
    assert "frame 2500 of connection 1 is not what was recorded" in last.replace("\n", "")
    assert "exporting" not in last


def test_what_is_missing_is_told_on_lines_of_their_own(log: Path, tmp_path: Path) -> None:
    with closing(sqlite3.connect(log)) as db:
        db.execute("DELETE FROM frames WHERE (id & 0xffffffff) = 2500")
        db.execute("DELETE FROM messages WHERE seq = 2500")
        db.commit()

    found, last, code = run("transcript", "-o", tmp_path / "o", log=log, columns=500)

    assert code == 1
    assert found.bars
    lines = found.rest.strip().splitlines()
    assert len(lines) == 2
    assert all(line.startswith("acp-proxy: ") for line in lines)
    assert all("message 2500 of connection 1 is missing" in line for line in lines)
    assert last.splitlines() == lines


@pytest.mark.parametrize("columns", [40, 100])
def test_ctrl_c_leaves_a_clean_line(tmp_path: Path, columns: int) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    log = put(tmp_path / "log.db", V1)
    endings = []
    for label in (b"receiving", b""):
        variables = {} if label else {"ACP_PROXY_NO_PROGRESS": "1"}
        command = [str(PROXY), "import", str(pipe), "--log", str(log)]
        with Terminal(command, columns, **variables) as terminal, pipe.open("wb") as writer:
            writer.write(b'{"from": "agent"')
            writer.flush()
            if label:
                terminal.shown.wait_for(label)
            terminal.type(b"\x03")
            shown = terminal.end()
            endings.append((terminal.process.wait(), terminal.screen(shown).replace("^C", "")))

    assert endings[0] == endings[1] == (1, "\nAborted!")
    assert ask(log, "SELECT count(*) FROM connections") == [(1,)]
