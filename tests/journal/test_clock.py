"""A clock beyond 2262, or before 1970, delays nothing, and what can be told of the time is recorded."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from acp_proxy.clock import LATEST_NS
from acp_proxy.journal.records import Stream, encode_head
from acp_proxy.journal.spool import waiting
from tests.cli.commands import document, invoke
from tests.harness import PROXY, agent, environment, needs_linux, wait_until
from tests.recorder.journals import UUID, abandon, append, begin, record

SHIM = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
static long long offset(void) { return atoll(getenv("CLOCK_OFFSET")); }
int clock_gettime(clockid_t id, struct timespec *to) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int code = real(id, to);
    if (id == CLOCK_REALTIME) to->tv_sec += offset();
    return code;
}
time_t time(time_t *to) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (to) *to = now.tv_sec;
    return now.tv_sec;
}
"""
YEAR = 31_556_952


@needs_linux
@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler to change the clock")
@pytest.mark.parametrize(
    ("years", "is_out_of_range"),
    [(0, False), (100, False), (400, True), (900, True), (-100, False)],
)
def test_a_conversation_is_recorded_whatever_the_clock_says(
    tmp_path: Path, years: int, is_out_of_range: bool
) -> None:
    (tmp_path / "shim.c").write_text(SHIM)
    shim, log = tmp_path / "shim.so", tmp_path / "log.db"
    subprocess.run(
        ["cc", "-shared", "-fPIC", "-o", shim, tmp_path / "shim.c", "-ldl"], check=True, timeout=60
    )
    env = environment(LD_PRELOAD=str(shim), CLOCK_OFFSET=str(years * YEAR), ACP_PROXY_LOG=str(log))
    said = b'{"jsonrpc":"2.0","id":1,"method":"x"}\n'

    done = subprocess.run(
        [PROXY, "run", "--", *agent("echo")],
        input=said, env=env, capture_output=True, timeout=120, check=False,
    )  # fmt: skip

    assert (done.returncode, done.stdout, done.stderr) == (0, said, b"")
    wait_until(lambda: not waiting(str(log)) and log.exists(), "it is recorded")
    for words in (
        ["connections"], ["messages"], ["log", "info"], ["transcript"], ["pending"], ["verify"],
        ["prune", "--older-than", "1d"], ["state"], ["tail"], ["doctor", "--no-self-test"],
    ):  # fmt: skip
        asked = subprocess.run(
            [PROXY, *words], env=env, capture_output=True, timeout=120, check=False
        )
        assert b"Traceback" not in asked.stderr, words
        assert b"an unexpected error" not in asked.stderr, words
    (row,) = document("connections", "--log", log)
    assert row["frames"] == 2
    assert row["status"] == "exited"
    noted = [note for note in row["notes"] if note["event"] == "clock out of range"]
    assert len(noted) == is_out_of_range
    assert (row["started"] is None) == is_out_of_range
    assert row["duration_ns"] < 120_000_000_000


def raw_record(stream: Stream, offset: int, monotonic: int, wall: int, data: bytes) -> bytes:
    return encode_head(stream, offset, monotonic, wall, data) + data


@pytest.mark.parametrize("wall", [-(2**63), -1, 0, LATEST_NS])
@pytest.mark.parametrize("monotonic", [-(2**63), 0, 2**63 - 1])
def test_a_journal_of_any_times_is_recorded(tmp_path: Path, wall: int, monotonic: int) -> None:
    log = tmp_path / "log.db"
    journal = begin(log)
    append(journal, [("client", b"first\n")])
    size = Path(journal.path).stat().st_size
    os.pwrite(journal._fd, raw_record(Stream.AGENT, 0, monotonic, wall, b"second\n"), size)
    abandon(journal)

    assert record(journal.path).returncode == 0
    (row,) = document("connections", "--log", log)
    assert row["frames"] == 2
    for words in (
        ("messages",),
        ("tail",),
        ("transcript",),
        ("pending",),
        ("stats",),
        ("log", "info"),
    ):
        invoke(*words, "--log", log)
    assert "all is well" in invoke("verify", "--log", log).stdout
    exported = invoke("export", "--jsonl", "--raw", "--log", log).stdout
    assert json.loads(exported.splitlines()[2])["data"] == "second"


@pytest.mark.parametrize(
    "facts",
    [
        b"event=s:gap\0stream=i:7\0offset=i:0\0bytes=i:5\0",
        b"event=s:gap\0stream=i:3\0offset=i:0\0bytes=i:5\0",
        b"event=s:gap\0stream=i:-1\0offset=i:0\0bytes=i:5\0",
        b"event=s:gap\0stream=i:1\0offset=i:9223372036854775807\0bytes=i:9223372036854775807\0",
        b"event=s:exit\0wait_status=i:9223372036854775807\0",
        b"event=s:exit\0wait_status=i:-5\0",
        b"event=s:end\0stream=i:9999999999999999999\0",
        b"event=s:note\0n=i:9999999999999999999\0l=l:9999999999999999999\0a\0",
        b"event=i:5\0",
        b"\xff\xfe=s:\xff\0",
    ],
)
def test_a_journal_that_tells_nonsense_is_recorded(tmp_path: Path, facts: bytes) -> None:
    log = tmp_path / "log.db"
    journal = begin(log, proxy_pid=7)
    append(journal, [("client", b"first\n")])
    size = Path(journal.path).stat().st_size
    os.pwrite(journal._fd, raw_record(Stream.CONTROL, 0, 0, 0, facts), size)
    abandon(journal)

    assert record(journal.path).returncode == 0
    assert document("connections", "--log", log)[0]["uuid"] == UUID
    invoke("connections", "--log", log)
    assert (
        b"".join(invoke("export", "--stream", "client", "--log", log).stdout_bytes.splitlines())
        == b"first"
    )


def test_a_record_beyond_all_streams_is_damage(tmp_path: Path) -> None:
    log = tmp_path / "log.db"
    journal = begin(log)
    append(journal, [("client", b"first\n")])
    size = Path(journal.path).stat().st_size
    os.pwrite(journal._fd, raw_record(Stream.AGENT, 2**64 - 9, 0, 0, b"second\n"), size)
    abandon(journal)

    record(journal.path)
    (row,) = document("connections", "--log", log)
    assert (row["frames"], row["notes"][0]["event"]) == (1, "journal damaged")
    assert Path(journal.path + ".damaged").exists()
