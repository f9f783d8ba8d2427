"""``doctor``: what it finds on real logs, journals, settings and programs, and what it says to do."""

import json
import os
import shutil
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from acp_proxy.doctor.agents import DESKTOP_PATH, missing_on
from acp_proxy.journal.tail import JournalReader
from acp_proxy.log.writer import LogWriter
from acp_proxy.recorder.ingest import Ingest
from tests.cli.commands import invoke
from tests.cli.conversations import V1, put
from tests.harness import PROXY, environment
from tests.recorder.journals import abandon, append, begin

Finding = dict[str, str]
CHECKS = ["program", "libraries", "settings", "log", "permissions", "journals", "disk", "self-test"]


def examined(
    log: Path, *words: str, plays: bool = False, **variables: str
) -> tuple[bool, list[Finding]]:
    """Return whether all is well, and the findings."""
    options = [] if plays else ["--no-self-test"]
    command = [str(PROXY), "doctor", "--json", "--log", str(log), *options, *words]
    env = environment(**{"HOME": f"{log.parent}/home", **variables})
    done = subprocess.run(command, env=env, capture_output=True, timeout=120, check=False)
    assert done.stderr == b""
    told: dict[str, Any] = json.loads(done.stdout)
    assert done.returncode == (0 if told["ok"] else 1)
    return told["ok"], told["findings"]


def not_ok(findings: list[Finding], check: str) -> list[Finding]:
    """Return what a check has against something."""
    return [one for one in findings if one["check"] == check and one["status"] != "ok"]


@pytest.mark.slow
def test_all_is_well_before_anything_was_recorded(tmp_path: Path) -> None:
    is_well, findings = examined(tmp_path / "log.db", plays=True)
    assert is_well
    assert {one["check"] for one in findings} == {*CHECKS} - {"permissions"}
    left = {path.name for path in tmp_path.iterdir()}  # the home has the key of this installation
    assert left <= {"home"}, "the self-test leaves nothing, nor is the log made"


@pytest.mark.slow
def test_all_is_well_with_a_log(tmp_path: Path) -> None:
    put(tmp_path / "log.db", V1)
    before = (tmp_path / "log.db").read_bytes()
    is_well, findings = examined(tmp_path / "log.db", plays=True)
    assert is_well
    checks = list(dict.fromkeys(one["check"] for one in findings))
    assert checks == CHECKS
    [log] = [one for one in findings if one["check"] == "log"]
    assert "1 connection" in log["what"]
    assert (tmp_path / "log.db").read_bytes() == before


@pytest.mark.slow
def test_the_self_test_works_where_recording_is_switched_off(tmp_path: Path) -> None:
    is_well, findings = examined(
        tmp_path / "log.db", plays=True, ACP_PROXY_OFF="1", ACP_PROXY_LOGS="x"
    )
    assert is_well
    notes = not_ok(findings, "program")
    assert "ACP_PROXY_OFF is set: run records nothing" in [one["what"] for one in notes]
    assert "did you mean ACP_PROXY_LOG?" in [one["remedy"] for one in notes]


@pytest.mark.slow
def test_who_else_may_read_is_told(tmp_path: Path) -> None:
    log = tmp_path / "a folder" / "log.db"
    log.parent.mkdir()
    put(log, V1)
    log.chmod(0o640)
    is_well, findings = examined(log)
    assert not is_well
    [finding] = not_ok(findings, "permissions")
    assert str(log) in finding["what"]
    subprocess.run(finding["remedy"], shell=True, check=True)
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    assert examined(log)[0]


def test_a_damaged_log_is_told(tmp_path: Path) -> None:
    log = tmp_path / "log.db"
    log.write_bytes(b"this is no database" * 1000)
    log.chmod(0o600)
    is_well, findings = examined(log)
    assert not is_well
    assert not_ok(findings, "log")[0]["remedy"]


def test_a_locked_log_is_not_called_damaged(tmp_path: Path) -> None:
    log = tmp_path / "log.db"
    put(log, V1)
    with closing(sqlite3.connect(log)) as db:
        db.execute("BEGIN IMMEDIATE")
        _, findings = examined(log)
    [finding] = not_ok(findings, "log")
    assert "is locked by another program" in finding["what"]


@pytest.mark.slow
def test_what_is_still_on_its_way_into_the_log_is_not_called_lost(tmp_path: Path) -> None:
    log = tmp_path / "log.db"
    writer = begin(log)
    append(writer, [("client", b"{}\n"), ("agent", b"{}\n")])
    with JournalReader(writer.path) as journal, LogWriter(str(log)) as into:
        records = journal.read(0)
        ingest = Ingest(journal, records[0], into)
        ingest.take(records[:2])
        ingest.commit()
    abandon(writer)
    with closing(sqlite3.connect(log)) as db:
        db.execute("BEGIN IMMEDIATE")  # the rest cannot get in
        _, findings = examined(log)
        [row] = db.execute("SELECT status FROM connections").fetchall()
    assert row == ("running",)
    assert len(not_ok(findings, "journals")) == 1
    assert not [one for one in findings if "never recorded" in one["what"]]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may look everywhere")
