"""Problem types of host names and places."""

from registry.errors import ProblemType, read_problem_types

globals().update(read_problem_types(__package__))


def __getattr__(name: str) -> ProblemType:
    """Raises: AttributeError. Type checkers learn from it what the table declares."""
    raise AttributeError(f"refusals.toml has no {name}")
