"""Nothing that a peer sent acts on a reader's terminal."""

import unicodedata
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_proxy.views.safe_text import decode, escape_in_json, visible, visible_lines
from acp_proxy.views.tables import fit, table


@given(st.binary())
def test_no_control_character_and_no_bidi_override_survives(raw: bytes) -> None:
    text = visible(decode(raw))

    assert all(
        unicodedata.category(character) not in ("Cc", "Cs", "Zl", "Zp") for character in text
    )
    text.encode()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b]0;title\x07", "\\e]0;title\\x07"),
        ("\x9b31m", "\\x9b31m"),
        ("a\u202eb", "a\\u202eb"),
        ("a\u2066b", "a\\u2066b"),
        ("a\u200fb\ufeff", "a\\u200fb\\ufeff"),
        ("\U000e0041", "\\U000e0041"),
        ("so\xadft", "so\\xadft"),
        ("\u2764\ufe0f", "\u2764\\ufe0f"),
        ("\u845b\U000e0101", "\u845b\\U000e0101"),
        ("\U0001f469\u200d\U0001f4bb", "\U0001f469\\u200d\U0001f4bb"),
        ("e\u0301 \u0e33 \u0939\u093f", "e\u0301 \u0e33 \u0939\u093f"),
        ("\r\n\t", "\\r\\n\\t"),
        ("naïve 日本 🎉", "naïve 日本 🎉"),
        (b"\xff\xfe".decode(errors="surrogateescape"), "\\xff\\xfe"),
        ("\ud83d", "\\ud83d"),
    ],
)
def test_what_is_harmful_is_shown_and_what_is_not_stays(text: str, shown: str) -> None:
    assert visible(text) == shown


UNSEEN = [
    *"\xad\u034f\u115f\u1160\u17b4\u180b\u180e\u2800\u3164\uffa0",
    *map(chr, range(0xFFF0, 0xFFFC)),
]
UNSEEN += [chr(code) for code in [*range(0x200B, 0x2010), *range(0x202A, 0x202F)]]
UNSEEN += [chr(code) for code in [*range(0x2060, 0x2070), *range(0xFE00, 0xFE10)]]
UNSEEN += [chr(code) for code in range(0xE0000, 0xE1000)]
UNSEEN += [
    character
    for character in map(chr, range(0x110000))
    if unicodedata.category(character) in {"Cf", "Cc", "Cs", "Zl", "Zp"}
]


@pytest.mark.parametrize("make", [visible, visible_lines, escape_in_json])
def test_no_character_that_nobody_sees_survives(make: Callable[[str], str]) -> None:
    lines = "\n\t" if make is visible_lines else ""
    kept = "".join(map(chr, range(32))) if make is escape_in_json else lines
    shown = {character: make(f"a{character}b") for character in UNSEEN if character not in kept}

    assert [hex(ord(x)) for x, text in shown.items() if x in text or "\\" not in text] == []
    assert all(text.isascii() for text in shown.values())


def test_visible_characters_stay() -> None:
    seen = [
        character
        for character in map(chr, range(0xA0, 0x110000))
        if unicodedata.category(character)[0] in "LMNPS" and character not in UNSEEN
    ]

    changed = [hex(ord(character)) for character in seen if visible(character) != character]
    assert set(changed) <= {"0x17b5", "0x180c", "0x180d", "0x180f", "0x16fe4"} | {
        hex(code)
        for code in range(0x13430, 0x13440)  # format characters and their like
    }


def test_lines_and_tabs_stay_where_lines_are_wanted() -> None:
    assert visible_lines("a\n\tb\x1b[0m\r\n") == "a\n\tb\\e[0m\\r\n"


def test_cells_are_made_harmless_and_wide_characters_align() -> None:
    text = table(["A", "B"], [["日本", "x\x1b[2J"], ["ab", "y"]])

    assert text.splitlines()[1:] == ["日本  x\\e[2J", "ab    y"]


def test_lines_are_cut_to_a_width_by_columns() -> None:
    assert fit("日本語日本語\nabcdefgh", 6) == "日本…\nabcde…"
