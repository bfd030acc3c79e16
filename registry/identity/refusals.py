"""Problem types of keys, tokens, statements and documents' signatures.

Written for the owner of a small site with openssl and curl at hand.
"""

from registry.errors import lookup_in, read_problem_types

__getattr__ = lookup_in(read_problem_types(__package__))
