"""What config.toml does to commands: defaults of options, redaction, and what a wrong one stops."""

import json
from pathlib import Path

import pytest

from tests.cli.commands import document, invoke, objects
from tests.cli.conversations import V1, put


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A configuration file, and a log with a conversation in it."""
    path = tmp_path / "config.toml"
    monkeypatch.setenv("ACP_PROXY_CONFIG", str(path))
    monkeypatch.setenv("ACP_PROXY_LOG", str(tmp_path / "log.db"))
    put(tmp_path / "log.db", V1)
    return path


def test_an_option_has_the_default_that_the_file_gives(config: Path) -> None:
    before = objects("messages")
    config.write_text('[defaults.messages]\nfrom = "client"\nuntil_seq = 3\n')
    found = objects("messages")
    assert found == [row for row in before if row["from"] == "client" and row["seq"] <= 3]
    assert objects("messages", "--from", "agent", "--until-seq", "9") == [
        row for row in before if row["from"] == "agent" and row["seq"] <= 9
    ]
    assert document("state") == document("state")  # other commands know nothing of it


def test_a_flag_may_be_on(config: Path) -> None:
    config.write_text("[defaults.connections]\njson = true\n")
    assert json.loads(invoke("connections").stdout)[0]["id"] == 1


WRONG = [
    ("x =", "no TOML"),
    ("[defaults.messages]\nform = 'agent'", "defaults.messages.form: there is no such option"),
    ("[defaults.messages]\nfrom = 'me'", "defaults.messages.from: 'me' is not one of"),
    ("[defaults.messages]\nodd = 'yes'", "defaults.messages.odd: it is on or off"),
    ("[defaults.messages]\nlimit = 'x'", "defaults.messages.limit: 'x' is not a valid"),
    ("[defaults.messages]\nmethod = ['a']", "defaults.messages.method: ['a'] is no value"),
]


@pytest.mark.parametrize(("text", "said"), WRONG, ids=[said for _, said in WRONG])
def test_a_wrong_file_stops_a_command_and_says_where(config: Path, text: str, said: str) -> None:
    config.write_text(text)
    done = invoke("messages", code=1)
    assert f"acp-proxy: {config}" in done.stderr
    assert said in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize("arguments", [("messages", "--help"), ("--help",), ("--version",)])
def test_help_needs_no_settings(config: Path, arguments: tuple[str, ...]) -> None:
    config.write_text("x =")
    invoke(*arguments)


def test_redaction_has_the_rules_of_the_file(config: Path, tmp_path: Path) -> None:
    config.write_text('[redaction]\npatterns = ["gard[a-z]+"]\n')
    assert "gard" in invoke("messages", "--jsonl").stdout
    for words in (["transcript"], ["export", "--jsonl"], ["show", "--share", "2"]):
        shown = invoke(*words).stdout
        assert "gard" not in shown, words
    assert "[redacted]" in invoke("transcript").stdout
    assert "gard" in invoke("transcript", "--raw").stdout


def test_config_show_tells_every_setting_and_where_it_comes_from(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config.write_text(
        'label = "x"\nkeep = "3d"\n[agents]\nmine = ["a", "b c"]\n'
        '[defaults.tail]\nfrom = "agent"\n[redaction]\nnames = ["ticket"]\n'
    )
    monkeypatch.setenv("ACP_PROXY_KEEP", "1G")
    shown = document("config", "show")
    assert (shown["path"], shown["exists"]) == (str(config), True)
    log = str(config.parent / "log.db")
    assert [tuple(row.values()) for row in shown["settings"]] == [
        ("log", log, "$ACP_PROXY_LOG"),
        ("label", "x", str(config)),
        ("keep", "1G", "$ACP_PROXY_KEEP"),
        ("redact_at_rest", False, "default"),
        ("redaction.names", ["ticket"], str(config)),
        ("agents.mine", ["a", "b c"], str(config)),
        ("defaults.tail.from", "agent", str(config)),
    ]
    page = invoke("config", "show").stdout
    assert str(config) in page
    assert "a 'b c'" in page


def test_config_show_says_what_is_wrong(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACP_PROXY_KEEP", "for ever")
    done = invoke("config", "show", code=1)
    assert '$ACP_PROXY_KEEP: keep: "for ever"' in done.stderr
    config.write_text("x =")
    assert "no TOML" in invoke("config", "show", code=1).stderr


def test_the_log_of_the_file_is_used(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ACP_PROXY_LOG")
    config.write_text(f'log = "{config.parent / "other.db"}"\n')
    assert invoke("log", "path").stdout == f"{config.parent / 'other.db'}\n"
