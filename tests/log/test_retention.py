"""What is to go: each limit says so, and what protects is stronger."""

import pytest

from acp_proxy.log.retention import (
    Candidate,
    Limits,
    choose,
    parse_age,
    parse_keep,
    parse_size,
)

DAY = 86400 * 10**9
NOW = 1000 * DAY


def one(id_: int, *, age: float = 0, size: int = 10, stays: str | None = None) -> Candidate:
    began = NOW - int(age * DAY)
    return Candidate(id_, f"uuid-{id_}", began, began, 1, 1, size, stays)


ALL = [one(1, age=40), one(2, age=30), one(3, age=20), one(4, age=10), one(5, age=0)]


def going(
    limits: Limits, candidates: list[Candidate] | None = None, named: set[int] | None = None
) -> list[int]:
    found = ALL if candidates is None else candidates
    used = sum(one.bytes for one in found)
    choice = choose(found, limits, now_ns=NOW, used_bytes=used, named=named)
    return [one.id for one in choice.going]


@pytest.mark.parametrize(
    ("limits", "gone"),
    [
        (Limits(older_than_ns=25 * DAY), [1, 2]),
        (Limits(older_than_ns=30 * DAY), [1]),  # not what is as old as that
        (Limits(older_than_ns=500 * DAY), []),
        (Limits(to_bytes=50), []),
        (Limits(to_bytes=49), [1]),
        (Limits(to_bytes=0), [1, 2, 3, 4, 5]),
        (Limits(older_than_ns=35 * DAY, to_bytes=30), [1, 2]),  # what either says
        (Limits(older_than_ns=15 * DAY, to_bytes=40), [1, 2, 3]),
        (Limits(keep_last=2), [1, 2, 3]),
        (Limits(keep_last=9), []),
        (Limits(older_than_ns=5 * DAY, keep_last=3), [1, 2]),
        (Limits(to_bytes=0, keep_last=1), [1, 2, 3, 4]),
    ],
)
def test_a_connection_goes_when_any_limit_says_so_and_the_last_ones_stay(
    limits: Limits, gone: list[int]
) -> None:
    assert going(limits) == gone


def test_what_runs_or_waits_stays_and_counts() -> None:
    candidates = [one(1, age=40, stays="it is running"), one(2, age=30), one(3, age=20)]

    assert going(Limits(older_than_ns=1), candidates) == [2, 3]
    assert going(Limits(to_bytes=15), candidates) == [2, 3]
    assert going(Limits(to_bytes=20), candidates) == [2]


def test_those_that_are_named_go_and_no_others() -> None:
    assert going(Limits(), named={2, 4}) == [2, 4]
    assert going(Limits(older_than_ns=15 * DAY), named={2, 4}) == [2]
    assert going(Limits(keep_last=2), named={2, 4}) == [2]


def test_why_one_that_was_named_stays_is_told() -> None:
    candidates = [one(1, stays="it is running"), one(2), one(3)]

    choice = choose(candidates, Limits(keep_last=1), now_ns=NOW, used_bytes=30, named={1, 3})

    assert [(one.id, why) for one, why in choice.staying] == [
        (1, "it is running"),
        (3, "one of the last 1"),
    ]


def test_an_import_of_something_old_is_as_young_as_the_import() -> None:
    imported = Candidate(1, "u", NOW - DAY, NOW - DAY, 1, 1, 10, None)

    assert going(Limits(older_than_ns=30 * DAY), [imported]) == []


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90s", 90), ("5min", 300), ("12h", 43200), ("2W", 1209600), ("1y", 31536000)],
)
def test_ages(text: str, seconds: int) -> None:
    assert parse_age(text) == seconds * 10**9


@pytest.mark.parametrize(
    ("text", "size"),
    [("0", 0), ("700", 700), ("2k", 2048), ("2KiB", 2048), ("1.5G", 3 << 29), (" 3 TB", None)],
)
def test_sizes(text: str, size: int | None) -> None:
    if size is None:
        with pytest.raises(ValueError, match="is no size"):
            parse_size(text)
    else:
        assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "d", "30", "-1d", "1.5d", "30 d", "1e3s", "9999999d", "5m"])
def test_what_is_no_age(text: str) -> None:
    with pytest.raises(ValueError, match="is no age"):
        parse_age(text)


def test_what_is_kept_is_an_age_a_size_or_both() -> None:
    assert parse_keep("30d") == Limits(older_than_ns=30 * DAY)
    assert parse_keep("500MB") == parse_keep("500mib") == Limits(to_bytes=500 << 20)
    assert parse_keep("10min") == Limits(older_than_ns=600 * 10**9)
    assert parse_keep("2g,4w") == Limits(older_than_ns=28 * DAY, to_bytes=2 << 30)
    for text in ("", ",", "30", "1.5", "all", "30d,,2G", "30x"):
        with pytest.raises(ValueError, match="neither an age"):
            parse_keep(text)


@pytest.mark.parametrize("text", ["30m", "30M", "1.5M", "30d,30m"])
def test_a_limit_that_may_be_minutes_or_megabytes_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"minutes or megabytes: write [\d.]+min or [\d.]+MB"):
        parse_keep(text)
