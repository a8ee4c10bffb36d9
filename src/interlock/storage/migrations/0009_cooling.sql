-- Cooling-off is kept to the millisecond. SQLite cannot change a column's type, so that both get a new one by the old name.
ALTER TABLE tickets ADD COLUMN cooling DOUBLE PRECISION NOT NULL DEFAULT 0;
UPDATE tickets SET cooling = cooling_seconds;
ALTER TABLE tickets DROP COLUMN cooling_seconds;
ALTER TABLE tickets RENAME COLUMN cooling TO cooling_seconds;
