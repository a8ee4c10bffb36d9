"""Commands by which an operator answers tickets, grants beforehand, steers agents and reads the audit record."""
