"""A client or an agent of the soak: hostile traffic, and books of its own about what went and came.

``soak_peer.py agent FOLDER`` and ``soak_peer.py client FOLDER COMMAND...``; FOLDER/plan.json says
what each does. The books are files in FOLDER, written with one write(2) each time: what is about
to be sent before it is, how much was sent after, what came as soon as it came. So they hold
whoever is killed, and know nothing of the proxy.
"""

import json
import os
import random
import signal
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

CHUNK = 65536
LIMIT_S = 90
"""After so long a peer ends itself: whatever it waits for does not come."""
BROKEN = 7
"""The agent's exit code when nobody takes its output any more."""


def lines(chance: random.Random, count: int, largest: int) -> Iterator[bytes]:
    """Yield lines, and what is none, of all kinds."""
    for number in range(count):
        kind = chance.choices(list(_KINDS), list(_WEIGHTS))[0]
        yield _KINDS[kind](chance, number, largest)


def _update(chance: random.Random, number: int, largest: int) -> bytes:
    session = f"s{chance.randrange(3)}"
    what: dict[str, Any] = {
        "sessionUpdate": "agent_message_chunk",
        "content": {"type": "text", "text": "smörgås \u2603 " * chance.randrange(1, 40)},
    }
    if chance.random() < 0.4:
        status = chance.choice(["pending", "in_progress", "completed", "failed"])
        what = {"sessionUpdate": "tool_call", "toolCallId": f"c{number % 50}", "status": status}
        what["title"] = "Look " * chance.randrange(5)
    params = {"sessionId": session, "update": what}
    text = json.dumps(
        {"jsonrpc": "2.0", "method": "session/update", "params": params},
        ensure_ascii=chance.random() < 0.5,
    )
    return text.encode() + chance.choice([b"\n", b"\n", b"\r\n"])


def _request(chance: random.Random, number: int, largest: int) -> bytes:
    id_ = chance.choice([str(number), f'"{number % 7}"', "null", "1.0", "12345678901234567890123"])
    if chance.random() < 0.5:
        return f'{{"jsonrpc":"2.0","id":{id_},"result":{{}}}}\n'.encode()
    method = chance.choice(["session/prompt", "fs/read_text_file", "session/request_permission"])
    return f'{{"jsonrpc":"2.0","id":{id_},"method":"{method}","params":{{}}}}\n'.encode()


def _batch(chance: random.Random, number: int, largest: int) -> bytes:
    members = [_request(chance, number + n, largest).strip() for n in range(chance.randrange(20))]
    return b"[" + b",".join(members) + b"]\n"


