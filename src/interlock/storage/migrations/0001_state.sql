-- Everything that is kept. SQLite and PostgreSQL both read this file: times are seconds since 1970, flags are 0 or 1, lists and objects are JSON.
-- `name_key` is an agent's claimed name as names are compared, so that another spelling is no other agent.

CREATE TABLE tickets (
  id TEXT PRIMARY KEY,
  digest TEXT NOT NULL,
  principal TEXT NOT NULL,
  name TEXT NOT NULL,
  session TEXT NOT NULL,
  parent TEXT NOT NULL,
  state TEXT NOT NULL,
  cooling_seconds BIGINT NOT NULL,
  human BIGINT NOT NULL,
  approvers TEXT NOT NULL,
  quorum BIGINT NOT NULL,
  reauth BIGINT NOT NULL,
  blocked BIGINT NOT NULL,
  opened_at DOUBLE PRECISION NOT NULL,
  expires_at DOUBLE PRECISION NOT NULL,
  level BIGINT NOT NULL,
  irreversible BIGINT NOT NULL,
  cooling_ends_at DOUBLE PRECISION NOT NULL,
  title TEXT NOT NULL,
  reason TEXT NOT NULL,
  action TEXT NOT NULL,
  findings TEXT NOT NULL,
  factors TEXT NOT NULL,
  goals TEXT NOT NULL,
  door TEXT NOT NULL,
  operation TEXT NOT NULL,
  adapter TEXT NOT NULL,
  adapter_trust TEXT NOT NULL,
  params_hash TEXT NOT NULL,
  token_hash TEXT NOT NULL,
  shown_hash TEXT NOT NULL,
  severity TEXT NOT NULL,
  categories TEXT NOT NULL,
  patterns TEXT NOT NULL,
  policy TEXT NOT NULL,
  rulebook TEXT NOT NULL,
  execution TEXT NOT NULL,
  witnesses TEXT NOT NULL,
  decided_at DOUBLE PRECISION NOT NULL,
  decided_by TEXT NOT NULL,
  decision_reason TEXT NOT NULL,
  spent_at DOUBLE PRECISION NOT NULL,
  executed_at DOUBLE PRECISION NOT NULL,
  outcome TEXT NOT NULL,
  seal TEXT NOT NULL,
  version BIGINT NOT NULL,
  name_key TEXT NOT NULL
);
-- At most one ticket of an action and agent can still lead somewhere, whoever races to open a second.
CREATE UNIQUE INDEX tickets_live ON tickets (digest, principal, name_key)
  WHERE spent_at = 0 AND state IN ('pending_cooling', 'pending_approval', 'approved');
CREATE INDEX tickets_unspent ON tickets (digest, principal, name_key, opened_at, id)
  WHERE spent_at = 0 AND state <> 'executed';
CREATE UNIQUE INDEX tickets_token ON tickets (token_hash) WHERE token_hash <> '';
CREATE INDEX tickets_state ON tickets (state, opened_at, id);
CREATE INDEX tickets_principal ON tickets (principal, state, opened_at, id);
CREATE INDEX tickets_agent ON tickets (principal, name_key, state, opened_at, id);

CREATE TABLE approvals (
  ticket TEXT NOT NULL REFERENCES tickets (id),
  operator TEXT NOT NULL,
  verdict TEXT NOT NULL,
  statement TEXT NOT NULL,
  signature TEXT NOT NULL,
  key_id TEXT NOT NULL,
  channel TEXT NOT NULL,
  at DOUBLE PRECISION NOT NULL,
  expires_at DOUBLE PRECISION NOT NULL,
  reauth BIGINT NOT NULL,
  PRIMARY KEY (ticket, operator, signature)
);

CREATE TABLE operators (
  name TEXT PRIMARY KEY,
  public_key TEXT NOT NULL,
  key_id TEXT NOT NULL,
  salt TEXT NOT NULL,
  kdf TEXT NOT NULL,
  wrapped TEXT NOT NULL,
  roles TEXT NOT NULL,
  teams TEXT NOT NULL,
  service BIGINT NOT NULL,
  created_at DOUBLE PRECISION NOT NULL,
  created_by TEXT NOT NULL,
  disabled_at DOUBLE PRECISION NOT NULL,
  seal TEXT NOT NULL
);

