"""Agents in settings are put behind acp-proxy and taken out again, and nothing else changes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_proxy.editors import wrapping
from acp_proxy.editors.entries import Shape, agent_at, is_ours, split_line
from acp_proxy.editors.jsonc import JsoncError
from acp_proxy.editors.known import ACPX, ZED
from tests.editors.readers import acpx_words
from tests.editors.settings_texts import SHAPES, WORDS, launches, rest, said, settings

PROXY = ["/usr/local/bin/acp-proxy"]


def wrapped(text: str, shape: Shape = ZED, proxy: list[str] = PROXY) -> wrapping.Outcome:
    return wrapping.wrap(text, shape, proxy, "/home/me")


@pytest.mark.parametrize("name", SHAPES)
@given(data=st.data())
def test_wrapping_changes_the_commands_and_nothing_else(name: str, data: st.DataObject) -> None:
    shape = SHAPES[name]
    text = data.draw(settings(shape))

    there = wrapped(text, shape).text

    assert rest(there, shape) == rest(text, shape)
    for agent, words in launches(text, shape).items():
        now = launches(there, shape)[agent]
        assert now == (words if is_ours(words) or not words else [*PROXY, "run", "--", *words])
    assert wrapped(there, shape).text == there


@pytest.mark.slow
@pytest.mark.parametrize("name", SHAPES)
@given(data=st.data())
def test_unwrapping_gives_the_same_commands_again(name: str, data: st.DataObject) -> None:
    shape = SHAPES[name]
    text = data.draw(settings(shape))

    back = wrapping.unwrap(wrapped(text, shape).text, shape).text

    assert launches(back, shape) == launches(text, shape)
    assert rest(back, shape) == rest(text, shape)


@pytest.mark.parametrize("name", SHAPES)
@given(data=st.data())
def test_an_added_agent_goes_again(name: str, data: st.DataObject) -> None:
    shape = SHAPES[name]
    text = data.draw(settings(shape))
    command = [*PROXY, "run", "--", *data.draw(st.lists(WORDS, min_size=1, max_size=3))]

    there = wrapping.add(text, shape, "added", command).text
    back = wrapping.unwrap(there, shape, ["added"]).text

    assert launches(there, shape)["added"] == command
    assert wrapping.add(there, shape, "added", command).text == there
    assert launches(back, shape) == launches(text, shape)


def test_a_file_keeps_its_hand() -> None:
    text = (
        "// mine\r\n{\r\n\t\"agent_servers\": {\r\n\t\t\"A\": {\r\n\t\t\t\"command\": \"goose\", // c\r\n"
        "\t\t\t\"env\": {},\r\n\t\t},\r\n\t},\r\n}"
    )  # fmt: skip

    assert wrapped(text).text == text.replace(
        '"command": "goose",',
        '"command": "/usr/local/bin/acp-proxy",\r\n\t\t\t"args": ["run", "--", "goose"],',
    )


def test_escapes_in_a_command_stay_as_they_were_written() -> None:
    text = '{"agent_servers": {"A": {"command": "g\\u006fose", "args": ["\\ud83c\\udf89"]}}}'

    assert '["run", "--", "g\\u006fose", "\\ud83c\\udf89"]' in wrapped(text).text


def test_a_home_folder_is_written_out_where_nobody_else_would() -> None:
    text = (
        '{"agent_servers": {"A": {"command": "~/bin/x", "args": ["~/y"]}, "B": {"command": "~x"}}}'
    )

    assert launches(wrapped(text).text, ZED) == {
        "A": [*PROXY, "run", "--", "/home/me/bin/x", "~/y"],
        "B": [*PROXY, "run", "--", "~x"],
    }


def test_python_can_start_the_proxy() -> None:
    text = '{"agent_servers": {"A": {"command": "goose", "args": ["acp"]}}}'
    proxy = ["/usr/bin/python3", "-m", "acp_proxy"]

    there = wrapped(text, proxy=proxy).text

    assert launches(there, ZED)["A"] == [*proxy, "run", "--", "goose", "acp"]
    assert wrapping.ours(there, ZED) == ["A"]
    assert wrapping.unwrap(there, ZED).text == text


def test_a_command_of_acpx_in_one_string_stays_one() -> None:
    text = '{"agents": {"a": {"command": "goose \\"a b\\" c\\\\ d"}}}'

    there = wrapped(text, ACPX, ["/my tools/acp-proxy"]).text

    assert said(there)["agents"]["a"] == {
        "command": "'/my tools/acp-proxy' run -- goose \"a b\" c\\ d"
    }
    assert wrapping.unwrap(there, ACPX).text == text


def test_acpx_is_not_given_a_program_that_it_refuses() -> None:
    text = '{"agents": {"a": {"command": "goose", "args": ["acp"]}}}'

    outcome = wrapped(text, ACPX, ["/my tools/acp-proxy"])

    assert outcome.text == text
    assert outcome.left == [("a", "acpx takes no /my tools/acp-proxy as command; tell it as argv")]


def test_what_a_person_wrapped_is_left_and_undone() -> None:
    text = (
        '{"agent_servers": {"A": {"command": "/old/acp-proxy", "args": ["run", "--label", "x", "--", '
        '"goose", "acp"]}, "B": {"command": "acp-proxy", "args": ["run", "claude"]}}}'
    )

    assert wrapped(text).text == text
    outcome = wrapping.unwrap(text, ZED)
    assert launches(outcome.text, ZED) == {
        "A": ["goose", "acp"],
        "B": ["acp-proxy", "run", "claude"],
    }
    assert outcome.left == [("B", "its command has a form of its own; change it by hand")]


@pytest.mark.parametrize(
    ("text", "before"),
    [
        ("", ""),
        ("\ufeff", "\ufeff"),
        ("// mine\n", "// mine\n"),
        ("// mine", "// mine\n"),
        ("/* mine */\r\n", "/* mine */\r\n"),
    ],
)
def test_settings_are_begun_behind_what_stands_there(text: str, before: str) -> None:
    there = wrapping.add(text, ZED, "A", ["x", "run", "--", "y"]).text

    newline = "\r\n" if "\r\n" in text else "\n"
    assert there.startswith(f'{before}{{{newline}  "agent_servers": {{{newline}    "A": {{')
    assert there.endswith(f"}}{newline}")
    assert launches(there, ZED) == {"A": ["x", "run", "--", "y"]}


def test_another_agent_of_the_name_is_not_replaced() -> None:
    text = '{"agent_servers": {"A": {"command": "goose"}}}'

    with pytest.raises(wrapping.TakenError, match='called "A" already'):
        wrapping.add(text, ZED, "A", [*PROXY, "run", "--", "goose"])


@pytest.mark.parametrize(
    ("text", "place", "what"),
    [
        ("[]", "line 1, column 1", "should be an object"),
        ('{"agent_servers": []}', "line 1, column 19", '"agent_servers" should be an object'),
        ('{"agent_servers": {"A": 1}}', "line 1, column 25", '"A" should be an object'),
        (
            '{"agent_servers": {\n"A": {"command": 7}}}',
            "line 2, column 18",
            '"command" of "A" should be a text',
        ),
        ('{"agent_servers": {"A": {"command": ""}}}', "column 37", "should be a text"),
        (
            '{"agent_servers": {"A": {"command": "x", "args": "y"}}}',
            "column 50",
            '"args" of "A" should be a list',
        ),
        (
            '{"agent_servers": {"A": {"command": "x", "args": ["y", 1]}}}',
            "column 56",
            '"args" of "A" should hold texts only',
        ),
        (
            '{"agent_servers": {}, "agent_servers": {}}',
            "column 23",
            '"agent_servers" stands here a second time',
        ),
        (
            '{"agent_servers": {"A": {}, "A": {}}}',
            "column 29",
            '"A" stands here a second time',
        ),
        (
            '{"agent_servers": {"A": {"command": "x", "command": "y"}}}',
            "column 42",
            '"command" stands here a second time',
        ),
    ],
)
def test_odd_settings_are_refused_with_the_place(text: str, place: str, what: str) -> None:
    for change in (wrapped, lambda text: wrapping.add(text, ZED, "n", ["x"])):
        with pytest.raises(JsoncError) as raised:
            change(text)

        assert place in str(raised.value)
        assert what in str(raised.value)


@pytest.mark.parametrize(
    ("entry", "what"),
    [
        ('{"argv": []}', "should name a program"),
        ('{"argv": "x"}', "should be a list"),
        ('{"command": "it\'s"}', "with its quotes closed"),
        ('{"command": "  "}', "should be a command"),
    ],
)
def test_odd_commands_of_acpx_are_refused(entry: str, what: str) -> None:
    with pytest.raises(JsoncError, match=what):
        wrapped(f'{{"agents": {{"a": {entry}}}}}', ACPX)


@given(st.text("ab '\"\\\n\u00a0\ufeff\x1f", max_size=12))
def test_lines_are_split_as_acpx_splits_them(line: str) -> None:
    found = split_line(line)
    if found is None:
        with pytest.raises(AssertionError):
            acpx_words(line)
    else:
        assert [word for _, word in found] == acpx_words(line)
        for at, _ in found:
            assert acpx_words(line[at:]) == [word for begin, word in found if begin >= at]


@pytest.mark.parametrize(
    ("command", "is_so", "at"),
    [
        (["/x/acp-proxy", "run", "--", "goose", "acp"], True, 3),
        (["python", "-m", "acp_proxy", "run", "--", "goose"], True, 5),
        (["acp-proxy", "run", "--label", "a", "--", "goose"], True, 5),
        (["acp-proxy", "run", "claude"], True, None),
        (["acp-proxy", "run", "--"], True, None),
        (["acp-proxy", "run"], True, None),
        (["acp-proxy", "demo"], False, None),
        (["uvx", "--from", "./acp.whl", "acp-proxy", "run", "--", "goose"], True, None),
        (["/usr/bin/env", "A=1", "/x/acp-proxy", "run", "--", "goose"], True, None),
        (["python3.12", "-P", "-m", "acp_proxy", "run", "--", "goose"], True, None),
        (["bash", "-lc", "exec '/my tools/acp-proxy' run claude"], True, None),
        (["env", "A=1", "goose", "acp"], False, None),
        (["sh", "-c", "not-acp-proxy run; acp-proxy demo; acp-proxy runs"], False, None),
        (["goose", "acp-proxy", "run"], False, None),
        (["not-acp-proxy", "run", "--", "x"], False, None),
        ([], False, None),
    ],
)
def test_a_command_through_us_is_known(command: list[str], is_so: bool, at: int | None) -> None:
    assert is_ours(command) is is_so
    assert agent_at(command) == at
