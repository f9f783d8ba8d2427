"""Transcripts on a real terminal: paged, in colour, and obeying nothing that a peer sent."""

import os
import pty
import re
import select
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conversations import put
from tests.cli.test_transcript_hostile import START, TEXTS, every_place
from tests.cli.transcripts import HARMFUL, tell

_OURS = re.compile(r"\x1b\[[0-9;]+m")  # the only sequences that we write
_LESS = re.compile(r"\x1b(?:\[[0-9;?]*[A-Za-z]|[=>])")


def on_terminal(
    *options: str, log: Path, keys: bytes = b"", errors: bool = False, **environment: str
) -> str:
    """Return what a terminal gets from the command, when these keys were pressed before.

    With ``errors`` it gets what is written on stderr too.
    """
    master, slave = pty.openpty()
    command = [sys.executable, "-m", "acp_proxy", "transcript", "--log", str(log), *options]
    surroundings = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": os.pathsep.join(sys.path),
        "TERM": "xterm-256color",
        "LC_ALL": "C.UTF-8",
        **environment,
    }
    with subprocess.Popen(
        command,
        stdin=slave,
        stdout=slave,
        stderr=slave if errors else subprocess.DEVNULL,
        env=surroundings,
        start_new_session=True,
    ) as process:
        os.close(slave)
        os.write(master, keys)
        found = b""
        while True:
            if not select.select([master], [], [], 60)[0]:
                process.kill()
                pytest.fail(f"nothing more came after {found[-200:]!r}")
            try:
                piece = os.read(master, 65536)
            except OSError:  # the last one has closed the terminal
                break
            if not piece:
                break
            found += piece
        assert process.wait(60) == 0
    os.close(master)
    return found.decode().replace("\r\n", "\n")


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A log of a peer that means harm."""
    return put(tmp_path / "log.db", [*START, *every_place("\n".join(TEXTS))])


@pytest.fixture
def pager(tmp_path: Path) -> Path:
    """A pager that says that it was there."""
    path = tmp_path / "pager"
    path.write_text("#!/bin/sh\necho PAGED\nexec cat\n")
    path.chmod(0o755)
    return path


@pytest.mark.slow
def test_a_terminal_gets_colours_through_a_pager(log: Path, pager: Path) -> None:
    found = on_terminal(log=log, PAGER=str(pager))

    assert found.startswith("PAGED\n")
    assert _OURS.search(found)
    assert HARMFUL.search(_OURS.sub("", found)) is None
    assert "\\e[2J" in found


def test_the_pager_can_be_left_out(log: Path, pager: Path) -> None:
    found = on_terminal("--no-pager", log=log, PAGER=str(pager))

    assert "PAGED" not in found
    assert _OURS.search(found)
    assert HARMFUL.search(_OURS.sub("", found)) is None


@pytest.mark.slow
def test_no_color_is_honoured(log: Path, pager: Path) -> None:
    for options in ((), ("--no-pager",)):
        found = on_terminal(*options, log=log, PAGER=str(pager), NO_COLOR="1")

        assert "\x1b" not in found
        assert found.removeprefix("PAGED\n").rstrip() == tell(log, "text").decode().rstrip()


@pytest.mark.slow
def test_other_formats_are_neither_paged_nor_coloured(log: Path, pager: Path) -> None:
    found = on_terminal("--format", "markdown", log=log, PAGER=str(pager))

    assert found == tell(log, "markdown").decode()


@pytest.mark.slow
def test_less_shows_it(log: Path) -> None:
    if shutil.which("less") is None:
        pytest.skip("there is no less on this machine")

    found = on_terminal(
        log=log, errors=True, PAGER="less", keys=b"Gq", LESS="-RX", LESSHISTFILE="-"
    )

    assert "Transcript of connection 1" in found
    assert "alert(1)" in found
    assert "\x1b]" not in found
    assert HARMFUL.search(_LESS.sub("", found).replace("\r", "").replace("\b", "")) is None


@pytest.mark.slow
def test_a_terminal_that_is_no_utf_8_gets_escapes_instead_of_a_traceback(log: Path) -> None:
    found = on_terminal(
        "--no-pager", log=log, LC_ALL="POSIX", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0"
    )

    assert "Traceback" not in found
    assert "Transcript of connection 1" in found
