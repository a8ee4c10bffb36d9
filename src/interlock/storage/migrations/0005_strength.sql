-- How strong the wall was between the gate and whoever asked for a ticket.

ALTER TABLE tickets ADD COLUMN strength TEXT NOT NULL DEFAULT 'plain';
