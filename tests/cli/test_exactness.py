"""What JSON libraries change is stored, flagged, and shown exactly."""

import json
from pathlib import Path

import pytest

from tests.cli.commands import invoke, objects


def _request(params: str = "{}", id_: str = "1") -> str:
    return f'{{"jsonrpc":"2.0","id":{id_},"method":"m","params":{params}}}'


# By name: the line, and the kind, id and flags that it must have.
CASES: dict[str, tuple[str, str, str | None, set[str]]] = {
    "40 digits": (_request(f'{{"n":{"7" * 40}}}'), "request", "1", {"big-number"}),
    "40 digits as id": (_request(id_="7" * 40), "request", "7" * 40, {"big-number", "unsafe-id"}),
    "2**53 + 1 as id": (
        _request(id_="9007199254740993"),
        "request",
        "9007199254740993",
        {"unsafe-id"},
    ),
    "1": (_request(id_="1"), "request", "1", set()),
    "1.0": (_request(id_="1.0"), "request", "1.0", {"fractional-id"}),
    '"1"': (_request(id_='"1"'), "request", '"1"', set()),
    "1.10": (_request(id_="1.10"), "request", "1.10", {"fractional-id"}),
    "1e400": (_request('{"n":1e400}'), "request", "1", {"big-number"}),
    "1e400 as id": (_request(id_="1e400"), "request", "1e400", {"big-number", "fractional-id"}),
    "lone surrogate": (_request('{"t":"ok \\ud83d"}'), "request", "1", {"lone-surrogate"}),
    "duplicate keys": (_request('{"a":1,"a":2}'), "request", "1", {"duplicate-key"}),
    "NaN": (_request('{"n":NaN}'), "invalid", None, {"bad-json"}),
    "5,000 deep": (_request("[" * 5_000 + "]" * 5_000), "request", "1", {"unparsed"}),
    "100,000 deep": (_request("[" * 100_000 + "]" * 100_000), "request", "1", {"unparsed"}),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_it_is_stored_flagged_and_shown_exactly(name: str, tmp_path: Path) -> None:
    line, kind, id_, flags = CASES[name]
    log = tmp_path / "log.db"
    given = json.dumps({"from": "client", "data": line}).encode()
    invoke("import", "-", "--log", log, stdin=given)

    [row] = objects("messages", "--log", log)
    assert (row["kind"], row.get("id"), set(row["flags"])) == (kind, id_, flags)
    assert invoke("show", "--log", log, 1, "--raw").stdout_bytes == line.encode() + b"\n"
    page = invoke("show", "--log", log, 1).stdout
    if name in ("40 digits", "1.10", "1e400", "lone surrogate"):
        shown = line.partition('"params":{')[2].partition("}")[0].partition(":")[2] or "1.10"
        assert shown in page
    if name == "duplicate keys":
        assert '"a": 1,' in page
        assert '"a": 2' in page
    detail = invoke("show", "--log", log, 1, "--json").stdout
    assert json.loads(detail)["data"] == line + "\n"
    invoke("verify", "--log", log)


def test_ids_pair_by_type_and_exact_value(tmp_path: Path) -> None:
    """1, "1" and 1.0 are three ids; 1.10 and 1.1 are one; both sides have their own."""
    ids = ["1", '"1"', "1.0", "1.10", "9007199254740993", "7" * 40, "null"]
    answers = {**{text: text for text in ids}, "1.10": "1.1"}
    lines = [
        {"from": stream, "data": _request(id_=text)}
        for text in ids
        for stream in ("client", "agent")
    ]
    lines += [
        {"from": stream, "data": f'{{"jsonrpc":"2.0","id":{answers[text]},"result":{{}}}}'}
        for text in reversed(ids)
        for stream in ("client", "agent")
    ]
    lines.append({"from": "agent", "data": '{"jsonrpc":"2.0","id":9007199254740992,"result":{}}'})
    log = tmp_path / "log.db"
    invoke("import", "-", "--log", log, stdin="\n".join(map(json.dumps, lines)).encode())

    rows = objects("messages", "--log", log)
    asked = {row["seq"]: row for row in rows if row["kind"] == "request"}
    answered = [row for row in rows if row["kind"] == "result"]
    assert [row.get("requestSeq") for row in answered] == [
        2 * at + 1 + (stream == "client")
        for at in reversed(range(len(ids)))
        for stream in ("client", "agent")
    ] + [None]
    assert all(row["from"] != asked[row["requestSeq"]]["from"] for row in answered[:-1])
    assert "orphan" in answered[-1]["flags"]


INPUT = (
    f'{{"n":{"7" * 40},"e":1e400,"f":false,"z":0,"o":1,"p":1.0,"q":1.50,"u":18446744073709551616,'
    '"s":"\\ud83d","d":{"x":[null,{"y":null}]},"m":-0.0}'
)


def test_values_of_the_state_are_exact_wherever_they_are_printed(tmp_path: Path) -> None:
    def call(fields: str) -> dict[str, str]:
        update = f'{{"sessionUpdate":"tool_call_update","toolCallId":"t",{fields}}}'
        params = f'{{"sessionId":"s","update":{update}}}'
        line = f'{{"jsonrpc":"2.0","method":"session/update","params":{params}}}'
        return {"from": "agent", "data": line}

    lines = [call('"rawInput":{"f":0,"p":1}'), call(f'"rawInput":{INPUT}'), call('"rawOutput":[0]')]
    log = tmp_path / "log.db"
    invoke("import", "-", "--log", log, stdin="\n".join(map(json.dumps, lines)).encode())

    for words in (["state"], ["tool-calls"], ["tool-call", "t"]):
        assert f'"rawInput":{INPUT}' in invoke(*words, "--json", "--log", log).stdout
    history = invoke("tool-call", "t", "--history", "--json", "--log", log).stdout
    told = invoke("diff", "1", "--at", "1", "--at", "2", "--json", "--log", log, code=1).stdout
    for text in (history, told):
        assert '"before":0,"after":false' in text
        assert '"before":1,"after":1.0' in text
        assert f'"after":{"7" * 40}' in text
        assert '"after":{"x":[null,{"y":null}]}' in text
