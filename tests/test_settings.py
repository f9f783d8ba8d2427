"""config.toml: where it is, what it may say, what goes before it, and what is said of a wrong one."""

import os
import sys
import time
from pathlib import Path

import pytest
from platformdirs import user_config_dir

from acp_proxy.redaction.rules import Rules
from acp_proxy.settings import (
    CONFIG_VARIABLE,
    DEFAULT,
    VARIABLES,
    Settings,
    SettingsError,
    Value,
    config_path,
    label_of,
    load,
    load_leniently,
)

WHOLE = """
log = "~/acp/log.db"
label = "{folder}"
keep = "30d,2G"
redact_at_rest = true

[redaction]
names = ["ticket"]
texts = ["Project Falcon"]
patterns = ["INT-[0-9]{6}"]

[agents]
work = ["~/bin/agent", "--debug", ""]
other = "goose acp --with 'two words'"

[defaults.messages]
from = "agent"
odd = true
"""


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An environment in which nothing is set, with a home; returns the file's path."""
    for name in [CONFIG_VARIABLE, *VARIABLES.values(), "XDG_CONFIG_HOME"]:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    path = Path(config_path() or "")
    path.parent.mkdir(parents=True)
    return path


def test_without_a_file_everything_is_as_by_default(clean: Path) -> None:
    settings = load()
    assert settings.path == str(clean)
    values = [settings.log, settings.label, settings.keep, settings.redact_at_rest]
    assert values == [Value(None), Value(None), Value(None), Value(value=False)]
    assert {value.source for value in values} == {DEFAULT}
    assert (settings.rules, settings.agents, settings.defaults) == ({}, {}, {})


def test_all_that_a_file_may_say(clean: Path, tmp_path: Path) -> None:
    clean.write_text(WHOLE)
    settings = load()
    assert settings.log == Value(str(tmp_path / "acp/log.db"), str(clean))
    assert settings.label == Value("{folder}", str(clean))
    assert settings.keep == Value("30d,2G", str(clean))
    assert settings.redact_at_rest == Value(value=True, source=str(clean))
    assert settings.rules == {
        "names": ["ticket"],
        "texts": ["Project Falcon"],
        "patterns": ["INT-[0-9]{6}"],
    }
    assert settings.agents == {
        "work": [str(tmp_path / "bin/agent"), "--debug", ""],
        "other": ["goose", "acp", "--with", "two words"],
    }
    assert settings.defaults == {"messages": {"from": "agent", "odd": True}}


