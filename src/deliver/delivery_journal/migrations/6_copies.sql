ALTER TABLE messages ADD COLUMN outlet TEXT;               -- the notifier's name; none: the primary one
ALTER TABLE messages ADD COLUMN copy INTEGER NOT NULL DEFAULT 0; -- 1: another notifier counts
CREATE TABLE copies (
    key       TEXT NOT NULL,                -- the delivery's
    outlet    TEXT NOT NULL,                -- the notifier's name
    message   TEXT REFERENCES messages (key) ON DELETE SET NULL,
    delivered TEXT,                         -- a sent one: the message's id, else its nonce
    PRIMARY KEY (key, outlet)
) STRICT;
CREATE INDEX copies_message ON copies (message) WHERE message IS NOT NULL;
