"""Kinds of refusals that belong to WAB; `wab_codes` has their codes of Appendix B."""

from registry.errors import lookup_in, read_problem_types

__getattr__ = lookup_in(read_problem_types(__package__))
