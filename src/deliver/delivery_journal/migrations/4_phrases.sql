CREATE TABLE phrases (
    key    TEXT PRIMARY KEY,               -- the delivery's
    line   BLOB NOT NULL,                  -- hash of the line or block that it was made from
    plain  TEXT NOT NULL,                  -- what is said without it
    phrase TEXT,                           -- none while a brain is asked, or where it found none
    at_ms  INTEGER NOT NULL
) STRICT;
CREATE TABLE said (
    name   TEXT PRIMARY KEY,               -- of a notice: what it is about, with its day
    at_ms  INTEGER NOT NULL
) STRICT;
