"""Problem types of discovery documents."""

from registry.errors import lookup_in, read_problem_types

__getattr__ = lookup_in(read_problem_types(__package__))
