-- What was held or rejected, by effect, target and place, so that the same meets the same answer; what was remembered before stays.

ALTER TABLE tickets RENAME COLUMN goals TO effect_keys;
ALTER TABLE deeds RENAME COLUMN goals TO effect_keys;

CREATE TABLE denials (
  effect_key TEXT NOT NULL,
  principal TEXT NOT NULL,
  session TEXT NOT NULL,
  ticket TEXT NOT NULL,
  at DOUBLE PRECISION NOT NULL,
  until DOUBLE PRECISION NOT NULL,
  folder TEXT NOT NULL,
  rejected_at DOUBLE PRECISION NOT NULL,
  tries BIGINT NOT NULL,
  PRIMARY KEY (effect_key, principal, session, ticket)
);
CREATE INDEX denials_principal ON denials (principal, rejected_at, at, effect_key);
CREATE INDEX denials_until ON denials (until);

INSERT INTO denials (effect_key, principal, session, ticket, at, until, folder, rejected_at, tries)
  SELECT goal, principal, session, ticket, at, until, '', 0, tries FROM refusals;
DROP TABLE refusals;
