"""Kinds of refusals that need the registry's state to be seen."""

from registry.errors import ProblemType

SITE_UNKNOWN = ProblemType(
    "site_unknown",
    "No site of this host is listed",
    "Check the host; GET /v1/sites lists what is registered.",
)
SITE_NOT_REGISTERED = ProblemType(
    "site_not_registered",
    "The host is not registered, so there is nothing to change",
    "Send a statement with act=register first.",
)
SITE_WITHDRAWN = ProblemType(
    "site_withdrawn",
    "The site was withdrawn by its owner",
    "It can be registered again by its owner.",
)
AUDITOR_UNKNOWN = ProblemType(
    "auditor_unknown",
    "Attestations are put on record for auditors that the registry knows",
    "Ask its operator to add your verifier key to FAIR_REGISTRY_AUDITORS; until then "
    "publish the signed attestation yourself, it stands without the registry.",
)
ATTESTATION_BEYOND_LOG = ProblemType(
    "attestation_beyond_log",
    "The attestation is about leaves that the log does not have yet",
    "Read the newest checkpoint and attest to leaves below its size.",
)
ATTESTATION_KNOWN = ProblemType(
    "attestation_known",
    "This attestation is on record already",
    "There is nothing to do; look for it among the rescore records.",
)
MODERATION_POINTLESS = ProblemType(
    "moderation_pointless",
    "The site's standing does not allow this act",
    "Look at trustLevel and status of GET /v1/sites/HOST: only what is quarantined or "
    "delisted can be released or appealed, and nothing twice.",
)
KEY_HELD = ProblemType(
    "key_held",
    "The key is new beside the site's trusted key and has to wait in public",
    "Let the trusted key sign act=rotate with next_kid, or submit again after the hold.",
)
REFRESH_OF_ANOTHER_HOST = ProblemType(
    "refresh_of_another_host",
    "The statement is about another host than the address of the request",
    'Send it to /v1/sites/HOST/refresh of the HOST in "sub", spelled as there.',
)
REFRESH_REPLAYED = ProblemType(
    "refresh_replayed",
    "A refresh of this site with this or a later iat was accepted already",
    "If it was yours there is nothing to do; otherwise set iat and exp anew, sign and "
    "send at once.",
)
REFRESH_TOO_OFTEN = ProblemType(
    "refresh_too_often",
    "The site was refreshed too often in too short a time",
    "Send the next one after the seconds that Retry-After names; one crawl sees all "
    "that changed until then.",
)
REGISTRATION_UNKNOWN = ProblemType(
    "registration_unknown",
    "No registration has this id",
    "Use the statusUrl of the answer to POST /v1/registrations.",
)
KEYS_UNREACHABLE = ProblemType(
    "keys_unreachable",
    "The site's keys could not be fetched",
    "Make https://HOST/.well-known/agent-registry-keys.json answer 200 with a JWKS "
    "and submit the statement again.",
)
PINS_UNREAD = ProblemType(
    "pins_unread",
    "The DNS could not be asked which keys the site allows",
    "Make the TXT look-up of _agent-registry.HOST succeed, with or without a record, and "
    "submit the statement again.",
)
DOCUMENT_HASH_MISMATCH = ProblemType(
    "document_hash_mismatch",
    "The served document is not the one whose hash was signed",
    "Sign the SHA-256 of the exact bytes that the URL serves, or leave sha256 out.",
)
DOCUMENT_MISSING = ProblemType(
    "document_missing",
    "No discovery document that can be understood was found",
    "Serve one at a well-known place, or name its URL in `docs`.",
)
RANKING_UNKNOWN = ProblemType(
    "ranking_unknown",
    "No ranking has this id",
    "Use the id from the answer of /v1/search.",
)
RANKING_NOT_YOURS = ProblemType(
    "ranking_not_yours",
    "Only the asker of a ranking can report what was chosen from it",
    "Send the whole ranking id of the answer, with the part after the dot.",
)
RANKING_HAS_SELECTION = ProblemType(
    "ranking_has_selection",
    "The choice from this ranking has been reported",
    "A ranking takes one report; ask again for a new ranking.",
)
SITE_NOT_IN_RANKING = ProblemType(
    "site_not_in_ranking",
    "The site was not among those returned",
    "Send the id of a returned site, or null for none.",
)
RECORD_UNKNOWN = ProblemType(
    "record_unknown",
    "No record has this id",
    "Use the id that the answer carried: of a ranking the part before the dot.",
)
RECORD_PENDING = ProblemType(
    "record_pending",
    "The record is durable but not yet under a published checkpoint",
    "Try again after the seconds that Retry-After names; if witnesses are required, "
    "it may take their time too.",
)
LEAF_UNKNOWN = ProblemType(
    "leaf_unknown",
    "The tree has no such leaf",
    "Read /checkpoint for the size; a promised leaf is there after the merge delay.",
)
TREE_UNKNOWN = ProblemType(
    "tree_unknown",
    "No tree of this size is published",
    "Ask for a size of at least 1 and at most that of /checkpoint.",
)
WINDOW_INVALID = ProblemType(
    "window_invalid",
    "The window of the report is none",
    "Send from and to as RFC 3339 instants, from before to, at most 400 days apart.",
)
LOG_BUSY = ProblemType(
    "log_busy",
    "The answer could not be put on record, so it was not given",
    "Try again after the seconds that Retry-After names.",
)
NOT_READY = ProblemType(
    "not_ready",
    "The registry is starting",
    "Try again after the seconds that Retry-After names.",
)
