"""Completion at the prompt of real shells: what is inserted, what is shown, and what never happens."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conversations import V1, V2, put, update
from tests.harness import PROXY
from tests.shells import SHELLS, Shell

# What is typed (up to a prefix that nothing else has), and the id that has to come of it.
IDS = {
    "plain": "plain-1",
    "functions.r": "functions.read:0",
    "functions.write:": "functions.write:1",
    "call_a": "call_a|fc_b",
    "two": "two words",
    "it": "it's 5 o'clock",
    "do": "do`touch pwned`",
    "\\$": "$(touch pwned)",
    "a\\;": "a;touch pwned;",
    "quo": 'quo"te"',
    "back": "back\\slash\\",
    "sta": "sta*",
    "\\~": "~root",
    "eq": "eq=ls",
    "bang": "bang!!ls",
    "per": "per%Fcent%B",
    "ün": "ünï",
    "\\#": "#hash",
    "x\\&": "x&touch pwned",
    "lt": "lt<pwned>pwned",
    "\\{": "{a,b}",
    "br": "br[ab]?",
    "par": "par(1)",
    "'=": "=ls",
    "nbsp": "nbsp\u00a0\u3000x ",
    "漢": "漢字",
    "cir": "cir^cum^flex",
    "\\%": "%1",
    "at": "at@host",
    "com": "com,ma",
    "\\!": "!-1",
    "\\`": "`touch pwned`",
}
_LEFT_OUT = ("--session", "-x", "new\nline", "escape\x1b[2J", "tab\tbed", "", "turn\u202eround")
_TITLE = "Title \x1b]0;pwned\x07 of: $(touch pwned) `touch pwned` %F{red}%B"


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log of which connection 1 has hostile ids, and connection 2, the latest, has none."""
    calls = [
        ("agent", update("tool_call", toolCallId=id_, title=_TITLE, kind="edit", status="pending"))
        for id_ in (*IDS.values(), *_LEFT_OUT)
    ]
    path = tmp_path_factory.mktemp("completion") / "log of 'us'.db"
    put(path, [*V1[:5], *calls])
    return put(path, V2)


@pytest.fixture(params=SHELLS)
def shell(request: pytest.FixtureRequest, tmp_path: Path, log: Path) -> Iterator[Shell]:
    """A shell that knows our script, in an empty folder."""
    with Shell(request.param, tmp_path, log) as shell:
        yield shell


@pytest.mark.slow
def test_a_shell_inserts_ids_so_that_they_arrive_as_they_were_sent(
    shell: Shell, tmp_path: Path
) -> None:
    arrived = {typed: shell.run(f"acp-proxy tool-call 1 {typed}\t")[2:] for typed in IDS}

    assert arrived == {typed: [id_] for typed, id_ in IDS.items()}
    assert not (tmp_path / "pwned").exists()


@pytest.mark.parametrize("quote", "'\"")
def test_a_shell_completes_inside_a_quote(shell: Shell, quote: str) -> None:
    arrived = shell.run(f"acp-proxy tool-call 1 {quote}two\t")
    joined = shell.run(f"acp-proxy tool-call 1 {quote}two w\t")

    assert arrived == joined == ["tool-call", "1", "two words"]


def test_a_shell_shows_titles_harmless(shell: Shell) -> None:
    # bash shows no titles; it lists at the second tab, fish at the second too
    shown = shell.shown("acp-proxy tool-call 1 functions.\t\t\t")

    assert "functions.write" in shown or "write:1" in shown
    assert "\x1b]0;pwned" not in shown
    assert "[31m" not in shown
    if shell.name != "bash":
        assert "Title \\e]0;pwned" in shown.replace("\r\n", "")


@pytest.mark.slow
def test_a_shell_completes_commands_options_and_their_values(shell: Shell, log: Path) -> None:
    elsewhere = str(log).replace("'", "\\'").replace(" ", "\\ ")
    cases = {
        "conn\t": ["connections"],
        "log inf\t": ["log", "info"],
        "messages --tool-\tplain\t": ["messages", "--tool-call", "plain"],
        "messages 1 --tool-\tplain\t": ["messages", "1", "--tool-call", "plain-1"],
        "messages 1 --tool-call=functions.r\t": ["messages", "1", "--tool-call=functions.read:0"],
        "messages --kind=req\t": ["messages", "--kind=request"],
        f"tool-call --log {elsewhere} 1 two\t": [
            "tool-call", "--log", str(log), "1", "two words",
        ],
        f"tool-call --log={elsewhere}.gone 1 two\t": [
            "tool-call", f"--log={log}.gone", "1", "two",
        ],
    }  # fmt: skip

    assert {typed: shell.run(f"acp-proxy {typed}") for typed in cases} == cases


@pytest.mark.slow
def test_a_shell_completes_the_wrapped_command_and_files(shell: Shell, tmp_path: Path) -> None:
    agent = tmp_path / "my agent"
    agent.touch(mode=0o755)
    (tmp_path / "data-of-agent").touch()
    cases = {
        "run -- ./my\t": ["run", "--", "./my agent"],
        "run ./my\tdata\t": ["run", "./my agent", "data-of-agent"],
        "run -- ./my\t--session dat\t": ["run", "--", "./my agent", "--session", "data-of-agent"],
        "run -- ./my\t--model=x:y dat\t": [
            "run",
            "--",
            "./my agent",
            "--model=x:y",
            "data-of-agent",
        ],
        "run -- acp-prox\t": ["run", "--", "acp-proxy"],
        "messages --log dat\t": ["messages", "--log", "data-of-agent"],
        "messages --log=dat\t": ["messages", "--log=data-of-agent"],
        "import dat\t": ["import", "data-of-agent"],
    }

    assert {typed: shell.run(f"acp-proxy {typed}") for typed in cases} == cases


@pytest.mark.parametrize("name", SHELLS)
def test_a_shell_asks_the_program_that_was_typed(name: str, tmp_path: Path, log: Path) -> None:
    with Shell(name, tmp_path, log, path="/usr/bin:/bin") as shell:
        nothing = shell.shown("acp-proxy conn\t")
        typed = shell.shown(f"{PROXY} conn\t")
        (tmp_path / "bin").symlink_to(PROXY.parent)  # the home of this shell
        at_home = shell.shown("~/bin/acp-proxy conn\t")

    assert "connections" not in nothing
    assert "not found" not in nothing
    assert "connections" in typed
    assert "connections" in at_home
