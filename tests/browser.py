"""A real browser for tests: headless Chromium, spoken to through a pipe; tests skip without one."""

import base64
import contextlib
import json
import os
import select
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

_NAMES = ("chromium", "chromium-browser", "google-chrome")
_LIMIT_S = 60.0
_THEIRS, _OURS = 3, 4  # the descriptors on which the browser reads and writes


class Tab:
    """One page in the browser.

    Attributes:
        requests: What it asked for.
        complaints: What the browser said of it: errors, refusals, dialogues.

    """

    def __init__(self, browser: "Browser") -> None:
        self._browser = browser
        target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        attached = browser.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session: str = attached["sessionId"]
        self.requests: list[str] = []
        self.complaints: list[str] = []
        for domain in ("Page", "Network", "Log", "Runtime"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Do something in this page."""
        result = self._browser.call(method, self._session, **parameters)
        for event in self._browser.events:
            self._take(event)
        self._browser.events.clear()
        return result

    def _take(self, event: dict[str, Any]) -> None:
        name, parameters = event["method"], event.get("params", {})
        if name == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])
        elif name in ("Log.entryAdded", "Runtime.exceptionThrown", "Page.javascriptDialogOpening"):
            self.complaints.append(json.dumps(parameters)[:500])
            if name == "Page.javascriptDialogOpening":
                self._browser.call("Page.handleJavaScriptDialog", self._session, accept=False)

    def show(self, page: Path, width: int, height: int, *, dark: bool = False) -> None:
        """Open a file as a person with that screen and taste would."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=width < 600,
        )  # fmt: skip
        taste = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[taste])
        self.call("Page.navigate", url=page.as_uri())
        deadline = time.monotonic() + _LIMIT_S
        while self.ask("document.readyState + location.protocol") != "completefile:":
            assert time.monotonic() < deadline, "the page is never complete"

    def ask(self, expression: str) -> Any:
        """Return the value of an expression in the page."""
        found = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        return found["result"].get("value")

    def picture(self, file: Path) -> None:
        """Save what is seen as PNG."""
        file.write_bytes(base64.b64decode(self.call("Page.captureScreenshot")["data"]))


class Browser:
    """A browser that runs."""

    def __init__(self, read: int, write: int) -> None:
        self._read, self._write = read, write
        self._buffer = bytearray()
        self._count = 0
        self.events: list[dict[str, Any]] = []

    def call(self, method: str, session: str | None = None, **parameters: Any) -> dict[str, Any]:
        """Let it do something; events that come meanwhile are kept."""
        self._count += 1
        message = {"id": self._count, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        number = self._count
        while True:
            found = self._message()
            if "id" not in found:
                self.events.append(found)
            elif found["id"] == number:
                assert "error" not in found, found
                result: dict[str, Any] = found["result"]
                return result

    def _message(self) -> dict[str, Any]:
        while (end := self._buffer.find(b"\0")) < 0:
            assert select.select([self._read], [], [], _LIMIT_S)[0], "the browser says nothing"
            piece = os.read(self._read, 1 << 20)
            assert piece, "the browser has gone"
            self._buffer += piece
        message: dict[str, Any] = json.loads(self._buffer[:end])
        del self._buffer[: end + 1]
        return message


@contextlib.contextmanager
def browser(folder: Path) -> Iterator[Browser]:
    """Run a browser with its profile in a folder."""
    program = next(filter(None, map(shutil.which, _NAMES)), None)
    if program is None:
        pytest.skip("there is no Chromium on this machine")
    command_read, command_write = os.pipe()
    answer_read, answer_write = os.pipe()
    script = f'exec {_THEIRS}<&{command_read} {_OURS}>&{answer_write}; exec "$@"'
    options = [
        "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
        "--disable-background-networking", "--remote-debugging-pipe", f"--user-data-dir={folder}",
    ]  # fmt: skip
    with subprocess.Popen(
        ["/bin/bash", "-c", script, "bash", program, *options],
        pass_fds=(command_read, answer_write),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        os.close(command_read)
        os.close(answer_write)
        try:
            yield Browser(answer_read, command_write)
        finally:
            os.close(command_write)  # it ends when nobody can command it any more
            os.close(answer_read)
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
