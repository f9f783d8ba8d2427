"""``python -m tests.bench.soak``: hostile traffic, kills, locks, full disks; then nothing may be wrong.

Bounded: conversations begin for ``--minutes``, then all that is under way ends, and everything is
checked against the peers' own books (``soak_checks`` says what must hold). Prints a summary;
ends with 1, and the seed, when something does not hold.
"""

import argparse
import contextlib
import json
import os
import random
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from acp_proxy.journal.spool import fallback_folders
from tests.bench.report import machine
from tests.bench.routes import CONSOLE_SCRIPT
from tests.bench.soak_checks import Check, book, rows, told
from tests.bench.soak_plans import plan
from tests.bench.soak_trouble import Disk, Follower, Readers, hold_locks, settle
from tests.bench.soak_watch import Watched, marked, recorders_of

PEER = Path(__file__).with_name("soak_peer.py")
ECHO = Path(__file__).with_name("echo_agent.py")
ALONE = "ACP_SOAK_HAS_ITS_MOUNTS"
SMALL_DISK = "40m"
SMALL_LOG_CONNECTIONS = 25
MOST_VIOLATIONS = 20
PATIENCE_S = 150


class Soak:
    """One run."""

    def __init__(self, folder: Path, seed: int, slots: int) -> None:
        self.folder = folder
        self.seed = seed
        self.mark = f"ACP_SOAK={folder.name}"
        self.env = {k: v for k, v in os.environ.items() if not k.startswith("ACP_")}
        self.env["ACP_SOAK"] = folder.name
        self.violations: list[str] = []
        self.counts: Counter[str] = Counter()
        self.stop = threading.Event()
        self.large = LogUnderTest(self, folder / "large" / "log.db")
        self.small: LogUnderTest | None = None
        self.disk: Disk | None = None
        self._slots = slots
        self._numbers = iter(range(1, 1_000_000))
        self._lock = threading.Lock()

    def complain(self, what: str) -> None:
        """Note a violation."""
        with self._lock:
            self.violations.append(what)
        print(f"VIOLATION: {what}", flush=True)
        if len(self.violations) >= MOST_VIOLATIONS:
            self.stop.set()

    def number(self) -> int:
        with self._lock:
            return next(self._numbers)

    def logs(self) -> list[Path]:
        """Return the logs that are written now."""
        return [log.path for log in (self.large, self.small) if log is not None]

    def run(self, seconds: float) -> None:
        """Let everything happen for so long, then check."""
        readers = Readers(self.complain)
        steady = Steady(self)
        follower = Follower(self.large.path, self.complain)
        watched = [*steady.watched, follower.watched]
        jobs: list[Callable[[], None]] = [self._slot] * self._slots
        jobs += [lambda: self.large.check_on(self.stop), lambda: self._sample(watched)]
        jobs += [lambda: hold_locks(self.logs, self._chance("locks"), self.stop)]
        jobs += [lambda: readers.ask(self.logs, self._chance("readers"), self.stop)] * 2
        jobs += [steady.run]
        if (disk := self.disk) is not None:
            jobs += [self._small_slot, lambda: disk.fill(self._chance("disk"), self.stop)]
        threads = [threading.Thread(target=self._job, args=(job,)) for job in jobs]
        for thread in threads:
            thread.start()
        self.stop.wait(seconds)
        self.stop.set()
        for thread in threads:
            thread.join(300)
            if thread.is_alive():
                self.complain("a part of the soak itself does not end")
        follower.end()
        self.large.finish()
        for one in watched:
            for what in one.violations():
                self.complain(what)
        self._check_nothing_is_left()
        self._print(readers.asked, watched)

    def _job(self, job: Callable[[], None]) -> None:
        try:
            job()
        except Exception as error:  # noqa: BLE001 - else nobody would hear of it
            self.complain(f"the soak itself: {error!r}")

    def _chance(self, what: str) -> random.Random:
        return random.Random(f"{self.seed}:{what}")

    def _slot(self) -> None:
        while not self.stop.is_set():
            self.large.converse(plan(self.seed, self.number()))

    def _small_slot(self) -> None:
        assert self.disk is not None
        generation = 0
        while not self.stop.is_set():
            generation += 1
            with self.disk.spared():
                self.disk.clear()
                log = LogUnderTest(self, self.folder / "small" / f"{generation}" / "log.db")
            self.small = log
            for _ in range(SMALL_LOG_CONNECTIONS):
                if not self.stop.is_set():
                    log.converse(plan(self.seed, self.number(), small=True))
            with self.disk.spared():
                self.disk.clear()
                log.finish()
                self.small = None
            shutil.rmtree(log.path.parent)

    def _sample(self, watched: list[Watched]) -> None:
        while not self.stop.wait(1):
            for one in watched:
                one.sample()

    def _check_nothing_is_left(self) -> None:
        end = time.monotonic() + 30
        while (left := marked(self.mark)) and time.monotonic() < end:
            time.sleep(0.1)
        for pid, command in left.items():
            self.complain(f"a process is left: {command}")
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)

    def _print(self, asked: int, watched: list[Watched]) -> None:
        what = ", ".join(f"{name} {count}" for name, count in sorted(self.counts.items()))
        print(f"conversations: {what}; {asked} questions asked meanwhile")
        for one in watched:
            print(
                f"{one.name}: at most {one.most_memory / 1024:.0f} MB, "
                f"{one.most_descriptors} descriptors"
            )
        bad = len(self.violations)
        print(f"seed {self.seed}: {f'{bad} VIOLATIONS' if bad else 'nothing is wrong'}")


