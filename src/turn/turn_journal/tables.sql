-- The tables of an empty turn journal.
CREATE TABLE turns (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  message TEXT NOT NULL UNIQUE, channel TEXT NOT NULL, thread INTEGER NOT NULL, author TEXT NOT NULL,
  block TEXT NOT NULL, text TEXT NOT NULL, only_brain TEXT, away INTEGER NOT NULL, reply INTEGER NOT NULL,
  files TEXT NOT NULL, state TEXT NOT NULL, joined TEXT, brain TEXT,
  injection TEXT, recall_problem TEXT, at_ms INTEGER, budget INTEGER, tail TEXT, hash TEXT, skills TEXT, sums TEXT,
  answer TEXT, facts TEXT, chunks INTEGER NOT NULL DEFAULT 0, started_ms INTEGER NOT NULL, finished_ms INTEGER
);
CREATE INDEX open_turns ON turns (channel, number) WHERE state NOT IN ('done', 'dropped');
CREATE INDEX joined_turns ON turns (joined) WHERE joined IS NOT NULL;
CREATE TABLE calls (
  number INTEGER PRIMARY KEY, message TEXT NOT NULL, brain TEXT NOT NULL, model TEXT NOT NULL, class TEXT, error TEXT,
  ms INTEGER NOT NULL, input INTEGER NOT NULL, cached INTEGER NOT NULL, cache_write INTEGER NOT NULL,
  output INTEGER NOT NULL, at_ms INTEGER
);
CREATE INDEX calls_of ON calls (message);
CREATE TABLE rounds (number INTEGER PRIMARY KEY, message TEXT NOT NULL, reply TEXT NOT NULL);
CREATE INDEX rounds_of ON rounds (message);
CREATE TABLE tools (
  message TEXT NOT NULL, number INTEGER NOT NULL, call_id TEXT NOT NULL, name TEXT NOT NULL, arguments TEXT NOT NULL,
  result TEXT, is_error INTEGER, ms INTEGER, PRIMARY KEY (message, number)
);
CREATE TABLE steps (number INTEGER PRIMARY KEY, message TEXT NOT NULL, step TEXT NOT NULL, at_ms INTEGER NOT NULL, detail TEXT NOT NULL);
CREATE INDEX steps_of ON steps (message);
