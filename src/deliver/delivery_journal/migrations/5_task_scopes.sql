-- Which task lines are told, and since when: what was due before isn't.
CREATE TABLE task_scopes (
    scope        TEXT PRIMARY KEY,
    since_ms     INTEGER NOT NULL
) STRICT;
