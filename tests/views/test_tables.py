"""Tables and pages in terminals of any width, with wide characters and hostile cells."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_proxy.views.columns import cut, pad, width, wrap
from acp_proxy.views.safe_text import visible
from acp_proxy.views.tables import fit, fit_lines, fit_page, table

TEXT = st.text(st.sampled_from("ab é日本👩🌾\u200d\u0301\ufe0f❤🇩🇪\x1b\u202e "), max_size=30)


def test_cells_stand_in_columns() -> None:
    shown = table(("ID", "N", "TITLE"), [("日本", 5, "a"), ("x", 1000, None)], right="N")

    assert shown.split("\n") == ["ID       N  TITLE", "日本     5  a", "x     1000"]


def test_a_table_that_is_too_wide_is_cut_where_it_is_widest() -> None:
    shown = table(("ID", "N", "TITLE", "WHAT"), [("call-1", 5, "w" * 90, "v" * 30)], right="N")

    assert shown.fitted(60).split("\n") == [
        "ID      N  TITLE                    WHAT",
        "call-1  5  wwwwwwwwwwwwwwwwwwwwww…  vvvvvvvvvvvvvvvvvvvvvvv…",
    ]  # fmt: skip
    assert shown.fitted(200) == shown


def test_columns_in_which_nothing_stands_are_left_out_first() -> None:
    shown = table(("ID", "NAME OF IT", "TITLE"), [("a", "", "t" * 20), ("b", None, "u")])

    assert shown.fitted(30).split("\n")[0] == "ID  TITLE"
    assert shown.fitted(40).split("\n")[0] == "ID  NAME OF IT  TITLE"


def test_in_a_narrow_terminal_a_row_takes_several_lines() -> None:
    rows = [("call-1", 12, "completed", "Water the tomatoes"), ("call-2", 3, "", "")]
    shown = table(("ID", "COUNT", "STATUS", "TITLE"), rows, right="COUNT")

    assert shown.fitted(22).split("\n") == [
        "ID      COUNT",
        "    STATUS",
        "    TITLE",
        "call-1     12",
        "    completed",
        "    Water the tomatoes",
        "call-2      3",
    ]


def test_an_id_is_not_cut_while_there_is_room_for_it() -> None:
    long = "toolu_bdrk_01TnjAxau4EnKcdeuPWnMp4k"
    shown = table(("ID", "STATUS", "TITLE"), [(long, "completed", "t" * 80)])

    for columns in (40, 60, 80):
        assert long in shown.fitted(columns)


@given(
    st.lists(st.tuples(TEXT, TEXT, st.integers(0, 10**6), TEXT), max_size=5), st.integers(1, 120)
)
def test_no_line_is_wider_than_the_terminal(
    rows: list[tuple[str, str, int, str]], columns: int
) -> None:
    shown = table(("ID", "NAME", "COUNT", "TITLE"), rows, right="COUNT").fitted(columns)

    assert all(width(line) <= columns for line in shown.split("\n"))
    assert not {"\x1b", "\u202e"} & set(shown)


@given(TEXT, st.integers(1, 40))
def test_cut_text_fits_and_text_that_fits_is_whole(text: str, columns: int) -> None:
    text = visible(text)
    shown = cut(text, columns)

    assert width(shown) <= columns
    assert (shown == text) == (width(text) <= columns)


@given(TEXT, st.integers(2, 40))
def test_wrapped_text_fits_and_loses_only_spaces(text: str, columns: int) -> None:
    text = visible(text)
    lines = wrap(text, columns)

    assert all(width(line) <= columns for line in lines)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")


def test_padding_counts_columns() -> None:
    assert [pad("日本", 6), pad("ab", 4, right=True)] == ["日本  ", "  ab"]


def test_lines_that_are_no_table_are_cut() -> None:
    assert fit("日本語\nabc", 5) == "日本…\nabc"


def test_facts_are_wrapped_under_their_values() -> None:
    page = 'title:      Water the tomatoes\n  "a": "a line of somebody\'s text"\nshort:      x'

    assert fit_page([page], 24).split("\n") == [
        "title:      Water the",
        "            tomatoes",
        '  "a": "a line of somebody\'s text"',
        "short:      x",
    ]
    assert fit_page([page, "b"], None) == page + "\n\nb"


def test_lines_of_ours_are_wrapped_under_their_beginnings() -> None:
    text = "  turns: 12\n    from 97 to 115 and on, end_turn, 日本語の ターン"

    assert fit_lines(text, 24).split("\n") == [
        "  turns: 12",
        "    from 97 to 115",
        "        and on,",
        "        end_turn,",
        "        日本語の ターン",
    ]
    assert fit_lines(text, None) == fit_lines(text, 80) == text


@pytest.mark.parametrize("columns", [1, 5, 20])
def test_a_page_survives_any_terminal(columns: int) -> None:
    assert fit_page(["title:      Water the tomatoes", table(("A",), [("b",)])], columns)
