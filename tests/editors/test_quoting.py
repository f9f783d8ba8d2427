"""Every word comes out of every language as it went in, read by that language where it is here."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_proxy.editors import quoting
from tests.editors.readers import elisp_strings, lua_strings, string_argv
from tests.editors.settings_texts import WORDS

AWKWARD = [
    "", " ", "a b", "'", '"', "it's", 'say "x"', "\\", "\\\\", "c:\\new\\table", "$HOME", "`id`", "$(id)",
    "é", "日本", "🎉", "-", "--flag=a b", "a\nb", "a\tb", "\x1b[2J", "\x7f", "\u202e", "#x", "~", "*", "!", "%",
    "\\n", "?a", ";x", "{x}", "[x]", "a\\", "'\"'", "\u2028", "\ufeff", "\u00a0",
]  # fmt: skip


def run(*command: str, stdin: str) -> str:
    """Return what an interpreter prints."""
    done = subprocess.run(
        command, input=stdin, capture_output=True, encoding="utf-8", check=True, timeout=120
    )
    return done.stdout


@given(st.lists(WORDS, max_size=5))
def test_words_survive_json(words: list[str]) -> None:
    text = quoting.json_layout({"x": words})

    assert json.loads(text) == {"x": words}


@given(st.lists(WORDS, max_size=5))
def test_words_survive_lua(words: list[str]) -> None:
    assert lua_strings(quoting.lua_list(words)) == words


@given(st.lists(WORDS, max_size=5))
def test_words_survive_emacs_lisp(words: list[str]) -> None:
    assert elisp_strings(quoting.elisp_list(words)) == words


@given(st.lists(WORDS, max_size=5))
def test_words_survive_a_shell_and_another_in_it(words: list[str]) -> None:
    line = quoting.shell_line(["toad", quoting.shell_line(words)])

    assert shlex.split(shlex.split(line)[1]) == words


@given(st.lists(WORDS, max_size=5))
def test_words_survive_string_argv_or_are_refused(words: list[str]) -> None:
    if any("'" in word and '"' in word for word in words):
        with pytest.raises(ValueError, match="quotes of both kinds"):
            quoting.string_argv_line(words)
    else:
        assert string_argv(quoting.string_argv_line(words)) == words


def test_nothing_in_a_snippet_acts_on_a_terminal() -> None:
    harmful = "\x1b[2J\x7f\u202e"
    for text in (
        quoting.json_layout([harmful]),
        quoting.lua_list([harmful]),
        quoting.elisp_list([harmful]),
    ):
        assert not re.search("[\x00-\x1f\x7f\u202e]", text)


@pytest.mark.parametrize("interpreter", ["lua5.1", "lua5.4", "luajit", "lua"])
def test_lua_itself_reads_the_words(interpreter: str) -> None:
    if shutil.which(interpreter) is None:
        pytest.skip(f"{interpreter} is not installed")
    script = f'for _, word in ipairs({quoting.lua_list(AWKWARD)}) do io.write(word, "\\0") end'

    assert run(interpreter, "-", stdin=script).split("\0")[:-1] == AWKWARD


def test_emacs_itself_reads_the_words() -> None:
    if shutil.which("emacs") is None:
        pytest.skip("emacs is not installed")
    program = (
        '(progn (set-language-environment "UTF-8") (let ((words (read (current-buffer))))'
        ' (princ (mapconcat (lambda (word) (concat word "\\0")) (cadr words) ""))))'
    )
    script = f'(with-temp-buffer (insert-file-contents "/dev/stdin") {program})'

    done = run(
        "emacs", "-Q", "--batch", "--eval", '(setq coding-system-for-read \'utf-8-unix)',
        "--eval", script, stdin=quoting.elisp_list(AWKWARD),
    )  # fmt: skip
    assert done.split("\0")[:-1] == AWKWARD


def test_a_shell_itself_reads_the_words() -> None:
    line = quoting.shell_line(["printf", "%s\\0", *AWKWARD])

    assert run("sh", stdin=line).split("\0")[:-1] == AWKWARD


def test_node_itself_reads_the_words() -> None:
    if shutil.which("node") is None:
        pytest.skip("node is not installed")
    script = f"process.stdout.write({quoting.json_layout(AWKWARD)}.join('\\0'))"

    assert run("node", "-", stdin=script).split("\0") == AWKWARD
