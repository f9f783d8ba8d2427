"""What a recorder takes of the machine: little while its proxy runs."""

import subprocess
import sys
from pathlib import Path

import pytest

from acp_proxy.recorder.priority import AUTOGROUP
from tests.harness import Log, Process, Way, agent, environment, wait_until

SCRIPT = """
import sys
from acp_proxy.recorder.priority import Priority
priority = Priority(sys.argv[1])
told = []
wishes = [lambda n=n: priority.yield_to_traffic(n) for n in (1, 2, 32)]
for wish in (*wishes, priority.settle, priority.finish):
    wish()
    told.append(open(sys.argv[1]).read())
print(*told)
"""


def wishes(file: Path, *, own_session: bool) -> str:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(file)],
        env=environment(),
        start_new_session=own_session,
        capture_output=True,
        check=True,
        text=True,
    )
    return done.stdout.strip()


def test_it_yields_until_it_finishes(tmp_path: Path) -> None:
    (tmp_path / "autogroup").write_text("as it was")

    assert wishes(tmp_path / "autogroup", own_session=True) == "5 8 19 19 0"


def test_a_session_of_others_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "autogroup").write_text("untouched")

    assert wishes(tmp_path / "autogroup", own_session=False) == " ".join(["untouched"] * 5)


def test_where_there_is_no_such_thing_nothing_happens(tmp_path: Path) -> None:
    file = tmp_path / "folder"
    file.mkdir()
    script = SCRIPT.replace("told.append", "(lambda _: None)").replace(
        "open(sys.argv[1])", "sys.stdin"
    )

    subprocess.run(
        [sys.executable, "-c", script, str(file)],
        env=environment(),
        start_new_session=True,
        stdin=subprocess.DEVNULL,
        check=True,
    )


def test_a_recorder_yields_while_its_proxy_runs(tmp_path: Path) -> None:
    if not Path(AUTOGROUP).exists():
        pytest.skip("no autogroups here")
    log = Log(tmp_path / "log.db")
    with Process(Way(log).command(agent("echo", 0))) as process:
        process.send(b"hello\n")
        process.stdout.wait_count(6)
        [recorder] = wait_until(log.recorders, "a recorder runs")
        group = Path(f"/proc/{recorder}/autogroup")
        wait_until(lambda: group.read_text().split()[-1:] == ["5"], "it yields")
        process.close_stdin()
        assert process.wait() == 0
