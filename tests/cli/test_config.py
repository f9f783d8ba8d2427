"""config: what each editor is told, its settings changed, and changed back byte for byte."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from acp_proxy.editors.known import EDITORS
from tests.cli.commands import invoke
from tests.editors.settings_texts import SHAPES, said

AGENT = ("--", "goose", "acp")
PROGRAM = os.path.join(os.path.dirname(sys.executable), "acp-proxy")
ZED = """\
// mine
{
  "theme": "One", // a theme
  "agent_servers": {
    "claude-acp": { "type": "registry" },
    "Goose": { "type": "custom", "command": "goose", "args": ["acp"] },
  },
}
"""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of its own for each test, and an agent in PATH."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    program = tmp_path / "bin" / "goose"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent))
    return tmp_path


@pytest.fixture
def zed(home: Path) -> Path:
    """Zed's settings."""
    path = home / ".config/zed/settings.json"
    path.parent.mkdir(parents=True)
    path.write_text(ZED)
    return path


# What is printed.


@pytest.mark.parametrize("name", EDITORS)
def test_each_editor_is_told_where_and_how_and_how_back(name: str, home: Path) -> None:
    result = invoke("config", name, *AGENT)

    assert result.stderr == ""
    assert f"{home}/bin/goose" in result.stdout
    assert PROGRAM in result.stdout
    assert EDITORS[name].title in result.stdout
    assert "To undo: " in result.stdout


@pytest.mark.parametrize("name", [name for name in EDITORS if EDITORS[name].shape])
def test_json_is_bare(name: str, home: Path) -> None:
    result = invoke("config", name, "--json", "--name", "é", *AGENT, "a b")
    [entry] = next(iter(json.loads(result.stdout).values())).items()

    assert entry[0] == "é"
    words = entry[1].get("argv") or [entry[1]["command"], *entry[1]["args"]]
    assert words == [PROGRAM, "run", "--", f"{home}/bin/goose", "acp", "a b"]


def test_without_an_agent_one_is_made_up_and_that_is_said() -> None:
    result = invoke("config", "zed")

    assert '"claude-agent-acp (acp-proxy)"' in result.stdout
    assert "no AGENT was named" in result.stderr
    assert "acp-proxy config zed -- AGENT ARGS" in result.stderr


def test_a_short_name_stands_for_its_command_but_not_after_two_dashes(home: Path) -> None:
    short = json.loads(invoke("config", "acpx", "--json", "goose").stdout)
    verbatim = json.loads(invoke("config", "acpx", "--json", "--", "goose").stdout)

    assert short["agents"]["goose-recorded"]["argv"][3:] == [f"{home}/bin/goose", "acp"]
    assert verbatim["agents"]["goose-recorded"]["argv"][3:] == [f"{home}/bin/goose"]
    assert "is not installed" in invoke("config", "zed", "codex", code=1).stderr


def test_a_program_that_does_not_speak_acp_is_pointed_out() -> None:
    result = invoke("config", "zed", "--", "claude")

    assert "claude alone does not speak ACP" in result.stderr
    assert "claude-agent-acp does; for that: acp-proxy config zed claude" in result.stderr
    assert "does not speak ACP" not in invoke("config", "zed", *AGENT).stderr


def test_an_agent_that_is_not_found_is_told_all_the_same() -> None:
    result = invoke("config", "zed", "--json", "--", "nowhere", "--json")

    assert "nowhere is not found" in result.stderr
    assert json.loads(result.stdout)["agent_servers"]["nowhere (acp-proxy)"]["args"] == [
        "run",
        "--",
        "nowhere",
        "--json",
    ]


def test_options_of_the_agent_are_its_own() -> None:
    result = invoke("config", "acpx", "--json", "goose", "--name", "x", "--", "--json")

    assert json.loads(result.stdout)["agents"]["goose-recorded"]["argv"][4:] == [
        "--name",
        "x",
        "--",
        "--json",
    ]


def test_an_option_of_ours_behind_the_agent_is_pointed_out(home: Path) -> None:
    result = invoke("config", "zed", "--json", "goose", "acp", "--write")

    assert "--write stands after AGENT, so it is taken for the agent's" in result.stderr
    assert "config zed --write ..." in result.stderr
    entry = json.loads(result.stdout)["agent_servers"]["goose (acp-proxy)"]
    assert entry["args"][3:] == ["acp", "--write"]
    assert not (home / ".config").exists()
    assert invoke("config", "zed", "--", "goose", "acp", "--write").stderr == ""


