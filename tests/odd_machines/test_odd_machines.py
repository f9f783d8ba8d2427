"""Machines where something is missing, full, closed or strange: it works, or says plainly why not."""

import os
from typing import Any

import pytest

from tests.odd_machines.machine import (
    NOBODY,
    QUERIES,
    Machine,
    assert_answered,
    assert_plain,
    assert_transparent,
    query,
    run,
)

pytestmark = pytest.mark.slow

PLACE = "mkdir -p /mnt/place && mount -t tmpfs -o mode=1777 tmpfs /mnt/place || exit 77\n"
READ_ONLY = """
for place in $(findmnt -rno TARGET | grep -v -e ^/proc -e ^/mnt/place); do
    mount -o remount,bind,ro "$place" 2>/dev/null
done
! touch /root/written 2>/dev/null && ! touch /tmp/written 2>/dev/null || exit 77
"""
FRESH_TMP = """
for place in /tmp /var/tmp; do mount -t tmpfs -o mode=1777{options} tmpfs $place || exit 77; done
"""
FULL_TMP = FRESH_TMP.format(options=",size=64k") + (
    "for place in /tmp /var/tmp; do cat /dev/zero > $place/filler 2>/dev/null; done\n"
)
LOG = {"ACP_PROXY_LOG": "/mnt/place/log.db"}

MACHINES: dict[str, Machine] = {
    "nothing odd": Machine(PLACE, LOG),
    "all read-only but the log's folder": Machine(PLACE + READ_ONLY, LOG),
    "a working folder that cannot be written": Machine(PLACE, LOG, user=NOBODY, cwd="/usr"),
    "nothing in /tmp may be executed": Machine(
        FRESH_TMP.format(options=",noexec"), {"ACP_PROXY_LOG": "/tmp/log.db"}, cwd="/tmp"
    ),
    "a full /tmp": Machine(PLACE + FULL_TMP, LOG),
    "a TMPDIR that is not there": Machine(PLACE, {**LOG, "TMPDIR": "/nowhere/at/all"}),
    "no HOME": Machine(
        "", {"HOME": None, "XDG_STATE_HOME": None, "ACP_PROXY_LOG": None, "ACP_PROXY_CONFIG": None}
    ),
    "an empty HOME": Machine(
        "", {"HOME": "", "XDG_STATE_HOME": "", "ACP_PROXY_LOG": None, "ACP_PROXY_CONFIG": None}
    ),
    "no HOME and no name": Machine(
        FRESH_TMP.format(options=""),
        {"HOME": None, "XDG_STATE_HOME": None, "ACP_PROXY_LOG": None, "ACP_PROXY_CONFIG": None},
        user=NOBODY,
    ),
    "a HOME that cannot be": Machine(
        FRESH_TMP.format(options=""),
        {"HOME": "/proc/nobody", "XDG_STATE_HOME": None, "ACP_PROXY_LOG": "/tmp/log.db"}
        | {"ACP_PROXY_CONFIG": None},
    ),
    "a umask that forbids all": Machine(PLACE + "umask 0777\n", LOG, user=NOBODY),
    "a umask that forbids nothing": Machine(PLACE + "umask 0\n", LOG),
    "no locale": Machine(PLACE, {**LOG, "LANG": None, "LC_ALL": None, "LC_CTYPE": None}),
    "the C locale": Machine(PLACE, {**LOG, "LC_ALL": "C"}),
    "the C locale, and nothing about it": Machine(
        PLACE, {**LOG, "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    ),
    "a locale that is not there": Machine(PLACE, {**LOG, "LC_ALL": "xx_YY.KOI8-R"}),
    "an empty environment": Machine(
        PLACE, dict.fromkeys(os.environ) | LOG | {"PATH": "/usr/bin:/bin"}
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", MACHINES)
def test_it_works(name: str) -> None:
    ran, *answers = MACHINES[name].ask(run(), *QUERIES)

    assert_transparent(ran)
    assert_answered(answers)


@pytest.mark.slow
@pytest.mark.parametrize("closed", [[0], [1], [2], [0, 1, 2]])
def test_closed_descriptors_disturb_nobody(closed: list[int]) -> None:
    machine = Machine(PLACE, LOG)
    jobs: list[Any] = [run(), *(dict(job, closed=closed) for job in QUERIES)]
    ran, *answers = machine.ask(*jobs, *QUERIES)

    assert_transparent(ran)
    for done in answers[: len(QUERIES)]:
        assert b"Traceback" not in done.err + done.out
        assert done.code == 0 or 1 in closed
    assert_answered(answers[len(QUERIES) :])


@pytest.mark.slow
@pytest.mark.parametrize("closed", [[0], [1], [2], [0, 1, 2]])
def test_a_proxy_with_closed_descriptors_records(closed: list[int]) -> None:
    _, connections, verified = Machine(PLACE, LOG).ask(
        run(closed=closed), query("connections"), query("verify")
    )

    assert b"exit 3" in connections.out
    assert (connections.err, verified.code) == (b"", 0)


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["ascii", "latin-1:strict", "utf-16", "cp037", "nonsense"])
def test_an_odd_encoding_for_output_is_no_traceback(encoding: str) -> None:
    odd = Machine(PLACE, {**LOG, "PYTHONIOENCODING": encoding})
    ran, *answers = odd.ask(run(), *QUERIES)

    assert b"Traceback" not in b"".join(done.err for done in answers)
    if encoding != "nonsense":  # Python itself ends with such a one
        assert_transparent(ran)
        assert [done.code for done in answers] == [0] * len(QUERIES)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["a b.db", 'it\'s "quoted".db', "what?.db", "a#b.db", "100%25.db", "\udcff.db", "-x.db"]
)
def test_a_log_of_any_name(name: str) -> None:
    machine = Machine(PLACE, {"ACP_PROXY_LOG": f"/mnt/place/{name}"})
    ran, *answers = machine.ask(run(), *QUERIES)

    assert_transparent(ran)
    assert_answered(answers)


@pytest.mark.slow
def test_where_nothing_at_all_can_be_written_it_says_so() -> None:
    machine = Machine(READ_ONLY.replace(" -e ^/mnt/place", ""), LOG)
    ran, *answers = machine.ask(run(), *QUERIES)

    assert_transparent(ran)
    for done in answers:
        assert_plain(done)


@pytest.mark.slow
def test_what_needs_room_for_temporary_files_says_so() -> None:
    nowhere = Machine(PLACE + FULL_TMP, {**LOG, "TMPDIR": "/nowhere"}, cwd="/proc")
    lines = '{"from":"client","data":"hello"}\n' * 20_000
    ran, imported, transcript = nowhere.ask(
        run(), query("import", "-", stdin=lines), query("transcript", "--format", "html")
    )

    assert_transparent(ran)
    assert_plain(imported)
    assert imported.code == 1
    assert_plain(transcript)
