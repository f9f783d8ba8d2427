"""Makes one of the stored logs: real conversations, recorded by the code of a released step.

``python tests/log/released/make.py CHECKOUT OUT.tar.xz``; CHECKOUT is a clone at the commit whose
newest step it is. The program of that commit records, as its users' did; nothing is written here
into the log. README.md beside it says when and how to use it.
"""

import hashlib
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tarfile
import threading
import time
from pathlib import Path

CONVERSATIONS = Path(__file__).resolve().parents[2] / "conversations"
STREAMS = ("client", "agent", "stderr")
Line = tuple[str, bytes]
SMALL_FILES = 64 * 1024
"""A limit on files: the journal stops growing, and the agent goes on."""

ODD: list[Line] = [
    (
        "client",
        b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}\r\n',
    ),
    ("agent", b'{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}\r\n'),
    ("agent", b"\n"),
    ("agent", b"not JSON at all\n"),
    ("agent", b"\xff\xfe\x00 no text either\n"),
    ("agent", b'\x1b[0m{"jsonrpc":"2.0","method":"hidden"}\n'),
    ("agent", b'{"jsonrpc":"2.0","id":99,"result":null}\n'),
    ("client", b'[{"jsonrpc":"2.0","id":2,"method":"a"},{"jsonrpc":"2.0","method":"b"},7]\n'),
    ("agent", b'[{"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"no"}}]\n'),
    ("agent", b'{"jsonrpc":"2.0","id":123456789012345678901,"method":"x","id":1.50}\n'),
    ("stderr", b"warning: \xe2\x98\x95 \x1b[31mred\x1b[0m\n"),
    ("stderr", b"no newline at the end"),
    ("agent", b'{"jsonrpc":"2.0","method":"cut'),
]


def update(session: str, **fields: object) -> bytes:
    """Return a session/update."""
    params = {"sessionId": session, "update": fields}
    return json.dumps({"jsonrpc": "2.0", "method": "session/update", "params": params}).encode()


