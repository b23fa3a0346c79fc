ALTER TABLE deliveries ADD COLUMN teller TEXT;  -- the other machine that told it
