"""A clock that shows a time which 64 bits of nanoseconds cannot hold, or one before 1970."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.harness import PROXY, Log, environment, needs_linux, wait_until

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = needs_linux

_SHIM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
int clock_gettime(clockid_t clock, struct timespec *found) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(clock, found);
    if (clock == CLOCK_REALTIME) found->tv_sec += atoll(getenv("CLOCK_SHIFT"));
    return result;
}
time_t time(time_t *kept) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (kept) *kept = now.tv_sec;
    return now.tv_sec;
}
int gettimeofday(struct timeval *found, void *zone) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    found->tv_sec = now.tv_sec;
    found->tv_usec = now.tv_nsec / 1000;
    return 0;
}
"""
_YEAR = 31_556_952


@pytest.fixture(scope="module")
def shim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library that moves the wall clock by $CLOCK_SHIFT seconds."""
    if shutil.which("cc") is None:
        pytest.skip("no C compiler to move a clock with")
    folder = tmp_path_factory.mktemp("clock")
    source, library = folder / "clock.c", folder / "clock.so"
    source.write_text(_SHIM)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    return library


@pytest.mark.parametrize("years", [230, 240, 9000, -100])
def test_a_conversation_is_recorded_whatever_the_clock_shows(
    log: Log, shim: Path, years: int
) -> None:
    env = environment(LD_PRELOAD=str(shim), CLOCK_SHIFT=str(years * _YEAR))

    command = [str(PROXY), "run", "--log", str(log.path), "--", "cat"]
    done = subprocess.run(
        command, check=False, env=env, input=b"hi\n", capture_output=True, timeout=60
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"hi\n", b"")
    wait_until(lambda: log.recorded() == 2, "both lines are recorded")

    row = log.connection()
    assert (row["status"], row["frames"]) == ("exited", 2)
    is_told = years in (230, -100)
    assert (row["started"] is not None) == is_told
    assert ("clock out of range" in [note["event"] for note in row["notes"]]) == (not is_told)
    assert row["duration_ns"] >= 0
    assert log.export("agent") == b"hi\n"
    log.assert_clean()
    for words in (["messages"], ["tail"], ["log", "info"], ["pending"], ["transcript"]):
        again = subprocess.run(
            [str(PROXY), *words, "--log", str(log.path)],
            check=False,
            env=env,
            capture_output=True,
            timeout=60,
        )
        assert again.returncode == 0, again.stderr
