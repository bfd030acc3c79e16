"""Rules of invariance trials: committed to before they run, and reported with every result."""

from hashlib import sha256

from registry.records.record_fields import Members
from registry.records.rules.conduct_state import ConductState


def read_trials(state: ConductState, members: Members) -> str | None:
    """Take a record of trials into the state; return what is wrong, if anything.

    A registry that stood still in the middle of a run commits to the same secret again,
    and to the same material; the first commitments had none.
    """
    day, trials = str(members["day"]), state.trials
    if "commitment" in members:
        bare = str(members["commitment"])
        commitment = f"{bare} {members.get('material', '')!s}".rstrip()
        overdue = [other for other, own in trials.items() if own and other < day]
        if trials.get(day, bare) not in {bare, commitment}:
            return f"the second commitment for {day}"
        trials[day] = commitment
        state.trials = {own: trials[own] for own in trials if own not in overdue}
        return f"the trials of {overdue[0]} were never reported" if overdue else None
    commitment = trials.get(day, "").partition(" ")[0]
    state.trials = {**trials, day: ""}
    secret = bytes.fromhex(str(members["secret"]))
    if sha256(secret).hexdigest() != commitment:
        return f"the trials of {day} are not those committed to"
    return None
