-- One row a notification: what was due, and how far its delivery came.
CREATE TABLE deliveries (
    number       INTEGER PRIMARY KEY,           -- counts up; the order in which they were claimed
    key          TEXT NOT NULL UNIQUE,          -- 'rid_…@2026-12-01T09:30'
    subject      TEXT NOT NULL,                 -- the reminder's or commitment's id
    local        TEXT NOT NULL,                 -- the local due date and time, in the key's form
    state        TEXT NOT NULL CHECK (state IN ('due', 'sending', 'sent', 'done', 'failed')),
    line         BLOB NOT NULL,                 -- hash of the line or block that it was claimed for
    fact         TEXT NOT NULL,                 -- the Fact as JSON
    message      TEXT REFERENCES messages (key),-- the message that carries it, once it is on its way
    attempts     INTEGER NOT NULL DEFAULT 0,    -- how often its sending was tried and surely failed
    attempted_ms INTEGER,                       -- when it was last tried
    retry_ms     INTEGER,                       -- not before this instant
    error        TEXT,                          -- why it is not delivered yet
    settings     TEXT,                          -- a failed one: the settings that it failed with
    delivered    TEXT                           -- a sent one: the message's id, else its nonce
) STRICT;
CREATE INDEX deliveries_subject ON deliveries (subject, local);
CREATE INDEX deliveries_state ON deliveries (state);
CREATE INDEX deliveries_message ON deliveries (message) WHERE message IS NOT NULL;

-- A message that is on its way: its text stays the same on every attempt.
CREATE TABLE messages (
    key          TEXT PRIMARY KEY,
    kind         TEXT NOT NULL,
    scope        TEXT,                          -- 'channel:ID', 'thread:ID', 'user:ID'
    route        INTEGER NOT NULL DEFAULT 0,    -- 0 its own place; then each place that it falls back to
    facts        TEXT NOT NULL,                 -- JSON
    body         TEXT NOT NULL,                 -- the whole text, for another place to split
    attempts     INTEGER NOT NULL DEFAULT 0,
    attempted_ms INTEGER,
    retry_ms     INTEGER,
    error        TEXT
) STRICT;

CREATE TABLE chunks (
    message      TEXT NOT NULL REFERENCES messages (key) ON DELETE CASCADE,
    chunk        INTEGER NOT NULL,
    nonce        TEXT NOT NULL,
    text         TEXT NOT NULL,
    state        TEXT NOT NULL CHECK (state IN ('due', 'sending', 'sent')),
    first_ms     INTEGER,                       -- the earliest attempt with this nonce
    message_id   TEXT,
    PRIMARY KEY (message, chunk)
) STRICT;

-- Ids that were given to lines without one, by the hash of the line: a line that comes back without
-- its id (a stale buffer) is the same reminder.
CREATE TABLE names (
    line         BLOB PRIMARY KEY,
    id           TEXT NOT NULL
) STRICT;

-- Findings that the person has been told of.
CREATE TABLE reported (
    note         TEXT NOT NULL,
    finding      BLOB NOT NULL,
    PRIMARY KEY (note, finding)
) STRICT;

-- Places that refused a message for good, newest last; shown by `status` and `doctor`.
CREATE TABLE refusals (
    place        TEXT PRIMARY KEY,
    at_ms        INTEGER NOT NULL,
    reason       TEXT NOT NULL,
    settings     TEXT NOT NULL
) STRICT;
