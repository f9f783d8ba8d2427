# ruff: noqa: INP001 - a script beside the documents, no package
"""Write the generated parts of the documents again, or check that they are fresh.

A generated part stands between ``<!-- generated: NAME -->`` and ``<!-- end -->``; NAME says what
it is made from:

- ``help acp-proxy ...``: what that command prints for ``--help``;
- ``$ acp-proxy ...``: what that command prints, asked of a log with example.jsonl in it;
- ``schema NAME``: how a table, with its indexes, or a view is created in a fresh log;
- ``snippet EDITOR AGENT ...``: what an editor is told to start that agent.

``python docs/generate.py`` rewrites; with ``--check`` it changes nothing, names the files that
are stale, and exits with 1 if any is.
"""

import contextlib
import os
import re
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from click.testing import CliRunner, Result

from acp_proxy.cli.commands import acp_proxy
from acp_proxy.editors.known import EDITORS, Launch, short_name
from acp_proxy.log import schema
from acp_proxy.views.tables import fit

DOCS = Path(__file__).resolve().parent
EXAMPLE = DOCS / "example.jsonl"
_COLUMNS = 140  # tables are cut as on a terminal so wide
_HELP_COLUMNS = 78  # what click takes of 80
_PROXY = "/usr/local/bin/acp-proxy"  # where snippets say that we are
_PART = re.compile(r"(?P<mark><!-- generated: (?P<name>.+?) -->\n).*?(?=<!-- end -->)", re.DOTALL)


class Maker:
    """Makes generated parts, in a folder of its own with a log that holds the example."""

    def __init__(self, folder: str) -> None:
        self._log = os.path.join(folder, "log.db")
        shutil.copy(EXAMPLE, folder)
        self._run("acp-proxy import example.jsonl")

    def part(self, name: str) -> str:
        """Return the text of a part.

        Raises:
            ValueError: There is no part of that name, or its command fails.

        """
        what, _, of = name.partition(" ")
        if what == "$":
            return self._output(of)
        if what == "help":
            return self._help(of)
        if what == "schema":
            return self._schema(of)
        if what == "snippet":
            return _snippet(of)
        raise ValueError(f'nothing is known of "{name}"')

    def _help(self, command: str) -> str:
        text = self._run(f"{command} --help").output
        return f"```text\n{text.rstrip()}\n```\n"

    def _output(self, line: str) -> str:
        text = self._run(line).output.rstrip("\n")
        if "--json" not in line and "--format" not in line:
            text = fit(text, _COLUMNS)
        fence = "`" * max(3, *(1 + len(run) for run in re.findall("`+", text)), 3)
        return f"{fence}console\n$ {line}\n{text}\n{fence}\n"

    def _run(self, line: str) -> Result:
        _, *arguments = shlex.split(line)
        runner = CliRunner(
            env={"ACP_PROXY_LOG": self._log, "ACP_PROXY_CONFIG": os.devnull, "NO_COLOR": "1"}
        )
        with contextlib.chdir(os.path.dirname(self._log)):
            result = runner.invoke(
                acp_proxy,
                arguments,
                prog_name="acp-proxy",
                terminal_width=_HELP_COLUMNS,
                max_content_width=_HELP_COLUMNS,
            )
        negative_answer = 1 if arguments[0] == "diff" else 0  # something differs: as diff(1)
        if result.exit_code not in (0, negative_answer):
            raise ValueError(f"{line} ended with {result.exit_code}: {result.output}")
        return result

    def _schema(self, name: str) -> str:
        connection = schema.open_for_reading(self._log)
        try:
            rows = connection.execute(
                "SELECT sql FROM sqlite_schema WHERE tbl_name = ? AND sql IS NOT NULL ORDER BY rowid",
                (name,),
            ).fetchall()
        finally:
            connection.close()
        if not rows:
            raise ValueError(f"a fresh log has no {name}")
        statements = "\n".join(f"{sql};" for (sql,) in rows)
        return f"```sql\n{statements}\n```\n"


def _snippet(line: str) -> str:
    name, *agent = shlex.split(line)
    editor = EDITORS[name]
    text = editor.snippet(Launch([_PROXY], agent, editor.name_of(short_name(agent))))
    return f"```{editor.language}\n{text}\n```\n"


def fresh(text: str, maker: Maker) -> str:
    """Return a document with its generated parts made again."""
    return _PART.sub(lambda match: match["mark"] + maker.part(match["name"]), text)


def wanted() -> Iterator[tuple[Path, str]]:
    """Yield the documents with what has to stand in them."""
    with tempfile.TemporaryDirectory() as folder:
        maker = Maker(folder)
        for path in sorted(DOCS.glob("*.md")):
            yield path, fresh(path.read_text(encoding="utf-8"), maker)


def main() -> int:
    """Rewrite, or check, all documents; return the exit code."""
    is_check = sys.argv[1:] == ["--check"]
    if sys.argv[1:] and not is_check:
        sys.stderr.write("usage: python docs/generate.py [--check]\n")
        return 2
    stale = 0
    for path, text in wanted():
        if text == path.read_text(encoding="utf-8"):
            continue
        stale += 1
        name = f"docs/{path.relative_to(DOCS)}"
        if is_check:
            sys.stdout.write(f"{name} is stale; run: python docs/generate.py\n")
        else:
            path.write_text(text, encoding="utf-8")
            sys.stdout.write(f"{name} rewritten\n")
    return 1 if is_check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