CREATE TABLE credentials (
  id TEXT PRIMARY KEY,
  operator TEXT NOT NULL REFERENCES operators (name),
  kind TEXT NOT NULL,
  public TEXT NOT NULL,
  created_at DOUBLE PRECISION NOT NULL,
  used_at DOUBLE PRECISION NOT NULL,
  counter BIGINT NOT NULL,
  seal TEXT NOT NULL
);
CREATE INDEX credentials_operator ON credentials (operator, created_at);

CREATE TABLE agents (
  principal TEXT NOT NULL,
  name TEXT NOT NULL,
  trust_tier TEXT NOT NULL,
  first_seen DOUBLE PRECISION NOT NULL,
  last_seen DOUBLE PRECISION NOT NULL,
  token_hash TEXT NOT NULL,
  revoked_at DOUBLE PRECISION NOT NULL,
  settings TEXT NOT NULL,
  name_key TEXT NOT NULL,
  PRIMARY KEY (principal, name_key)
);
CREATE UNIQUE INDEX agents_token ON agents (token_hash) WHERE token_hash <> '';

CREATE TABLE blocks (
  principal TEXT NOT NULL,
  reason TEXT NOT NULL,
  since DOUBLE PRECISION NOT NULL,
  "by" TEXT NOT NULL,
  name TEXT NOT NULL,
  challenge TEXT NOT NULL,
  lifted_at DOUBLE PRECISION NOT NULL,
  lifted_by TEXT NOT NULL,
  PRIMARY KEY (principal, since)
);
CREATE INDEX blocks_in_force ON blocks (principal, since) WHERE lifted_at = 0;

-- One row for each judged action. Nobody counts them all: `tallies` has the last two hours by the minute.
CREATE TABLE deeds (
  principal TEXT NOT NULL,
  name TEXT NOT NULL,
  session TEXT NOT NULL,
  parent TEXT NOT NULL,
  operation TEXT NOT NULL,
  level BIGINT NOT NULL,
  score BIGINT NOT NULL,
  outcome TEXT NOT NULL,
  at DOUBLE PRECISION NOT NULL,
  execution TEXT NOT NULL,
  goals TEXT NOT NULL,
  severity TEXT NOT NULL,
  categories TEXT NOT NULL,
  name_key TEXT NOT NULL
);
CREATE INDEX deeds_agent ON deeds (principal, name_key, at, operation, score);
CREATE INDEX deeds_execution ON deeds (execution, operation, score) WHERE execution <> '';
CREATE INDEX deeds_forbidden ON deeds (principal, at) WHERE level = 4;

-- A ring of minutes for each agent and operation ('' is all of them, 'o…' is one): a slot is used again after two hours.
CREATE TABLE tallies (
  principal TEXT NOT NULL,
  name_key TEXT NOT NULL,
  operation TEXT NOT NULL,
  slot BIGINT NOT NULL,
  minute BIGINT NOT NULL,
  deeds BIGINT NOT NULL,
  points BIGINT NOT NULL,
  PRIMARY KEY (principal, name_key, operation, slot)
);

CREATE TABLE refusals (
  goal TEXT NOT NULL,
  principal TEXT NOT NULL,
  session TEXT NOT NULL,
  ticket TEXT NOT NULL,
  at DOUBLE PRECISION NOT NULL,
  until DOUBLE PRECISION NOT NULL,
  tries BIGINT NOT NULL,
  PRIMARY KEY (goal, principal, session)
);

CREATE TABLE grants (
  id TEXT PRIMARY KEY,
  effect TEXT NOT NULL,
  targets TEXT NOT NULL,
  ceiling BIGINT NOT NULL,
  "by" TEXT NOT NULL,
  why TEXT NOT NULL,
  created_at DOUBLE PRECISION NOT NULL,
  expires_at DOUBLE PRECISION NOT NULL,
  environment TEXT NOT NULL,
  remaining BIGINT NOT NULL,
  principal TEXT NOT NULL,
  name TEXT NOT NULL,
  session TEXT NOT NULL,
  digests TEXT NOT NULL,
  revoked_at DOUBLE PRECISION NOT NULL,
  revoked_by TEXT NOT NULL,
  statement TEXT NOT NULL,
  signature TEXT NOT NULL,
  key_id TEXT NOT NULL
);
CREATE INDEX grants_good ON grants (expires_at) WHERE revoked_at = 0 AND remaining > 0;

