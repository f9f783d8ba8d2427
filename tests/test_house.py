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
_PURE = ("wire", "redaction", "events", "state", "views")


def _opening(path: Path) -> str:
    """Return the first paragraph of a module's docstring."""
    return (ast.get_docstring(ast.parse(path.read_text())) or "").partition("\n\n")[0].rstrip()


def test_every_module_says_first_what_lives_there() -> None:
    silent = [
        str(path.relative_to(ROOT))
        for path in MODULES + TESTS
        if (path.name != "__init__.py" or path.read_text().strip())
        and not _opening(path).endswith((".", ":"))
    ]

    assert silent == []


def test_no_pure_module_opens_a_file() -> None:
    """Imports are checked by import-linter; ``open`` needs none."""
    impure = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in MODULES
        if path.relative_to(ROOT).parts[1] in _PURE
        for node in ast.walk(ast.parse(path.read_text()))
        if (isinstance(node, ast.Name) and node.id in {"open", "input", "print"})
        or (isinstance(node, ast.Attribute) and node.attr in {"read_text", "write_text"})
    ]

    assert impure == []


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
