"""A Redactor that follows a connection: what it remembers, counts, and leaves as it was."""

import json

import pytest

from acp_proxy.redaction.redactor import MARKER, Redactor
from tests.redaction.leaks import left, redacted
from tests.redaction.places import PLACES, Frames, line
from tests.redaction.secrets import SHAPES

_VALUE = "Zq8" + "-orchid-77"


def _with_env(name: str, value: str) -> tuple[str, bytes]:
    servers = [{"name": "m", "command": "c", "env": [{"name": name, "value": value}]}]
    return "client", line({"id": 0, "method": "session/new", "params": {"mcpServers": servers}})


def _said(text: str) -> tuple[str, bytes]:
    return "agent", line({"method": "x", "params": {"text": text}})


def test_a_secret_of_the_environment_is_blanked_everywhere_before_and_after() -> None:
    frames: Frames = [
        _said(f"early {_VALUE}."),
        ("stderr", f"early {_VALUE}\n".encode()),
        _with_env("DB_PASSWORD", _VALUE),
        _said(f"late ({_VALUE})"),
    ]

    out = redacted(frames)

    assert _VALUE.encode() not in b"".join(out)
    assert [raw.count(MARKER.encode()) for raw in out] == [1, 1, 1, 1]


@pytest.mark.parametrize("value", ["production", "/srv/app", "localhost:5432", "true", "8080", "x"])
def test_ordinary_values_of_the_environment_stay_elsewhere(value: str) -> None:
    said = _said(f"it says {value} here")

    out = redacted([_with_env("APP_TOKEN", value), said])

    assert MARKER.encode() in out[0]
    assert out[1] == said[1]


def test_a_value_whose_name_says_nothing_stays_elsewhere() -> None:
    said = _said("it says My-Editor-2 here")

    assert redacted([_with_env("EDITOR_NAME", "My-Editor-2"), said])[1] == said[1]


def test_a_known_secret_is_found_in_other_writing() -> None:
    value = 'p"w/\u00e4-7' + "7&x"
    words = [
        json.dumps(value),
        json.dumps({"a": json.dumps({"b": value})}),
        "p%22w%2F%C3%A4-77%26x",
        "cCJ3L8OkLTc3Jng=",
    ]
    out = redacted([_with_env("TOKEN", value), *(_said(f"<{word}>") for word in words)])

    for raw in out:
        assert MARKER.encode() in raw, raw


def test_a_text_that_ends_or_begins_within_a_known_secret_is_blanked_there() -> None:
    token = SHAPES[0].secret
    text = f"the key is {token} indeed"
    growing = [_said(text[:size]) for size in range(len(text) + 1)]
    shrinking = [_said(text[size:]) for size in range(len(text) + 1)]

    said = [json.loads(raw)["params"]["text"] for raw in redacted([*growing, *shrinking])]

    assert not any(token[at : at + 8] in text for text in said for at in range(len(token) - 7))
    assert said[len(text)] == said[len(text) + 1] == f"the key is {MARKER} indeed"


def test_in_a_stream_what_came_before_is_known() -> None:
    redactor = Redactor()

    first = redactor.redact_frame(*_with_env("API_KEY", _VALUE))
    second = redactor.redact_frame(*_said(f"so {_VALUE}"))

    assert json.loads(second)["params"]["text"] == f"so {MARKER}"
    assert _VALUE.encode() not in first
    assert redactor.blanked == 2


def test_all_but_the_secret_stays_byte_for_byte() -> None:
    raw = (
        b'{ "id" : 1.50e1, "n":9007199254740993,"env":{"A": "s\\u0065cret" ,"B":12},'
        b'"x":"\\/\\u00e9\xc3\xa9 api_key=\\"Kk9\\u002dll0mm1\\" \\ud83d\\ude00","x":[ ] }\t\r\n'
    )

    [out] = redacted([("agent", raw)])

    assert out == (
        b'{ "id" : 1.50e1, "n":9007199254740993,"env":{"A": "[redacted]" ,"B":"[redacted]"},'
        b'"x":"\\/\\u00e9\xc3\xa9 api_key=\\"[redacted]\\" \\ud83d\\ude00","x":[ ] }\t\r\n'
    )


def test_a_key_that_stands_twice_hides_nothing() -> None:
    token = SHAPES[0].secret
    chunk = PLACES["message"](token)[0][1]
    twice = chunk.replace(b'"type": "text",', f'"text": "{token}",'.encode())

    for raw in (twice, twice.replace(token.encode(), b"no", 1)):
        assert left(token, redacted([("agent", raw), ("agent", raw)])) == set()


def test_bytes_that_are_no_utf8_stay() -> None:
    raw = b"\xff\xfe pass\xe9 password=Hh7gg6ff5 \x00\n"

    assert redacted([("agent", raw)]) == [b"\xff\xfe pass\xe9 password=[redacted] \x00\n"]


def test_names_beside_values_stay() -> None:
    [out] = redacted([_with_env("SOME_TOKEN", "abc")])

    assert json.loads(out)["params"]["mcpServers"][0]["env"] == [
        {"name": "SOME_TOKEN", "value": MARKER}
    ]


def test_arguments_are_read_as_a_program_reads_them() -> None:
    command = ["tool", "--api-key", "Yy6-tt5rr", "--verbose", "--token=Ww2ee3", "--limit", "5"]

    assert Redactor().redact_value({"command": command})[0]["command"] == [
        "tool", "--api-key", MARKER, "--verbose", f"--token={MARKER}", "--limit", "5",
    ]  # fmt: skip


def test_blanking_again_changes_nothing() -> None:
    frames = [
        _with_env("A_TOKEN", _VALUE),
        _said(f"password: {_VALUE}, Authorization: Bearer {_VALUE}, https://u:{_VALUE}@h/"),
        ("stderr", f"API_KEY='{_VALUE}'\n".encode()),
    ]
    once = redacted(frames)

    redactor = Redactor()
    for (stream, _), raw in zip(frames, once, strict=True):
        assert redactor.redact_frame(stream, raw) == raw
    assert redactor.blanked == 0


def test_what_is_nested_too_deep_is_blanked_as_a_whole() -> None:
    value: object = "API_KEY=" + _VALUE
    for _ in range(5000):
        value = [value]

    assert Redactor().redact_value(value) == (MARKER, 1)


def test_a_deep_frame_is_blanked_as_text() -> None:
    raw = b'{"a":' * 3000 + f'"API_KEY={_VALUE}"'.encode() + b"}" * 3000 + b"\n"

    [out] = redacted([("agent", raw)])

    assert _VALUE.encode() not in out
    assert len(out) == len(raw) - len(_VALUE) + len(MARKER)


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
@pytest.mark.parametrize("begin", [b"", b"hunter2 ", b"hunter2secret"])
def test_a_value_that_goes_on_in_the_next_line_leaves_the_end_of_the_line(
    begin: bytes, end: bytes
) -> None:
    frames = [("stderr", b'{"proxykey":"' + begin + end), ("stderr", b'other"}' + end)]

    for (_, before), after in zip(frames, redacted(frames), strict=True):
        assert after.endswith(before[-len(end) :])


def test_a_value_that_is_the_end_of_a_line_is_none() -> None:
    frames = [("stderr", b'{"proxykey":"\n'), ("stderr", b'"}\n')]

    assert redacted(frames) == [raw for _, raw in frames]
