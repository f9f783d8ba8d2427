"""Damages journals that wait, records them, and compares the log with what the sound journal gives."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from acp_proxy.journal import handover
from acp_proxy.log.rows import STREAMS
from acp_proxy.recording import open_recording
from tests.fuzz import conversations
from tests.fuzz.samples import ask
from tests.fuzz.target import Bites, damaged
from tests.recorder.journals import UUID, abandon, append, begin, record

if TYPE_CHECKING:
    import random

_CHUNK = 700


def sound_journals(folder: Path) -> list[tuple[bytes, dict[str, bytes]]]:
    """Return journals of conversations, as files and what their streams are: closed, and left by a kill."""
    folder.mkdir(parents=True, exist_ok=True)
    found = []
    for name, lines in conversations.recordings():
        if name not in ("v1.jsonl", "v2.jsonl"):
            continue
        for is_closed in (True, False):
            log = folder / f"{name}-{is_closed}"
            writer = begin(log)
            streams = dict.fromkeys(STREAMS, b"")
            for stream, raw in lines:
                line = raw.rstrip(b"\n") + b"\n"
                streams[stream] += line
                append(
                    writer, [(stream, line[at : at + _CHUNK]) for at in range(0, len(line), _CHUNK)]
                )
            if is_closed:
                writer.close(0)
            else:
                abandon(writer)
            found.append((Path(writer.path).read_bytes(), streams))
    return found


def damage_one(
    folder: Path, sound: tuple[bytes, dict[str, bytes]], chance: random.Random
) -> tuple[str, list[str]]:
    """Damage a journal and record it; return what was done, and what should never be."""
    before, streams = sound
    edits = bytes([chance.randrange(6)]) + chance.randbytes(12 if chance.random() < 0.7 else 40)
    after = damaged(before, Bites(edits), 1 if len(edits) < 20 else 3)
    shutil.rmtree(folder, ignore_errors=True)
    journals = folder / "log.db.journals"
    journals.mkdir(parents=True, mode=0o700)
    journal = journals / UUID
    journal.write_bytes(after)
    done = record(str(journal))
    if b"Traceback" in done.stderr or done.returncode not in (handover.DONE, handover.GAVE_UP):
        return edits.hex(), [f"the recorder ends with {done.returncode}: {done.stderr!r}"]
    if done.returncode == handover.GAVE_UP:
        return edits.hex(), [] if os.listdir(journals) else ["given up, and nothing is kept"]
    return edits.hex(), list(_faults(folder / "log.db", journals, streams, after))


def _faults(log: Path, journals: Path, streams: dict[str, bytes], after: bytes) -> list[str]:
    if not log.exists():
        return [] if len(after) < 400 else ["nothing came into the log, without a word"]
    faults = []
    with open_recording(log) as recording:
        row = recording.connection()
        for stream, whole in streams.items():
            found = b"".join(recording.stream(row.id, stream))
            if not whole.startswith(found):
                faults.append(f"the {stream} has bytes that were never written")
        is_told = any(note["event"] == "journal damaged" for note in row.notes)
        is_whole = all(
            b"".join(recording.stream(row.id, stream)) == whole for stream, whole in streams.items()
        )
        if not is_whole and not is_told and row.status != "lost":
            faults.append("bytes are missing without a word")
        if is_told and not any(name.endswith(".damaged") for name in os.listdir(journals)):
            faults.append("the damaged journal was not kept")
    verified = ask(["verify"], log)
    if verified.fault or (verified.code == 0) is is_told:
        faults.append(f"verify: {verified}")
    return faults
