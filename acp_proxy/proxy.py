"""The proxy process: relay, journal and recorder put together, and the agent's end made ours.

Never parses what passes, never touches SQLite, writes nothing of its own to the
three descriptors. The agent comes first, then the threads that copy, then all
the rest: the client waits for the agent, never for us.
"""

import contextlib
import os
import sys
import time
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from acp_proxy import __version__
from acp_proxy.errors import AgentError
from acp_proxy.journal import handover, spool
from acp_proxy.journal.records import Stream
from acp_proxy.log.place import default_path, log_path
from acp_proxy.relay import agent as agents
from acp_proxy.relay import signals, stdio
from acp_proxy.relay.pump import Pump, StderrPump
from acp_proxy.settings import RULES, Settings, label_of, load_leniently

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Sequence
    from typing import NoReturn

    from acp_proxy.journal.append import JournalWriter
    from acp_proxy.journal.records import Facts

_MAX_RECORDER_RESTARTS = 3
_SWITCH_SECONDS = 0.0005
"""How long a thread that copies may wait for one that computes: only importing trio does."""
_IMPATIENT_SECONDS = 0.5
"""A client that asked for the end and has read nothing for so long wants no more."""
_SOON_SECONDS = 2.0
"""A signal that came so long before the agent's end did not ask for it."""
_HANG_UP_SECONDS = 0.05
"""When a terminal ends, its signal must reach the agent before the end of file does."""


def run_proxy(
    command: "Sequence[str]",
    *,
    log: str | None = None,
    label: str | None = None,
    redact_at_rest: bool = False,
    keep: str | None = None,
    failure: AgentError | None = None,
) -> "NoReturn":
    """Stand between the client on our three descriptors and an agent; record; end as it ends.

    Does not return: the process ends with the agent's exit code, or by its signal.
    Recording trouble changes nothing for the two; it shows in ``acp-proxy log info``.

    What is not given is as the settings say (``acp_proxy.settings``), read while the agent starts.

    Args:
        command: The agent's program and its arguments.
        log: Path of the log.
        label: A text to find the connection by, or its template.
        redact_at_rest: Let the recorder blank secrets before it writes (docs/redaction.md).
        keep: What the log is to keep, as ``log.retention.parse_keep`` reads it; the recorder deletes
            the rest when this connection has ended.
        failure: Why the agent cannot be started, if that is known already.

    Raises:
        AgentError: The agent cannot be started. That is recorded too.

    """
    stdio.fill_missing()
    before = signals.take_over()
    asked = _Asked(log, label, keep, redact_at_rest)
    if failure is not None:
        _record_failure(failure, *_start_facts(command, asked))
        raise failure
    try:
        agent = agents.start(command, before)
    except AgentError as error:
        _record_failure(error, *_start_facts(command, asked))
        raise
    _Connection(agent, *_start_facts(command, asked)).run()


class _Asked(NamedTuple):
    """What the options of ``run`` ask for; None and no leave it to the settings."""

    log: str | None
    label: str | None
    keep: str | None
    redact_at_rest: bool


