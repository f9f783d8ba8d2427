"""``run NAME``: a word that stands alone may be an agent's short name; all else is a command, verbatim."""

import os
from pathlib import Path

import pytest

from tests.harness import PROXY, Log, Process, environment, needs_linux

pytestmark = needs_linux


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    """An environment with an agent of the person's own, and programs that are called like agents."""
    config = tmp_path / "config.toml"
    config.write_text(
        '[agents]\nmine = ["/bin/echo", "my  own", "--debug", ""]\ngoose = "/bin/echo g"\n'
    )
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("mine", "goose", "opencode", "claude", "vibe"):
        program = folder / name
        program.write_text(f'#!/bin/sh\necho "{name}:$*"\n')
        program.chmod(0o755)
    return environment(ACP_PROXY_CONFIG=str(config), PATH=f"{folder}:/usr/bin:/bin")


CASES = [
    (["mine"], b"my  own --debug \n"),
    (["--", "mine"], b"mine:\n"),
    (["mine", "--flag"], b"mine:--flag\n"),
    (["--label", "x", "goose"], b"g\n"),  # the person's own goes before ours
    (["opencode"], b"opencode:acp\n"),
    (["opencode", "acp"], b"opencode:acp\n"),
    (["--", "opencode"], b"opencode:\n"),
    (["--", "claude"], b"claude:\n"),
    (["/bin/echo"], b"\n"),
    (["echo"], b"\n"),
]


@pytest.mark.parametrize(("words", "said"), CASES, ids=[" ".join(words) for words, _ in CASES])
@pytest.mark.parametrize("is_off", [False, True], ids=["on", "off"])
def test_what_a_name_starts(
    env: dict[str, str], tmp_path: Path, words: list[str], said: bytes, is_off: bool
) -> None:
    log = Log(tmp_path / "log.db")
    env |= {"ACP_PROXY_LOG": str(log.path), "ACP_PROXY_OFF": "1" if is_off else ""}
    with Process([str(PROXY), "run", *words], env=env, cwd=tmp_path) as process:
        assert process.stdout.wait_end() == said
        assert process.stderr.wait_end() == b""
        assert process.wait() == 0
    if not is_off:
        assert log.connection()["exitCode"] == 0


def test_an_agent_that_is_known_but_not_here_is_told_and_recorded(
    env: dict[str, str], tmp_path: Path
) -> None:
    os.unlink(tmp_path / "bin" / "vibe")
    log = Log(tmp_path / "log.db")
    env |= {"ACP_PROXY_LOG": str(log.path), "PATH": str(tmp_path / "bin")}
    with Process([str(PROXY), "run", "vibe"], env=env) as process:
        assert process.stdout.wait_end() == b""
        said = process.stderr.wait_end().decode()
        assert process.wait() == 127
    assert "vibe (Mistral Vibe) is not installed" in said
    assert "mistral-vibe" in said
    row = log.connection()
    assert row["exitCode"] == 127
    assert [note["event"] for note in row["notes"]] == ["not started"]
    assert "is not installed" in row["notes"][0]["why"]


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["min"], "; the agent mine: acp-proxy run mine"),
        (["--", "claud"], "; the agent claude: acp-proxy run claude"),
        (["cladue", "--acp"], "; the agent claude: acp-proxy run claude"),
        (["no-such-thing"], ""),
    ],
)
@pytest.mark.parametrize("is_off", [False, True], ids=["on", "off"])
def test_a_program_that_is_not_there_may_be_an_agent(
    env: dict[str, str], tmp_path: Path, words: list[str], hint: str, is_off: bool
) -> None:
    env |= {"ACP_PROXY_LOG": str(tmp_path / "log.db"), "ACP_PROXY_OFF": "1" if is_off else ""}
    with Process([str(PROXY), "run", *words], env=env) as process:
        said = process.stderr.wait_end().decode()
        assert process.wait() == 127
    assert said.endswith(f"as you would type it{hint}\n")


def test_a_broken_configuration_stops_no_agent(env: dict[str, str], tmp_path: Path) -> None:
    Path(env["ACP_PROXY_CONFIG"]).write_text("x =")
    log = Log(tmp_path / "log.db")
    env |= {"ACP_PROXY_LOG": str(log.path)}
    for words, said in [(["mine"], b"mine:\n"), (["opencode"], b"opencode:acp\n")]:
        with Process([str(PROXY), "run", *words], env=env) as process:
            assert process.stdout.wait_end() == said
            assert process.stderr.wait_end() == b""
            assert process.wait() == 0
