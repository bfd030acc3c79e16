"""Kinds of refusals that belong to HTTP itself."""

from registry.errors import lookup_in, read_problem_types

__getattr__ = lookup_in(read_problem_types(__package__))
