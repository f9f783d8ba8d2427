"""What somebody wants blanked beside: their names, texts and patterns, in every place."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_proxy.redaction.redactor import MARKER, Redactor, Rules
from tests.redaction.leaks import left
from tests.redaction.places import PLACES, WRAPPED, Frames, line

TEXT = "Project Falcon of Acme & Söhne"
SHORT = "Zorro"
NUMBER = "INT-20481632"
PATTERN = r"\bINT-[0-9]{8}\b"


def redacted(frames: Frames, rules: Rules) -> list[bytes]:
    """Return what becomes of the frames of a connection."""
    redactor = Redactor(rules)
    numbered = [(seq, stream, raw) for seq, (stream, raw) in enumerate(frames, 1)]
    redactor.learn(lambda: numbered)
    return [redactor.redact_frame(stream, raw, seq) for seq, stream, raw in numbered]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    ("secret", "rules"),
    [
        (TEXT, Rules(texts=[TEXT])),
        (NUMBER, Rules(patterns=[PATTERN])),
        (SHORT, Rules(texts=[SHORT])),
    ],
    ids=["text", "pattern", "short text"],
)
def test_a_text_and_what_fits_a_pattern_are_blanked_everywhere(
    place: str, secret: str, rules: Rules
) -> None:
    frames = PLACES[place](secret)
    said = f" {secret} ".join(["we", "work", "on it"])
    frames.append(("agent", line({"method": "x", "params": {"note": said, secret: secret}})))

    out = redacted(frames, rules)

    assert left(secret, out[-1:]) == set()
    assert json.loads(out[-1])["params"]["note"] == f"we {MARKER} work {MARKER} on it"
    if place not in WRAPPED:
        assert left(secret, out) == set(), out


def test_without_rules_they_stay() -> None:
    frames: Frames = [("agent", line({"method": "x", "params": {"a": TEXT, "ticket": NUMBER}}))]
    assert redacted(frames, Rules()) == [raw for _, raw in frames]


NAMED = [
    ({"ticketId": "a b c"}, {"ticketId": MARKER}),
    ({"TICKET_ID": 4711}, {"TICKET_ID": MARKER}),
    ({"ticket-id": {"deep": ["x", 1, {"y": "z"}]}}, None),
    ({"name": "TICKET_ID", "value": "plain"}, {"name": "TICKET_ID", "value": MARKER}),
    ({"x": 'say ticket_id="two words", then'}, {"x": f'say ticket_id="{MARKER}", then'}),
    ({"x": "run --ticket-id abc --ok"}, {"x": f"run --ticket-id {MARKER} --ok"}),
    ({"x": "Ticket-Id: abc"}, {"x": f"Ticket-Id: {MARKER}"}),
    ({"x": '{"ticketId": {"n": "inner"}}'}, {"x": f'{{"ticketId": {{"n": "{MARKER}"}}}}'}),
    ({"ticket__id": "a b c"}, {"ticket__id": MARKER}),
    ({"x": "ticket__id=abc"}, {"x": f"ticket__id={MARKER}"}),
    ({"args": ["--ticket-id", "a b", "c"]}, {"args": ["--ticket-id", MARKER, "c"]}),
    ({"args": ["-ticketid", 4711, "--ok"]}, {"args": ["-ticketid", MARKER, "--ok"]}),
    ({"args": ["--ticketId", "--ok", "c"]}, {"args": ["--ticketId", "--ok", "c"]}),
    ({"ticket": "not it", "x": "ticket = other"}, {"ticket": "not it", "x": "ticket = other"}),
    ({"x": "ticketId: string"}, {"x": "ticketId: string"}),
    ({"x": "aticketid=3 ticketid2=4"}, {"x": "aticketid=3 ticketid2=4"}),
]


@pytest.mark.parametrize(("params", "expected"), NAMED)
def test_what_has_a_name_is_blanked(params: object, expected: object) -> None:
    [raw] = redacted([("agent", line({"method": "m", "params": params}))], Rules(["ticketId"]))

    found = json.loads(raw)["params"]
    if expected is None:
        assert found == {"ticket-id": {"deep": [MARKER, MARKER, {"y": MARKER}]}}
    else:
        assert found == expected


@pytest.mark.parametrize("key", ["kürzel", "KÜRZEL", "kür_zel"])
@pytest.mark.parametrize("is_ascii", [True, False])
def test_a_name_may_have_any_letters(key: str, is_ascii: bool) -> None:
    raw = json.dumps({"jsonrpc": "2.0", "method": "m", key: "x1"}, ensure_ascii=is_ascii).encode()
    assert json.loads(redacted([("agent", raw)], Rules(["Kürzel"]))[0])[key] == MARKER


def test_several_lines_that_fit_stay_lines() -> None:
    text = "begin INTERNAL\na\n\nb\nEND rest"
    blanked, values = Redactor(Rules(patterns=[r"(?s)INTERNAL.*END"])).redact_text(text)
    assert blanked == f"begin {MARKER}\n{MARKER}\n\n{MARKER}\n{MARKER} rest"
    assert values == 4


@given(st.text(max_size=60), st.sampled_from([r"[0-9]+", r"\w{3}", r"x*", r"(?i)a.c", r"\s+"]))
def test_blanking_again_changes_nothing(text: str, pattern: str) -> None:
    rules = Rules(patterns=[pattern])
    if list(rules.find(MARKER)):
        return  # the marker itself fits: that is what was asked for
    once, _ = Redactor(rules).redact_text(text)
    assert Redactor(rules).redact_text(once)[0] == once


@given(st.text(min_size=1, max_size=12), st.text(max_size=30), st.booleans())
def test_a_named_value_is_never_missed_by_the_fast_path(
    name: str, value: str, is_ascii: bool
) -> None:
    rules = Rules([name])
    raw = json.dumps({"method": "m", "params": {name: value}}, ensure_ascii=is_ascii).encode(
        errors="surrogatepass"
    )
    if not rules.has_name(name) or value in ("", MARKER):
        return
    assert json.loads(Redactor(rules).redact_frame("agent", raw))["params"][name] == MARKER
