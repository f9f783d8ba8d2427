"""The documents say what is true: generated parts, commands, tables, flags, examples, links."""

import ast
import doctest
import json
import re
import shlex
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import fields
from pathlib import Path
from typing import Any

import click
import pytest

from acp_proxy import __all__ as acp_proxy_names
from acp_proxy.cli.commands import acp_proxy
from acp_proxy.log.rows import KINDS, STATUSES, STREAMS, ConnectionRow, MessageRow
from acp_proxy.recording import open_recording
from acp_proxy.state.columns import TABLES
from acp_proxy.views.jsonlines import connection_object, message_object
from tests.cli.conversations import V1, V2, put

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
PAGES = [*sorted(DOCS.glob("*.md")), ROOT / "README.md"]
PROGRAM = Path(sys.executable).parent / "acp-proxy"
SOURCES = [*(ROOT / "acp_proxy/wire").glob("*.py"), *(ROOT / "acp_proxy/events").glob("*.py")]
_FLAG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_LINK = re.compile(r"\[[^\]]+\]\(([^)\s]+)\)")


def page(name: str) -> str:
    """Return a document's text."""
    return (DOCS / name).read_text(encoding="utf-8")


def section(text: str, heading: str) -> str:
    """Return what stands under a heading, up to the next one."""
    found = re.search(
        rf"^#+ {re.escape(heading)}\n(.*?)(?=^#+ |\Z)", text, re.DOTALL | re.MULTILINE
    )
    assert found, f'there is no heading "{heading}"'
    return found[1]


def first_cells(text: str) -> list[str]:
    """Return the words in backticks in the first column of a section's tables."""
    rows = re.findall(r"^\| (`[^|]+) \|", text, re.MULTILINE)
    return [word for cell in rows for word in re.findall(r"`([^`]+)`", cell)]


def blocks(text: str, language: str) -> list[str]:
    """Return the fenced blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def ask(log: Path, *arguments: str) -> bytes:
    """Return what a command prints, asked as a person would."""
    return subprocess.run(
        [PROGRAM, *arguments, "--log", log], check=True, capture_output=True, timeout=60
    ).stdout


def commands() -> Iterator[tuple[str, click.Command]]:
    """Yield every command with its name as one types it."""

    def below(group: click.Group, name: str) -> Iterator[tuple[str, click.Command]]:
        context = click.Context(group)
        for word in group.list_commands(context):
            command = group.get_command(context, word)
            assert command is not None
            full = f"{name} {word}".strip()
            yield full, command
            if isinstance(command, click.Group):
                yield from below(command, full)

    yield from below(acp_proxy, "")


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log that holds the example."""
    path = tmp_path_factory.mktemp("docs") / "log.db"
    ask(path, "import", str(DOCS / "example.jsonl"))
    return path


