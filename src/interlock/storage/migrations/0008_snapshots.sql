-- What was kept before actions ran, and what became of it; the files themselves are on the machine named here.

CREATE TABLE snapshots (
  id TEXT PRIMARY KEY,
  at DOUBLE PRECISION NOT NULL,
  principal TEXT NOT NULL,
  name TEXT NOT NULL,
  session TEXT NOT NULL,
  cwd TEXT NOT NULL,
  command TEXT NOT NULL,
  digest TEXT NOT NULL,
  files BIGINT NOT NULL,
  bytes BIGINT NOT NULL,
  state TEXT NOT NULL,
  machine TEXT NOT NULL,
  undoes TEXT NOT NULL,
  ended_at DOUBLE PRECISION NOT NULL,
  ended_by TEXT NOT NULL
);
CREATE INDEX snapshots_at ON snapshots (at, id);
CREATE INDEX snapshots_state ON snapshots (state, at);
