"""What editors are told about this machine can be run from anywhere, and stands where they look."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from acp_proxy.editors import places

INSTALLED = Path(sys.executable).with_name("acp-proxy")


def command_told(*command: str, cwd: Path, path: str = os.defpath) -> list[str]:
    """Return the command that an acp-proxy started so gives for itself."""
    done = subprocess.run(
        [*command, "config", "acpx", "--json", "--", "agent"],
        cwd=cwd, env={"PATH": path, "HOME": str(cwd)}, capture_output=True, text=True, check=True,
        timeout=60,
    )  # fmt: skip
    import json

    [entry] = json.loads(done.stdout)["agents"].values()
    words: list[str] = entry["argv"]
    assert words[-3:] == ["run", "--", "agent"]
    return words[:-3]


def works(command: list[str], cwd: Path) -> bool:
    """Tell whether a command starts acp-proxy from a folder, with an empty PATH."""
    done = subprocess.run(
        [*command, "--version"], cwd=cwd, env={}, capture_output=True, text=True, check=False
    )
    return done.stdout.startswith("acp-proxy, version")


def test_the_program_that_a_person_ran_is_told(tmp_path: Path) -> None:
    link = tmp_path / "bin" / "acp-proxy"  # as pipx and uv make one
    link.parent.mkdir()
    link.symlink_to(INSTALLED)

    told = [
        command_told(str(INSTALLED), cwd=tmp_path),
        command_told("bin/acp-proxy", cwd=tmp_path),
        command_told("acp-proxy", cwd=tmp_path, path=str(link.parent)),
        command_told(sys.executable, "-m", "acp_proxy", cwd=tmp_path),
    ]

    assert told == [
        [str(INSTALLED)],
        [str(link)],
        [str(link)],
        [sys.executable, "-m", "acp_proxy"],
    ]
    for command in told:
        assert works(command, Path("/"))


def test_a_program_in_a_cache_is_known() -> None:
    assert places.is_passing(["/home/me/.cache/uv/archive-v0/x/bin/acp-proxy"])
    assert places.is_passing(["/Users/me/Library/Caches/uv/x/bin/acp-proxy"])
    assert not places.is_passing(["/home/me/.local/bin/acp-proxy"])


def test_an_agents_program_is_told_with_its_whole_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "goose"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)

    for word in ("goose", "./goose", "~/goose", str(program)):
        assert places.whole_command([word, "acp"]) == ([str(program), "acp"], True)
    assert places.whole_command(["nothing", "x"]) == (["nothing", "x"], False)


@pytest.mark.parametrize(
    ("platform", "given", "zed", "vscode", "neovim"),
    [
        (
            "linux",
            "",
            "/home/me/.config/zed/settings.json",
            "/home/me/.config/Code/User/settings.json",
            "/home/me/.config/nvim/init.lua",
        ),
        (
            "linux",
            "/x",
            "/x/zed/settings.json",
            "/x/Code/User/settings.json",
            "/x/nvim/init.lua",
        ),
        (
            "darwin",
            "/x",
            "/home/me/.config/zed/settings.json",
            "/home/me/Library/Application Support/Code/User/settings.json",
            "/x/nvim/init.lua",
        ),
        (
            "linux",
            "relative",
            "/home/me/.config/zed/settings.json",
            "/home/me/.config/Code/User/settings.json",
            "/home/me/.config/nvim/init.lua",
        ),
    ],
)
def test_settings_are_where_editors_look(
    monkeypatch: pytest.MonkeyPatch, platform: str, given: str, zed: str, vscode: str, neovim: str
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setenv("HOME", "/home/me")
    monkeypatch.setenv("XDG_CONFIG_HOME", given)

    assert places.settings_of("zed") == zed
    assert places.settings_of("vscode") == vscode
    assert places.settings_of("avante") == neovim
    assert places.settings_of("jetbrains") == "/home/me/.jetbrains/acp.json"
    assert places.settings_of("acpx") == "/home/me/.acpx/config.json"


def test_emacs_settings_are_those_that_are_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    old, new = tmp_path / ".emacs.d/init.el", tmp_path / ".config/emacs/init.el"

    assert places.settings_of("agent-shell") == str(old)
    new.parent.mkdir(parents=True)
    new.touch()
    assert places.settings_of("agent-shell") == str(new)
    old.parent.mkdir()
    old.touch()
    assert places.settings_of("agent-shell") == str(old)
