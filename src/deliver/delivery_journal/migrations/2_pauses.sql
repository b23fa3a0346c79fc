CREATE TABLE pauses (
    scope    TEXT PRIMARY KEY,              -- 'channel:ID', …; empty: the notifier's own place; others: 'ntfy ', 'copy ntfy channel:ID'
    asked_ms INTEGER NOT NULL,
    until_ms INTEGER NOT NULL
) STRICT;
