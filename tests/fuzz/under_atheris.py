"""Runs a target with atheris, which follows the coverage of the package; a process of its own.

``python -m tests.fuzz.under_atheris TARGET FOLDER FLAG...``: finds go to FOLDER, the flags to
libFuzzer, which ends the process.
"""

import sys
from pathlib import Path

import atheris


def main() -> None:
    """Run the target that the arguments name."""
    name, folder, *flags = sys.argv[1:]
    with atheris.instrument_imports(include=["acp_proxy"]):
        from tests.fuzz.finds import Finds
        from tests.fuzz.targets import TARGETS
    target, finds = TARGETS[name], Finds(Path(folder))

    def attempt(data: bytes) -> None:
        finds.fails(target, data)

    atheris.Setup([sys.argv[0], *flags], attempt)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