@pytest.mark.parametrize(
    "arguments",
    [
        ("--write", "--file", "", "--", "goose"),
        ("--json", "--write"),
        ("--write", "--unwrap"),
        ("--dry-run",),
        ("--file", "x"),
        ("--unwrap", "--", "goose"),
        ("--unwrap", "--name", "x"),
        ("--write", "--name", "x"),
        ("--name", "", "--", "goose"),
        ("--", "a\udcff"),
    ],
)
def test_what_cannot_be_meant_is_refused(arguments: tuple[str, ...]) -> None:
    invoke("config", "zed", *arguments, code=2)


def test_nothing_in_an_agents_words_acts_on_the_terminal() -> None:
    for name in EDITORS:
        code = 2 if EDITORS[name].language == "sh" else 0
        told = invoke("config", name, "--", "goose", "\x1b[2J\u202e\x07", code=code)

        assert not re.search("[\x00-\x09\x0b-\x1f\x7f\u202e]", told.stdout), name


def test_marimo_cannot_be_told_everything() -> None:
    result = invoke("config", "marimo", "--", "goose", "'\"", code=2)

    assert "put the agent's command into a script" in result.stderr


@pytest.mark.parametrize("name", [name for name in EDITORS if not EDITORS[name].shape])
def test_what_cannot_be_written_is_said_with_what_to_do(name: str, home: Path) -> None:
    result = invoke("config", name, "--write", *AGENT, code=2)

    assert f"{home}/bin/goose" in result.stdout
    assert EDITORS[name].why_not in result.stderr
    assert sorted(path.name for path in home.iterdir()) == ["bin"]


# What is written.


def test_the_agents_that_are_there_are_wrapped_and_unwrapped(zed: Path, home: Path) -> None:
    first = invoke("config", "zed", "--write").stdout
    assert "Goose: goes through acp-proxy: goose acp" in first
    assert "claude-acp: left as it is: it names no command" in first
    assert zed.read_text() == ZED.replace(
        '"command": "goose", "args": ["acp"]',
        f'"command": "{PROGRAM}", "args": ["run", "--", "goose", "acp"]',
    )

    there = zed.read_text()
    assert "nothing to change" in invoke("config", "zed", "--write").stdout
    assert zed.read_text() == there

    assert "is again what it was" in invoke("config", "zed", "--unwrap").stdout
    assert zed.read_text() == ZED
    assert list(zed.parent.iterdir()) == [zed]
    assert "nothing to undo" in invoke("config", "zed", "--unwrap").stdout


def test_two_writes_are_undone_one_by_one(zed: Path) -> None:
    invoke("config", "zed", "--write", *AGENT)
    once = zed.read_text()
    invoke("config", "zed", "--write")

    assert (
        "goose (acp-proxy): still goes through acp-proxy"
        in invoke("config", "zed", "--unwrap").stdout
    )
    assert zed.read_text() == once
    invoke("config", "zed", "--unwrap")
    assert zed.read_text() == ZED


def test_settings_changed_since_are_undone_agent_by_agent(zed: Path) -> None:
    invoke("config", "zed", "--write", *AGENT)
    invoke("config", "zed", "--write")
    zed.write_text(zed.read_text().replace('"One"', '"Two"'))

    told = invoke("config", "zed", "--unwrap").stdout

    assert "Goose: is started directly: goose acp" in told
    assert "goose (acp-proxy): removed" in told
    assert zed.read_text() == ZED.replace('"One"', '"Two"')
    for backup in re.findall("what it was once is in (.*)", told):
        assert '"One"' in Path(backup).read_text()


@pytest.mark.parametrize("name", SHAPES)
def test_a_file_that_is_not_there_is_made_and_goes_again(name: str, home: Path) -> None:
    told = invoke("config", name, "--write", *AGENT).stdout
    [made] = re.findall("^made (.*)$", told, re.MULTILINE)
    path = Path(made)
    assert path.stat().st_mode & 0o7777 == 0o600
    expected = invoke("config", name, "--json", *AGENT).stdout
    assert path.read_text() == expected

    assert f"removed {path}" in invoke("config", name, "--unwrap").stdout
    assert list(path.parent.iterdir()) == []


def test_a_made_file_goes_only_when_nothing_else_is_in_it(home: Path) -> None:
    path = home / ".jetbrains/acp.json"
    invoke("config", "jetbrains", "--write", *AGENT)
    path.write_text(path.read_text().replace("{", '{\n  "mine": 1,', 1))

    invoke("config", "jetbrains", "--unwrap")
    assert said(path.read_text()) == {"mine": 1}

    invoke("config", "jetbrains", "--write", *AGENT)
    path.write_text(f"{path.read_text()}\n".replace('"mine": 1,', ""))
    assert "removed" in invoke("config", "jetbrains", "--unwrap").stdout
    assert not path.exists()


def test_an_empty_file_of_the_persons_own_stays(home: Path) -> None:
    path = home / "settings.json"
    path.write_text("{}")
    invoke("config", "zed", "--write", "--file", path, *AGENT)
    path.write_text(path.read_text() + "\n")

    invoke("config", "zed", "--unwrap", "--file", path)

    assert said(path.read_text()) == {}


