"""Agreement of a part of an archive with the log: what differs, and what lacks."""

from dataclasses import dataclass, field

MAX_SENTENCES = 100


@dataclass(slots=True, kw_only=True)
class Agreement:
    """Feed it every entry of a sound log by `visit`, then call `finish`.

    differences, missing: sentences, at most MAX_SENTENCES of each; the latter say what
    could not be computed or is proven by no record.
    """

    differences: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)

    def differ(self, sentence: str) -> None:
        if len(self.differences) < MAX_SENTENCES:
            self.differences.append(sentence)

    def lack(self, sentence: str) -> None:
        if len(self.missing) < MAX_SENTENCES:
            self.missing.append(sentence)
