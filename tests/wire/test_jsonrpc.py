"""Every shape of object, one by one: what kind of message it is, and what is odd about it."""

from __future__ import annotations

import pytest

from acp_proxy.wire.framing import Frame
from acp_proxy.wire.jsonrpc import Kind, classify, classify_frame, text_message

REQUEST, NOTIFICATION = Kind.REQUEST, Kind.NOTIFICATION
RESULT, ERROR, INVALID = Kind.RESULT, Kind.ERROR, Kind.INVALID
FAULT = '"error":{"code":-32601,"message":"no"}'

# members after "jsonrpc":"2.0" -> kind, method, id, flags
SHAPES: dict[str, tuple[Kind, str | None, str | None, set[str]]] = {
    # requests
    '"id":1,"method":"m"': (REQUEST, "m", "1", set()),
    '"id":1,"method":"m","params":{}': (REQUEST, "m", "1", set()),
    '"id":1,"method":"m","params":[]': (REQUEST, "m", "1", set()),
    '"id":1,"method":"m","params":null': (REQUEST, "m", "1", set()),
    '"params":{},"method":"m","id":1': (REQUEST, "m", "1", set()),
    '"id":"1","method":"m"': (REQUEST, "m", '"1"', set()),
    '"id":"","method":""': (REQUEST, "", '""', set()),
    '"id":0,"method":"m"': (REQUEST, "m", "0", set()),
    '"id":-7,"method":"m"': (REQUEST, "m", "-7", set()),
    # notifications
    '"method":"m"': (NOTIFICATION, "m", None, set()),
    '"method":"m","params":{"id":1}': (NOTIFICATION, "m", None, set()),
    '"method":"m","params":null': (NOTIFICATION, "m", None, set()),
    # responses
    '"id":1,"result":{}': (RESULT, None, "1", set()),
    '"id":1,"result":null': (RESULT, None, "1", set()),
    '"id":1,"result":false': (RESULT, None, "1", set()),
    '"id":1,"result":0': (RESULT, None, "1", set()),
    '"id":1,"result":{"error":1,"method":"m"}': (RESULT, None, "1", set()),
    f'"id":1,{FAULT}': (ERROR, None, "1", set()),
    '"id":1,"error":{"code":0,"message":"","data":null}': (ERROR, None, "1", set()),
    '"id":1,"error":{"code":9007199254740993,"message":"m"}': (ERROR, None, "1", set()),
    # ids
    f'"id":null,{FAULT}': (ERROR, None, "null", {"null-id"}),
    '"id":null,"result":{}': (RESULT, None, "null", {"null-id"}),
    '"id":null,"method":"m"': (REQUEST, "m", "null", {"null-id"}),
    '"id":1.0,"method":"m"': (REQUEST, "m", "1.0", {"fractional-id"}),
    '"id":1.10,"method":"m"': (REQUEST, "m", "1.10", {"fractional-id"}),
    '"id":1e2,"result":{}': (RESULT, None, "1e2", {"fractional-id"}),
    '"id":1E+2,"result":{}': (RESULT, None, "1E+2", {"fractional-id"}),
    '"id":-0.0,"method":"m"': (REQUEST, "m", "-0.0", {"fractional-id"}),
    '"id":9007199254740991,"method":"m"': (REQUEST, "m", "9007199254740991", set()),
    '"id":9007199254740992,"method":"m"': (REQUEST, "m", "9007199254740992", {"unsafe-id"}),
    '"id":-9007199254740991,"method":"m"': (REQUEST, "m", "-9007199254740991", set()),
    '"id":-9007199254740992,"method":"m"': (REQUEST, "m", "-9007199254740992", {"unsafe-id"}),
    '"id":"9007199254740993","method":"m"': (REQUEST, "m", '"9007199254740993"', set()),
    '"id":true,"method":"m"': (REQUEST, "m", "true", {"bad-id"}),
    '"id":false,"result":{}': (RESULT, None, "false", {"bad-id"}),
    '"id":[1],"method":"m"': (REQUEST, "m", "[1]", {"bad-id"}),
    '"id":{"a":1},"result":{}': (RESULT, None, '{"a":1}', {"bad-id"}),
    # params
    '"id":1,"method":"m","params":"x"': (REQUEST, "m", "1", {"bad-params"}),
    '"id":1,"method":"m","params":7': (REQUEST, "m", "1", {"bad-params"}),
    '"method":"m","params":false': (NOTIFICATION, "m", None, {"bad-params"}),
    '"method":"m","params":0': (NOTIFICATION, "m", None, {"bad-params"}),
    '"method":"m","params":""': (NOTIFICATION, "m", None, {"bad-params"}),
    # errors
    '"id":1,"error":null': (ERROR, None, "1", {"bad-error"}),
    '"id":1,"error":"no"': (ERROR, None, "1", {"bad-error"}),
    '"id":1,"error":[]': (ERROR, None, "1", {"bad-error"}),
    '"id":1,"error":{}': (ERROR, None, "1", {"bad-error"}),
    '"id":1,"error":{"code":1}': (ERROR, None, "1", {"bad-error"}),
    '"id":1,"error":{"message":"m"}': (ERROR, None, "1", {"bad-error"}),
    '"id":1,"error":{"code":"1","message":"m"}': (ERROR, None, "1", {"bad-error"}),
    '"id":1,"error":{"code":true,"message":"m"}': (ERROR, None, "1", {"bad-error"}),
    '"id":1,"error":{"code":1.0,"message":"m"}': (ERROR, None, "1", {"bad-error"}),
    '"id":1,"error":{"code":1,"message":null}': (ERROR, None, "1", {"bad-error"}),
    # both
    f'"id":1,"result":{{}},{FAULT}': (ERROR, None, "1", {"result-and-error"}),
    f'"id":1,{FAULT},"result":null': (ERROR, None, "1", {"result-and-error"}),
    '"id":1,"result":{},"error":null': (RESULT, None, "1", {"result-and-error"}),
    '"id":1,"result":{},"error":"x"': (ERROR, None, "1", {"result-and-error", "bad-error"}),
    # keys that do not belong
    '"id":1,"method":"m","type":"x"': (REQUEST, "m", "1", {"extra-key"}),
    '"id":1,"method":"m","result":{}': (REQUEST, "m", "1", {"extra-key"}),
    f'"id":1,"method":"m",{FAULT}': (REQUEST, "m", "1", {"extra-key"}),
    '"method":"m","":0': (NOTIFICATION, "m", None, {"extra-key"}),
    '"id":1,"result":{},"params":{}': (RESULT, None, "1", {"extra-key"}),
    '"id":1,"result":{},"_meta":{}': (RESULT, None, "1", {"extra-key"}),
    # no message at all
    '"id":1': (INVALID, None, "1", set()),
    '"id":1,"result":{},"method":null': (INVALID, None, "1", {"extra-key"}),
    '"id":1,"method":7': (INVALID, None, "1", set()),
    '"method":["m"]': (INVALID, None, None, set()),
    '"method":null,"params":1': (INVALID, None, None, {"bad-params"}),
    '"result":{}': (INVALID, None, None, set()),
    FAULT: (INVALID, None, None, set()),
    '"error":null': (INVALID, None, None, {"bad-error"}),
    '"params":{}': (INVALID, None, None, {"extra-key"}),
}