def test_journals_that_nobody_may_look_at_are_told(tmp_path: Path) -> None:
    put(tmp_path / "log.db", V1)
    folder = tmp_path / "log.db.journals"
    folder.mkdir(exist_ok=True)
    folder.chmod(0)
    try:
        _, findings = examined(tmp_path / "log.db")
    finally:
        folder.chmod(0o700)
    [finding] = not_ok(findings, "journals")
    assert finding["remedy"] == f"chmod 700 {folder}"


@pytest.mark.slow
def test_a_log_of_a_newer_program_is_told_and_what_waits_for_it(tmp_path: Path) -> None:
    log = tmp_path / "log.db"
    put(log, V1)
    with closing(sqlite3.connect(log)) as db, db:
        db.execute(
            "INSERT INTO _sqlite_migrations (migration_set, name, applied_at) "
            "VALUES ('acp_proxy', 'm9999_later', '2030-01-01')"
        )
    command = [str(PROXY), "run", "--log", str(log), "--", "echo", "\x1b]0;title\x07"]
    subprocess.run(command, env=environment(), check=True, timeout=60, capture_output=True)

    is_well, findings = examined(log)

    assert not is_well
    assert "newer" in not_ok(findings, "log")[0]["what"]
    [waiting] = not_ok(findings, "journals")
    assert "newer" in waiting["what"]
    page = subprocess.run(
        [str(PROXY), "doctor", "--log", str(log)],
        env=environment(),
        capture_output=True,
        check=False,
    )
    assert page.returncode == 1
    assert b"\x1b" not in page.stdout
    assert b"problem  journals:" in page.stdout


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    is_well, findings = examined(tmp_path / "log.db")
    tmp_path.chmod(0o700)
    assert not is_well
    assert "cannot be written" in not_ok(findings, "log")[0]["what"]


def test_an_impossible_place_is_told() -> None:
    is_well, findings = examined(Path("/proc/acp-proxy-test/log.db"))
    assert not is_well
    assert not_ok(findings, "log")
    assert not [one for one in findings if one["check"] == "doctor"]


def test_settings_that_cannot_be_read_are_told(tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text("lable = 'x'")
    is_well, findings = examined(tmp_path / "log.db", ACP_PROXY_CONFIG=str(config))
    assert not is_well
    [finding] = not_ok(findings, "settings")
    assert f"{config}: there is no setting lable" in finding["what"]
    is_well, findings = examined(tmp_path / "log.db", ACP_PROXY_KEEP="x")
    assert not is_well
    assert "$ACP_PROXY_KEEP" in not_ok(findings, "settings")[0]["remedy"]


def script(path: Path, first_line: str) -> Path:
    """Make a program with a first line."""
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"{first_line}\n")
    path.chmod(0o755)
    return path


def test_an_interpreter_that_an_editor_would_not_find_is_found_out(tmp_path: Path) -> None:
    folder = tmp_path / "bin"
    script(folder / "my-node", "#!/bin/sh")
    cases = {
        "#!/usr/bin/env my-node": "my-node",
        "#!/usr/bin/env -S my-node --flag": "my-node",
        "#!/usr/bin/env -S A=1 my-node": "my-node",
        f"#!{folder}/nothing there": f"{folder}/nothing",
        "#!/bin/sh": None,
        "#! /bin/sh -e": None,
        "\x7fELF": None,
        "#!": None,
        "": None,
    }
    for number, (first_line, missing) in enumerate(cases.items()):
        agent = script(folder / f"agent-{number}", first_line)
        assert missing_on(DESKTOP_PATH, str(agent)) == missing, first_line
    assert missing_on(DESKTOP_PATH, "agent-4") == "agent-4"
    assert missing_on(f"{folder}:{DESKTOP_PATH}", "agent-0") is None


@pytest.mark.slow
def test_agents_that_an_editor_would_not_find_are_told(tmp_path: Path) -> None:
    folder = tmp_path / "bin"
    script(folder / "my-node", "#!/bin/sh")
    agent = script(folder / "agent", "#!/usr/bin/env my-node")
    config = tmp_path / "config.toml"
    config.write_text(
        f'[agents]\nhere = ["agent", "acp"]\nfull = "{agent}"\nplain = "/bin/cat"\nnone = "nosuch"\n'
    )
    path = f"{folder}:{os.environ['PATH']}"
    log = tmp_path / "log.db"

    is_well, findings = examined(log, ACP_PROXY_CONFIG=str(config), PATH=path)

    told = {one["what"].partition(" ")[0]: one for one in findings if one["check"] == "agents"}
    assert told["agents.here"]["status"] == "note"
    assert str(agent) in told["agents.here"]["remedy"]
    assert told["agents.full"]["status"] == "note"
    assert "run by my-node" in told["agents.full"]["what"]
    assert told["agents.plain"]["status"] == "ok"
    assert told["agents.none"]["status"] == "problem"
    assert not is_well
    for words, status in [
        (["agent"], "problem"),
        (["/bin/cat", "--help"], "ok"),
        (["x y"], "problem"),
    ]:
        _, findings = examined(log, "--", *words, PATH=path)
        assert [one["status"] for one in findings if one["check"] == "agents"] == [status]


