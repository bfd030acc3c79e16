"""Kinds of refusals of JSON from strangers."""

from registry.errors import lookup_in, read_problem_types

__getattr__ = lookup_in(read_problem_types(__package__))