class LogUnderTest:
    """A log, the conversations recorded into it, and those of them that are not checked yet."""

    def __init__(self, soak: Soak, path: Path) -> None:
        self._soak = soak
        self.path = path
        path.parent.mkdir(mode=0o700)
        command = [str(CONSOLE_SCRIPT), "log", "migrate", "--log", str(path)]
        subprocess.run(command, check=True, capture_output=True, timeout=60)
        self._unchecked: list[tuple[float, Path, dict[str, Any]]] = []
        self._lock = threading.Lock()

    def converse(self, plan: dict[str, Any]) -> None:
        """Have one conversation, with what happens to it."""
        soak = self._soak
        folder = soak.folder / "books" / str(plan["number"])
        folder.mkdir(parents=True)
        (folder / "plan.json").write_text(json.dumps(plan))
        peer = [sys.executable, "-I", "-S", str(PEER)]
        agent = [*peer, "agent", str(folder)]
        proxy = [str(CONSOLE_SCRIPT), "run", "--log", str(self.path), "--label", folder.name, "--"]
        with subprocess.Popen(
            [*peer, "client", str(folder), *proxy, *agent], env=soak.env, process_group=0
        ) as client:
            began = time.monotonic()
            for kill in sorted(plan["kills"], key=lambda kill: float(kill["after"])):
                with contextlib.suppress(subprocess.TimeoutExpired):
                    client.wait(max(0, began + kill["after"] - time.monotonic()))
                self._kill(kill, client, folder)
            if client.wait() == -signal.SIGALRM:
                soak.complain(f"connection {folder.name} hung: {plan}")
        self._wait_gone(told(folder, "client.proxy"), plan)
        kinds = {kill["who"] for kill in plan["kills"]} or {"undisturbed"}
        soak.counts.update(f"{kind} killed" if plan["kills"] else kind for kind in kinds)
        with self._lock:
            self._unchecked.append((time.monotonic() + PATIENCE_S, folder, plan))

    def _kill(self, kill: dict[str, Any], client: "subprocess.Popen[bytes]", folder: Path) -> None:
        proxy, agent = told(folder, "client.proxy"), told(folder, "agent.pid")
        with contextlib.suppress(ProcessLookupError, TypeError):  # gone, or not there yet
            match kill["who"]:
                case "client":
                    client.kill()
                case "agent":
                    os.kill(agent, signal.SIGKILL)
                case "proxy":
                    os.kill(proxy, signal.SIGKILL)
                case "group":
                    os.killpg(proxy, signal.SIGKILL)
                case "signal" if agent is not None:  # else Python itself would say something
                    os.kill(proxy, signal.Signals[f"SIG{kill['signal']}"])
                case "recorder":
                    for pid in recorders_of(proxy):
                        os.kill(pid, signal.SIGKILL)

    def _wait_gone(self, proxy: int | None, plan: dict[str, Any]) -> None:
        """Wait for a proxy whose client has gone before it."""
        end = time.monotonic() + 60
        while proxy is not None and Path(f"/proc/{proxy}").exists():
            if time.monotonic() > end:
                self._soak.complain(f"a proxy lives on without its client: {plan}")
                return
            time.sleep(0.02)

    def check_on(self, stop: threading.Event) -> None:
        """Check what the log has, again and again."""
        while not stop.wait(0.5):
            self._check(final=False)

    def _check(self, *, final: bool) -> None:
        with self._lock:
            todo, self._unchecked = self._unchecked, []
        for limit, folder, planned in todo:
            found = rows(self.path, folder.name)
            ended = [row for row in found if row["status"] != "running"]
            if not final and not ended and time.monotonic() < limit:
                with self._lock:
                    self._unchecked.append((limit, folder, planned))
                continue
            problems = self._problems(folder, planned, found)
            for what in problems:
                self._soak.complain(f"connection {folder.name}: {what}; {json.dumps(planned)}")
            if not problems:
                shutil.rmtree(folder)

    def _problems(
        self, folder: Path, plan: dict[str, Any], found: list[dict[str, Any]]
    ) -> list[str]:
        if len(found) == 1:
            self._soak.counts["bytes"] += sum(
                found[0][f"{name}_bytes"] for name in ("client", "agent", "stderr")
            )
            return Check(folder, plan, found[0], self.path).run()
        if found:
            return [f"stands in the log {len(found)} times"]
        if any(book(folder, name) for name in ("agent.got", "client.got", "client.err")):
            return ["is not in the log, though something arrived"]
        self._soak.counts["ended before anything was said"] += 1
        return []

    def finish(self) -> None:
        """Check everything: what is left, the file, and what the program itself says of it."""
        complain = self._soak.complain
        settle(self.path, complain)
        self._check(final=True)
        beside = sorted(path.name for path in self.path.parent.iterdir())
        if set(beside) - {"log.db", "log.db-wal", "log.db-shm", "log.db.journals"}:
            complain(f"beside the log lie {beside}")
        folders = [f"{self.path}.journals", *fallback_folders(str(self.path))]
        for folder in folders:
            if os.path.isdir(folder) and os.listdir(folder):
                complain(f"left in {folder}: {os.listdir(folder)}")
        with closing(sqlite3.connect(self.path)) as db:
            if (said := db.execute("PRAGMA integrity_check").fetchall()) != [("ok",)]:
                complain(f"SQLite says: {said[:3]}")
            try:
                db.execute("INSERT INTO search (search, rank) VALUES ('integrity-check', 1)")
            except sqlite3.Error as error:
                complain(f"the search index: {error}")
            db.rollback()
            self._soak.counts["messages"] += db.execute(
                "SELECT coalesce(sum(messages), 0) FROM connections"
            ).fetchone()[0]
        command = [str(CONSOLE_SCRIPT), "verify", "--log", str(self.path)]
        done = subprocess.run(command, capture_output=True, timeout=1200, check=False, text=True)
        bad = [line for line in done.stdout.splitlines() if line.startswith("connection")]
        gap = "were relayed but not recorded"
        if done.stderr or any(gap not in line or self.path.parent.name == "large" for line in bad):
            complain(f"verify: {done.stdout[-1500:]}{done.stderr[-500:]}")


