"""The manual pages: sound roff, letter for letter what the help says."""

import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import click
import pytest

MAN = Path(__file__).resolve().parent.parent / "docs" / "man"
PAGES = sorted(MAN.glob("*.1"))
_NO_DATE = 'WARNING: missing date, using "": TH'  # on purpose: see the writer
_OVERSTRIKE = re.compile(r".\x08|\x1b\[[0-9;]*m")

HELP = r"""Say .things 'quietly'.

.first a dot, `back`quotes, "quotes", a \(co that is none, --dashes, ~/^home.
'second an apostrophe; \fB is no font, ünïcode… is \n kept.

\b
  .in a table     --raw   \e[0m
'also here   "as"  it is
""".replace("\\b\n", "\b\n")


@pytest.fixture(scope="module")
def writer() -> ModuleType:
    """The module that writes the pages."""
    import importlib.util

    spec = importlib.util.spec_from_file_location("manpages", MAN.parent / "manpages.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def told_by(*command: str | Path) -> str:
    """Return what a formatter prints and complains of; the test is skipped where it is missing."""
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed")
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)
    return _OVERSTRIKE.sub("", done.stdout + done.stderr)


def test_mandoc_finds_nothing_wrong() -> None:
    found = told_by("mandoc", "-T", "lint", "-W", "warning", *PAGES).splitlines()

    assert [line for line in found if _NO_DATE not in line] == []
    assert len(found) == len(PAGES)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_groff_finds_nothing_wrong(path: Path) -> None:
    assert told_by("groff", "-man", "-Tutf8", "-ww", "-z", path) == ""


@pytest.mark.parametrize(
    "formatter", [("groff", "-man", "-Tutf8", "-rLL=200n"), ("mandoc", "-Tutf8", "-Owidth=200")],
    ids=lambda command: command[0],
)  # fmt: skip
def test_a_page_says_letter_for_letter_what_the_help_says(
    formatter: tuple[str, ...], writer: ModuleType, tmp_path: Path
) -> None:
    option = click.Option(["-o", "--out-put"], metavar="A\\B", help="'.dots' and \\e of it.")
    command = click.Command("odd", params=[option], help=HELP)
    [(name, text)] = writer.pages(command, "an-odd")
    (tmp_path / name).write_text(text, encoding="utf-8")

    shown = told_by(*formatter, tmp_path / name)

    words = shown.split()
    for word in HELP.replace("\b", "").split():
        assert word in words, word
    assert "  .in a table     --raw   \\e[0m\n" in shown
    assert '\'also here   "as"  it is\n' in shown
    assert "-o, --out-put A\\B" in shown
    assert "'.dots' and \\e of it." in shown


def test_man_finds_the_pages_of_an_installed_program() -> None:
    installed = Path(sys.prefix) / "share" / "man"
    pages = [path for path in PAGES if (installed / "man1" / path.name).is_file()]
    if not pages:
        pytest.skip("installed without its manual pages")
    for page in pages:
        assert page.stem.upper() in told_by("man", "-M", str(installed), page.stem)


def test_stale_pages_are_found_named_and_made_again(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    shutil.copytree(MAN.parent, docs)
    pages = {path.name: path.read_text() for path in PAGES}
    (docs / "man" / "acp-proxy-run.1").unlink()
    (docs / "man" / "acp-proxy-gone.1").write_text("of a command that is gone")
    (docs / "man" / "acp-proxy-tail.1").write_text(pages["acp-proxy-tail.1"].replace("K", "N"))
    script = [sys.executable, str(docs / "generate.py")]

    found = subprocess.run([*script, "--check"], capture_output=True, text=True, check=False)
    subprocess.run(script, capture_output=True, check=True, timeout=60)

    stale = re.findall(r"docs/man/acp-proxy-(\w+)\.1 is stale", found.stdout)
    assert (found.returncode, stale) == (1, ["gone", "run", "tail"])
    assert {path.name: path.read_text() for path in (docs / "man").iterdir()} == pages
