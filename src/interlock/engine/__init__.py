"""The path of one action: gather, decide, perform; start at evaluate.py."""
