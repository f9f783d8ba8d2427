"""Progress bars beside everything else at a terminal: where there is none, and that nothing stays of them."""

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.cli.conversations import V1, put
from tests.cli.drawn import AT_ONCE, ERASE, assert_truthful, drawn, plainly, run
from tests.harness import LIMIT, PROXY, environment
from tests.log.killing import copied
from tests.log.long import ask, put_long
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


# Where there is none.


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
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
    assert lines
    assert all(line.startswith("acp-proxy: ") for line in lines)
    assert all("of connection 1" in line and " missing" in line for line in lines)
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
