-- Plans that people asked for in plain words, what became of them, and the workflows that they were saved as.

CREATE TABLE plans (
  id TEXT PRIMARY KEY,
  operator TEXT NOT NULL,
  made_at DOUBLE PRECISION NOT NULL,
  status TEXT NOT NULL,
  intent TEXT NOT NULL,
  generated TEXT NOT NULL,
  command TEXT NOT NULL,
  cwd TEXT NOT NULL,
  risk TEXT NOT NULL,
  level BIGINT NOT NULL,
  planner TEXT NOT NULL,
  place TEXT NOT NULL,
  details TEXT NOT NULL,
  ticket TEXT NOT NULL,
  workflow TEXT NOT NULL,
  step BIGINT NOT NULL,
  started_at DOUBLE PRECISION NOT NULL,
  ended_at DOUBLE PRECISION NOT NULL,
  exit_code BIGINT NOT NULL,
  output TEXT NOT NULL,
  cut BIGINT NOT NULL,
  writer TEXT NOT NULL
);
CREATE INDEX plans_made ON plans (made_at, id);
CREATE INDEX plans_status ON plans (status, made_at);

CREATE TABLE workflows (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  steps TEXT NOT NULL,
  stop_on_failure BIGINT NOT NULL,
  made_by TEXT NOT NULL,
  made_at DOUBLE PRECISION NOT NULL,
  frozen TEXT NOT NULL,
  removed_at DOUBLE PRECISION NOT NULL
);
