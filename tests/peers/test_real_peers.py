"""Real peers: whole conversations of independent SDKs, straight and through the proxy.

The agents and clients beside this file are built on the published ACP packages and know nothing
of the proxy. Each conversation is held twice, first without it; then the log is asked for it.
The peers use fixed ids and say one thing after the other, so that both runs must be equal to the
byte and the order of all messages is known.
"""

import json
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.peers.expected import V1_MESSAGES, V2_MESSAGES
from tests.peers.running import (
    ACP_PROXY,
    CONVERSATION_SECONDS,
    Ended,
    node_version,
    run,
    sdk_version,
)

HERE = Path(__file__).parent
INSTALL_SECONDS = 300.0
OLDEST_NODE = 18

Json = dict[str, Any]
Row = tuple[str, str, str | None, str | None]


@dataclass(frozen=True)
class Peers:
    """A client and the agent it can talk to, as commands, and what they are known to say."""

    version: int
    client: list[str]
    agent: list[str]
    messages: str
    ready: bytes


@dataclass(frozen=True)
class Recorded:
    """One conversation held twice, and the log of the second time."""

    peers: Peers
    direct: Ended
    proxied: Ended
    log: Path

    def ask(self, *words: str) -> Ended:
        """Runs an acp-proxy command on the log."""
        return run([ACP_PROXY, *words, "--log", str(self.log)], cwd=self.log.parent)

    def messages(self) -> list[Json]:
        """What ``acp-proxy messages`` lists: messages and lines on the agent's stderr."""
        answer = self.ask("messages", "--jsonl")
        assert (answer.status, answer.stderr) == (0, b"")
        return [json.loads(line) for line in answer.stdout.splitlines()]

    def wire(self) -> dict[str, list[Json]]:
        """The messages of each side in their order, as the client's SDK saw them."""
        wire: dict[str, list[Json]] = json.loads(self.proxied.stdout)["wire"]
        return wire


@pytest.fixture(scope="session")
def v1_peers() -> Peers:
    sdk_version()
    return Peers(
        version=1,
        client=[sys.executable, str(HERE / "v1_client.py")],
        agent=[sys.executable, str(HERE / "v1_agent.py")],
        messages=V1_MESSAGES,
        ready="v1 agent ready ✓\n".encode(),
    )


