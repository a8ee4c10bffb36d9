"""Commands that judge without a guarded agent: explain, classify, scan, rehearse, rules, adapters, prompt and ask."""