@pytest.mark.slow
def test_another_acp_proxy_that_comes_first_is_told(tmp_path: Path) -> None:
    other = script(tmp_path / "bin" / "acp-proxy", "#!/bin/sh")
    log = tmp_path / "log.db"
    _, findings = examined(log, PATH=f"{other.parent}:{os.environ['PATH']}")
    [note] = not_ok(findings, "program")
    assert str(other) in note["what"]
    assert str(Path(sys.executable).parent / "acp-proxy") in note["remedy"]
    _, findings = examined(log, PATH="/usr/bin:/bin")
    [note] = not_ok(findings, "program")
    assert "not on the PATH" in note["what"]


def test_a_broken_installation_is_told(tmp_path: Path) -> None:
    """A copy of the program in which recording does not work: the self-test says so."""
    copy = tmp_path / "copy"
    shutil.copytree(Path(__file__).parents[2] / "acp_proxy", copy / "acp_proxy")
    shutil.copytree(Path(__file__).parents[2] / "migrations", copy / "migrations")
    (copy / "acp_proxy" / "recorder" / "ingest.py").write_text("raise SystemExit(3)\n")
    done = subprocess.run(
        [
            sys.executable,
            "-P",
            "-m",
            "acp_proxy",
            "doctor",
            "--json",
            "--log",
            str(tmp_path / "l.db"),
        ],
        env=environment(PYTHONPATH=str(copy)),
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    findings = json.loads(done.stdout)["findings"]
    assert "not recorded" in not_ok(findings, "self-test")[0]["what"]


def test_the_settings_of_editors_are_looked_at(tmp_path: Path) -> None:
    home = tmp_path / "home"
    path = home / ".jetbrains" / "acp.json"
    ours = str(PROXY)
    servers: dict[str, Any] = {
        "direct": {"command": "/bin/cat", "args": []},
        "well": {"command": ours, "args": ["run", "--", "/bin/cat", "x"]},
        "moved": {"command": "/nowhere/acp-proxy", "args": ["run", "--", "/bin/cat"]},
        "short": {"command": ours, "args": ["run", "--", "only-here"]},
        "helped": {
            "command": ours,
            "args": ["run", "--", "only-here"],
            "env": {"PATH": f"{tmp_path}/bin:/bin"},
        },
        "gone": {"command": ours, "args": ["run", "--", "no-such-agent"]},
        "named": {"command": ours, "args": ["run", "claude"]},
    }
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"agent_servers": servers}))
    script(tmp_path / "bin" / "only-here", "#!/bin/sh")
    before = path.read_bytes()

    is_well, findings = examined(tmp_path / "log.db", PATH=f"{tmp_path}/bin:{os.environ['PATH']}")

    assert not is_well
    told = [one for one in findings if one["check"] == "editors"]
    assert told[0]["status"] == "ok"
    assert "6 of 7 agents go through acp-proxy" in told[0]["what"]
    by_name = {one["what"].split('"')[1]: one for one in told[1:]}
    assert {name: one["status"] for name, one in by_name.items()} == {
        "moved": "problem",
        "short": "note",
        "gone": "problem",
    }
    assert "acp-proxy config jetbrains --unwrap" in by_name["moved"]["remedy"]
    assert path.read_bytes() == before

    path.write_text('{"agent_servers": [')
    is_well, findings = examined(tmp_path / "log.db")
    assert is_well
    [note] = not_ok(findings, "editors")
    assert "line 1" in note["what"]


@pytest.mark.slow
def test_what_config_writes_the_doctor_finds_well(tmp_path: Path) -> None:
    env = environment(HOME=str(tmp_path / "home"))
    for name in ("zed", "vscode", "acpx"):
        command = [str(PROXY), "config", name, "--write", "--", "cat", "two words"]
        subprocess.run(command, env=env, check=True, capture_output=True, timeout=60)
    is_well, findings = examined(tmp_path / "log.db")
    assert is_well
    told = [one["what"] for one in findings if one["check"] == "editors"]
    assert len(told) == 3
    assert all("1 of 1 agents go through acp-proxy" in what for what in told)


def test_a_short_name_is_looked_for_as_run_does(tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text('[agents]\nmine = ["/bin/cat", "x"]\n')
    log = tmp_path / "log.db"
    _, findings = examined(log, "mine", ACP_PROXY_CONFIG=str(config))
    assert "the command (/bin/cat x): /bin/cat" in [one["what"] for one in findings]
    is_well, findings = examined(log, "--", "mine", ACP_PROXY_CONFIG=str(config))
    assert not is_well


def test_the_page_says_it_in_words(tmp_path: Path) -> None:
    done = invoke("doctor", "--log", tmp_path / "log.db")
    assert done.stdout.endswith("\nall is well\n")
    assert "ok       self-test:   a conversation of 15 messages was recorded whole" in done.stdout
