"""Which version holds and who speaks: as the answer to ``initialize`` says, whatever was asked."""

from __future__ import annotations

from typing import Any

import pytest

from acp_proxy.wire.jsonrpc import Direction
from tests.events.talk import Talk, flags

CLIENT, AGENT = Direction.CLIENT, Direction.AGENT


def _ask(talk: Talk, version: Any = 1, id_: Any = 0, **params: Any) -> None:
    talk.client(id=id_, method="initialize", params={"protocolVersion": version, **params})


@pytest.mark.parametrize(("asked", "answered"), [(1, 1), (2, 2), (2, 1), (1, 2), (1, 7), ("1", 1)])
def test_the_answer_decides(asked: Any, answered: int) -> None:
    talk = Talk()
    _ask(talk, asked)
    assert talk.indexer.protocol_version is None
    talk.agent(id=0, result={"protocolVersion": answered})
    assert talk.indexer.protocol_version == answered


def test_after_another_version_was_answered_messages_are_judged_by_it() -> None:
    talk = Talk()
    _ask(talk, 1)
    talk.agent(id=0, result={"protocolVersion": 2})
    talk.client(id=1, method="session/new", params={"cwd": "/", "mcpServers": []})
    talk.agent(id=1, result={"sessionId": "s"})
    assert flags(talk.update("tool_call", toolCallId="t", status="pending")) == {"other-version"}
    assert talk.update("state_update", state="running").flags is None


@pytest.mark.parametrize(
    ("version", "kept"),
    [
        ("2025-01-01", "2025-01-01"), ("1", "1"), ("", ""), ("é", "é"), (65535, 65535), (0, 0), (-1, -1),
        (2**63 - 1, 2**63 - 1), (2**63, None), (2**64, None), (-(10**30), None), (1.0, None), (1.5, None),
        (True, None), (None, None), ([1], None), ({"v": 1}, None),
    ],
)  # fmt: skip
def test_a_version_is_a_number_or_text_that_the_log_can_hold(version: Any, kept: Any) -> None:
    talk = Talk()
    _ask(talk)
    talk.agent(id=0, result={"protocolVersion": version})
    assert talk.indexer.protocol_version == kept
    assert type(talk.indexer.protocol_version) is type(kept)


def test_a_version_with_a_lone_surrogate_can_be_stored() -> None:
    talk = Talk()
    _ask(talk)
    talk.agent(id=0, result={"protocolVersion": "2\ud83d"})
    assert talk.indexer.protocol_version == "2\\ud83d"


def test_the_latest_successful_answer_holds() -> None:
    talk = Talk()
    talk.begin(1)
    _ask(talk, 2, id_=1)
    talk.agent(id=1, error={"code": -32022, "message": "no", "data": {"protocolVersion": 9}})
    assert talk.indexer.protocol_version == 1
    _ask(talk, 2, id_=2)
    talk.agent(id=2, result={})
    assert talk.indexer.protocol_version == 1
    _ask(talk, 2, id_=3)
    talk.agent(id=3, result={"protocolVersion": 2})
    assert talk.indexer.protocol_version == 2


def test_only_the_agents_answer_to_initialize_counts() -> None:
    talk = Talk()
    version = {"protocolVersion": 2, "agentInfo": {"name": "n"}}
    talk.agent(id=5, result=version)  # an orphan
    _ask(talk, 1)
    talk.client(id=1, method="session/new")
    talk.agent(id=1, result=version)
    talk.agent(id=7, method="initialize", params=version)
    talk.client(id=7, result=version)
    talk.agent(method="initialize", params=version)
    talk.agent(id="0", result=version)  # another type of id
    talk.agent(id=0, result=version, error={"code": 1, "message": "both"})
    assert talk.indexer.protocol_version is None
    assert talk.indexer.agent == {}


def test_the_answer_counts_inside_a_batch_too() -> None:
    talk = Talk()
    talk.batch(CLIENT, {"id": 0, "method": "initialize", "params": {"clientInfo": {"name": "c"}}})
    talk.batch(AGENT, {"method": "m"}, {"id": 0, "result": {"protocolVersion": 2}})
    assert talk.indexer.protocol_version == 2
    assert talk.indexer.client == {"name": "c"}


NAMED = {"name": "n", "title": "T", "version": "1.0"}


def test_names_of_version_1() -> None:
    talk = Talk()
    _ask(talk, 1, clientInfo=NAMED, clientCapabilities={})
    talk.agent(id=0, result={"protocolVersion": 1, "agentInfo": {**NAMED, "name": "a"}})
    assert talk.indexer.client == NAMED
    assert talk.indexer.agent == {**NAMED, "name": "a"}


def test_names_of_version_2() -> None:
    talk = Talk()
    _ask(talk, 2, info=NAMED, capabilities={})
    talk.agent(id=0, result={"protocolVersion": 2, "info": {**NAMED, "name": "a"}})
    assert talk.indexer.client == NAMED
    assert talk.indexer.agent == {**NAMED, "name": "a"}


def test_a_client_that_speaks_version_2_to_an_agent_that_speaks_1() -> None:
    talk = Talk()
    _ask(talk, 2, info=NAMED)
    talk.agent(id=0, result={"protocolVersion": 1, "agentInfo": NAMED})
    assert (talk.indexer.client, talk.indexer.agent) == (NAMED, NAMED)


@pytest.mark.parametrize(
    ("info", "found"),
    [
        ({"name": "", "version": ""}, {"name": "", "version": ""}),
        ({"name": 7, "title": None, "version": ["1"]}, {}),
        ({"name": "n\ud83d", "title": "é"}, {"name": "n\\ud83d", "title": "é"}),
        ({"name": "n", "other": "x", "_meta": {}}, {"name": "n"}),
        ({}, {}), (None, {}), ([], {}), ("n", {}), (7, {}), (True, {}),
    ],
)  # fmt: skip
@pytest.mark.parametrize("version", [1, 2])
def test_names_are_what_is_text(version: int, info: Any, found: dict[str, str]) -> None:
    talk = Talk()
    _ask(talk, version, **{"clientInfo" if version == 1 else "info": info})
    talk.agent(
        id=0, result={"protocolVersion": version, "agentInfo" if version == 1 else "info": info}
    )
    assert (talk.indexer.client, talk.indexer.agent) == (found, found)
    for name in found.values():
        name.encode()


@pytest.mark.parametrize("wrong", [None, 7, "x", [], [{}], True])
def test_params_or_results_of_another_type_teach_nothing(wrong: Any) -> None:
    talk = Talk()
    talk.client(id=0, method="initialize", params=wrong)
    talk.agent(id=0, result=wrong)
    assert (talk.indexer.protocol_version, talk.indexer.client, talk.indexer.agent) == (
        None,
        {},
        {},
    )
