"""What a record, a disclosure, a promise or a reveal can be refused for."""

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
