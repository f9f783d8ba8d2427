"""Logs as each released step of the schema wrote them: read as they are, brought up to date, rebuilt.

README.md in ``released/`` says what they hold and how each was made.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from acp_proxy.log import schema
from tests.cli.commands import document, invoke
from tests.harness import Log, wait_until
from tests.log.released_logs import (
    RELEASED,
    STREAMS,
    answers,
    ids,
    imported_anew,
    is_waiting,
    reader,
    run_command,
    schema_of,
    unpack,
)

pytestmark = pytest.mark.parametrize("step", schema.STEPS)
SPOKEN = "garden"
NO_TEXTS = "log reindex"


def test_each_released_step_has_a_log(step: str, tmp_path: Path) -> None:
    assert (RELEASED / f"{step}.tar.xz").is_file(), "make one: tests/log/released/README.md"
    log, _ = unpack(step, tmp_path)

    assert schema.applied_steps(str(log))[-1] == step


def test_what_was_said_is_in_it_byte_for_byte(step: str, tmp_path: Path) -> None:
    log, told = unpack(step, tmp_path)

    for label, number in ids(log).items():
        if label in {"imported", "waiting"}:
            continue
        row = document("connections", "--log", log)
        (found,) = [one for one in row if one["id"] == number]
        for stream in STREAMS:
            assert found["bytes"][stream] == told[label][stream]["bytes"], (label, stream)
            if label != "gap":
                assert found["sha256"][stream] == told[label][stream]["sha256"], (label, stream)


@pytest.mark.slow
def test_it_answers_unmigrated_and_migrated_as_a_fresh_import(step: str, tmp_path: Path) -> None:
    log, _ = unpack(step, tmp_path / "old")
    imported_anew(log, tmp_path / "new.db", tmp_path / "lines")
    asked = [] if step in (schema.STEPS[0], schema.STEPS[-1]) else ["version 2", "gap", "waiting"]
    expected = answers(tmp_path / "new.db", asked)

    assert answers(log, asked) == expected, "as it is"
    assert schema.applied_steps(str(log))[-1] == step, "who reads does not migrate"

    invoke("log", "migrate", "--log", log)
    assert schema.applied_steps(str(log)) == list(schema.STEPS)
    assert schema_of(log) == schema_of(tmp_path / "new.db")
    some = answers(log, ["waiting"])
    assert some == {words: expected[words] for words in some}, "brought up to date"

    invoke("log", "reindex", "--log", log)
    assert answers(log, asked) == expected, "rebuilt"
    hits = ("search", SPOKEN, "--limit", 100)
    assert document(*hits, "--log", log) == document(*hits, "--log", tmp_path / "new.db")


@pytest.mark.slow
def test_sqlite_utils_brings_it_up_to_date_as_the_program_does(step: str, tmp_path: Path) -> None:
    log, _ = unpack(step, tmp_path / "one")
    other, _ = unpack(step, tmp_path / "other")
    migrations = str(schema.history_path().parent)
    command = [sys.executable, "-m", "sqlite_utils", "migrate", str(log), migrations]
    subprocess.run(command, check=True, capture_output=True)
    invoke("log", "migrate", "--log", other)

    assert schema_of(log) == schema_of(other)
    assert schema.applied_steps(str(log)) == schema.applied_steps(str(other))


@pytest.mark.slow
def test_search_says_what_is_missing_until_it_is_rebuilt(step: str, tmp_path: Path) -> None:
    log, _ = unpack(step, tmp_path)
    searched = step >= "m0003_search"
    before = invoke("search", SPOKEN, "--log", log, code=0 if searched else 1)
    assert ("log migrate" in before.stderr, bool(before.stdout)) == (not searched, searched)

    done = invoke("log", "migrate", "--log", log)
    after = invoke("search", SPOKEN, "--log", log, code=0 if searched else 1)
    assert (NO_TEXTS in done.stdout, NO_TEXTS in after.stderr) == (not searched, not searched)

    invoke("log", "reindex", "--log", log)
    after = invoke("search", SPOKEN, "--log", log)
    assert after.stdout
    running = 1  # it cannot be rebuilt while its journal is missing
    left = document("log", "migrate", "--log", log)["toReindex"]
    assert left == (0 if searched else running)


@pytest.mark.slow
def test_verify_finds_only_the_gap_after_migrating(step: str, tmp_path: Path) -> None:
    log, _ = unpack(step, tmp_path, waiting=True)
    for command in ("migrate", "reindex"):
        invoke("log", command, "--log", log)
        found = invoke("verify", "--log", log, code=1).stdout.splitlines()[:-1]
        gap = re.compile(f"connection {ids(log)['gap']}: .* were relayed but not recorded")
        assert found
        assert [line for line in found if not gap.fullmatch(line)] == []


@pytest.mark.parametrize("how", ["log migrate", "a recorder"])
def test_who_reads_goes_on_while_it_is_migrated(step: str, how: str, tmp_path: Path) -> None:
    log, told = unpack(step, tmp_path, waiting=True)
    with reader(log) as process:
        process.stdout.wait_for(b"began")
        if how == "a recorder":
            run_command(log)
            wait_until(lambda: not is_waiting(log), "all journals are in the log")
        else:
            invoke("log", "migrate", "--log", log)
        assert schema.applied_steps(str(log)) == list(schema.STEPS), "while a reader reads"
        for number in range(1, 4):
            process.send(b"go on\n")
            wait_until(
                lambda n=number: process.stdout.data.count(b"round") >= n or not process.running,  # type: ignore[misc]
                "another round",
            )
            invoke("log", "reindex", ids(log)["version 1"], "--log", log)
        process.close_stdin()
        assert process.wait() == 0, process.stderr.wait_end().decode()

    waiting = next(one for one in Log(log).connections() if one["label"] == "waiting")
    assert (waiting["status"], waiting["bytes"]["client"], waiting["bytes"]["agent"]) == (
        "lost",
        told["waiting"]["client"]["bytes"],
        told["waiting"]["agent"]["bytes"],
    )
    assert {
        stream: waiting["sha256"][stream] == told["waiting"][stream]["sha256"] for stream in STREAMS
    } == dict.fromkeys(STREAMS, True)
    assert json.loads(invoke("log", "info", "--json", "--log", log).stdout)["waiting"] == []
