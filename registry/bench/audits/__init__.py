"""Benches of the auditor's commands, against a service of this machine."""
