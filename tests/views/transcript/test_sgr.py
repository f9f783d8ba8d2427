"""What a terminal was sent, as runs with colours: what is obeyed, kept, left out."""

import re

from hypothesis import given
from hypothesis import strategies as st

from acp_proxy.views.transcript.sgr import PLAIN, Reading, Run, Style, cut_runs, palette, plain

_CODES = st.lists(st.integers(0, 300), max_size=6).map(lambda some: ";".join(map(str, some)))
_TEXTS = st.lists(
    st.one_of(
        _CODES.map("\x1b[{}m".format),
        st.sampled_from(
            ["\x1b[K", "\x1b[2J", "\x1b[1A", "\x1b]0;title\x07", "\x1b[?25l", "\x1b", "\r", "\n"]
        ),
        st.text(max_size=8),
    ),
    max_size=20,
).map("".join)


def runs(text: str) -> list[list[Run]]:
    """Return the lines of a text."""
    return list(Reading().lines(text))


def test_colours_and_looks_are_kept_over_lines() -> None:
    first, second = runs("\x1b[1;31mred\nstill\x1b[0m plain")

    assert first == [Run(Style(fg=1, bold=True), "red")]
    assert second == [Run(Style(fg=1, bold=True), "still"), Run(PLAIN, " plain")]


def test_all_ways_to_name_a_colour_are_understood() -> None:
    found = {
        text: runs(f"\x1b[{text}mx")[0][0].style
        for text in ("93", "48;5;200", "38:5:17", "38;2;255;0;0", "7", "38;5;999", "58;5;3;4", "")
    }

    assert found == {
        "93": Style(fg=11),
        "48;5;200": Style(bg=200),
        "38:5:17": Style(fg=17),
        "38;2;255;0;0": Style(fg=196),
        "7": Style(inverse=True),
        "38;5;999": PLAIN,
        "58;5;3;4": Style(underline=True),
        "": PLAIN,
    }


def test_each_look_ends() -> None:
    [line] = runs("\x1b[1;2;3;4;7;9;31;42mx\x1b[22;23;24;27;29;39;49my")

    assert line[1] == Run(PLAIN, "y")


def test_a_line_that_was_begun_anew_is_shown_in_its_last_form() -> None:
    reading, full = Reading(), Reading(is_full=True)
    text = "\x1b[32m10%\r50%\r100%\r\nnext\r\n"

    assert list(map(plain, reading.lines(text))) == ["100%", "next"]
    assert reading.overwritten == 2
    assert list(map(plain, full.lines(text))) == ["10%\r50%\r100%", "next"]
    assert full.overwritten == 0


def test_sequences_without_a_look_are_left_out_and_counted() -> None:
    reading = Reading()

    [line] = reading.lines(
        "a\x1b[Kb\x1b]0;evil title\x07c\x1b[?25ld\x1b]8;;http://x.example\x1b\\e"
    )

    assert (plain(line), reading.left_out) == ("abcde", 4)


def test_what_moves_the_cursor_stays_to_be_seen() -> None:
    text = "a\x1b[2Jb\x1b[1;1Hc\x1b[8md"

    assert plain(runs(text)[0]) == "a\x1b[2Jb\x1b[1;1Hcd"


@given(_TEXTS)
def test_nothing_but_known_sequences_is_lost(text: str) -> None:
    found = "\n".join(plain(line) for line in Reading(is_full=True).lines(text))
    known = re.compile(
        "\x1b\\[[0-9;:]{0,200}m|\x1b\\[[0-9;]{0,8}K|\x1b\\[\\?[0-9;]{1,20}[hl]|\x1b[=>]|\x1b[()][AB0]"
        "|\x1b\\]0;title\x07"
    )

    kept = "\n".join(known.sub("", line).rstrip("\r") for line in text.split("\n"))
    assert found.replace("\r", "").rstrip("\n") == kept.replace("\r", "").rstrip("\n")


@given(_TEXTS, st.integers(0, 30))
def test_a_line_can_be_cut_anywhere(text: str, width: int) -> None:
    for line in Reading(is_full=True).lines(text):
        assert plain(cut_runs(line, width)) == plain(line)[:width]


def test_the_palette_is_the_usual_one() -> None:
    assert [palette(number) for number in (16, 21, 196, 231, 232, 255)] == [
        "#000000", "#0000ff", "#ff0000", "#ffffff", "#080808", "#eeeeee",
    ]  # fmt: skip
