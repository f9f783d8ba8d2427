"""What whole reading commands cost on a long log, against the least that could give their answer.

Figures are seconds of processor time, user and system: one command runs at a time and none
has threads, so that is what it takes where nothing else runs. Baselines are Python's own
start (``direct``), and for what reads or writes much a plain select in Python (``bare``).
"""

import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from tests.bench.conversation import write_conversation
from tests.bench.recorder import recorded
from tests.bench.report import MEGABYTES, SECONDS, TIMES, Row, Spread, Target, at_most
from tests.bench.routes import (
    CONSOLE_SCRIPT,
    BenchError,
    Settings,
)

LIMIT_S = 0.3
LIMIT = f"≤ {LIMIT_S} s"
NOWHERE = "nothing-of-the-kind"
# What a program does at least that answers from the log, as Python that gets the log's path.
SELECT = "import sqlite3,sys\ndb=sqlite3.connect(sys.argv[1])\n"
TALLY = (
    f"{SELECT}for row in db.execute('SELECT stream_code, kind_code, method, session_update, "
    "count(*), sum(bytes) FROM messages GROUP BY 1, 2, 3, 4'): pass"
)
SCAN = f"{SELECT}db.execute('SELECT count(*) FROM frames WHERE instr(raw, ?)', (b'{NOWHERE}',)).fetchall()"
COPY = f"{SELECT}for (raw,) in db.execute('SELECT raw FROM frames ORDER BY id'): sys.stdout.buffer.write(raw)"
PARSE = f"{SELECT}import orjson\nfor (raw,) in db.execute('SELECT raw FROM frames ORDER BY id'): orjson.loads(raw)"
PRINT = f"""{SELECT}for row in db.execute('SELECT * FROM tool_calls'):
 print('  '.join(map(str, row)))"""


@dataclass(frozen=True)
class Query:
    """A command, what it is compared with, and whether it has to meet the target."""

    words: tuple[str, ...]
    bare: str | None = None
    judged: bool = True

    def command(self, log: Path) -> list[str]:
        """Return the whole command; after ``TAB`` stands the line that is to be completed."""
        program = str(CONSOLE_SCRIPT)
        if self.words[0] != "TAB":
            return [program, *self.words, "--log", str(log)]
        asked = {
            "ACP_PROXY_LOG": str(log),
            "COMP_WORDS": f"acp-proxy {self.words[1]}",
            "_ACP_PROXY_COMPLETE": "fish_complete",
        }
        return ["env", *(f"{name}={value}" for name, value in asked.items()), program]


def measure(settings: Settings) -> Iterator[Row]:
    """Record a long mixed conversation, and ask for everything."""
    if not settings.has_proxy:
        yield Row("queries", target=Target(LIMIT, None))
        return
    conversation = write_conversation(settings.folder / "asked", settings.pick(20_000, 1_000_000))
    with settings.log() as log:
        recorded(log, conversation, limit_s=600)
        for query in _queries(log, conversation.messages):
            yield _row(settings, log, query)


def _queries(log: Path, last: int) -> Iterator[Query]:
    with closing(sqlite3.connect(f"file:{log}?mode=ro", uri=True)) as db:
        sessions = [id_ for (id_,) in db.execute("SELECT session_id FROM sessions ORDER BY 1")]
        [(call, end)] = db.execute(
            "SELECT tool_call_id, last_seq FROM tool_calls ORDER BY first_seq LIMIT 1"
        )
    middle, session = str(last // 2), sessions[len(sessions) // 2]
    for words in (
        ("log", "path"), ("log", "info"), ("connections",), ("messages", "--limit", "50"),
        ("messages", "--since-seq", middle, "--limit", "50"),
        ("messages", "--since-seq", str(last - 49)), ("messages", "--kind", "error"),
        ("messages", "--session", session, "--limit", "50"), ("messages", "--tool-call", call),
        ("messages", "--method", NOWHERE), ("show", "1"), ("show", middle), ("show", str(last)),
        ("sessions",), ("sessions", "--all"), ("tool-calls", "--session", session),
        ("tool-calls", "--unfinished"), ("tool-call", call), ("tool-call", call, "--history"),
        ("permissions",), ("permissions", "--pending"), ("terminals",), ("pending",),
        ("pending", "--at", middle), ("diff", "--at", middle, "--at", str(last // 2 + 50)),
        ("timeline",), ("timeline", "--turn", "1"), ("tail",),
        ("tail", "--tool-call", call), ("tail", "--method", "initialize"),
        ("search", "ba"), ("search", NOWHERE), ("search", "--session", session, "ba"),
        ("diff", "--at", "1", "--at", str(end)),
        ("TAB", ""), ("TAB", "tool-call "), ("TAB", "show 1"), ("TAB", "messages --method "),
    ):  # fmt: skip
        yield Query(words)
    yield Query(("messages", "--grep", NOWHERE), SCAN)
    yield Query(("tail", "--grep", NOWHERE), SCAN)
    yield Query(("stats",), TALLY)
    yield Query(("tool-calls",), PRINT)
    yield Query(("export", "--stream", "agent"), COPY, judged=False)
    yield Query(("export", "--jsonl", "--raw"), COPY, judged=False)
    yield Query(("export", "--jsonl"), COPY, judged=False)
    yield Query(("transcript", "--session", session), PARSE, judged=False)
    yield Query(("transcript", "--raw"), PARSE, judged=False)
    yield Query(("transcript",), PARSE, judged=False)


def _row(settings: Settings, log: Path, query: Query) -> Row:
    figure = " ".join(word if len(word) < 20 else word[:8] for word in query.words)
    target = LIMIT if query.judged else ""
    whole = query.command(log)
    start: list[float] = []
    least: list[float] = []
    taken: list[float] = []
    peak = 0.0
    rounds = settings.rounds(2, 5, limit_s=60) if query.judged else range(settings.pick(1, 2))
    for _ in rounds:
        start.append(_spent([sys.executable, "-c", "pass"], log)[0])
        if query.bare is not None:
            least.append(_spent([sys.executable, "-c", query.bare, str(log)], log, nothing=0)[0])
        try:
            seconds, peak = _spent(whole, log)
        except BenchError as error:
            return Row(figure, proxy=str(error), target=Target(target, None))
        taken.append(seconds)
    spread = Spread(tuple(taken))
    bare = Spread(tuple(least))
    return Row(
        figure,
        direct=Spread(tuple(start)).show(SECONDS),
        bare=bare.show(SECONDS) if least else "",
        proxy=f"{spread.show(SECONDS)}, {MEGABYTES.show(peak)}",
        to_bare=spread.against(bare).show(TIMES) if least else "",
        target=at_most(spread.median, LIMIT_S, LIMIT) if query.judged else Target("", None),
    )


def _spent(words: list[str], log: Path, *, nothing: int = 1) -> tuple[float, float]:
    """Run a command, its output into a file; return its processor time and its peak memory.

    ``nothing`` is the exit code that is no failure either: the answer that nothing matches.
    """
    with (log.parent / "answer").open("wb") as file:
        process = subprocess.Popen(words, stdout=file, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, nothing):
        raise BenchError(f"exit {process.returncode}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024
