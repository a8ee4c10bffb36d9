-- What a passkey or an authenticator is called, how and from where it was registered, from when it counts and when it was removed.

ALTER TABLE credentials ADD COLUMN name TEXT NOT NULL DEFAULT '';
ALTER TABLE credentials ADD COLUMN how TEXT NOT NULL DEFAULT '';
ALTER TABLE credentials ADD COLUMN source TEXT NOT NULL DEFAULT '';
ALTER TABLE credentials ADD COLUMN active_at DOUBLE PRECISION NOT NULL DEFAULT 0;
ALTER TABLE credentials ADD COLUMN removed_at DOUBLE PRECISION NOT NULL DEFAULT 0;
