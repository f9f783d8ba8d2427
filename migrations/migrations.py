"""The schema's history. Append to it; never edit what has been released.

This file runs alone, under ``sqlite-utils migrate LOG migrations/`` as well as
inside the program, so it imports nothing but sqlite_utils and typing.
"""

from typing import TYPE_CHECKING

from sqlite_utils import Migrations

if TYPE_CHECKING:
    from sqlite_utils import Database

migrations = Migrations("acp_proxy")


@migrations()
def m0001_recording(db: "Database") -> None:
    """Start: connections, the frames as they travelled, and an index of the messages in them."""
    db.executescript("""
CREATE TABLE connections (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    uuid TEXT NOT NULL UNIQUE,
    label TEXT,
    command TEXT,
    cwd TEXT,
    host TEXT,
    proxy_pid INTEGER,
    agent_pid INTEGER,
    recorded_by TEXT,
    added_ns INTEGER NOT NULL,
    started_ns INTEGER,
    ended_ns INTEGER,
    duration_ns INTEGER,
    status TEXT NOT NULL,
    exit_code INTEGER,
    signal INTEGER,
    protocol_version ANY,
    client_name TEXT,
    client_title TEXT,
    client_version TEXT,
    agent_name TEXT,
    agent_title TEXT,
    agent_version TEXT,
    frames INTEGER NOT NULL DEFAULT 0,
    messages INTEGER NOT NULL DEFAULT 0,
    client_bytes INTEGER NOT NULL DEFAULT 0,
    agent_bytes INTEGER NOT NULL DEFAULT 0,
    stderr_bytes INTEGER NOT NULL DEFAULT 0,
    client_sha256 TEXT,
    agent_sha256 TEXT,
    stderr_sha256 TEXT,
    gaps TEXT NOT NULL DEFAULT '[]',
    notes TEXT NOT NULL DEFAULT '[]',
    facts TEXT,
    journal_position INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE frames (
    id INTEGER PRIMARY KEY,
    stream_code INTEGER NOT NULL,
    offset INTEGER NOT NULL,
    time_ns INTEGER,
    elapsed_ns INTEGER,
    raw BLOB NOT NULL,
    connection_id INTEGER GENERATED ALWAYS AS (id >> 32) VIRTUAL,
    seq INTEGER GENERATED ALWAYS AS (id & 4294967295) VIRTUAL,
    stream TEXT GENERATED ALWAYS AS
        (CASE stream_code WHEN 0 THEN 'client' WHEN 1 THEN 'agent' WHEN 2 THEN 'stderr' END) VIRTUAL
) STRICT;

CREATE TABLE messages (
    connection_id INTEGER NOT NULL REFERENCES connections(id),
    seq INTEGER NOT NULL,
    batch_index INTEGER,
    stream_code INTEGER NOT NULL,
    kind_code INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    method TEXT,
    id TEXT,
    session_id TEXT,
    session_update TEXT,
    tool_call_id TEXT,
    terminal_id TEXT,
    request_seq INTEGER,
    duration_ns INTEGER,
    error_code INTEGER,
    flags TEXT,
    reason TEXT,
    frame_seq INTEGER GENERATED ALWAYS AS (seq - coalesce(batch_index, 0)) VIRTUAL,
    stream TEXT GENERATED ALWAYS AS
        (CASE stream_code WHEN 0 THEN 'client' WHEN 1 THEN 'agent' WHEN 2 THEN 'stderr' END) VIRTUAL,
    kind TEXT GENERATED ALWAYS AS
        (CASE kind_code WHEN 0 THEN 'notification' WHEN 1 THEN 'request' WHEN 2 THEN 'result'
            WHEN 3 THEN 'error' WHEN 4 THEN 'text' WHEN 5 THEN 'invalid' END) VIRTUAL,
    PRIMARY KEY (connection_id, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX messages_by_request ON messages (connection_id, request_seq)
    WHERE request_seq IS NOT NULL;

CREATE VIEW wire AS
SELECT m.connection_id, m.seq, m.stream, m.kind, m.method, m.id, m.session_id, m.session_update,
    m.tool_call_id, m.terminal_id, m.request_seq, m.duration_ns, m.error_code, m.flags, m.reason,
    m.batch_index, m.bytes, f.offset, f.time_ns, f.elapsed_ns, f.raw
FROM messages m JOIN frames f ON f.id = (m.connection_id << 32) + m.frame_seq;
""")


