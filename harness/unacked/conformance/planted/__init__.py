"""An orchestrator that is wrong on purpose, one thing at a time: the self-test of the checks."""