class _Connection:
    """One agent, its pumps, its journal, its recorder."""

    def __init__(self, agent: agents.Agent, facts: "Facts", trouble: str | None) -> None:
        self._agent = agent
        stdio.close_others()
        self._asked_at = float("-inf")  # when the last signal came that asks for the end
        gone, self._still_there = os.pipe()  # hangs up when the agent has ended
        self._wake_reader, wake_writer = os.pipe()
        for end in (self._wake_reader, wake_writer):
            os.set_blocking(end, False)
        self._journal = _open_journal({**facts, "agent_pid": agent.pid}, lambda: _wake(wake_writer))
        if trouble is not None:
            self._note({"event": "settings ignored", "why": trouble})
        self._to_agent = Pump(
            stdio.STDIN,
            agent.stdin,
            gone,
            self._record(Stream.CLIENT),
            self._client_ended,
            drains=False,
        )
        self._to_client = Pump(
            agent.stdout,
            stdio.STDOUT,
            gone,
            self._record(Stream.AGENT),
            self._agent_ended,
            drains=True,
        )
        self._stderr = StderrPump(agent.stderr, stdio.STDERR, gone, self._record(Stream.STDERR))
        self._recorder: subprocess.Popen[bytes] | None = None

    def run(self) -> "NoReturn":
        """Copy until the agent has ended, then end like it."""
        sys.setswitchinterval(_SWITCH_SECONDS)
        for pump in (self._to_client, self._to_agent, self._stderr):
            pump.start()
        signals.forward_to(self._agent.pid, self._take_signal)
        # Before trio is imported: the recorder starts up while that goes on.
        recorder = self._start_recorder()
        try:
            import trio  # noqa: PLC0415 - 90 ms that nobody waits for: the bytes flow already

            trio.run(self._supervise, recorder)
        except Exception:  # noqa: BLE001 - no thread to be had, no memory: the bytes flow all the same
            self._agent.wait()
            self._tell_pumps()
            self._to_client.join()
            self._stderr.join()
        self._end()

    def _end(self) -> "NoReturn":
        """Close the record and end as the agent ended."""
        status = self._agent.reap()
        if self._stderr.dropped:
            self._note({"event": "stderr dropped", "bytes": self._stderr.dropped})
        if self._journal is not None:
            self._journal.close(status)
        if self._recorder is not None:
            handover.hurry(self._recorder)
        agents.exit_like(status)

    def _take_signal(self, signum: int) -> None:
        if signum in signals.ENDING:
            self._asked_at = time.monotonic()

    async def _supervise(self, recorder: "subprocess.Popen[bytes] | None") -> None:
        """Wait for the agent's end and the last bytes; keep a recorder running meanwhile."""
        import trio  # noqa: PLC0415 - see run

        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._keep_recording, recorder)
            await trio.to_thread.run_sync(self._agent.wait)
            self._tell_pumps()
            await self._deliver_the_rest()
            await trio.to_thread.run_sync(self._stderr.join)
            nursery.cancel_scope.cancel()

    def _tell_pumps(self) -> None:
        """Tell the pumps that the agent has ended."""
        if self._still_there >= 0:
            os.close(self._still_there)
            self._still_there = -1

    async def _deliver_the_rest(self) -> None:
        """Wait until the client has all that the agent wrote; not for ever if it asked for the end."""
        import trio  # noqa: PLC0415 - see run

        ended = time.monotonic()
        while self._to_client.is_alive():
            before = self._to_client.delivered
            await trio.to_thread.run_sync(self._to_client.join, _IMPATIENT_SECONDS)
            asked = self._asked_at > ended - _SOON_SECONDS  # an earlier one did not end the agent
            if asked and self._to_client.delivered == before:
                return

    async def _keep_recording(self, recorder: "subprocess.Popen[bytes] | None") -> None:
        """Start the recorder again when it dies; not when it says that it cannot work."""
        import trio  # noqa: PLC0415 - see run

        for _ in range(_MAX_RECORDER_RESTARTS):
            if recorder is None:
                return
            code = await trio.to_thread.run_sync(recorder.wait, abandon_on_cancel=True)
            if code in (handover.DONE, handover.GAVE_UP):
                return
            recorder = self._start_recorder()

    def _start_recorder(self) -> "subprocess.Popen[bytes] | None":
        if self._journal is None:
            return None
        self._recorder = None
        with contextlib.suppress(OSError):
            self._recorder = handover.start_recorder(self._journal.path, self._wake_reader)
        return self._recorder

    def _record(self, stream: Stream) -> "Callable[[bytes], object]":
        journal = self._journal
        if journal is None:
            return lambda _: None

        def record(chunk: bytes) -> None:
            with contextlib.suppress(Exception):  # whatever it is, the bytes go on
                journal.append(stream, chunk)

        return record

    def _note(self, facts: "Facts") -> None:
        if self._journal is not None:
            self._journal.note(facts)

    def _client_ended(self, why: str, undelivered: int) -> None:
        self._note({"event": "end", "stream": "client", "why": why, "undelivered": undelivered})
        if os.isatty(stdio.STDIN):
            time.sleep(_HANG_UP_SECONDS)
        self._agent.close_stdin()
        if why == "sink gone":  # the client's next write must fail, as the agent meant it to
            stdio.let_go(stdio.STDIN)

    def _agent_ended(self, why: str, undelivered: int) -> None:
        self._note({"event": "end", "stream": "agent", "why": why, "undelivered": undelivered})
        if why == "sink gone":
            self._agent.close_stdout()
        stdio.let_go(stdio.STDOUT)


def _start_facts(command: "Sequence[str]", asked: _Asked) -> "tuple[Facts, str | None]":
    """Return the facts of the start, and what kept the settings from being used."""
    try:
        cwd = os.getcwd()
    except OSError:  # somebody deleted it
        cwd = ""
    facts: Facts = {
        "event": "start",
        "uuid": _new_uuid(),
        "command": list(command),
        "cwd": cwd,
        "host": os.uname().nodename,
        "proxy_pid": os.getpid(),
        "version": __version__,
    }
    settings, trouble = load_leniently()
    facts["log"], misplaced = _place(asked.log, settings)
    trouble = "; ".join(filter(None, (trouble, misplaced))) or None
    if label := asked.label if asked.label is not None else settings.label.value:
        facts["label"] = _label(label, command, cwd)
    if keep := asked.keep or settings.keep.value:
        facts["keep"] = keep
    if asked.redact_at_rest or settings.redact_at_rest.value:
        facts["redact"] = 1
        facts |= {f"redact_{name}": list(settings.rules.get(name, ())) for name in RULES}
    return facts, trouble


def _label(template: str, command: "Sequence[str]", cwd: str) -> str:
    try:
        return label_of(template, command, cwd)
    except Exception:  # noqa: BLE001 - whatever it is, the conversation goes on
        return template


def _place(log: str | None, settings: Settings) -> tuple[str, str | None]:
    """Return the log to record into, and why it is not the one that was asked for."""
    why = None
    for find in (partial(log_path, log, settings), default_path):
        try:
            return find(), why
        except Exception as error:  # noqa: BLE001 - whatever it is, the conversation goes on
            why = str(error)
    return "/nowhere/log.db", why


def _new_uuid() -> str:
    """Return a random UUID; the module of that name takes 8 ms to import."""
    raw = bytearray(os.urandom(16))
    raw[6] = raw[6] & 0x0F | 0x40
    raw[8] = raw[8] & 0x3F | 0x80
    text = raw.hex()
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))


def _open_journal(
    facts: "Facts", notify: "Callable[[], object] | None" = None
) -> "JournalWriter | None":
    try:
        return spool.create(str(facts["log"]), str(facts["uuid"]), facts, notify)
    except Exception:  # noqa: BLE001 - whatever it is, the conversation goes on unrecorded
        return None


def _wake(pipe: int) -> None:
    with contextlib.suppress(OSError):  # full: the recorder has enough to wake up for
        os.write(pipe, b"!")


def _record_failure(error: AgentError, facts: "Facts", trouble: str | None) -> None:
    """Record a connection whose agent never started."""
    journal = _open_journal(facts)
    if journal is not None:
        if trouble is not None:
            journal.note({"event": "settings ignored", "why": trouble})
        journal.note({"event": "not started", "why": str(error)})
        journal.close(error.exit_code << 8)
        with contextlib.suppress(OSError):
            handover.start_recorder(journal.path)
