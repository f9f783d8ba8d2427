"""The rules of the house that no linter keeps."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import acp_proxy

ROOT = Path(__file__).resolve().parent.parent
MODULES = sorted((ROOT / "acp_proxy").rglob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("*.py"))


def _name(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", MODULES + TESTS, ids=_name)
def test_a_module_says_first_what_lives_there(path: Path) -> None:
    text = path.read_text()
    if not text.strip():
        assert path.name == "__init__.py"
        return
    docstring = ast.get_docstring(ast.parse(text)) or ""

    assert docstring.partition("\n\n")[0].rstrip().endswith((".", ":"))


def loaded_by(code: str) -> set[str]:
    """Return the top level modules that a fresh interpreter has after some code."""
    script = f"import sys\n{code}\nprint(*{{name.partition('.')[0] for name in sys.modules}})"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, check=True, text=True
    )
    return set(done.stdout.split())


def test_reading_needs_neither_trio_nor_click_nor_sqlite_utils() -> None:
    loaded = loaded_by("from acp_proxy import *; import acp_proxy.recording")

    assert loaded.isdisjoint({"trio", "click", "sqlite_utils", "zstandard"})


def test_the_agent_is_started_before_anything_slow_is_imported() -> None:
    loaded = loaded_by("import acp_proxy.cli.run, acp_proxy.proxy")

    assert loaded.isdisjoint(
        {"trio", "click", "sqlite_utils", "sqlite3", "orjson", "json", "platformdirs", "zstandard"}
    )


def test_every_public_name_is_there() -> None:
    for name in acp_proxy.__all__:
        assert getattr(acp_proxy, name).__doc__
    with pytest.raises(AttributeError):
        acp_proxy.nothing_of_that_name  # noqa: B018


def test_no_module_is_called_by_a_word_that_says_nothing() -> None:
    names = {path.stem for path in MODULES}

    assert names.isdisjoint(
        {"utils", "helpers", "common", "core", "base", "manager", "handler", "misc"}
    )
