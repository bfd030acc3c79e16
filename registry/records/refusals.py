"""Refusals of records, disclosures, promises and reveals."""

from registry.errors import ProblemType

RECORD_TOO_LARGE = ProblemType(
    "record_too_large",
    "A record of the audit log has at most 65,535 bytes",
    "Record less: a shorter list, or the hash of what is long.",
)
RECORD_NOT_CANONICAL = ProblemType(
    "record_not_canonical",
    "A record is RFC 8785 JSON without fractions",
    "Write it canonically: sorted, compact, integers and strings only.",
)
RECORD_VERSION_UNKNOWN = ProblemType(
    "record_version_unknown",
    "The record has a version that is not known here",
    "Use a newer release of this software to read the log.",
)
RECORD_KIND_UNKNOWN = ProblemType(
    "record_kind_unknown",
    "The record is of a kind that is not known here",
    "Use a newer release of this software to read the log.",
)
RECORD_FIELD_INVALID = ProblemType(
    "record_field_invalid",
    "A member of the record is missing or has the wrong form",
    "Compare the record with the documented members of its kind.",
)
DISCLOSURE_MALFORMED = ProblemType(
    "disclosure_malformed",
    "This is not a disclosure of RFC 9901",
    "Send it as it was given: base64url of a JSON array of salt, name and value.",
)
DISCLOSURE_UNKNOWN = ProblemType(
    "disclosure_unknown",
    "The disclosure does not belong to the record",
    "Compare it with the record whose _sd holds its digest.",
)
PROMISE_MALFORMED = ProblemType(
    "promise_malformed",
    "This is not a promise of the registry",
    "Send time, keyId and signature exactly as the answer held them.",
)
PROMISE_INVALID = ProblemType(
    "promise_invalid",
    "The registry's key did not sign this promise",
    "Check leaf hash, time and key; a promise that fails proves nothing.",
)
SEED_REVEAL_INVALID = ProblemType(
    "seed_reveal_invalid",
    "The secret is not the one that was committed to",
    "Keep both records: together they prove that the registry changed its secret.",
)
ATTESTATION_INVALID = ProblemType(
    "attestation_invalid",
    "The auditor's key did not sign this attestation",
    "Sign the statement again with the key whose verifier key it names.",
)
LABEL_INVALID = ProblemType(
    "label_invalid",
    "This is not a label that the auditor's key signed",
    "Sign the statement again, as `fair-registry audit label` does, with the key whose "
    "verifier key it names.",
)

# What the records of a log are to each other; found by whoever reads it (`conduct`).
SEED_UNLOGGED = ProblemType(
    "seed_unlogged",
    "A ranking names a seed whose commitment does not stand before it",
    "Keep both records: nothing shows that the secret was fixed before the question.",
)
SEED_NOT_OF_THE_DAY = ProblemType(
    "seed_not_of_the_day",
    "A ranking uses the seed of a day that had not begun",
    "Keep both records and ask the registry how this could be.",
)
SEED_COMMITTED_TWICE = ProblemType(
    "seed_committed_twice",
    "A day has two commitments",
    "Keep both records: with two secrets the registry could choose between ties.",
)
SEED_UNCOMMITTED = ProblemType(
    "seed_uncommitted",
    "A secret is revealed that nobody waits for",
    "Look for the day's commitment, or for an earlier reveal of it.",
)
SEED_REVEALED_EARLY = ProblemType(
    "seed_revealed_early",
    "A secret was revealed before its day had ended",
    "Trust no tie of that day from this record on: whoever read it could foresee them.",
)
SEED_OVERDUE = ProblemType(
    "seed_overdue",
    "A day's secret was not revealed within a day after it",
    "Ask the registry for it: until then nobody can recompute that day's ties.",
)
POLICY_UNLOGGED = ProblemType(
    "policy_unlogged",
    "A ranking uses a policy that does not stand before it",
    "Keep the record: it was ranked by rules that nobody could know.",
)
ERASURE_UNFOUNDED = ProblemType(
    "erasure_unfounded",
    "An erase record names what the record at its index does not have",
    "Compare its index and fields with the record they point to.",
)
RECORD_LOGGED_TWICE = ProblemType(
    "record_logged_twice",
    "Two records have one id",
    "Keep both: one of them was put in for the other, or counts twice.",
)
RECORD_ID_OUT_OF_TIME = ProblemType(
    "record_id_out_of_time",
    "The id of a record is of another time than the record",
    "Compare both with the promise of the answer: one of them was made up.",
)
SEED_COMMITTED_LATE = ProblemType(
    "seed_committed_late",
    "A day's secret was committed to after the day had begun",
    "Trust no tie of that day: the secret may have been chosen for its questions.",
)
SEED_USED_AFTER_REVEAL = ProblemType(
    "seed_used_after_reveal",
    "A ranking uses a secret that was public already",
    "Trust no tie of it: whoever asked could foresee the order.",
)
SELECTION_UNFOUNDED = ProblemType(
    "selection_unfounded",
    "A selection is of no ranking that stands before it",
    "Keep the record: reports would count a choice that nobody was offered.",
)
SELECTION_LOGGED_TWICE = ProblemType(
    "selection_logged_twice",
    "A ranking has two selections",
    "Keep both: one answer is chosen from once.",
)
ATTESTATION_UNFOUNDED = ProblemType(
    "attestation_unfounded",
    "An attestation is of entries that do not stand before it",
    "Compare its range with its own place: nobody can have computed them yet.",
)
OPERATOR_COUNT_BROKEN = ProblemType(
    "operator_count_broken",
    "The rankings of an operator are not counted without gap or double",
    "Ask the operator for the answer with the missing number and its promise.",
)
COUNTERFACTUAL_INVALID = ProblemType(
    "counterfactual_invalid",
    "The question does not carry its auditor's signature, or is not for this registry now",
    "Sign the line fair-registry/counterfactual/v1 and the canonical JSON of the other "
    "members, with aud as the origin of /v1/log and iat as of now.",
)
REPORT_LOGGED_TWICE = ProblemType(
    "report_logged_twice",
    "Two reports of the same window are kept",
    "Keep both: a report that is kept is not to be put in the place of another.",
)
TRIALS_UNSOUND = ProblemType(
    "trials_unsound",
    "Invariance trials were not committed to once, or not told as committed",
    "Keep the records: trials whose seed is chosen, or whose results are left out, show "
    "nothing.",
)
RECORD_OUT_OF_TIME = ProblemType(
    "record_out_of_time",
    "A record is older than the merge delay allows at its place",
    "Compare it with the records before it: it was held back, or its time is wrong.",
)

EVIDENCE_INVALID = ProblemType(
    "evidence_invalid",
    "The evidence does not show a broken promise",
    "Make it anew with `audit promises`, or do not believe who gave it to you.",
)
POLICY_WITHOUT_WEIGHTS = ProblemType(
    "policy_without_weights",
    "The policy's text names no weights of the five factors",
    "Read the policy's record; totals can't be computed by it.",
)
