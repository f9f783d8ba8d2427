"""A long conversation like a real one, made up in advance and the same on every machine.

Kinds, sizes and proportions follow recorded v1 sessions: mostly chunks of text, tool calls
with their updates, plans, usage; now and then a permission or a file that the agent asks
for; several sessions, named by UUIDs. Nothing here runs or measures a process.
"""

import json
import random
import uuid
from dataclasses import dataclass
from pathlib import Path

TURNS_OF_A_SESSION = 100
SYLLABLES = (
    "ba",
    "ce",
    "di",
    "fo",
    "gu",
    "la",
    "me",
    "ni",
    "po",
    "ru",
    "sa",
    "te",
    "tra",
    "ple",
    "sto",
)


@dataclass(frozen=True)
class Conversation:
    """A prepared conversation: files ``client`` and ``agent``, and how they alternate."""

    folder: Path
    messages: int
    wire_bytes: int
    exchanges: tuple[tuple[int, int], ...]


class Words:
    """Text with a natural spread of rare and frequent words, cheap to draw from."""

    def __init__(self, source: random.Random) -> None:
        self._random = source
        words = ["".join(source.choices(SYLLABLES, k=source.randint(1, 4))) for _ in range(8000)]
        weights = [1 / rank for rank in range(1, len(words) + 1)]
        self._supply = source.choices(words, weights, k=1 << 17)

    def draw(self, count: int) -> str:
        """Return so many words."""
        start = self._random.randrange(len(self._supply) - count)
        return " ".join(self._supply[start : start + count])


class Writer:
    """Both sides' lines, collected into exchanges: the client speaks, the agent answers."""

    def __init__(self, folder: Path) -> None:
        self.messages = 0
        self.exchanges: list[tuple[int, int]] = []
        self._pending: dict[str, list[str]] = {"client": [], "agent": []}
        self._files = {side: (folder / side).open("wb") for side in self._pending}

    def say(self, side: str, line: str) -> None:
        """Let a side say a line."""
        if side == "client" and self._pending["agent"]:
            self.flush()
        self._pending[side].append(line)
        self.messages += 1

    def flush(self) -> None:
        """End an exchange."""
        sizes = []
        for side, lines in self._pending.items():
            data = "".join(line + "\n" for line in lines).encode()
            self._files[side].write(data)
            sizes.append(len(data))
            lines.clear()
        self.exchanges.append((sizes[0], sizes[1]))

    def conversation(self, folder: Path) -> Conversation:
        """Close the files and return what was written."""
        self.flush()
        for file in self._files.values():
            file.close()
        lines = (f"{client} {agent}\n" for client, agent in self.exchanges)
        (folder / "exchanges").write_text("".join(lines))
        wire_bytes = sum(client + agent for client, agent in self.exchanges)
        return Conversation(folder, self.messages, wire_bytes, tuple(self.exchanges))


