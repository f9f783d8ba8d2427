"""Every command says the same of a compacted connection; what is compacted is chosen and told."""

import json
from pathlib import Path

import pytest

from tests.cli.commands import document, invoke
from tests.cli.conversations import V1, V2, put
from tests.log.long import ask, put_long

COMMANDS = """
connections --json
messages {} --json
messages {} --odd
messages {} --grep session
messages {} --method session/* --limit 5
messages {} --kind invalid --jsonl
tail {}
tail {} --json
show {} 1
show {} 3 --json
show {} 2 --raw
show {} 2 --share
state {}
state {} --json
state {} --at 5 --json
state {} --at -2 --json
sessions {} --at -300 --json
tool-calls {} --at -300 --json
terminals {} --at -300 --json
pending {} --at -300 --json
show {} 2000
state {} --at 0.5s
sessions {} --json
tool-calls {} --json
tool-call {} c1 --json
tool-call {} c1 --history
tool-call {} c1999 --json
permissions {} --json
terminals {} --json
pending {} --json
stats {} --json
timeline {} --json
diff {} --at 3 --at 7
transcript {} --format markdown
transcript {} --format html
transcript {} --format json
search hi
export {} --stream client
export {} --stream agent
export {} --stream stderr
export {} --jsonl --raw
export {} --jsonl
verify {}
"""


def told(log: Path, connection: int) -> dict[str, tuple[int, bytes]]:
    """Return what each command prints of a connection, and how it ends."""
    from click.testing import CliRunner

    from acp_proxy.cli.commands import acp_proxy

    found = {}
    for line in COMMANDS.split("\n"):
        words = line.format(connection).split()
        if words:
            result = CliRunner().invoke(acp_proxy, [*words, "--log", str(log)])
            found[line] = result.exit_code, result.output_bytes
            assert result.exit_code in (0, 1), f"{line}: {result.output}"
    return found


@pytest.mark.parametrize("conversation", [V1, V2], ids=["v1", "v2"])
def test_every_command_says_the_same(
    tmp_path: Path, conversation: list[tuple[str, object]]
) -> None:
    log = put(tmp_path / "log.db", conversation)
    before = told(log, 1)
    assert sum(code == 0 for code, _ in before.values()) > len(before) * 0.7

    invoke("compact", "--all", "--log", log)

    assert ask(log, "SELECT count(*) FROM frames WHERE length(raw) > 0") == [(0,)]
    assert told(log, 1) == before
    invoke("compact", "--all", "--undo", "--vacuum", "--log", log)
    assert ask(log, "SELECT count(*) FROM packs") == [(0,)]
    assert told(log, 1) == before


@pytest.mark.slow
def test_every_command_says_the_same_of_a_long_one(tmp_path: Path) -> None:
    """It has checkpoints, of which commands read a part."""
    log = tmp_path / "log.db"
    put_long(log, 5000)
    assert ask(log, "SELECT count(*) FROM checkpoints") != [(0,)]
    before = told(log, 1)

    invoke("compact", "1", "--log", log)

    assert ask(log, "SELECT count(*) FROM checkpoint_parts WHERE packed IS NULL") == [(0,)]
    assert told(log, 1) == before


@pytest.mark.slow
@pytest.mark.parametrize("number", range(1, 8))
def test_every_command_says_the_same_of_real_conversations(
    captures: Path, tmp_path: Path, number: int
) -> None:
    log = tmp_path / "log.db"
    [capture] = captures.glob(f"{number:02}-*.jsonl")
    invoke("import", capture, "--log", log)
    before = told(log, 1)

    result = document("compact", "--all", "--vacuum", "--log", log)

    [one] = result["connections"]
    assert one["packedBytes"] < one["bytes"] * 0.35
    assert told(log, 1) == before


def test_a_dry_run_tells_what_it_would_free_and_changes_nothing(tmp_path: Path) -> None:
    log = tmp_path / "log.db"
    put_long(log, 2000)
    plan = document("compact", "--all", "--dry-run", "--log", log)

    assert (plan["freed"], plan["vacuumed"]) == (None, None)
    assert ask(log, "SELECT count(*) FROM packs") == [(0,)]
    [[plain]] = ask(log, "SELECT sum(length(raw)) FROM frames")
    done = document("compact", "--all", "--log", log)
    [one] = done["connections"]
    assert plan["expected"] == pytest.approx(plain - one["packedBytes"], rel=0.1)
    assert done["freed"] > plan["expected"] * 0.7
    again = document("compact", "--all", "--log", log)
    assert (again["connections"], again["freed"]) == ([], None)


def test_what_is_compacted_is_named_old_or_all(tmp_path: Path) -> None:
    log = put(put(tmp_path / "log.db", V1), V2)

    assert invoke("compact", "--log", log, code=2).stderr.strip().endswith("--older-than or --all")
    assert document("compact", "--older-than", "1d", "--log", log)["connections"] == []
    assert [one["connection"] for one in document("compact", "2", "--log", log)["connections"]] == [
        2
    ]
    assert document("compact", "--undo", "1", "--log", log)["connections"] == []
    assert "no connection" in invoke("compact", "9", "--log", log, code=1).stderr
    page = invoke("compact", "--all", "--log", log).stdout
    assert "compacted: 1 connection, 17 frames, 17 messages" in page


def test_in_sql_its_bytes_are_null_and_all_else_is_there(tmp_path: Path) -> None:
    log = put(tmp_path / "log.db", V1)
    columns = "seq, stream, kind, method, bytes, offset, time_ns, elapsed_ns"
    before = ask(log, f"SELECT {columns} FROM wire")

    invoke("compact", "--all", "--log", log)

    assert ask(log, f"SELECT {columns} FROM wire") == before
    assert ask(log, "SELECT DISTINCT raw FROM wire") == [(None,)]


def test_log_info_tells_how_large_it_is_and_why(tmp_path: Path) -> None:
    log = tmp_path / "log.db"
    put_long(log, 2000)
    put_long(log, 10)

    space = document("log", "info", "--log", log)["space"]

    assert space["usedBytes"] + space["freeBytes"] == space["fileBytes"]
    assert [one["connection"] for one in space["largest"]] == [1, 2]
    assert sum(one["bytes"] for one in space["largest"]) == pytest.approx(space["usedBytes"], abs=2)
    assert sum(space["parts"].values()) == space["usedBytes"]
    assert sum(day["connections"] for day in space["days"]) == 2
    assert sum(day["bytes"] for day in space["days"]) == space["relayedBytes"]
    assert 0.5 < space["compactWouldFree"] / space["relayedBytes"] < 1
    invoke("compact", "1", "--log", log)
    after = document("log", "info", "--log", log)["space"]
    assert after["compactedBytes"] > after["relayedBytes"] * 0.9
    assert after["largest"][0]["bytes"] < space["largest"][0]["bytes"]
    page = invoke("log", "info", "--log", log).stdout
    for word in ("in use:", "made of:", "relayed:", "largest:", "vacuum:"):
        assert word in page
    json.dumps(after)
