"""Kinds of refusals that need the registry's state to be seen."""

from registry.errors import lookup_in, read_problem_types

__getattr__ = lookup_in(read_problem_types(__package__))
