"""A newcomer's walk: docs/quickstart.md run as it stands, and looked at. Standard library only.

``python tests/walk.py FOLDER`` runs it in a folder with a checkout in it, installing first, in an
environment without anything of ours; ``.ci/run`` does so. The suite walks from behind the installation.
What must have been seen is in comments behind the blocks: ``<!-- seen: TEXT -->``.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

QUICKSTART = Path(__file__).resolve().parent.parent / "docs" / "quickstart.md"
LIMIT_SECONDS = 600
_BLOCK = re.compile(r"^```sh\n(.*?)^```\n((?:<!-- seen: .*? -->\n)*)", re.DOTALL | re.MULTILINE)
_SEEN = re.compile(r"<!-- seen: (.*?) -->")


class Block(NamedTuple):
    """Commands that stand together, and what their output must hold."""

    commands: str
    seen: list[str]


def blocks(text: str) -> list[Block]:
    """Return the blocks of a page, in order."""
    return [Block(match[1], _SEEN.findall(match[2])) for match in _BLOCK.finditer(text)]


def walk(steps: list[Block], folder: Path, environment: dict[str, str]) -> list[str]:
    """Run blocks one after the other in one shell; return what went wrong, nothing if all is well.

    The shell stops at the first command that fails, as a person would.
    """
    with tempfile.TemporaryDirectory() as outputs:
        script = ["set -euo pipefail"]
        for number, block in enumerate(steps):
            script.append(f"{{\n{block.commands}}} > {outputs}/{number} 2>&1")
        done = subprocess.run(
            ["bash", "-c", "\n".join(script)],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            timeout=LIMIT_SECONDS,
            check=False,
        )
        wrong: list[str] = []
        output = ""
        for number, block in enumerate(steps):
            path = Path(outputs, str(number))
            output = path.read_text(errors="replace") if path.exists() else ""
            missing = [text for text in block.seen if text not in output]
            if missing or not path.exists():
                wrong.append(f"{block.commands}\nmissing: {missing}\nits output was:\n{output}")
        if done.returncode and not wrong:
            wrong.append(f"the walk ended with {done.returncode}; the last output was:\n{output}")
    return wrong


def newcomer(home: str) -> dict[str, str]:
    """Return the environment of somebody who is new here."""
    kept = ("LANG", "LC_ALL", "SSL_CERT_FILE", "PIP_", "UV_")
    found = {name: value for name, value in os.environ.items() if name.startswith(kept)}
    return found | {"HOME": home, "PATH": os.environ["PATH"]}


def main() -> int:
    """Walk in the folder that the argument names."""
    with tempfile.TemporaryDirectory() as home:
        wrong = walk(blocks(QUICKSTART.read_text()), Path(sys.argv[1]), newcomer(home))
    for text in wrong:
        sys.stdout.write(f"{text}\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
