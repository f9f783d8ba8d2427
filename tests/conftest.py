"""Fixtures for all tests: the captures that may be there, and no trace in shared places."""

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from acp_proxy.installation import FALLBACK_ROOTS
from acp_proxy.journal.records import decode_facts
from acp_proxy.journal.tail import JournalReader
from tests.golden import Golden

os.environ["ACP_PROXY_CONFIG"] = os.devnull  # whoever runs the tests has settings of their own

SHARED = Path(__file__).resolve().parent.parent.parent / "shared"
NOWHERE = "/proc/acp-proxy-test/"
"""Where tests ask for logs that cannot be."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let golden files be written again."""
    parser.addoption("--update-golden", action="store_true", help="write the golden files again")


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    """Compare with golden files."""
    return Golden(update=request.config.getoption("--update-golden"))


@pytest.fixture(scope="session")
def captures() -> Path:
    """The folder of real conversations; the test is skipped where it is absent."""
    folder = SHARED / "captures"
    if not folder.is_dir():
        pytest.skip("../shared/captures is absent: this clone stands alone")
    return folder


@pytest.fixture(scope="session", autouse=True)
def no_trace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Remove the journals that tests of unusable logs left in the fallback folders."""
    yield
    ours = (str(tmp_path_factory.getbasetemp()), NOWHERE)
    for root in FALLBACK_ROOTS:
        for journal in Path(root, f"acp-proxy-{os.getuid()}").glob("*/*"):
            with contextlib.suppress(OSError), JournalReader(str(journal)) as reader:
                told = [decode_facts(record.data).get("log") for record in reader.read(0)[:1]]
                if str(told[0] if told else "").startswith(ours):
                    shutil.rmtree(journal.parent)


@pytest.fixture(scope="session")
def vectors() -> Path:
    """The folder of conversations with the states that they must give; skipped where absent."""
    folder = SHARED / "vectors"
    if not folder.is_dir():
        pytest.skip("../shared/vectors is absent: this clone stands alone")
    return folder
