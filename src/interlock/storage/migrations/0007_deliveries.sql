-- What channels owe to people, and what became of it.

CREATE TABLE deliveries (
  id TEXT PRIMARY KEY,
  channel TEXT NOT NULL,
  event TEXT NOT NULL,
  about TEXT NOT NULL,
  words TEXT NOT NULL,
  made_at DOUBLE PRECISION NOT NULL,
  due_at DOUBLE PRECISION NOT NULL,
  state TEXT NOT NULL,
  tries BIGINT NOT NULL,
  reason TEXT NOT NULL,
  done_at DOUBLE PRECISION NOT NULL,
  version BIGINT NOT NULL
);
CREATE INDEX deliveries_due ON deliveries (channel, due_at) WHERE done_at = 0;
CREATE INDEX deliveries_made ON deliveries (channel, made_at);
CREATE INDEX deliveries_done ON deliveries (done_at) WHERE done_at > 0;
