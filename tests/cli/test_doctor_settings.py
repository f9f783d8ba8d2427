"""``doctor`` and the settings: what it says of wrong ones, and that it works whatever they are."""

import os
from pathlib import Path

import pytest

from tests.cli.test_doctor import examined, not_ok, script


def test_a_named_agent_is_looked_for_whatever_the_settings_are(tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text("lable = 'x'")
    program = tmp_path / "bin/goose"
    script(program, "#!/bin/sh")
    path = f"{program.parent}:{os.environ['PATH']}"
    _, findings = examined(tmp_path / "log.db", "goose", ACP_PROXY_CONFIG=str(config), PATH=path)
    assert len(not_ok(findings, "settings")) == 1
    assert any("the command (goose acp)" in one["what"] for one in findings)


def test_a_known_agent_that_is_not_installed_is_a_finding(tmp_path: Path) -> None:
    is_well, findings = examined(tmp_path / "log.db", "kiro", PATH="/nonexistent")
    assert not is_well
    [finding] = not_ok(findings, "agents")
    assert "there is no program kiro-cli" in finding["what"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[defaults.mesages]\nodd = true", "defaults.mesages: there is no such command; did you m"),
        ("[defaults.messages]\nlimit = 'x'", "defaults.messages.limit: 'x' is not a valid"),
        ("[defaults.doctor]\njson = true", "defaults.doctor: this command takes no defaults"),
    ],
)
def test_defaults_that_cannot_be_taken_are_told(tmp_path: Path, text: str, said: str) -> None:
    config = tmp_path / "config.toml"
    config.write_text(text)
    is_well, findings = examined(tmp_path / "log.db", ACP_PROXY_CONFIG=str(config))
    assert not is_well
    assert said in not_ok(findings, "settings")[0]["what"]


@pytest.mark.slow
def test_the_self_test_is_not_blanked_by_somebodys_rules(tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text('redact_at_rest = true\n[redaction]\ntexts = ["session"]\n')
    is_well, _ = examined(tmp_path / "log.db", plays=True, ACP_PROXY_CONFIG=str(config))
    assert is_well