@pytest.fixture(scope="session")
def v2_peers(tmp_path_factory: pytest.TempPathFactory) -> Peers:
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        pytest.skip("node and npm are needed to run the v2 peers")
    folder = tmp_path_factory.mktemp("peers-v2")
    if (version := node_version(node)) < OLDEST_NODE:
        pytest.skip(f"the v2 peers need Node {OLDEST_NODE} or newer, this is {version}")
    for name in ("package.json", "agent.mjs", "client.mjs"):
        shutil.copy(HERE / "v2" / name, folder / name)
    quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier"]
    try:
        installed = subprocess.run(
            [npm, "install", *quiet],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=INSTALL_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        pytest.skip(f"npm install did not end within {INSTALL_SECONDS:.0f} s")
    if installed.returncode != 0:
        reason = installed.stderr.decode(errors="replace").strip().partition("\n")[0]
        pytest.skip(f"npm install failed with status {installed.returncode}: {reason}")
    return Peers(
        version=2,
        client=[node, str(folder / "client.mjs")],
        agent=[node, str(folder / "agent.mjs")],
        messages=V2_MESSAGES,
        ready="v2 agent ready ✓\n".encode(),
    )


@pytest.fixture(scope="session", params=["v1", "v2"])
def recorded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    peers: Peers = request.getfixturevalue(f"{request.param}_peers")
    folder = tmp_path_factory.mktemp(f"peers-{request.param}-recorded")
    log, work = folder / "log.db", folder / "work"
    work.mkdir()
    label = f"real {request.param} peers"
    proxy = [ACP_PROXY, "run", "--log", str(log), "--label", label, "--"]
    direct = run([*peers.client, *peers.agent], cwd=work, seconds=CONVERSATION_SECONDS)
    proxied = run([*peers.client, *proxy, *peers.agent], cwd=work, seconds=CONVERSATION_SECONDS)
    return Recorded(peers, direct, proxied, log)


@pytest.fixture(scope="session")
def messages(recorded: Recorded) -> list[Json]:
    return [row for row in recorded.messages() if row["from"] != "stderr"]


def by_seq(messages: list[Json]) -> dict[int, Json]:
    return {row["seq"]: row for row in messages}


def answers(messages: list[Json]) -> list[Json]:
    return [row for row in messages if row["kind"] in {"result", "error"}]


def expected_rows(table: str) -> list[Row]:
    rows: list[Row] = []
    for line in table.split("\n")[1:-1]:
        sender, kind, method, *update = line.split()
        rows.append((sender, kind, method, update[0] if update else None))
    return rows


@pytest.mark.slow
def test_without_the_proxy_the_peers_say_what_we_expect(recorded: Recorded) -> None:
    assert (recorded.direct.status, recorded.direct.stderr) == (0, recorded.peers.ready)

    seen = json.loads(recorded.direct.stdout)
    assert seen["protocolVersion"] == recorded.peers.version
    assert seen["agentExit"] == 0
    assert seen["refused"] == -32601
    for sender in ("client", "agent"):
        expected = [row for row in expected_rows(recorded.peers.messages) if row[0] == sender]
        assert len(seen["wire"][sender]) == len(expected)


def test_through_the_proxy_the_client_sees_the_same(recorded: Recorded) -> None:
    assert recorded.proxied.status == 0, recorded.proxied.stderr.decode(errors="replace")
    assert recorded.proxied.stderr == recorded.direct.stderr
    assert json.loads(recorded.proxied.stdout) == json.loads(recorded.direct.stdout)
    assert recorded.proxied.stdout == recorded.direct.stdout


def test_every_message_is_in_the_log_in_its_order(recorded: Recorded, messages: list[Json]) -> None:
    requests = by_seq(messages)

    rows: list[Row] = []
    for row in messages:
        asked = requests.get(row.get("requestSeq") or 0, row)
        rows.append((row["from"], row["kind"], asked.get("method"), row.get("sessionUpdate")))

    assert rows == expected_rows(recorded.peers.messages)
    assert sorted(requests) == [row["seq"] for row in messages]
    assert len(requests) == len(messages)


def test_rows_carry_the_ids_of_their_messages(recorded: Recorded, messages: list[Json]) -> None:
    for sender, sent in recorded.wire().items():
        rows = [row for row in messages if row["from"] == sender]
        for row, message in zip(rows, sent, strict=True):
            expected = {"method": message["method"]} if "method" in message else {}
            expected["id"] = json.dumps(message["id"]) if "id" in message else None
            params = message.get("params", {})
            if "sessionId" in params:
                expected["sessionId"] = params["sessionId"]
            for name in ("sessionUpdate", "toolCallId", "terminalId"):
                if name in params.get("update", {}):
                    expected[name] = params["update"][name]
            if "error" in message:
                expected["errorCode"] = message["error"]["code"]

            assert {name: row.get(name) for name in expected} == expected


def test_every_request_is_paired_with_its_answer(messages: list[Json]) -> None:
    rows = by_seq(messages)

    for answer in answers(messages):
        request = rows[answer["requestSeq"]]
        assert request["kind"] == "request"
        assert request["id"] == answer["id"]
        assert {request["from"], answer["from"]} == {"client", "agent"}
        assert request["seq"] < answer["seq"]
        assert answer["duration_ns"] >= 0
        assert answer["duration_ns"] <= answer["elapsed_ns"]
    asked = sorted(row["seq"] for row in messages if row["kind"] == "request")
    assert sorted(answer["requestSeq"] for answer in answers(messages)) == asked


@pytest.mark.parametrize("recorded", ["v1"], indirect=True)  # v2 answers prompts at once
def test_one_id_was_open_in_both_directions_at_once(messages: list[Json]) -> None:
    rows = by_seq(messages)
    spans = [(rows[answer["requestSeq"]], answer) for answer in answers(messages)]
    [(prompt, stop)] = [
        (request, answer)
        for request, answer in spans
        if request["method"] == "session/prompt" and request["id"] == "2"
    ]
    [(permission, choice)] = [
        (request, answer)
        for request, answer in spans
        if request["method"] == "session/request_permission"
    ]

    assert permission["id"] == prompt["id"]
    assert prompt["seq"] < permission["seq"] < choice["seq"] < stop["seq"]


def test_nothing_is_flagged_as_odd(recorded: Recorded, messages: list[Json]) -> None:
    assert [row for row in messages if row.get("flags")] == []


def test_stderr_is_in_the_log(recorded: Recorded) -> None:
    lines = [row for row in recorded.messages() if row["from"] == "stderr"]

    assert [row["kind"] for row in lines] == ["text"]
    assert recorded.peers.ready.decode().strip() in lines[0]["preview"]


def test_the_connection_names_its_peers(recorded: Recorded) -> None:
    answer = recorded.ask("connections", "--json")
    assert (answer.status, answer.stderr) == (0, b"")

    [connection] = json.loads(answer.stdout)
    version = recorded.peers.version
    assert connection["protocolVersion"] == version
    assert connection["client"] == {
        "name": f"peers-v{version}-client",
        "title": "Notes Client ✓",
        "version": "4.5.6",
    }
    assert connection["agent"] == {
        "name": f"peers-v{version}-agent",
        "title": "Notes Agent ✓",
        "version": "1.2.3",
    }
    assert connection["label"] == f"real v{version} peers"
    assert connection["status"] == "exited"
    assert (connection["exitCode"], connection["signal"]) == (0, None)
    assert connection["messages"] == len(recorded.messages())
    assert connection["bytes"]["stderr"] == len(recorded.peers.ready)


def test_the_log_verifies(recorded: Recorded) -> None:
    answer = recorded.ask("verify")

    assert answer.status == 0, (answer.stdout + answer.stderr).decode(errors="replace")


@pytest.mark.parametrize("sender", ["client", "agent"])
def test_the_exported_stream_is_what_the_peer_read_and_wrote(
    recorded: Recorded, sender: str
) -> None:
    answer = recorded.ask("export", "latest", "--stream", sender)

    assert (answer.status, answer.stderr) == (0, b"")
    assert [json.loads(line) for line in answer.stdout.split(b"\n")[:-1]] == (
        recorded.wire()[sender]
    )