class Steady:
    """One connection that lives from the beginning to the end, and is watched."""

    def __init__(self, soak: Soak) -> None:
        self._soak = soak
        command = [str(CONSOLE_SCRIPT), "run", "--log", str(soak.large.path), "--label", "steady"]
        command += ["--", sys.executable, "-I", "-S", str(ECHO)]
        pipe = subprocess.PIPE
        self._proxy = subprocess.Popen(command, stdin=pipe, stdout=pipe, env=soak.env, bufsize=0)
        proxy = self._proxy.pid
        self.watched = [
            Watched("the steady proxy", lambda: proxy),
            Watched("its recorder", lambda: next(iter(recorders_of(proxy)), None)),
        ]

    def run(self) -> None:
        """Ask and be answered, some fifty times a second; at the end all must be in the log."""
        assert self._proxy.stdin
        assert self._proxy.stdout
        sent = bytearray()
        number = 0
        while not self._soak.stop.wait(0.02):
            number += 1
            text = "steady " * (number % 50)
            update = f'{{"sessionUpdate":"agent_message_chunk","content":{{"text":"{text}"}}}}'
            line = f'{{"jsonrpc":"2.0","method":"session/update","params":{{"update":{update}}}}}\n'
            sent += line.encode()
            self._proxy.stdin.write(line.encode())
            left = len(line)
            while left:
                left -= len(self._proxy.stdout.read(left))
        self._proxy.stdin.close()
        self._proxy.stdout.read()
        self._proxy.stdout.close()
        if (code := self._proxy.wait(60)) != 0:
            self._soak.complain(f"the steady proxy ended with {code}")
        settle(self._soak.large.path, self._soak.complain)
        [row] = rows(self._soak.large.path, "steady")
        if (row["client_bytes"], row["agent_bytes"]) != (len(sent), len(sent)):
            self._soak.complain(f"steady: {row['client_bytes']} of {len(sent)} bytes")
        self._soak.counts["round trips"] += number


