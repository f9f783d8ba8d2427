"""What is asked about a part of a compacted connection is answered as before it was compacted."""

from pathlib import Path

import pytest

from acp_proxy.log import schema
from tests.cli.commands import invoke
from tests.log.released_logs import answers, ids, unpack


@pytest.mark.slow
def test_a_compacted_connection_with_checkpoints_answers_as_before(tmp_path: Path) -> None:
    log, _ = unpack(schema.STEPS[-1], tmp_path)
    number = ids(log)["long"]
    compacted = answers(log, ["long"])

    invoke("compact", "--undo", number, "--log", log)
    plain = answers(log, ["long"])

    assert compacted == plain
    assert any(words.startswith("tool-call ") for words in plain)
