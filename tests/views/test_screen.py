"""What a terminal's screen shows, whatever was written to it, and at what cost."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from wcwidth import wcswidth

from acp_proxy.views.safe_text import visible
from acp_proxy.views.screen import screen_of

TEN = {"cols": 10, "rows": 3}


@pytest.mark.parametrize(
    ("output", "lines"),
    [
        (b"one\r\ntwo\r\n", ["one", "two"]),
        (b"10%\r20%\r100%", ["100%"]),
        (b"0123456789ab", ["0123456789", "ab"]),
        (b"a\nb\nc\nd\ne", ["c", "d", "e"]),
        (b"\x1b[2J\x1b[2;3Hx\x1b[31;1my", ["", "  xy"]),
        (b"main\x1b[?1049h\x1b[Hfull", ["full"]),
        (b"main\x1b[?1049h\x1b[Hfull\x1b[?1049l!", ["main!"]),
        (b"a\x1b[sbc\x1b[uX", ["aXc"]),
        (b"\x1b]0;title\x07a\x1b]8;;http://x\x1b\\b\x1bP1;2|dcs\x1b\\c", ["abc"]),
        (
            b"\x1b[?2026h\x1b[>4;1m\x1b[<u\x1b[=5;1u\x1b[?12$p\x1b[!p\x1b[2 q\x1b[38:2::1:2:3mx",
            ["x"],
        ),
        (b"a\x1b[?1mb\x1b[;;;;;;;mc\x1b[1;2;3;4Ld", ["abcd"]),
        (b"\x01\x02a\x7f\x00b", ["ab"]),
    ],
    ids=repr,
)
def test_the_screen_of_an_output(output: bytes, lines: list[str]) -> None:
    assert screen_of(output, TEN).lines == lines


def test_a_line_feed_alone_begins_a_line_unless_a_terminal_wrote_it() -> None:
    assert screen_of(b"one\ntwo", TEN).lines == ["one", "two"]
    assert screen_of(b"one\ntwo\r\n!", TEN).lines == ["one", "   two", "!"]


@pytest.mark.parametrize(
    ("output", "lines"),
    [
        ("漢字".encode(), ["漢字"]),
        ("漢\x1b[1Gx".encode(), ["x"]),
        ("漢\x1b[2Gx".encode(), [" x"]),
        ("123456789漢".encode(), ["123456789漢"]),
        ("⚠\ufe0f warn".encode(), ["⚠ warn"]),
        ("e\u0301!".encode(), ["é!"]),
        ("a\u200bb".encode(), ["ab"]),
    ],
)
def test_characters_of_other_widths(output: bytes, lines: list[str]) -> None:
    assert screen_of(output, TEN).lines == lines


def test_what_is_no_utf8_is_replaced_but_an_unfinished_character_waits() -> None:
    assert screen_of(b"a\xffb", TEN).lines == ["a\ufffdb"]
    assert screen_of(b"a\xe6\xbc", TEN).lines == ["a"]


def test_without_a_size_it_is_80_by_24() -> None:
    screen = screen_of(b"x" * 81 + b"\n" * 30)

    assert (screen.columns, screen.rows, screen.is_size_known, screen.lines) == (80, 24, False, [])
    assert screen_of(b"x" * 81).lines == ["x" * 80, "x"]


@pytest.mark.slow
def test_of_a_long_output_the_end_is_played_from_a_whole_line() -> None:
    line = "\x1b[31m漢 and more\x1b[0m\n".encode()
    output = line * (20_000_000 // len(line)) + b"last"
    screen = screen_of(output, {"cols": 40, "rows": 3})

    assert screen.lines == ["漢 and more", "漢 and more", "last"]
    assert 0 < len(output) - screen.skipped <= 256 * 1024
    assert screen.skipped % len(line) == 0
    assert screen.is_whole


@pytest.mark.slow
def test_a_cut_does_not_fall_into_a_character_or_a_sequence() -> None:
    assert "\ufffd" not in screen_of("漢".encode() * 200_000, TEN).lines[0]
    assert screen_of(b"x\x1b[1;1H" * 100_000, TEN).lines == ["x"]


LARGEST = {"cols": 65535, "rows": 65535}


@pytest.mark.slow
@pytest.mark.parametrize(
    "sequence", [b"\x1b#8", b"\x1b[2J", b"\x1b[?5h\x1b[?5l", b"\x1b[@", b"\x1b[L", b"\n", b"\x1bM"]
)
def test_what_costs_too_much_is_not_played_to_its_end(sequence: bytes) -> None:
    screen = screen_of(b"\x1b#8" + sequence * 200_000, LARGEST)

    assert (screen.columns, screen.rows, screen.is_whole) == (512, 256, False)


_PIECES = st.sampled_from([
    b"\x1b", b"\x1b[", b"\x1b[?", b"\x9b", "\x9b".encode(), b";", b"9", b"99999", b"h", b"l", b"m", b"H", b"J",
    b"K", b"L", b"@", b"P", b"r", b"\r\n", b"\n", b"\t", b"\x08", "漢".encode(), "²".encode(), "\u202e".encode(),
    b"\x1b]0;", b"\x07", b"\x1b#8", b"\x1bM", b"\x1b[?1049h", b"\x1b[?1049l", b"\x1b[?3h", b"\x1b[4h", b"\x1bc",
    b"\x0e", b"\x1b(0", b"$", b"abc", "\u0301".encode(), b"\x1bP", b"\x1b[1;2r", b"\x1b[?6h",
])  # fmt: skip


@given(st.lists(_PIECES | st.binary(max_size=3)).map(b"".join))
@example(b"\x1b\xce\x80")  # of no use in any version of Unicode, and harmless
@example(b"\x1b[" + b"9" * 5000 + b"m" + "\x1b[²m".encode())
def test_nothing_raises_and_the_screen_stays_in_its_size(output: bytes) -> None:
    screen = screen_of(output, {"cols": 7, "rows": 3})

    assert len(screen.lines) <= 3
    assert all(0 <= wcswidth(line) <= 8 for line in screen.lines)  # a wide one may hang over
    assert all(visible(line) == line for line in screen.lines)  # nothing that a terminal obeys