def main() -> int:
    """Soak as long as asked for; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    parser.add_argument("--slots", type=int, default=4, help="conversations at once")
    arguments = parser.parse_args()
    if ALONE not in os.environ:
        _try_own_mounts([f"--{name}={value}" for name, value in vars(arguments).items()])
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with tempfile.TemporaryDirectory(prefix="acp-proxy-soak-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        soak = Soak(folder, arguments.seed, arguments.slots)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: soak.stop.set())  # and check what there is
        print(f"soak, seed {arguments.seed}: {machine(folder)}", flush=True)
        (folder / "small").mkdir()
        if ALONE in os.environ:
            mount = ["mount", "-t", "tmpfs", "-o", f"size={SMALL_DISK}", "tmpfs"]
            subprocess.run([*mount, str(folder / "small")], check=True)
            soak.disk = Disk(folder / "small")
        else:
            print("no full disk: this user may not mount a small one")
        soak.run(arguments.minutes * 60)
        if soak.violations:
            kept = Path(tempfile.gettempdir()) / f"acp-proxy-soak-{arguments.seed}-violations"
            shutil.rmtree(kept, ignore_errors=True)
            shutil.copytree(folder / "books", kept)
            print(f"the books of what is wrong: {kept}")
    return bool(soak.violations)


def _try_own_mounts(words: list[str]) -> None:
    """Go on in a mount namespace of our own, where a small disk ends with us; or stay."""
    unshare = ["unshare", "--mount", "--propagation", "private"]
    if os.geteuid() != 0:
        unshare.insert(1, "--map-root-user")
    try:
        probe = [*unshare, "mount", "-t", "tmpfs", "tmpfs", "/mnt"]
        subprocess.run(probe, check=True, capture_output=True, timeout=20)
    except (OSError, subprocess.SubprocessError):
        return
    os.environ[ALONE] = "1"
    os.execvp(unshare[0], [*unshare, sys.executable, "-m", "tests.bench.soak", *words])


if __name__ == "__main__":
    sys.exit(main())