@pytest.mark.parametrize("members", SHAPES)
def test_an_object_is_what_its_keys_say(members: str) -> None:
    kind, method, id_, flags = SHAPES[members]

    [message] = classify(f'{{"jsonrpc":"2.0",{members}}}\n'.encode())

    assert (message.kind, message.method, message.id) == (kind, method, id_)
    assert set(message.flags) == flags
    assert (message.reason is not None) == (kind is INVALID)
    assert message.batch_index is None


@pytest.mark.parametrize("members", SHAPES)
def test_the_same_with_spaces_between_tokens(members: str) -> None:
    compact = classify(f'{{"jsonrpc":"2.0",{members}}}'.encode())
    spaced = f'{{"jsonrpc":"2.0",{members}}}'.replace(":", " : ").replace(",", " ,\t")

    assert classify(f" \t{spaced} \r\n".encode()) == compact


@pytest.mark.parametrize("members", SHAPES)
def test_the_same_after_a_byte_order_mark_but_flagged(members: str) -> None:
    [plain] = classify(f'{{"jsonrpc":"2.0",{members}}}'.encode())
    [marked] = classify(f'\ufeff{{"jsonrpc":"2.0",{members}}}\n'.encode())

    assert set(marked.flags) == {*plain.flags, "bom"}
    assert (marked.kind, marked.value, marked.method, marked.id, marked.reason) == (
        (plain.kind, plain.value, plain.method, plain.id, plain.reason)
    )


