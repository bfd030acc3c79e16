"""Calls of the registry's API without connections: the client's and the auditor's."""