def long_conversation() -> list[Line]:
    """Return one that is large enough for some checkpoints; it compresses well."""
    said: list[Line] = []

    def say(stream: str, **message: object) -> None:
        said.append((stream, json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"))

    say("client", id=0, method="initialize", params={"protocolVersion": 1})
    say("agent", id=0, result={"protocolVersion": 1})
    say("client", id=1, method="session/new", params={"cwd": "/garden", "mcpServers": []})
    say("agent", id=1, result={"sessionId": "long"})
    for turn in range(4):
        prompt = [{"type": "text", "text": f"prompt number {turn}"}]
        asked = {"sessionId": "long", "prompt": prompt}
        say("client", id=turn + 2, method="session/prompt", params=asked)
        for part in range(40):
            text = {"type": "text", "text": f"turn {turn} part {part} " + "garden " * 1500}
            chunk = update("long", sessionUpdate="agent_message_chunk", content=text)
            call = {
                "toolCallId": f"{turn}-{part % 5}",
                "title": f"call {part}",
                "status": "pending",
            }
            said.append(("agent", chunk + b"\n"))
            said.append(("agent", update("long", sessionUpdate="tool_call", **call) + b"\n"))
        say("agent", id=turn + 2, result={"stopReason": "end_turn"})
    return said


def stored_conversation(name: str) -> list[Line]:
    """Return one of those that transcripts are tested with."""
    said = []
    for text in (CONVERSATIONS / name).read_text().splitlines()[1:]:
        line = json.loads(text)
        said.append((line["from"], line["data"].encode() + line.get("end", "\n").encode()))
    return said


def play(script: str, ending: str) -> None:
    """Be the agent of a conversation: say its lines, each after those before it have come."""
    for stream, left, text in json.loads(Path(script).read_text()):
        if stream == "client":
            size = left
            while size:
                size -= len(os.read(0, size))
        else:
            view = memoryview(bytes.fromhex(text))
            while view:
                view = view[os.write(1 if stream == "agent" else 2, view) :]
    if ending == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if ending == "waits":
        os.read(0, 1)
    sys.exit(3)


class Maker:
    """Records conversations into one log with the program of one commit."""

    def __init__(self, checkout: str, folder: Path) -> None:
        self.folder = folder
        self.log = folder / "log.db"
        self.env = {"PATH": os.environ["PATH"], "PYTHONPATH": checkout, "HOME": str(folder)}
        self.told: dict[str, dict[str, dict[str, object]]] = {}

    def ask(self, *words: str) -> str:
        """Run a command of the program on the log."""
        command = [sys.executable, "-m", "acp_proxy", *words, "--log", str(self.log)]
        done = subprocess.run(command, env=self.env, check=True, capture_output=True, text=True)
        return done.stdout

    def record(self, label: str, said: list[Line], ending: str, *, files: int = 0) -> None:
        """Let a client and an agent have this conversation through the proxy."""
        script = self.folder / "script.json"
        script.write_text(json.dumps([(stream, len(text), text.hex()) for stream, text in said]))
        shutil.copy(__file__, self.folder / "agent.py")
        agent = ["python3", "-I", "-S", "agent.py", "--play", "script.json", ending]
        command = [sys.executable, "-m", "acp_proxy", "run", "--log", str(self.log)]
        command += ["--label", label, "--", *agent]
        pipe = subprocess.PIPE
        proxy = subprocess.Popen(
            command, env=self.env, cwd=self.folder, stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0
        )
        if files:
            resource.prlimit(proxy.pid, resource.RLIMIT_FSIZE, (files, files))
        assert proxy.stdin
        assert proxy.stdout
        assert proxy.stderr
        drained = threading.Thread(target=proxy.stderr.read)
        drained.start()
        recorders: list[int] = []
        for number, (stream, text) in enumerate(said):
            if ending == "waits" and number == len(said) // 2:
                recorders = self._hold()
            if stream == "client":
                proxy.stdin.write(text)
            elif stream == "agent":
                left = len(text)
                while left:
                    left -= len(proxy.stdout.read(left))
        if ending == "waits":
            os.kill(proxy.pid, signal.SIGSTOP)  # so that it starts no other recorder
            for pid in [*recorders, proxy.pid]:
                os.kill(pid, signal.SIGKILL)
        proxy.stdin.close()
        proxy.wait(60)
        drained.join(60)
        streams = {name: b"".join(text for one, text in said if one == name) for name in STREAMS}
        self.told[label] = {
            name: {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
            for name, data in streams.items()
        }

    def _hold(self) -> list[int]:
        """Stop the recorder when the log has a part of the conversation; return its pid."""
        while not json.loads(self.ask("connections", "--json"))[0]["messages"]:
            time.sleep(0.01)
        found = []
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                line = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if b"acp_proxy.recorder" in line and os.fsencode(self.log) in line:
                found.append(int(entry.name))
                os.kill(found[-1], signal.SIGSTOP)
        return found


def make(checkout: str, out: str) -> None:
    """Record all conversations and pack the log, what waits beside it, and what was said."""
    folder = Path("/tmp/garden")  # the same everywhere: it stands in the log
    folder.mkdir(mode=0o700)
    try:
        maker = Maker(checkout, folder)
        maker.record("version 1", stored_conversation("v1.jsonl"), "exits")
        maker.record("version 2", stored_conversation("v2.jsonl"), "exits")
        maker.record("odd", ODD, "killed")
        maker.record("gap", long_conversation()[:60], "exits", files=SMALL_FILES)
        maker.record("long", long_conversation(), "exits")
        imported = str(CONVERSATIONS.parents[1] / "docs" / "example.jsonl")
        maker.ask("import", imported, "--label", "imported")
        assert json.loads(maker.ask("log", "info", "--json"))["waiting"] == []
        if Path(checkout, "acp_proxy/cli/compact.py").is_file():
            maker.ask("compact", "3", "5")
        maker.record("waiting", stored_conversation("v1.jsonl")[:40], "waits")
        (maker.folder / "told.json").write_text(json.dumps(maker.told, indent=1))
        shutil.rmtree(maker.folder / ".local", ignore_errors=True)
        for name in ("script.json", "agent.py"):
            (maker.folder / name).unlink()
        with tarfile.open(out, "w:xz", preset=9) as archive:
            archive.add(maker.folder, ".", filter=_nobodys)
    finally:
        shutil.rmtree(folder)


def _nobodys(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
    """Leave out whose the files were, and SQLite's shared memory, which is made anew."""
    if member.name.endswith(("-shm", ".lock")):
        return None
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member


if __name__ == "__main__":
    if sys.argv[1] == "--play":
        play(*sys.argv[2:])
    make(*sys.argv[1:])
