"""The execution safety loop: executions, steps, notices, confirmations and challenges."""
