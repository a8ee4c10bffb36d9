-- How many steps one confirmation grants, how often an execution did the same, and how it ended.

ALTER TABLE executions ADD COLUMN quota BIGINT NOT NULL DEFAULT 0;
ALTER TABLE executions ADD COLUMN tally TEXT NOT NULL DEFAULT '{}';
ALTER TABLE executions ADD COLUMN ended TEXT NOT NULL DEFAULT '{}';
