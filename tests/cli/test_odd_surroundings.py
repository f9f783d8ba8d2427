"""The reading commands where something about them is odd: no traceback, the right exit code."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.cli.commands import invoke
from tests.harness import PROXY, environment

LINE = rb'{"from":"client","data":"na\u00efve \u2026 \ud83c\udf89 \u001b[31m"}' + b"\n"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    invoke("import", "-", "--log", tmp_path / "log.db", stdin=LINE)
    return tmp_path / "log.db"


def run(script: str, **changes: str) -> subprocess.CompletedProcess[bytes]:
    """Run a shell script in which $P is the program."""
    env = environment(P=str(PROXY), **changes)
    return subprocess.run(
        ["sh", "-c", script], env=env, capture_output=True, timeout=120, check=False
    )


@pytest.mark.parametrize(
    "words",
    [
        ["messages", "99999999999999999999999"],
        ["show", "99999999999999999999"],
        ["show", "9" * 30, "1"],
        ["connections", "--log", "/etc/passwd"],
    ],
)
def test_numbers_and_files_beyond_all_sense_are_told(log: Path, words: list[str]) -> None:
    done = run('"$P" "$@"'.replace("$@", '" "'.join(words)), ACP_PROXY_LOG=str(log))

    assert done.returncode == 1
    assert b"Traceback" not in done.stderr
    assert done.stderr.startswith(b"acp-proxy: ")


@pytest.mark.parametrize("option", ["--since-seq", "--limit"])
def test_options_beyond_all_sense_are_a_usage_error(log: Path, option: str) -> None:
    invoke("messages", "--log", log, option, "9" * 30, code=2)


@pytest.mark.parametrize("command", ["messages", "connections", "export --stream client", "verify"])
@pytest.mark.parametrize("output", [">&-", ">/dev/full", "| head -c 1"])
def test_an_output_that_cannot_be_written_is_no_traceback(
    log: Path, command: str, output: str
) -> None:
    done = run(f'"$P" {command} {output}', ACP_PROXY_LOG=str(log))

    assert b"Traceback" not in done.stderr
    assert b"Exception" not in done.stderr


@pytest.mark.parametrize("encoding", ["ascii", "latin1", "cp437"])
@pytest.mark.parametrize("command", ["messages", "show 1", "demo"])
def test_a_narrow_encoding_is_no_traceback(log: Path, command: str, encoding: str) -> None:
    done = run(f'"$P" {command}', ACP_PROXY_LOG=str(log), PYTHONIOENCODING=encoding)

    assert done.returncode == 0
    assert b"Traceback" not in done.stderr
    assert b"\x1b" not in done.stdout


def test_a_working_folder_that_is_gone_is_told(tmp_path: Path, log: Path) -> None:
    script = (
        f'mkdir {tmp_path}/gone && cd {tmp_path}/gone && rmdir {tmp_path}/gone && "$P" connections'
    )
    relative = run(script, ACP_PROXY_LOG="log.db")
    absolute = run(script, ACP_PROXY_LOG=str(log))

    assert (relative.returncode, absolute.returncode) == (1, 0)
    assert b"give an absolute path" in relative.stderr


def test_no_home_and_no_name_is_no_traceback(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can become a user that nobody knows")
    script = (
        "import os, sys; os.setgroups([]); os.setgid(54321); os.setuid(54321);"
        "from acp_proxy.log.place import log_path; print(log_path())"
    )
    # Imported before the change of user: the checkout may be out of that user's reach.
    done = subprocess.run(
        ["python3", "-c", "import acp_proxy.log.place, platformdirs;" + script],
        env={"PATH": f"{PROXY.parent}:{os.environ['PATH']}"},
        cwd=tmp_path,
        capture_output=True,
        timeout=120,
        check=False,
    )

    assert done.stderr == b""
    assert done.stdout.strip() in {
        b"/var/tmp/acp-proxy-54321/log.db",
        b"/tmp/acp-proxy-54321/log.db",
    }


def test_an_import_from_a_slow_pipe_does_not_lock_the_log(tmp_path: Path, log: Path) -> None:
    command = [str(PROXY), "import", "-", "--log", str(log)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as slow:
        assert slow.stdin is not None
        slow.stdin.write(LINE)
        slow.stdin.flush()
        for number in range(3):  # while the first one waits for more
            invoke("import", "-", "--log", log, "--label", number, stdin=LINE)
        slow.stdin.close()
        assert slow.wait(120) == 0


def test_a_message_beyond_parsing_can_be_imported(tmp_path: Path) -> None:
    log = tmp_path / "log.db"
    deep = b"[" * 100_000 + b"]" * 100_000
    lines = [b'{"from":"client","message":%s}' % text for text in (b"9" * 5000, deep)]
    invoke("import", "-", "--log", log, stdin=b"\n".join(lines))

    expected = b"9" * 5000 + b"\n" + deep + b"\n"
    assert invoke("export", "--stream", "client", "--log", log).stdout_bytes == expected


def test_a_planted_module_is_not_imported_whatever_the_path_says(tmp_path: Path, log: Path) -> None:
    for name in ("ctypes", "subprocess", "click", "trio", "orjson", "sqlite3"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'planted')!r}, 'w')\n")
    script = f'cd {tmp_path} && "$P" run -- echo hi && "$P" connections'
    done = run(script, PYTHONPATH=":/nowhere", ACP_PROXY_LOG=str(log))

    assert done.returncode == 0
    assert done.stdout.startswith(b"hi\n")
    assert not (tmp_path / "planted").exists()