CREATE TABLE patterns (
  id TEXT PRIMARY KEY,
  body TEXT NOT NULL
);

CREATE TABLE settings (
  "key" TEXT PRIMARY KEY,
  value TEXT NOT NULL
);

CREATE TABLE challenges (
  id TEXT PRIMARY KEY,
  principal TEXT NOT NULL,
  name TEXT NOT NULL,
  session TEXT NOT NULL,
  parent TEXT NOT NULL,
  kind TEXT NOT NULL,
  reason TEXT NOT NULL,
  opened_at DOUBLE PRECISION NOT NULL,
  expires_at DOUBLE PRECISION NOT NULL,
  execution TEXT NOT NULL,
  digest TEXT NOT NULL,
  code_hash TEXT NOT NULL,
  minted_at DOUBLE PRECISION NOT NULL,
  state TEXT NOT NULL,
  attempts BIGINT NOT NULL
);
CREATE INDEX challenges_principal ON challenges (principal, state, opened_at);
CREATE INDEX challenges_state ON challenges (state, opened_at);

CREATE TABLE executions (
  id TEXT PRIMARY KEY,
  principal TEXT NOT NULL,
  name TEXT NOT NULL,
  session TEXT NOT NULL,
  parent TEXT NOT NULL,
  status TEXT NOT NULL,
  started_at DOUBLE PRECISION NOT NULL,
  max_steps BIGINT NOT NULL,
  steps BIGINT NOT NULL,
  risk BIGINT NOT NULL,
  goal TEXT NOT NULL,
  finished_at DOUBLE PRECISION NOT NULL,
  pause TEXT NOT NULL,
  version BIGINT NOT NULL,
  name_key TEXT NOT NULL
);
CREATE INDEX executions_agent ON executions (principal, name_key, status, started_at);
CREATE INDEX executions_status ON executions (status, started_at);

CREATE TABLE notifications (
  id BIGINT PRIMARY KEY,
  principal TEXT NOT NULL,
  name TEXT NOT NULL,
  type TEXT NOT NULL,
  message TEXT NOT NULL,
  at DOUBLE PRECISION NOT NULL,
  metadata TEXT NOT NULL,
  delivered_at DOUBLE PRECISION NOT NULL,
  cleared_at DOUBLE PRECISION NOT NULL,
  name_key TEXT NOT NULL
);
CREATE INDEX notifications_told ON notifications (principal, name_key, delivered_at, id) WHERE cleared_at = 0;

CREATE TABLE audit (
  writer TEXT NOT NULL,
  seq BIGINT NOT NULL,
  at DOUBLE PRECISION NOT NULL,
  event TEXT NOT NULL,
  body TEXT NOT NULL,
  prev TEXT NOT NULL,
  hash TEXT NOT NULL,
  key_id TEXT NOT NULL,
  schema BIGINT NOT NULL,
  rulebook TEXT NOT NULL,
  policy TEXT NOT NULL,
  PRIMARY KEY (writer, seq)
);
CREATE INDEX audit_time ON audit (at, writer, seq);
CREATE INDEX audit_event ON audit (event, at, writer, seq);

-- Where each writer's chain ends. Changing this row is what makes two writers of one chain wait for each other.
CREATE TABLE audit_heads (
  writer TEXT PRIMARY KEY,
  seq BIGINT NOT NULL,
  hash TEXT NOT NULL
);

CREATE TABLE checkpoints (
  id BIGINT PRIMARY KEY,
  at DOUBLE PRECISION NOT NULL,
  heads TEXT NOT NULL,
  floors TEXT NOT NULL,
  signature TEXT NOT NULL,
  key_id TEXT NOT NULL
);

-- What is counted for good, by agent, so that agents do not wait for each other.
CREATE TABLE figures (
  principal TEXT NOT NULL,
  name_key TEXT NOT NULL,
  figure TEXT NOT NULL,
  value BIGINT NOT NULL,
  PRIMARY KEY (principal, name_key, figure)
);

CREATE TABLE counters (
  name TEXT PRIMARY KEY,
  value BIGINT NOT NULL
);
