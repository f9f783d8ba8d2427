"""A few seconds of the soak (``tests/bench/soak.py``), so that it goes on working."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.harness import PROXY, environment, needs_linux

ROOT = Path(__file__).resolve().parent.parent


@needs_linux
@pytest.mark.slow
def test_a_few_seconds_of_hostile_traffic_leave_nothing_wrong() -> None:
    command = [sys.executable, "-m", "tests.bench.soak", "--minutes", "0.05", "--slots", "2"]
    env = environment(PATH=f"{PROXY.parent}{os.pathsep}{os.environ['PATH']}")
    command += ["--seed", "1"]
    done = subprocess.run(
        command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=600, check=False
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert "nothing is wrong" in done.stdout