@migrations()
def m0002_state(db: "Database") -> None:
    """Add the state: checkpoints to have it at any message, and the latest one in columns."""
    db.executescript("""
ALTER TABLE connections ADD COLUMN derived INTEGER;

CREATE TABLE checkpoints (
    connection_id INTEGER NOT NULL REFERENCES connections(id),
    seq INTEGER NOT NULL,
    version INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    PRIMARY KEY (connection_id, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE checkpoint_parts (
    connection_id INTEGER NOT NULL REFERENCES connections(id),
    part INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    since INTEGER NOT NULL,
    head BLOB,
    tail BLOB
) STRICT;
CREATE UNIQUE INDEX checkpoint_parts_by_part
    ON checkpoint_parts (connection_id, part, seq, since);

CREATE TABLE sessions (
    connection_id INTEGER NOT NULL REFERENCES connections(id),
    session_id TEXT NOT NULL,
    first_seq INTEGER NOT NULL,
    last_seq INTEGER NOT NULL,
    cwd TEXT,
    title TEXT,
    mode TEXT,
    activity TEXT,
    closed INTEGER NOT NULL,
    messages INTEGER NOT NULL,
    context_used INTEGER,
    context_size INTEGER,
    cost TEXT,
    updated_at TEXT,
    PRIMARY KEY (connection_id, session_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE turns (
    connection_id INTEGER NOT NULL REFERENCES connections(id),
    session_id TEXT NOT NULL,
    started_seq INTEGER NOT NULL,
    prompt_seq INTEGER,
    ended_seq INTEGER,
    stop_reason TEXT,
    error TEXT,
    message_id TEXT,
    PRIMARY KEY (connection_id, session_id, started_seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE tool_calls (
    connection_id INTEGER NOT NULL REFERENCES connections(id),
    session_id TEXT NOT NULL,
    tool_call_id TEXT NOT NULL,
    first_seq INTEGER NOT NULL,
    last_seq INTEGER NOT NULL,
    name TEXT,
    kind TEXT NOT NULL,
    status TEXT NOT NULL,
    title TEXT,
    locations TEXT NOT NULL,
    raw_input TEXT,
    content_items INTEGER NOT NULL,
    PRIMARY KEY (connection_id, session_id, tool_call_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE terminals (
    connection_id INTEGER NOT NULL REFERENCES connections(id),
    session_id TEXT NOT NULL,
    owner TEXT NOT NULL,
    terminal_id TEXT NOT NULL,
    first_seq INTEGER NOT NULL,
    last_seq INTEGER NOT NULL,
    command TEXT,
    args TEXT,
    cwd TEXT,
    output_bytes INTEGER,
    truncated INTEGER,
    exited INTEGER NOT NULL,
    exit_code INTEGER,
    signal TEXT,
    killed INTEGER NOT NULL,
    released INTEGER NOT NULL,
    PRIMARY KEY (connection_id, session_id, owner, terminal_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE permissions (
    connection_id INTEGER NOT NULL REFERENCES connections(id),
    session_id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    request_id TEXT NOT NULL,
    status TEXT NOT NULL,
    tool_call_id TEXT,
    title TEXT,
    option_id TEXT,
    answered_seq INTEGER,
    PRIMARY KEY (connection_id, session_id, seq)
) STRICT, WITHOUT ROWID;
""")


@migrations()
def m0003_search(db: "Database") -> None:
    """Add the texts of conversations and their full-text index."""
    db.executescript("""
CREATE TABLE texts (
    id INTEGER PRIMARY KEY,
    connection_id INTEGER NOT NULL REFERENCES connections(id),
    part INTEGER NOT NULL,
    place INTEGER NOT NULL,
    kind TEXT NOT NULL,
    session_id TEXT,
    seq INTEGER NOT NULL,
    last_seq INTEGER NOT NULL,
    text TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX texts_by_part ON texts (connection_id, part, place);

CREATE VIRTUAL TABLE search USING fts5(
    text, content = 'texts', content_rowid = 'id', tokenize = 'unicode61 remove_diacritics 2'
);
CREATE TRIGGER texts_deleted AFTER DELETE ON texts BEGIN
    INSERT INTO search (search, rowid, text) VALUES ('delete', old.id, old.text);
END;
CREATE TRIGGER texts_changed AFTER UPDATE OF text ON texts BEGIN
    INSERT INTO search (search, rowid, text) VALUES ('delete', old.id, old.text);
    INSERT INTO search (rowid, text) VALUES (new.id, new.text);
END;
""")


@migrations()
def m0004_checksums(db: "Database") -> None:
    """Add checksums, so that what is damaged is not taken for the truth."""
    db.executescript("""
ALTER TABLE frames ADD COLUMN crc INTEGER;
ALTER TABLE checkpoints ADD COLUMN parts INTEGER;
ALTER TABLE checkpoint_parts ADD COLUMN head_crc INTEGER;
ALTER TABLE checkpoint_parts ADD COLUMN tail_crc INTEGER;
""")


@migrations()
def m0005_compaction(db: "Database") -> None:
    """Add room for frames that are stored compressed, and what is said of connections deleted."""
    db.executescript("""
CREATE TABLE packs (
    frame_id INTEGER NOT NULL,
    part INTEGER NOT NULL,
    frames INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    data BLOB NOT NULL,
    connection_id INTEGER GENERATED ALWAYS AS (frame_id >> 32) VIRTUAL,
    seq INTEGER GENERATED ALWAYS AS (frame_id & 4294967295) VIRTUAL
) STRICT;
CREATE UNIQUE INDEX packs_by_frame ON packs (frame_id, part);

ALTER TABLE checkpoint_parts ADD COLUMN packed INTEGER;
CREATE TABLE dictionaries (
    connection_id INTEGER PRIMARY KEY REFERENCES connections(id),
    data BLOB NOT NULL
) STRICT;

CREATE TABLE pruned (
    connection_id INTEGER PRIMARY KEY,
    uuid TEXT NOT NULL,
    added_ns INTEGER NOT NULL,
    frames INTEGER NOT NULL,
    messages INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    pruned_ns INTEGER NOT NULL,
    why TEXT NOT NULL,
    finished INTEGER NOT NULL
) STRICT;

DROP VIEW wire;
CREATE VIEW wire AS
SELECT m.connection_id, m.seq, m.stream, m.kind, m.method, m.id, m.session_id, m.session_update,
    m.tool_call_id, m.terminal_id, m.request_seq, m.duration_ns, m.error_code, m.flags, m.reason,
    m.batch_index, m.bytes, f.offset, f.time_ns, f.elapsed_ns,
    CASE WHEN length(f.raw) > 0 THEN f.raw END AS raw
FROM messages m JOIN frames f ON f.id = (m.connection_id << 32) + m.frame_seq;
""")


@migrations()
def m0006_connection_checksum(db: "Database") -> None:
    """Add a checksum to what is told of a connection: no frame gives that again."""
    db.executescript("""
ALTER TABLE connections ADD COLUMN crc INTEGER;
""")