def _long(chance: random.Random, number: int, largest: int) -> bytes:
    size = int(chance.random() ** 3 * largest)
    text = (b"%09d " % number) * (size // 10)
    return b'{"jsonrpc":"2.0","method":"_long","params":{"text":"' + text + b'"}}\n'


def _garbage(chance: random.Random, number: int, largest: int) -> bytes:
    return chance.randbytes(chance.randrange(2000))


def _broken(chance: random.Random, number: int, largest: int) -> bytes:
    return chance.choice(
        [
            b"\n",
            b"\r\n",
            b"\0\n",
            b'{"jsonrpc":"2.0","id":1,\n',
            b"\xef\xbb\xbf{}\n",
            b'\x1b[2J{"jsonrpc":"2.0","method":"hidden"}\n',
            b'{"jsonrpc":"2.0","method":"m","method":"n"}\n',
            b"[" * 3000 + b"\n",
            b'{"n":1e99999,"s":"\\ud800"}\n',
            "snö utan slut \u2603".encode()[:-1],
            b"NaN\n",
        ]
    )


_KINDS = {
    "update": _update,
    "request": _request,
    "batch": _batch,
    "long": _long,
    "garbage": _garbage,
    "broken": _broken,
}
_WEIGHTS = (12, 6, 1, 1, 1, 2)


class Books:
    """What one side sent and got, in files."""

    def __init__(self, folder: Path, side: str) -> None:
        self._folder, self._side = folder, side
        self._files: dict[str, int] = {}
        self._sent: dict[str, int] = {}

    def _fd(self, name: str) -> int:
        if name not in self._files:
            path = self._folder / f"{self._side}.{name}"
            self._files[name] = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        return self._files[name]

    def send(self, fd: int, name: str, data: bytes) -> None:
        """Note, write, and note how much went."""
        os.write(self._fd(name), data)
        view = memoryview(data)
        while view:
            went = os.write(fd, view)
            view = view[went:]
            self._sent[name] = self._sent.get(name, 0) + went
        path = self._folder / f"{self._side}.{name}.sent"
        if f"{name}.sent" not in self._files:
            self._files[f"{name}.sent"] = os.open(path, os.O_WRONLY | os.O_CREAT)
        os.pwrite(self._files[f"{name}.sent"], struct.pack("<q", self._sent[name]), 0)

    def got(self, name: str, data: bytes) -> None:
        """Note what came."""
        os.write(self._fd(name), data)

    def tell(self, name: str, what: Any) -> None:
        """Write a file at once or not at all."""
        path = self._folder / f"{self._side}.{name}"
        path.with_suffix(".part").write_text(json.dumps(what))
        path.with_suffix(".part").rename(path)


def talk(books: Books, fd: int, name: str, seed: str, plan: dict[str, Any]) -> None:
    """Send lines in pieces that do not care for lines, letters or the reader."""
    chance = random.Random(seed)
    pending = b""
    count = 0
    for line in lines(chance, plan["lines"], plan["largest"]):
        if count > plan["most"]:
            break
        pending += line
        count += len(line)
        if len(pending) < plan["gather"]:
            continue
        while pending:
            size = chance.choice([1, 100, 4096, CHUNK, 1 << 20])
            books.send(fd, name, pending[:size])
            pending = pending[size:]
        if chance.random() < plan["pauses"]:
            time.sleep(chance.random() * 0.05)
    if pending:
        books.send(fd, name, pending)
    if plan["cut"]:
        books.send(fd, name, b'{"jsonrpc":"2.0","method":"cu')


def listen(books: Books, fd: int, name: str, plan: dict[str, Any]) -> None:
    """Read to the end: at once, slowly, with a long rest, or only the beginning."""
    count = 0
    while True:
        if plan["read"] == "slowly":
            time.sleep(0.002)
        if plan["read"] == "rests" and count > 50_000:
            plan = plan | {"read": "all"}
            time.sleep(1.5)
        if plan["read"] == "some" and count > 50_000:
            os.close(fd)
            return
        data = os.read(fd, 1000 if plan["read"] == "slowly" else CHUNK)
        if not data:
            return
        count += len(data)
        books.got(name, data)


def agent(folder: Path, plan: dict[str, Any]) -> None:
    """Be the agent."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1):
        signal.signal(number, signal.SIG_DFL)
    books = Books(folder, "agent")
    books.tell("pid", os.getpid())
    threads = []
    if plan["read"] != "never":
        threads.append(threading.Thread(target=listen, args=(books, 0, "got", plan)))
    if plan["stderr"]:
        said = plan | {"lines": plan["stderr"], "largest": 3000, "cut": False}
        threads.append(threading.Thread(target=_quietly, args=(books, 2, "err", "e", said)))
    for thread in threads:
        thread.daemon = True
        thread.start()
    code = plan["code"]
    if not _quietly(books, 1, "out", "a", plan):
        code = BROKEN
    elif plan["end"] == "closes stdout":
        os.close(1)
    if plan["end"] != "at once":
        for thread in threads:
            thread.join(LIMIT_S if plan["read"] != "never" else 1)
    if plan["end"] == "lingers":
        time.sleep(0.5)
    books.tell("end", -signal.SIGSEGV if plan["end"] == "crashes" else code)
    if plan["end"] == "crashes":
        os.kill(os.getpid(), signal.SIGSEGV)
    os._exit(code)


def _quietly(books: Books, fd: int, name: str, seed: str, plan: dict[str, Any]) -> bool:
    """Talk; tell whether all of it could be written."""
    try:
        talk(books, fd, name, f"{plan['seed']}{seed}", plan)
    except OSError:
        return False
    return True


def client(folder: Path, plan: dict[str, Any], command: list[str]) -> None:
    """Be the client."""
    books = Books(folder, "client")
    pipe = subprocess.PIPE
    proxy = subprocess.Popen(
        command, stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0, process_group=0
    )
    assert proxy.stdin
    assert proxy.stdout
    assert proxy.stderr
    books.tell("proxy", proxy.pid)
    ends = os.dup(proxy.stdout.fileno()), os.dup(proxy.stderr.fileno())
    proxy.stdout.close()
    proxy.stderr.close()
    threads = [threading.Thread(target=listen, args=(books, ends[0], "got", plan))]
    if plan["reads stderr"]:
        everything = plan | {"read": "all"}
        threads.append(threading.Thread(target=listen, args=(books, ends[1], "err", everything)))
    for thread in threads:
        thread.daemon = True
        thread.start()
    stdin = os.dup(proxy.stdin.fileno())
    proxy.stdin.close()
    went = _quietly(books, stdin, "out", "c", plan)
    os.close(stdin)
    code = proxy.wait()
    for thread in threads:
        thread.join(20)
    books.tell("end", {"code": code, "all": went, "read": not any(t.is_alive() for t in threads)})


def main() -> None:
    side, folder, *command = sys.argv[1:]
    signal.alarm(LIMIT_S)
    plan = json.loads((Path(folder) / "plan.json").read_text())[side]
    if side == "agent":
        agent(Path(folder), plan)
    client(Path(folder), plan, command)


if __name__ == "__main__":
    main()