def test_a_variable_goes_before_the_file(clean: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clean.write_text(WHOLE)
    given = {"log": "/x/log.db", "label": "here", "keep": "1d", "redact_at_rest": "no"}
    for name, text in given.items():
        monkeypatch.setenv(VARIABLES[name], text)
    settings = load()
    assert settings.log == Value("/x/log.db", "$ACP_PROXY_LOG")
    assert settings.label == Value("here", "$ACP_PROXY_LABEL")
    assert settings.keep == Value("1d", "$ACP_PROXY_KEEP")
    assert settings.redact_at_rest == Value(value=False, source="$ACP_PROXY_REDACT_AT_REST")


def test_an_empty_variable_is_none(clean: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clean.write_text(WHOLE)
    for variable in [CONFIG_VARIABLE, *VARIABLES.values()]:
        monkeypatch.setenv(variable, "")
    assert load().label == Value("{folder}", str(clean))


@pytest.mark.skipif(sys.platform != "linux", reason="what XDG says, it says of Linux")
@pytest.mark.parametrize("xdg", [None, "", "/some/place"])
def test_the_place_is_the_platforms(monkeypatch: pytest.MonkeyPatch, xdg: str | None) -> None:
    if xdg is not None:
        monkeypatch.setenv("XDG_CONFIG_HOME", xdg)
    assert config_path() == os.path.join(
        user_config_dir("acp-proxy", appauthor=False), "config.toml"
    )


@pytest.mark.skipif(sys.platform != "linux", reason="what XDG says, it says of Linux")
def test_nothing_in_the_working_folder_is_for_us(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", "config")
    monkeypatch.chdir(tmp_path)
    assert config_path() == str(tmp_path / ".config/acp-proxy/config.toml")


WRONG = [
    ("x =", "no TOML: Invalid value (at"),
    ("[a", "no TOML"),
    ('lable = "x"', "there is no setting lable; did you mean label?"),
    ("zzz = 1", "there is no setting zzz; known: log, label"),
    ("log = 3", "log is no text"),
    ('log = "here.db"', 'log = "here.db" is relative'),
    ('redact_at_rest = "yes"', "redact_at_rest is neither true nor false"),
    ("agents = 1", "agents is no table; write [agents]"),
    ("[agents]\nx = []", "agents.x is no command"),
    ("[agents]\nx = ['']", "agents.x is no command"),
    ("[redaction]\ntexts = ['']", "an empty text is everywhere"),
    ("[agents]\nx = [1]", "agents.x is no list of texts"),
    ('[agents]\nx = "a \'b"', "agents.x: No closing quotation"),
    ('[agents]\n"a b" = "x"', '"a b" is no short name'),
    ('[redaction]\npatterns = ["("]', '"(" is no regular expression'),
    ('[redaction]\nnames = ["a=b"]', '"a=b" is no name'),
    ('[redaction]\nname = ["a"]', "there is no setting redaction.name; did you mean"),
    ("[redaction]\ntexts = 'a'", "redaction.texts is no list of texts"),
    ("[defaults]\nmessages = 1", "write [defaults.messages]"),
    ("[defaults.run]\nredact-at-rest = true", "defaults.run: what run does by default stands at"),
    ("a = " + "[" * 50_000, "no TOML"),
]


@pytest.mark.parametrize(("text", "said"), WRONG, ids=[said for _, said in WRONG])
def test_what_is_wrong_is_said_with_the_place(clean: Path, text: str, said: str) -> None:
    clean.write_text(text)
    with pytest.raises(SettingsError) as caught:
        load()
    assert said in str(caught.value)
    assert str(caught.value).startswith(str(clean))


def test_a_file_that_is_no_text_is_told(clean: Path) -> None:
    clean.write_bytes(b'label = "\xff"')
    with pytest.raises(SettingsError, match="is not UTF-8"):
        load()


def test_a_file_that_cannot_be_read_is_told(clean: Path) -> None:
    clean.mkdir()
    with pytest.raises(SettingsError, match="cannot be read"):
        load()


def test_what_is_no_file_is_told_at_once(clean: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(clean)  # nobody ever writes into it
    with pytest.raises(SettingsError, match="no ordinary file"):
        load()
    monkeypatch.setenv(CONFIG_VARIABLE, "/dev/zero")
    with pytest.raises(SettingsError, match="no ordinary file"):
        load()
    monkeypatch.setenv(CONFIG_VARIABLE, os.devnull)
    assert load() == Settings(os.devnull)


def test_a_file_too_large_to_be_read_in_passing_is_told(clean: Path) -> None:
    with clean.open("w") as file:
        file.truncate(1 << 40)
    with pytest.raises(SettingsError, match="larger than 64 KiB"):
        load()


def test_a_byte_order_mark_is_nothing(clean: Path) -> None:
    clean.write_bytes(b'\xef\xbb\xbflabel = "x"\r\n')
    assert load().label.value == "x"


def test_python_says_nothing_of_a_pattern(clean: Path) -> None:
    clean.write_text("[redaction]\npatterns = ['[[a]b']")
    assert load().rules["patterns"] == ["[[a]b"]  # a warning would be an error here
    assert Rules(patterns=load().rules["patterns"]).shortest == 1


def test_a_relative_place_in_a_folder_that_is_gone_is_told(
    clean: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    monkeypatch.setenv(CONFIG_VARIABLE, "my.toml")
    with pytest.raises(
        SettingsError, match=r"my\.toml is relative to a working folder that is gone"
    ):
        load()


def test_who_cannot_read_the_file_stores_no_secret(
    clean: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clean.write_text("x =")
    settings, trouble = load_leniently()
    assert settings.redact_at_rest.value is True
    assert trouble is not None
    assert "no TOML" in trouble
    monkeypatch.setenv("ACP_PROXY_REDACT_AT_REST", "0")
    assert load_leniently()[0].redact_at_rest.value is False
    clean.write_text("")
    assert load_leniently() == (load(), None)


@pytest.mark.parametrize(
    ("template", "command", "label"),
    [
        ("{folder} {agent}", ["/usr/bin/goose", "acp"], "shop goose"),
        ("{cwd}", ["x"], "/home/me/shop"),
        ("{agent}", ["npx", "-y", "@acme/some-agent@1.2", "--x"], "some-agent"),
        ("{agent}", ["/usr/bin/python3.12", "-I", "/opt/agent.py"], "agent.py"),
        ("{agent}", ["node"], "node"),
        ("{nobody} {} {Folder} {{", ["x"], "{nobody} {} {Folder} {{"),
        ("plain", ["x"], "plain"),
    ],
)
def test_labels(template: str, command: list[str], label: str) -> None:
    assert label_of(template, command, "/home/me/shop") == label


def test_labels_may_tell_who_and_when() -> None:
    label = label_of("{host}|{user}|{pid}|{date}", ["x"], "/")
    host, user, pid, date = label.split("|")
    assert host == os.uname().nodename
    assert user
    assert pid == str(os.getpid())
    assert len(date.split("-")) == 3


HOSTILE = {
    "a list in a list": "a = " + "[" * 30_000 + "]" * 30_000,
    "a table in a table": "a = " + "{a=" * 15_000 + "1" + "}" * 15_000,
    "a key of many parts": ".".join(["a"] * 30_000) + " = 1",
    "quoted parts": ".".join(['"a"'] * 15_000) + " = 1",
    "a header of many parts": "[" + ".".join(["a"] * 20_000) + "]",
    "quotes without end": "a = " + "." * 200 + '"' + r"\"" * 20_000,
    "a number of many digits": "log = " + "9" * 60_000,
    "half a character": b"label = '\\ud800'".decode("unicode_escape"),
    "a wrong type": "agents = 5",
    "an escape sequence": r'"\u001b[2J" = 1',
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_made_to_be_slow_or_to_fail_is_refused_at_once(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "config.toml"
    path.write_bytes(HOSTILE[name].encode(errors="surrogatepass"))
    monkeypatch.setenv("ACP_PROXY_CONFIG", str(path))

    began = time.process_time()
    with pytest.raises(SettingsError, match="config"):
        load()
    settings, trouble = load_leniently()
    assert time.process_time() - began < 3, "it took 20 s for some"

    assert settings.redact_at_rest.value is True
    assert trouble is not None


def test_dots_that_are_in_no_key_are_no_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "config.toml"
    dots = "." * 300
    path.write_text(f"label = \"{dots}\" # {dots}\n[redaction]\npatterns = ['x{dots}']\n")
    monkeypatch.setenv("ACP_PROXY_CONFIG", str(path))

    assert load().label.value == dots