def test_a_dry_run_shows_the_difference_and_changes_nothing(zed: Path) -> None:
    told = invoke("config", "zed", "--write", "--dry-run").stdout

    assert f"--- {zed}" in told
    assert '-    "Goose": { "type": "custom", "command": "goose"' in told
    assert f'+    "Goose": {{ "type": "custom", "command": "{PROGRAM}"' in told
    assert zed.read_text() == ZED
    assert list(zed.parent.iterdir()) == [zed]

    invoke("config", "zed", "--write")
    there = zed.read_text()
    undo = invoke("config", "zed", "--unwrap", "--dry-run").stdout
    assert '+    "Goose": { "type": "custom", "command": "goose"' in undo
    assert zed.read_text() == there


def test_a_difference_can_be_applied_by_patch(zed: Path) -> None:
    zed.write_bytes(ZED.rstrip().encode())
    told = invoke("config", "zed", "--write", "--dry-run", *AGENT).stdout
    difference = told[told.index("--- ") :]
    if not os.path.exists("/usr/bin/patch"):
        pytest.skip("patch is not installed")

    subprocess.run(["/usr/bin/patch", "-s", zed], input=difference, text=True, check=True)

    patched = zed.read_text()
    zed.write_bytes(ZED.rstrip().encode())
    invoke("config", "zed", "--write", *AGENT)
    assert zed.read_text() == patched


def test_another_file_can_be_named(home: Path) -> None:
    path = home / "my settings.json"

    told = invoke("config", "acpx", "--write", "--file", path, *AGENT).stdout

    assert f"acp-proxy config acpx --unwrap --file '{path}'" in told
    assert list(said(path.read_text())["agents"]) == ["goose-recorded"]


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b'{"agent_servers": []}', 'line 1, column 19: "agent_servers" should be an object'),
        (b'{\n  "a": 1\n  "b": 2\n}', "line 3, column 3: a comma or } is missing here"),
        (b'{"a": "\xe9"}', "is not UTF-8 (line 1, byte 8 of the file)"),
        (b"\xff\xfe{\x00}\x00", "is not UTF-8"),
        (b'{"agent_servers": {"A": {"command": 1}}}', "column 37"),
        (b'{"agent_servers": {}, "agent_servers": {}}', "stands here a second time"),
    ],
)
@pytest.mark.parametrize(
    "arguments",
    [("--write",), ("--write", *AGENT), ("--unwrap",), ("--write", "--dry-run", *AGENT)],
)
def test_what_cannot_be_understood_is_never_touched(
    zed: Path, content: bytes, why: str, arguments: tuple[str, ...]
) -> None:
    zed.write_bytes(content)

    result = invoke("config", "zed", *arguments, code=1)

    assert why in result.stderr
    assert str(zed) in result.stderr
    assert "run this again" in result.stderr
    assert zed.read_bytes() == content
    assert list(zed.parent.iterdir()) == [zed]


def test_an_agent_of_the_same_name_is_not_replaced(zed: Path) -> None:
    result = invoke("config", "zed", "--write", "--name", "Goose", *AGENT, code=1)

    assert 'there is another agent called "Goose" already' in result.stderr
    assert "--name" in result.stderr
    assert zed.read_text() == ZED


def test_what_could_not_be_written_is_not_told_as_done(zed: Path) -> None:
    (zed.parent / "second name").hardlink_to(zed)

    result = invoke("config", "zed", "--write", *AGENT, code=1)

    assert result.stdout == ""
    assert "hard link" in result.stderr
    assert zed.read_text() == ZED


@pytest.mark.parametrize("content", ["{}", '{"agent_servers": {"a": {"type": "registry"}}}', None])
def test_where_there_is_nothing_to_wrap_the_way_on_is_told(zed: Path, content: str | None) -> None:
    zed.unlink()
    if content is not None:
        zed.write_text(content)

    result = invoke("config", "zed", "--write", code=1)

    assert "acp-proxy config zed --write -- AGENT ARGS" in result.stderr
    what = "is not there" if content is None else "names no agent with a command"
    assert f"{zed} {what}" in result.stderr
    assert content is None or zed.read_text() == content


def test_nothing_to_undo_where_there_is_no_file(home: Path) -> None:
    assert "nothing to undo" in invoke("config", "zed", "--unwrap", code=1).stderr


def test_a_form_of_the_persons_own_is_left_to_the_person(zed: Path) -> None:
    content = '{"agent_servers": {"A": {"command": "acp-proxy", "args": ["run", "claude"]}}}'
    zed.write_text(content)

    result = invoke("config", "zed", "--unwrap", code=1)

    assert "A: left as it is: its command has a form of its own" in result.stdout
    assert zed.read_text() == content
