"""The proxy when its own installation is broken: the conversation goes on."""

import subprocess
from pathlib import Path

import pytest

from tests.harness import PROXY, environment


@pytest.mark.parametrize("broken", ["trio", "orjson", "sqlite3", "tempfile"])
def test_a_module_that_cannot_be_imported_changes_nothing(tmp_path: Path, broken: str) -> None:
    (tmp_path / "broken" / broken).mkdir(parents=True)
    (tmp_path / "broken" / broken / "__init__.py").write_text("raise RuntimeError('broken')\n")
    env = environment(PYTHONPATH=str(tmp_path / "broken"))
    log = str(tmp_path / "log.db")
    command = [str(PROXY), "run", "--log", log, "--", "sh", "-c", "cat; echo last >&2; exit 5"]

    done = subprocess.run(
        command, env=env, input=b"one\ntwo", capture_output=True, timeout=120, check=False
    )

    assert (done.returncode, done.stdout, done.stderr) == (5, b"one\ntwo", b"last\n")
