-- Browsers' sessions, set-up links and ceremonies that replicas share; only a token and an unlocked daemon open a box.

CREATE TABLE sealed_sessions (
  mark TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  owner TEXT NOT NULL,
  box TEXT NOT NULL,
  seen_at DOUBLE PRECISION NOT NULL,
  ends_at DOUBLE PRECISION NOT NULL
);
CREATE INDEX sealed_sessions_kind ON sealed_sessions (kind, ends_at);
CREATE INDEX sealed_sessions_owner ON sealed_sessions (owner);
