"""``run`` as config.toml and variables say; a broken file changes nothing for the two, and is told."""

from pathlib import Path

import pytest

from tests.harness import PROXY, Log, Process, agent, environment, needs_linux

pytestmark = needs_linux

SECRET = b"INT-20481632"
LINE = b'{"jsonrpc":"2.0","method":"x","params":{"about":"' + SECRET + b'"}}\n'


def converse(config: Path, *options: str, cwd: Path, **variables: str) -> None:
    """Hold a conversation with an echo under a configuration; all must pass unchanged."""
    env = environment(ACP_PROXY_CONFIG=str(config), **variables)
    with Process([str(PROXY), "run", *options, "--", "cat"], env=env, cwd=cwd) as process:
        process.send(LINE)
        process.close_stdin()
        assert process.stdout.wait_end() == LINE
        assert process.stderr.wait_end() == b""
        assert process.wait() == 0


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """Where the configuration is."""
    return tmp_path / "config.toml"


def test_run_does_as_the_file_says(config: Path, tmp_path: Path) -> None:
    log = Log(tmp_path / "there" / "log.db")
    config.write_text(
        f'log = "{log.path}"\nlabel = "{{folder}}/{{agent}}"\nredact_at_rest = true\n'
        '[redaction]\npatterns = ["INT-[0-9]{8}"]\n'
    )
    (tmp_path / "shop").mkdir()

    converse(config, cwd=tmp_path / "shop")

    row = log.connection()
    assert row["label"] == "shop/cat"
    assert [note["event"] for note in row["notes"] if note["event"] != "end"] == ["redacted"]
    assert log.export("agent") == LINE.replace(SECRET, b"[redacted]")
    log.assert_clean()


@pytest.mark.slow
def test_a_variable_goes_before_the_file_and_an_option_before_both(
    config: Path, tmp_path: Path
) -> None:
    config.write_text('log = "/proc/acp-proxy-test/log.db"\nlabel = "file"\nkeep = "1d"\n')
    for options, variables, label in [
        ([], {}, "file"),
        ([], {"ACP_PROXY_LABEL": "variable {agent}"}, "variable cat"),
        (["--label", "option"], {"ACP_PROXY_LABEL": "variable"}, "option"),
    ]:
        log = Log(tmp_path / f"{label}.db")
        converse(config, *options, cwd=tmp_path, ACP_PROXY_LOG=str(log.path), **variables)
        assert log.connection()["label"] == label


@pytest.mark.parametrize("text", ["x =", "\0", 'label = "a"\nredact_at_rest = "yes"', None])
def test_a_broken_file_is_recorded_and_no_secret_is(
    config: Path, tmp_path: Path, text: str | None
) -> None:
    if text is None:
        config.mkdir()
    else:
        config.write_text(text)
    log = Log(tmp_path / "log.db")
    line = b'{"jsonrpc":"2.0","method":"x","params":{"env":{"A":"secret"}}}\n'
    env = environment(ACP_PROXY_CONFIG=str(config), ACP_PROXY_LOG=str(log.path))
    with Process([str(PROXY), "run", "--", *agent("echo")], env=env) as process:
        process.send(line)
        process.close_stdin()
        assert process.stdout.wait_end() == line
        assert process.stderr.wait_end() == b""
        assert process.wait() == 0

    notes = log.connection()["notes"]
    [ignored, redacted] = [note for note in notes if note["event"] != "end"]
    assert ignored["event"] == "settings ignored"
    assert str(config) in ignored["why"]
    assert redacted["event"] == "redacted"
    assert b"secret" not in log.export("client")


def test_an_agent_that_is_not_there_is_recorded_with_the_settings(
    config: Path, tmp_path: Path
) -> None:
    config.write_text('label = "{agent} in {folder}"\n')
    log = Log(tmp_path / "log.db")
    env = environment(ACP_PROXY_CONFIG=str(config), ACP_PROXY_LOG=str(log.path))
    with Process([str(PROXY), "run", "/nowhere/agent"], env=env, cwd=tmp_path) as process:
        assert process.wait() == 127
    assert log.connection()["label"] == f"agent in {tmp_path.name}"