class _Author:
    """What is said; the ids of both sides count up separately, as they do in life."""

    def __init__(self, writer: Writer) -> None:
        self._random = random.Random(20)
        self._words = Words(self._random)
        self._writer = writer
        self._ids = {"client": 0, "agent": 0}
        self.session = ""

    def request(self, side: str, method: str, params: str, result: str) -> tuple[str, str]:
        """Send a request; return the other side and its answer, to be sent when due."""
        number = self._ids[side]
        self._ids[side] += 1
        head = f'{{"jsonrpc":"2.0","id":{number}'
        self._writer.say(side, f'{head},"method":"{method}","params":{params}}}')
        other = "agent" if side == "client" else "client"
        return other, f'{head},"result":{result}}}'

    def update(self, body: str) -> None:
        self._writer.say(
            "agent",
            '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"'
            f'{self.session}","update":{{"sessionUpdate":{body}}}}}}}',
        )

    def open_connection(self) -> None:
        self._writer.say(*self.request("client", "initialize", INITIALIZE, INITIALIZED))

    def open_session(self) -> None:
        self.session = str(uuid.UUID(int=self._random.getrandbits(128), version=4))
        answer = f'{{"sessionId":"{self.session}","modes":{{"currentModeId":"default"}}}}'
        params = '{"cwd":"/home/user/project","mcpServers":[]}'
        self._writer.say(*self.request("client", "session/new", params, answer))
        commands = [{"name": f"c{n}", "description": self._words.draw(12)} for n in range(40)]
        self.update(f'"available_commands_update","availableCommands":{json.dumps(commands)}')

    def turn(self) -> None:
        """One prompt and all that follows, about a hundred messages."""
        prompt = f'{{"sessionId":"{self.session}","prompt":[{self._text(20)}]}}'
        end = self.request("client", "session/prompt", prompt, '{"stopReason":"end_turn"}')
        self._chunks("agent_thought_chunk", 10)
        self._plan()
        for place in range(6):
            self._chunks("agent_message_chunk", 8)
            self._tool_call(permission=place == 1, reads=place == 4)
            self.update(f'"usage_update","used":{self._random.randrange(200000)},"size":200000')
        self._plan()
        self._chunks("agent_message_chunk", 10)
        self._writer.say(*end)

    def _text(self, words: int) -> str:
        return f'{{"type":"text","text":"{self._words.draw(words)} "}}'

    def _chunks(self, kind: str, count: int) -> None:
        for _ in range(count):
            self.update(f'"{kind}","content":{self._text(self._random.randint(2, 12))}')

    def _plan(self) -> None:
        entries = ",".join(
            f'{{"content":"{self._words.draw(6)}","priority":"medium","status":"pending"}}'
            for _ in range(4)
        )
        self.update(f'"plan","entries":[{entries}]')

    def _tool_call(self, *, permission: bool, reads: bool) -> None:
        name = f"toolu_{self._random.getrandbits(96):024x}"
        path = f"/home/user/project/src/{self._words.draw(1)}.py"
        call = f'"toolCallId":"{name}"'
        title = f'"title":"Edit {path}","kind":"edit"'
        self.update(f'"tool_call",{call},{title},"status":"pending","rawInput":{{}}')
        self.update(
            f'"tool_call_update",{call},{title},"locations":[{{"path":"{path}"}}],'
            f'"rawInput":{{"path":"{path}","text":"{self._words.draw(30)}"}}'
        )
        session = f'"sessionId":"{self.session}"'
        if permission:
            params = f'{{{session},"toolCall":{{{call},{title}}},"options":{OPTIONS}}}'
            answer = '{"outcome":{"outcome":"selected","optionId":"allow"}}'
            self._writer.say(*self.request("agent", "session/request_permission", params, answer))
        if reads:
            params = f'{{{session},"path":"{path}"}}'
            answer = f'{{"content":"{self._words.draw(200)}"}}'
            self._writer.say(*self.request("agent", "fs/read_text_file", params, answer))
        self.update(f'"tool_call_update",{call},"status":"in_progress"')
        content = f'{{"type":"content","content":{self._text(40)}}}'
        self.update(f'"tool_call_update",{call},"status":"completed","content":[{content}]')


INITIALIZE = json.dumps(
    {
        "protocolVersion": 1,
        "clientCapabilities": {"fs": {"readTextFile": True, "writeTextFile": True}},
        "clientInfo": {"name": "bench-client", "version": "1"},
    }
)
INITIALIZED = json.dumps(
    {
        "protocolVersion": 1,
        "agentCapabilities": {"loadSession": True},
        "agentInfo": {"name": "bench-agent", "version": "1"},
    }
)
OPTIONS = json.dumps(
    [
        {"kind": "allow_once", "name": "Allow", "optionId": "allow"},
        {"kind": "reject_once", "name": "Reject", "optionId": "reject"},
    ]
)


def write_conversation(folder: Path, messages: int) -> Conversation:
    """Write a conversation of at least that many messages into a new folder.

    About 5 s and 300 MB for a million.
    """
    folder.mkdir()
    writer = Writer(folder)
    author = _Author(writer)
    author.open_connection()
    turns = 0
    while writer.messages < messages:
        if turns % TURNS_OF_A_SESSION == 0:
            author.open_session()
        author.turn()
        turns += 1
    return writer.conversation(folder)


def updates_block(line_bytes: int, block_bytes: int) -> tuple[bytes, int]:
    """Return session/update lines of exactly ``line_bytes`` each, and how many they are."""
    words = Words(random.Random(3))
    head = (
        '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":'
        '"4038eac9-9754-43bb-94a4-e2171ba37ad2","update":{"sessionUpdate":'
        '"agent_message_chunk","content":{"type":"text","text":"'
    )
    tail = '"}}}}\n'
    room = line_bytes - len(head) - len(tail)
    count = max(1, block_bytes // line_bytes)
    lines = (head + words.draw(room // 2 + 1)[:room].ljust(room) + tail for _ in range(count))
    return "".join(lines).encode(), count
