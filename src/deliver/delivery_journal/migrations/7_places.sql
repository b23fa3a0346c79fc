ALTER TABLE deliveries ADD COLUMN place TEXT;               -- the place that took it, or that it waits for
CREATE INDEX deliveries_local ON deliveries (local);
