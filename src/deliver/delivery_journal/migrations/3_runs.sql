CREATE TABLE IF NOT EXISTS routines (
    name       TEXT PRIMARY KEY,
    schedule   TEXT NOT NULL,             -- as it counts; empty while it is disabled
    since_ms   INTEGER NOT NULL,
    handled_ms INTEGER,
    ran_ms     INTEGER,
    seen       TEXT
) STRICT;
CREATE TABLE IF NOT EXISTS runs (
    number     INTEGER PRIMARY KEY,
    key        TEXT NOT NULL UNIQUE,      -- 'morning@2026-12-01T08:00'
    routine    TEXT NOT NULL,
    local      TEXT NOT NULL,
    due_ms     INTEGER NOT NULL,
    missed     INTEGER NOT NULL,
    started_ms INTEGER NOT NULL,
    note       BLOB NOT NULL,
    material   TEXT NOT NULL,
    state      TEXT NOT NULL CHECK (state IN ('claimed', 'fixed', 'done')),
    answer     TEXT,
    facts      TEXT,
    outcome    TEXT
) STRICT;
CREATE INDEX IF NOT EXISTS open_runs ON runs (number) WHERE state <> 'done';
CREATE INDEX IF NOT EXISTS runs_of ON runs (routine, number);
