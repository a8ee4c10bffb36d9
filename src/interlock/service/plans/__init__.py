"""Plan review (seed 004): a request in plain words -> a plan -> a person's yes to exactly this text -> a run."""
