ALTER TABLE runs ADD COLUMN waits TEXT;  -- why its fixed text isn't delivered yet