@pytest.mark.parametrize("version", [None, '"1.0"', '"2"', "2.0", "2", "null", "true", '["2.0"]'])
def test_another_version_of_json_rpc_is_flagged_and_read_all_the_same(version: str | None) -> None:
    before = "" if version is None else f'"jsonrpc":{version},'

    [message] = classify(f'{{{before}"id":1,"method":"m"}}'.encode())

    assert (message.kind, message.flags) == (REQUEST, ("no-jsonrpc",))


def test_an_empty_object_is_no_message() -> None:
    [message] = classify(b"{}\n")
    assert (message.kind, message.flags, message.value) == (INVALID, ("no-jsonrpc",), {})
    assert message.reason


@pytest.mark.parametrize("text", ["0", "-1.5", '"ready"', "true", "false", "null", '""'])
def test_json_that_is_no_object_is_no_message(text: str) -> None:
    [message] = classify(text.encode() + b"\n")
    assert (message.kind, message.id, message.method) == (INVALID, None, None)
    assert message.reason


@pytest.mark.parametrize("raw", [b"[]", b" [ ] \r\n", b"\xef\xbb\xbf[]\n"])
def test_an_empty_batch_is_one_invalid_message(raw: bytes) -> None:
    [message] = classify(raw)
    assert message.kind is INVALID
    assert message.value == []
    assert message.batch_index is None
    assert "batch" in message.flags
    assert message.reason


def test_each_member_of_a_batch_is_a_message_with_its_place() -> None:
    members = [f'{{"jsonrpc":"2.0",{shape}}}' for shape in SHAPES]

    found = classify(f"[{','.join(members)}]\n".encode())

    assert [message.batch_index for message in found] == list(range(len(SHAPES)))
    for message, (kind, method, id_, flags) in zip(found, SHAPES.values(), strict=True):
        assert (message.kind, message.method, message.id) == (kind, method, id_)
        assert set(message.flags) == {*flags, "batch"}


def test_a_bad_member_of_a_batch_does_not_spoil_the_others() -> None:
    found = classify(b'[1,{"jsonrpc":"2.0","method":"m"},"x",null,[{"id":1}],[]]')

    assert [message.kind for message in found] == [INVALID, NOTIFICATION, *[INVALID] * 4]
    assert [message.value for message in found if message.kind is INVALID] == (
        [1, "x", None, [{"id": 1}], []]
    )
    assert all(message.reason for message in found if message.kind is INVALID)
    assert [message.batch_index for message in found] == [0, 1, 2, 3, 4, 5]


def test_a_string_id_has_one_text_however_it_was_written() -> None:
    spellings = [r'"a/\u00e9"', r'"\u0061\/é"', '"a/é"', r'"\u0061/\u00E9"']
    found = {classify(f'{{"id":{text},"method":"m"}}'.encode())[0].id for text in spellings}
    assert len(found) == 1


def test_a_frame_too_long_to_keep_is_stored_but_not_parsed() -> None:
    [message] = classify_frame(Frame(0, b'{"jsonrpc":"2.0","id":1,"method":"m"', 10**9))
    assert (message.kind, message.flags, message.value) == (INVALID, ("unparsed",), None)
    assert message.reason


def test_a_whole_frame_is_classified() -> None:
    raw = b'{"jsonrpc":"2.0","id":1,"method":"m"}\n'
    assert classify_frame(Frame(7, raw, len(raw))) == classify(raw)


@pytest.mark.parametrize("raw", [b'{"jsonrpc":"2.0","id":1,"method":"m"}\n', b"\n", b"x"])
def test_standard_error_is_never_read_as_json(raw: bytes) -> None:
    message = text_message(raw)
    assert (message.kind, message.value, message.id, message.flags) == (Kind.TEXT, None, None, ())


def test_standard_error_that_is_not_utf8_is_flagged() -> None:
    assert text_message(b"caf\xe9\n").flags == ("not-utf8",)
