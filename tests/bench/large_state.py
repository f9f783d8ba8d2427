"""A long v2 conversation whose state goes on growing, made up and the same on every machine.

Mixed chunks and upserts, 200 tool calls with growing content, 50 terminals with 20 MB
of output in all. Nothing here runs or measures a process.
"""

import base64
import json
import random
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.bench.conversation import Conversation, Words, Writer

TOOL_CALLS = 200
TERMINALS = 50
OUTPUT_BYTES = 20_000_000
PER_TURN = 500
SESSION = "5b0c1e5e-95f1-4d5a-8c4c-0f0f6f1f6a10"
CALL = "toolu_{:024x}"


def write_large_state(folder: Path, messages: int) -> Conversation:
    """Write a conversation of at least that many messages into a new folder."""
    folder.mkdir()
    writer = Writer(folder)
    source = random.Random(7)
    words = Words(source)
    writer.say("client", _request(0, "initialize", {"protocolVersion": 2, "info": {}}))
    writer.say("agent", _answer(0, {"protocolVersion": 2, "capabilities": {}}))
    writer.say("client", _request(1, "session/new", {"cwd": "/home/user/project"}))
    writer.say("agent", _answer(1, {"sessionId": SESSION}))
    turn = 0
    while writer.messages < messages:
        prompt = {"sessionId": SESSION, "prompt": [_text(words.draw(20))]}
        writer.say("client", _request(turn + 2, "session/prompt", prompt))
        writer.say("agent", _answer(turn + 2, {"messageId": f"u{turn}"}))
        progress = writer.messages / messages
        for update in _turn(turn, progress, messages, source, words):
            params = {"sessionId": SESSION, "update": update}
            line = {"jsonrpc": "2.0", "method": "session/update", "params": params}
            writer.say("agent", json.dumps(line, separators=(",", ":")))
        turn += 1
    return writer.conversation(folder)


def _turn(
    turn: int, progress: float, messages: int, source: random.Random, words: Words
) -> Iterator[dict[str, object]]:
    calls = max(1, int(TOOL_CALLS * progress))
    terminals = max(1, int(TERMINALS * progress))
    per_turn = OUTPUT_BYTES * PER_TURN // messages
    yield {"sessionUpdate": "state_update", "state": "running"}
    for place in range(10):
        kind = "agent_thought_chunk" if place % 3 == 0 else "agent_message_chunk"
        for _ in range(40):
            text = _text(words.draw(source.randint(2, 12)) + " ")
            yield {"sessionUpdate": kind, "messageId": f"m{turn}.{place}", "content": text}
        call = CALL.format(source.randrange(calls))
        yield {
            "sessionUpdate": "tool_call_update",
            "toolCallId": call,
            "title": f"Edit {words.draw(1)}.py",
            "kind": "edit",
            "status": "in_progress",
            "rawInput": {"path": f"/home/user/project/{words.draw(1)}.py"},
        }
        for _ in range(2):
            item = {"type": "content", "content": _text(words.draw(30))}
            yield {"sessionUpdate": "tool_call_content_chunk", "toolCallId": call, "content": item}
        terminal = f"term-{source.randrange(terminals)}"
        for _ in range(4):
            data = words.draw(per_turn // 40)[: per_turn // 40].ljust(per_turn // 40, "\n")
            yield {
                "sessionUpdate": "terminal_output_chunk",
                "terminalId": terminal,
                "data": base64.b64encode(data.encode()).decode(),
            }
        status = source.choice(("completed", "in_progress"))
        yield {"sessionUpdate": "tool_call_update", "toolCallId": call, "status": status}
        yield {"sessionUpdate": "usage_update", "used": source.randrange(200000), "size": 200000}
    yield {"sessionUpdate": "state_update", "state": "idle", "stopReason": "end_turn"}


def _text(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


def _request(number: int, method: str, params: Mapping[str, object]) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params})


def _answer(number: int, result: dict[str, object]) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": number, "result": result})
