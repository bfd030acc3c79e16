"""Problem types of logs, notes and proofs."""

from registry.errors import ProblemType, Refused, lookup_in, read_problem_types

_KINDS = read_problem_types(__package__)
__getattr__ = lookup_in(_KINDS)


class ProofInvalid(Refused):
    """A proof that does not prove what it is given for."""

    def __init__(self, detail: str) -> None:
        super().__init__(_KINDS["PROOF_INVALID"], detail)


class LogInvalid(Refused):
    """A served log that breaks its own promise.

    path: the file that showed it. entry_index: the entry concerned, if it is one.
    """

    def __init__(
        self,
        kind: ProblemType,
        detail: str,
        *,
        path: str,
        entry_index: int | None = None,
    ) -> None:
        super().__init__(kind, f"{path}: {detail}", pointer=path)
        self.path = path
        self.entry_index = entry_index
