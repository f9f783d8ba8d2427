"""A path at which no log can be: every command says what is wrong with it and what to do."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.commands import invoke
from tests.harness import PROXY, agent, environment


def dangling(folder: Path) -> str:
    (folder / "link").symlink_to("nowhere/log.db")
    return str(folder / "link")


def dangling_folder(folder: Path) -> str:
    (folder / "link").symlink_to("nowhere")
    return str(folder / "link" / "log.db")


def circle(folder: Path) -> str:
    (folder / "a").symlink_to("b")
    (folder / "b").symlink_to("a")
    return str(folder / "a")


def to_folder(folder: Path) -> str:
    (folder / "link").symlink_to(folder)
    return str(folder / "link")


def below_file(folder: Path) -> str:
    (folder / "file").write_text("x")
    return str(folder / "file" / "deep" / "log.db")


def too_long(folder: Path) -> str:
    return str(folder / ("n" * 300))


def too_long_at_all(folder: Path) -> str:
    return str(folder / "/".join(["n" * 200] * 30))


PLACES: list[tuple[Callable[[Path], str], str]] = [
    (dangling, "is a symbolic link to"),
    (dangling_folder, "is a symbolic link to"),
    (circle, "circle of symbolic links"),
    (to_folder, "is no ordinary file"),
    (below_file, "is a file, not a folder"),
    (too_long, "too long"),
    (too_long_at_all, "too long"),
    (lambda _: "", "path is empty"),
    (lambda _: "-", "standard input or output"),
    (lambda _: "a\0b", "NUL"),
]


@pytest.mark.parametrize(("make", "why"), PLACES)
def test_commands_say_what_is_wrong_with_the_place(
    tmp_path: Path, make: Callable[[Path], str], why: str
) -> None:
    log = make(tmp_path)

    for words in (("connections",), ("messages",), ("log", "migrate"), ("verify",)):
        stderr = invoke(*words, "--log", log, code=1).stderr
        assert why in stderr, words
        assert "--log" in stderr
        assert "run -- AGENT" not in stderr
    stderr = invoke(
        "import", "-", "--log", log, stdin=b'{"from":"client","data":"x"}', code=1
    ).stderr
    assert why in stderr


@pytest.mark.parametrize(("make", "why"), PLACES[:-1])
def test_a_conversation_goes_on_and_what_waits_tells_why(
    tmp_path: Path, make: Callable[[Path], str], why: str
) -> None:
    log, home = make(tmp_path), tmp_path / "home"
    env = environment(XDG_STATE_HOME=str(home))
    said = b'{"jsonrpc":"2.0","id":1,"method":"x"}\n'

    done = subprocess.run(
        [PROXY, "run", "--log", log, "--", *agent("echo")],
        input=said, env=env, capture_output=True, timeout=120, check=False,
    )  # fmt: skip

    assert (done.returncode, done.stdout, done.stderr) == (0, said, b"")
    asked = ["log", "info"] if log in ("", "-") else ["log", "info", "--log", log]
    info = subprocess.run([PROXY, *asked], env=env, capture_output=True, timeout=120, check=False)
    assert info.returncode == 0
    if log in ("", "-"):  # recorded where it is by default, with a note
        notes = subprocess.run(
            [PROXY, "connections", "--json"], env=env, capture_output=True, check=False
        )
        assert why.encode() in notes.stdout
    else:
        assert why.encode() in info.stdout
    assert not os.path.exists("/nowhere")
