"""Nothing of a number, a string or a key is lost or merged, and what is unusual is flagged."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest

from acp_proxy.wire.jsonrpc import Kind, Message, classify
from tests.wire.same import exact, same


def _params(text: str) -> Message:
    [message] = classify(f'{{"jsonrpc":"2.0","method":"m","params":{{"v":{text}}}}}\n'.encode())
    return message


def _value(text: str) -> Any:
    return _params(text).value["params"]["v"]


def _with_id(text: str) -> Message:
    [message] = classify(f'{{"jsonrpc":"2.0","id":{text},"method":"m"}}\n'.encode())
    return message


@pytest.mark.parametrize("sign", ["", "-"])
@pytest.mark.parametrize(
    "digits",
    [
        "0", "1", "9007199254740991", "9007199254740992", "9007199254740993", "9223372036854775807",
        "9223372036854775808", "18446744073709551615",
    ],
)  # fmt: skip
def test_integers_of_64_bits_are_exact(digits: str, sign: str) -> None:
    number = int(sign + digits)
    message = _params(sign + digits)
    assert same(message.value["params"]["v"], number)
    assert message.flags == (() if -(2**63) <= number < 2**64 else ("big-number",))


@pytest.mark.parametrize(
    "digits",
    [
        "18446744073709551616", "-9223372036854775809", "1234567890123456789012345678901234567890",
        "-9999999999999999999999999999999999999999", "1" + "0" * 400, "9" * 4300,
    ],
)  # fmt: skip
def test_larger_integers_are_exact_and_flagged(digits: str) -> None:
    message = _params(digits)
    assert same(message.value["params"]["v"], int(digits))
    assert message.flags == ("big-number",)


@pytest.mark.parametrize("digits", ["1" * 4301, "-" + "7" * 5000, "3" * 100_000])
def test_integers_with_more_digits_than_python_converts_are_flagged(digits: str) -> None:
    assert sys.get_int_max_str_digits() == 4300
    message = _params(digits)
    assert (message.kind, message.flags) == (Kind.NOTIFICATION, ("big-number",))
    assert message.value["params"]["v"].text == digits


@pytest.mark.parametrize("text", ["1e400", "-1e400", "1E+400", "1.5e999999999999", "1e310"])
def test_exponents_beyond_a_double_are_accepted_and_flagged(text: str) -> None:
    message = _params(text)
    assert (message.kind, message.flags) == (Kind.NOTIFICATION, ("big-number",))
    assert message.value["params"]["v"].text == text


@pytest.mark.parametrize("text", ["1e-400", "-1e-999999999999", "0e999999", "0.0e-99999", "5e-324"])
def test_small_exponents_are_read_as_python_reads_them(text: str) -> None:
    message = _params(text)
    assert same(message.value["params"]["v"], float(text))
    assert message.flags == ()


@pytest.mark.parametrize(
    "text",
    ["1.0", "1.10", "-0.0", "1e2", "1E2", "1e+2", "0.1", "1e22", "1e23", "2.2250738585072011e-308",
     "1.7976931348623157e308", "0.30000000000000004", "9007199254740993.0", "123456789012345678.5"],
)  # fmt: skip
def test_fractions_stay_fractions(text: str) -> None:
    message = _params(text)
    assert same(message.value["params"]["v"], float(text))
    assert message.flags == ()


def test_numbers_and_booleans_are_not_mixed_up() -> None:
    assert same(_value("[0,false,0.0,1,true,1.0,null]"), [0, False, 0.0, 1, True, 1.0, None])


@pytest.mark.parametrize(
    ("text", "flags"),
    [
        ("1", ()),
        ('"1"', ()),
        ("1.0", ("fractional-id",)),
        ("1.00", ("fractional-id",)),
        ("1.10", ("fractional-id",)),
        ("1e0", ("fractional-id",)),
        ("1e400", ("big-number", "fractional-id")),
        ("-1E400", ("big-number", "fractional-id")),
        ("1e-400", ("fractional-id",)),
        ("1.00000000000000000000000000000000001", ("fractional-id",)),
        ("9007199254740993", ("unsafe-id",)),
        ("-9007199254740993", ("unsafe-id",)),
        ("9223372036854775807", ("unsafe-id",)),
        ("18446744073709551615", ("unsafe-id",)),
        ("18446744073709551616", ("big-number", "unsafe-id")),
        ("1234567890123456789012345678901234567890", ("big-number", "unsafe-id")),
        ("-1234567890123456789012345678901234567890", ("big-number", "unsafe-id")),
        ("8" * 5000, ("big-number", "unsafe-id")),
        ("-" + "8" * 5000, ("big-number", "unsafe-id")),
        ('"\\ud83d"', ("lone-surrogate",)),
        ('"9007199254740993"', ()),
        ('"1e400"', ()),
    ],
)
def test_an_id_keeps_its_text(text: str, flags: tuple[str, ...]) -> None:
    message = _with_id(text)
    assert message.kind is Kind.REQUEST
    assert message.id == text
    assert set(message.flags) == set(flags)


@pytest.mark.parametrize("text", ["1.10", "1e2", "1E400", "12345678901234567890123", "1.0"])
def test_an_id_keeps_its_text_in_a_response_and_in_a_batch(text: str) -> None:
    line = f'[{{"jsonrpc":"2.0","id":{text},"result":{{}}}},{{"jsonrpc":"2.0","id":2,"result":1}}]'
    assert [message.id for message in classify(line.encode())] == [text, "2"]


@pytest.mark.parametrize(
    "text", ["true", "[1.10]", "[1e400]", '{"a":[1e400]}', "[12345678901234567890123]", "[12345678901234567890123,1e400]", '["\\ud83d",1e400]', "[null]",
             '{"\\ud83d":1}', "[1,[2,{}]]"]
)  # fmt: skip
def test_an_id_of_a_wrong_type_is_json_all_the_same(text: str) -> None:
    message = _with_id(text)
    assert "bad-id" in message.flags
    assert message.id is not None
    exact(message.id)
    message.id.encode()


@pytest.mark.parametrize(
    "text",
    ["\\ud83d", "\\udc00", "ok \\ud83d", "\\ude00\\ud83d", "\\ud83d\\u0041", "\\uD83D", "é\\udfff"],
)
@pytest.mark.parametrize(
    "line",
    [
        '{{"jsonrpc":"2.0","method":"m","params":{{"t":"{}"}}}}',
        '{{"jsonrpc":"2.0","method":"m","params":{{"{}":1}}}}',
        '{{"jsonrpc":"2.0","method":"{}"}}',
        '{{"jsonrpc":"2.0","id":"{}","method":"m"}}',
        '{{"jsonrpc":"2.0","id":1,"result":["{}"]}}',
        '{{"jsonrpc":"2.0","id":1,"error":{{"code":1,"message":"{}"}}}}',
    ],
)
def test_a_lone_surrogate_is_accepted_and_flagged(line: str, text: str) -> None:
    line = line.format(text)
    [message] = classify(line.encode())

    assert message.kind is not Kind.INVALID
    assert message.flags == ("lone-surrogate",)
    assert message.value == json.loads(line)
    for written in (message.id, message.reason):
        assert written is None or written.encode()


@pytest.mark.parametrize("text", ["\\ud83d\\ude00", "\\\\ud83d", "\\u005cud83d", "😀", "\\uffff"])
def test_other_escapes_are_not_lone_surrogates(text: str) -> None:
    message = _params(f'"{text}"')
    assert message.flags == ()
    assert same(message.value["params"]["v"], json.loads(f'"{text}"'))


DUPLICATES = [
    r'{"a":1,"a":2}',
    r'{"a":1,"a":1}',
    r'{"":1,"":1}',
    r'{ "a" : 1 , "a" : 2 }',
    '{"a"\t:1,"a"\t:2}',
    '{"a"\r:1,"a":2}',
    '{"a"  \t  :1,"a":2}',
    r'{"a":1,"\u0061":2}',
    r'{"\u0061":1,"\u0061":2}',
    r'{"é":1,"\u00e9":2}',
    r'{"x":[{"y":{"a":1,"b":2,"a":3}}]}',
    r'{"a":{"b":1},"a":{"b":1}}',
    r'{"a":"\"","a":"\""}',
    r'{"a\"":1,"a\"":2}',
    r'{"a\"b":1,"a\u0022b":2}',
    r'{"a\\":1,"a\\":2}',
    r'{"a\\":1,"a\u005c":2}',
    r'{"a":"\\","a":"\\"}',
    r'{"\\\"":1,"\\\"":2}',
    r'{"a":1,"a":"\u0022:"}',
    r'{"a":1,"a":2,"t":"\u0022:"}',
    r'{"a":1,"a":2,"t":"\u0022\u003a"}',
    r'{"a":1,"a":"\u003a"}',
    r'{"a":1,"a":2,"t":"\u003A"}',
    r'{"a":1,"a":2,"t":"x\"\u003ay"}',
    r'{"a":1,"a":2,"\u003a":3}',
    r'{"a":1,"a":2,"t":[":","\u003a"]}',
    r'{"a":1,"a":2,"b" :3}',
    r'{"a":"\":","a":1}',
    r'{"a":{"k":1,"l":2},"a":1}',
    r'{"a/":1,"a\/":2}',
    r'{"😀":1,"\ud83d\ude00":2}',
    r'{"\ud83d":1,"\ud83d":2}',
]


@pytest.mark.parametrize("text", DUPLICATES)
def test_a_key_that_comes_twice_is_flagged_and_the_last_one_holds(text: str) -> None:
    message = _params(text)
    assert "duplicate-key" in message.flags
    assert same(message.value["params"]["v"], json.loads(text))

    [member] = classify(f'[{{"jsonrpc":"2.0","id":1,"result":{text}}}]'.encode())
    assert "duplicate-key" in member.flags


@pytest.mark.parametrize(
    "members",
    [
        '"id":1,"id":2,"method":"m"',
        '"id":1,"method":"m","method":"m"',
        '"id":1,"method":"m","i\\u0064":2',
    ],
)
def test_a_key_of_the_envelope_that_comes_twice_is_flagged(members: str) -> None:
    [message] = classify(f'{{"jsonrpc":"2.0",{members}}}'.encode())
    assert message.flags == ("duplicate-key",)
    assert message.id == str(json.loads(f"{{{members}}}")["id"])


def test_a_key_that_comes_twice_in_one_member_of_a_batch_is_flagged() -> None:
    messages = classify(
        b'[{"jsonrpc":"2.0","method":"m"},{"jsonrpc":"2.0","id":1,"id":2,"result":0}]'
    )
    assert "duplicate-key" in messages[1].flags


@pytest.mark.parametrize(
    "text",
    [
        r'{"a":1,"b":2}', r'{"a":{"a":{"a":1}}}', r'[{"a":1},{"a":1}]', r'{"a":1,"A":1}', r'{"a":"\"a\":"}',
        r'{"a":"a\":\"","b":"\":\":\":"}', r'{"a\"":1,"a":2}', r'{"a\\":1,"a":2}', r'{"a":"\u0022:"}',
        r'{"a":"\u0022a\u0022:1"}', r'{"a" : 1 , "b" : "\u0022 :"}', r'{"1":1,"1.0":2}', r'{"a":"\u003a"}',
        r'{"a\u0000":1,"a":2}', r'{"\u003a":1,"":2}', r'{"\"a":1,"a":2}', r'{"é":1,"e\u0301":2}',
    ],
)  # fmt: skip
def test_keys_that_differ_are_not_flagged(text: str) -> None:
    message = _params(text)
    assert message.flags == ()
    assert same(message.value["params"]["v"], json.loads(text))


def test_several_oddities_are_all_flagged() -> None:
    message = _params('{"a":1e400,"a":"\\ud83d"}')
    assert set(message.flags) == {"big-number", "duplicate-key", "lone-surrogate"}