def generate(docs: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run docs/generate.py."""
    script = [sys.executable, str(docs / "generate.py"), *arguments]
    return subprocess.run(script, capture_output=True, text=True, check=False, timeout=60)


# Generated parts.


@pytest.mark.slow
def test_the_generated_parts_are_fresh() -> None:
    done = generate(DOCS, "--check")

    assert (done.returncode, done.stdout + done.stderr) == (0, "")


@pytest.mark.slow
def test_a_stale_part_is_found_named_and_made_again(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    shutil.copytree(DOCS, docs)
    path = docs / "cli.md"
    right = path.read_text()
    path.write_text(right.replace("--label TEXT", "--lable TEXT"))

    found = generate(docs, "--check")
    mended = generate(docs)

    assert (found.returncode, "docs/cli.md" in found.stdout) == (1, True)
    assert (mended.returncode, path.read_text() == right) == (0, True)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_each_generated_part_has_an_end(path: Path) -> None:
    marks = re.findall(r"^<!-- (generated: |end -->)", path.read_text(), re.MULTILINE)

    assert marks == ["generated: ", "end -->"] * (len(marks) // 2)


# Commands.


@pytest.mark.parametrize(("name", "command"), list(commands()), ids=str)
def test_every_command_is_described_with_its_options(name: str, command: click.Command) -> None:
    text = section(page("cli.md"), name)

    assert f"<!-- generated: help acp-proxy {name} -->" in text
    for parameter in command.params:
        for option in parameter.opts if isinstance(parameter, click.Option) else ():
            assert option in text, f"{name} {option}"


def everything(row: type[ConnectionRow | MessageRow], **values: object) -> dict[str, Any]:
    """Return a value for each column of a row."""
    return {field.name: 1 for field in fields(row)} | values


def test_the_json_keys_are_described(log: Path) -> None:
    text = page("cli.md")
    connection = ConnectionRow(**everything(ConnectionRow, facts="{}"))
    message = MessageRow(**everything(MessageRow, flags=()))
    shown = [json.loads(ask(log, "show", str(seq), "--json")) for seq in (2, 10)]
    expected = {
        "connections": [connection_object(connection)],
        "messages": [message_object(message, "")],
        "show": [
            {key: value for key, value in detail.items() if key not in message_object(message, "")}
            for detail in shown
        ],
        "log info": [json.loads(ask(log, "log", "info", "--json"))],
    }

    for heading, documents in expected.items():
        told = first_cells(section(text, heading))
        keys = {key for document in documents for key in document}
        assert keys - set(told) == set(), heading


def test_the_keys_of_a_state_are_described() -> None:
    told = set(first_cells(section(page("cli.md"), "state")))
    # of lists that are described as a whole, with the protocol's own keys:
    protocols = {
        "compactionId", "summary", "capabilities", "state", "additionalDirectories",
        "senderSessionId", "recipientSessionId", "senderMessageId", "recipientMessageId", "data",
    }  # fmt: skip
    keys: set[str] = set()
    for node in ast.walk(ast.parse((ROOT / "acp_proxy/views/state_json.py").read_text())):
        match node:
            case ast.Dict():
                keys |= {key.value for key in node.keys if isinstance(key, ast.Constant)}  # type: ignore[misc]
            case ast.Call(func=ast.Name(id="_given")):
                keys |= {keyword.arg for keyword in node.keywords if keyword.arg}

    assert len(keys) > 40
    assert keys - protocols - told == set()


def test_the_commands_in_the_documents_can_be_typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("docs").mkdir()
    for name in ("docs/example.jsonl", "conversation.jsonl"):
        Path(name).touch()
    lines = [
        shlex.split(re.split(r"\s(?:\|\|?|&&|>)\s", line)[0], comments=True)[1:]
        for path in PAGES
        for block in blocks(path.read_text(), "sh")
        for line in block.splitlines()
        if line.startswith("acp-proxy ") and not line.startswith("acp-proxy --")
    ]

    assert len(lines) > 15
    for words in lines:
        command: click.Command = acp_proxy
        while isinstance(command, click.Group):
            found = command.get_command(click.Context(command), words.pop(0))
            assert found is not None
            command = found
        command.make_context(command.name, words).close()


# The log.


def columns(log: Path) -> dict[str, list[str]]:
    """Return the columns of each table and view."""
    with closing(sqlite3.connect(log)) as db:
        names = db.execute(
            "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')"
        ).fetchall()
        return {
            name: [row[1] for row in db.execute(f"PRAGMA table_xinfo({name})")] for (name,) in names
        }


def test_every_table_and_column_is_described(log: Path) -> None:
    text = page("log.md")
    derived = ("messages", *TABLES, "texts", "search", "checkpoints", "checkpoint_parts")
    headings = {name: f"Table `{name}`" for name in ("connections", "frames", *derived)}
    headings |= {name: f"Table `{name}`" for name in ("packs", "dictionaries", "pruned")}
    headings["_sqlite_migrations"] = "The schema's steps"
    found = columns(log)
    view = found.pop("wire")
    del found["sqlite_sequence"]  # SQLite's own
    found = {name: found[name] for name in found if not name.startswith("search_")}  # of FTS5

    assert set(found) == set(headings)
    for table, heading in headings.items():
        assert sorted(first_cells(section(text, heading))) == sorted(found[table]), table
    told = re.findall(r"`(\w+)`", section(text, "View `wire`").partition("<!-- end -->")[2])
    assert set(view) <= set(told)


def test_every_kind_stream_and_status_is_described() -> None:
    text = page("log.md")
    codes = re.findall(r"^\| (\d) \| `(\w+)` \|", section(text, "Kinds"), re.MULTILINE)
    assert [(int(code), kind) for code, kind in codes] == list(enumerate(KINDS))
    assert ", ".join(f"{n} {stream}" for n, stream in enumerate(STREAMS)) in text
    for status in STATUSES:
        assert f"`{status}`" in section(text, "Table `connections`")
        assert f"`{status}`" in section(page("cli.md"), "connections")


def flags_in(path: Path) -> set[str]:
    """Return the flag words that a module's code can give."""

    def words(node: ast.AST) -> set[str]:
        return {
            part.value
            for part in ast.walk(node)
            if isinstance(part, ast.Constant)
            and isinstance(part.value, str)
            and _FLAG.fullmatch(part.value)
        }

    def is_flags(node: ast.AST) -> bool:
        name = getattr(node, "id", getattr(node, "attr", ""))
        return "flags" in name

    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        match node:
            case ast.Tuple(elts=[ast.Starred(value=value), *_]) if is_flags(value):
                found |= words(node)  # (*flags, "word")
            case ast.keyword(arg="flags"):
                found |= words(node.value)  # flags=("word",)
            case ast.Assign(targets=[target], value=ast.Tuple() as value) if is_flags(target):
                found |= words(value)  # flags = ("word",)
            case ast.Call(func=ast.Attribute(value=value, attr="add")) if is_flags(value):
                found |= words(node)  # flags.add("word")
    return found


def test_every_flag_is_described() -> None:
    given = {flag for path in SOURCES for flag in flags_in(path)}
    told = first_cells(section(page("log.md"), "Flags"))

    assert sorted(told) == sorted(given)


def test_every_note_is_described() -> None:
    source = "".join(path.read_text() for path in (ROOT / "acp_proxy").rglob("*.py"))
    events = set(re.findall(r'"event": "([a-z ]+)"', source))
    told = first_cells(section(page("log.md"), "Gaps and notes"))

    assert sorted(told) == sorted({"event"} | events - {"start", "exit", "gap"})


@pytest.mark.parametrize("sql", blocks(section(page("log.md"), "Examples"), "sql"))
def test_a_query_in_the_documents_runs(tmp_path: Path, sql: str) -> None:
    log = put(put(tmp_path / "log.db", V1), V2)
    ask(log, "import", str(DOCS / "example.jsonl"))
    with open_recording(log) as recording:
        assert recording.connection().messages == 19
    with closing(sqlite3.connect(f"file:{log}?mode=ro", uri=True)) as db:
        rows = db.execute(sql).fetchall()

    assert rows
    assert all(any(cell is not None for cell in row) for row in rows)


@pytest.mark.slow
def test_the_streams_come_back_as_the_documents_say(log: Path) -> None:
    [code] = blocks(page("log.md"), "python")
    names: dict[str, Any] = {}
    exec(code, names)

    for command in ("verify", "compact"):
        ask(log, command, "1")
        for stream in STREAMS:
            assert names["stream"](str(log), 1, stream) == ask(log, "export", "--stream", stream)


def test_the_python_examples_do_what_they_say(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(log.parent)
    examples = doctest.DocTestParser().get_doctest(page("python.md"), {}, "python.md", None, 0)
    told: list[str] = []

    results = doctest.DocTestRunner().run(examples, out=told.append)

    assert results.attempted > 25
    assert "".join(told) == ""


def test_every_public_name_is_described_for_python() -> None:
    assert set(first_cells(section(page("python.md"), "From Python"))) == set(acp_proxy_names)


# Interchange.


def example(name: str) -> str:
    """Return an example of docs/interchange.md."""
    return blocks(page("interchange.md").partition(f"<!-- example: {name} -->")[2], "json")[0]


def test_the_interchange_example_comes_out_as_it_went_in(tmp_path: Path) -> None:
    file, log = tmp_path / "example.jsonl", tmp_path / "log.db"
    file.write_text(example("canonical"), encoding="utf-8")

    ask(log, "import", str(file))

    assert ask(log, "export", "--jsonl", "--raw").decode() == example("canonical")


def test_the_example_file_comes_out_as_it_went_in(log: Path) -> None:
    assert ask(log, "export", "--jsonl", "--raw") == (DOCS / "example.jsonl").read_bytes()


def test_the_short_interchange_example_is_enough(tmp_path: Path) -> None:
    file, log = tmp_path / "example.jsonl", tmp_path / "log.db"
    file.write_text(example("short"), encoding="utf-8")

    ask(log, "import", str(file))

    answer = json.loads(ask(log, "show", "2", "--json"))
    assert (answer["requestMethod"], answer["flags"]) == ("initialize", [])


# Links, and what else a document names.


def anchors(text: str) -> set[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_links_lead_somewhere(path: Path) -> None:
    for link in _LINK.findall(path.read_text()):
        if "://" in link:
            continue
        file, _, anchor = link.partition("#")
        target = path.parent / file if file else path
        assert target.is_file(), link
        assert not anchor or anchor in anchors(target.read_text()), link


def test_references_to_our_reading_of_the_protocol_lead_somewhere() -> None:
    headings = re.findall(r"^#+ (.+)$", page("protocol.md").replace("`", ""), re.MULTILINE)
    lost = []
    for path in sorted((ROOT / "acp_proxy").rglob("*.py")):
        text = path.read_text()
        assert "acp-facts" not in text, path
        for names in re.findall(r"docs/protocol\.md: ([A-Z][\w', ]*)", text):
            lost += [
                (path.name, name)
                for name in names.split(", ")
                if name[:1].isupper() and not any(one.startswith(name.strip()) for one in headings)
            ]

    assert lost == []


def test_every_room_is_in_the_design() -> None:
    text = section(page("design.md"), "Rooms")
    for path in (ROOT / "acp_proxy").iterdir():
        if path.is_dir() or path.suffix == ".py":
            if path.name.startswith("_"):
                continue
            assert f"`{path.name}`" in text, path.name


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_no_document_names_a_place_of_one_machine(path: Path) -> None:
    assert not re.search(r"/(root|work|tmp|Users)/", path.read_text())
