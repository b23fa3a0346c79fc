-- Tables that were added since: they are made whenever a journal is opened.
CREATE TABLE IF NOT EXISTS sessions (
  brain TEXT NOT NULL, place TEXT NOT NULL, session TEXT NOT NULL, known TEXT NOT NULL, usd REAL,
  PRIMARY KEY (brain, place)
);
CREATE TABLE IF NOT EXISTS costs (message TEXT NOT NULL, brain TEXT NOT NULL, usd REAL NOT NULL, at_ms INTEGER NOT NULL);
CREATE INDEX IF NOT EXISTS costs_of ON costs (message);
CREATE TABLE IF NOT EXISTS side_calls (
  number INTEGER PRIMARY KEY, message TEXT NOT NULL, purpose TEXT NOT NULL, at_ms INTEGER NOT NULL,
  brain TEXT NOT NULL, model TEXT NOT NULL, class TEXT, error TEXT, ms INTEGER NOT NULL,
  input INTEGER NOT NULL, cached INTEGER NOT NULL, cache_write INTEGER NOT NULL, output INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS side_calls_of ON side_calls (message);
CREATE INDEX IF NOT EXISTS side_calls_at ON side_calls (at_ms);
CREATE INDEX IF NOT EXISTS calls_at ON calls (at_ms);
CREATE INDEX IF NOT EXISTS turns_started ON turns (started_ms);
CREATE TABLE IF NOT EXISTS lifted (budget TEXT PRIMARY KEY, at_ms INTEGER NOT NULL);
