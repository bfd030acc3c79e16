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
FEED_LOST = ProblemType(
    "feed_lost",
    "The registry's database has another history than the one the cursor is of",
    "It was restored, or moved. Ask without since, and replace what you hold.",
)
WEBHOOK_UNKNOWN = ProblemType(
    "webhook_unknown",
    "You have no subscription of this id",
    "GET /v1/webhooks lists yours.",
)
WEBHOOK_URL_INVALID = ProblemType(
    "webhook_url_invalid",
    "The address can't be one that deliveries are sent to",
    "Give an https URL of a public host on port 443, without credentials.",
)
WEBHOOKS_MANY = ProblemType(
    "webhooks_many",
    "You have as many subscriptions as an operator may have",
    "End one with DELETE /v1/webhooks/ID; one can serve many receivers of yours.",
)
WEBHOOKS_OFF = ProblemType(
    "webhooks_off",
    "This registry signs no requests, and so delivers none",
    "Follow GET /v1/changes instead, or its events.",
)
AUDITOR_UNKNOWN = ProblemType(
    "auditor_unknown",
    "Attestations and labels are put on record for auditors that the registry knows",
    "Ask its operator to add your verifier key to FAIR_REGISTRY_AUDITORS; until then "
    "publish what you signed yourself, it stands without the registry.",
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
LABEL_KNOWN = ProblemType(
    "label_known",
    "This label is on record already",
    "There is nothing to do; to say the same anew, sign it with a new iat.",
)
LABEL_OUT_OF_TIME = ProblemType(
    "label_out_of_time",
    "The label is signed or observed at a time at which it cannot count",
    "Set iat to now, and observed to a day of the last two years that is not in the "
    "future.",
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
    'Send it to the address of the HOST in "sub", spelled as there.',
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
SELECTION_LATE = ProblemType(
    "selection_late",
    "The ranking is more than a week old",
    "Report a choice within seven days of the answer.",
)
PAGES_ENDED = ProblemType(
    "pages_ended",
    "The answer is of a day whose secret is being revealed, so it has no further pages",
    "Repeat the search without a cursor.",
)
REGISTRATION_UNKNOWN = ProblemType(
    "registration_unknown",
    "No registration has this id",
    "Use the statusUrl of the answer to POST /v1/registrations.",
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
NONCE_TRIED_OFTEN = ProblemType(
    "nonce_tried_often",
    "Too many statements were sent with this nonce",
    "Ask for a new one with POST /v1/challenges.",
)
REGISTRATION_SUPERSEDED = ProblemType(
    "registration_superseded",
    "A newer statement for the host came from your network before this one was decided",
    "Look at the newer one; if it is not yours, submit again.",
)
REGISTRATIONS_WAITING = ProblemType(
    "registrations_waiting",
    "Too many statements of your network wait to be decided",
    "Wait until some of them are; GET /v1/registrations/{id} tells when.",
)
DOCUMENT_ELSEWHERE = ProblemType(
    "document_elsewhere",
    "The document lies on another host and does not say that it is this site's",
    "Serve it on the site's own host, or let it name this host as its own address, or "
    "sign it for this host as a WAB trust document.",
)
RANKING_UNKNOWN = ProblemType(
    "ranking_unknown",
    "No ranking has this id",
    "Use the id from the answer of /v1/search.",
)
GENERATION_UNKNOWN = ProblemType(
    "generation_unknown",
    "This machine has no such generation of the index",
    "Ask within two days of the ranking, at the machine that answered it.",
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
POLICY_UNKNOWN = ProblemType(
    "policy_unknown",
    "No policy with this hash was ever used here",
    "GET /v1/policy/history names those that were, each with its hash.",
)
WINDOW_INVALID = ProblemType(
    "window_invalid",
    "The window of the report is none",
    "Send from and to as RFC 3339 instants, from before to, at most 400 days apart.",
)
WINDOW_NOT_MONTHS = ProblemType(
    "window_not_months",
    "The window of a stranger's report is not whole months that are over",
    "Send from and to as first instants of months in UTC, such as 2026-10-01T00:00:00Z, "
    "or neither, for the month before this one. Shorter windows would tell what single "
    "requests were about: only a known auditor, who signs, may ask for them, and "
    "operators for their own at /v1/operators/self/report.",
)
WINDOW_DROPPED = ProblemType(
    "window_dropped",
    "The window begins in a month that the registry has dropped, once it was archived",
    "Ask for a later window; GET /v1/reports lists the reports that were kept, and the "
    "archives of the months have what a report is computed from.",
)
PERTURBATION_UNFIT = ProblemType(
    "perturbation_unfit",
    "The perturbation can't be made of these sites or this query",
    "Name one of the table in the call's description, the sites that it changes, and "
    "where they move a cell.",
)
COUNTERFACTUAL_BUSY = ProblemType(
    "counterfactual_busy",
    "Another question is being answered",
    "Ask again after the seconds that Retry-After names.",
)
RANKING_ERASED = ProblemType(
    "ranking_erased",
    "What was asked for this ranking, and what was answered, is erased",
    "Search again and use the new answer; a counterfactual may bring a query instead.",
)
MONTH_INVALID = ProblemType(
    "month_invalid",
    "The month of the report is none",
    "Send it as four digits, a hyphen and two, such as 2026-10.",
)
MONTH_NOT_OVER = ProblemType(
    "month_not_over",
    "A month's report is made once the month has ended",
    "Wait until ten minutes after its end, in UTC; of a part of it GET "
    "/v1/reports/fairness makes a report at any time.",
)
REPORT_NOT_KEPT = ProblemType(
    "report_not_kept",
    "No report of this month is kept",
    "GET /v1/reports lists those that are.",
)
EXPOSURE_NOT_KEPT = ProblemType(
    "exposure_not_kept",
    "The exposure of this day is not published",
    "GET /v1/exposure lists the days; each is published ten minutes after its end, in UTC.",
)
TRIALS_NOT_KEPT = ProblemType(
    "trials_not_kept",
    "What this day's trials are made of is not kept",
    "GET /v1/invariance lists the runs; their material is kept for 31 days.",
)
LOG_BUSY = ProblemType(
    "log_busy",
    "The answer could not be put on record, so it was not given",
    "Try again after the seconds that Retry-After names.",
)
LOG_STANDS_STILL = ProblemType(
    "log_stands_still",
    "What is on record is not being published, so nothing more is promised",
    "Try again after the seconds that Retry-After names.",
)
OPERATOR_UNKNOWN = ProblemType(
    "operator_unknown",
    "No operator has this id",
    "Check the id; an operator's is the RFC 7638 thumbprint of its first key.",
)
OPERATOR_KNOWN = ProblemType(
    "operator_known",
    "The key is, or was, that of a registered operator",
    "If it is yours there is nothing to do; else make a new key. A closed account is not "
    "opened again: its rankings stay counted.",
)
OPERATOR_CLOSED = ProblemType(
    "operator_closed",
    "The operator has closed its account",
    "Make a new key and register with that.",
)
OPERATOR_ADDRESS_WRONG = ProblemType(
    "operator_address_wrong",
    "The statement belongs to another address",
    "Send act=register to /v1/operators, and any other act to "
    '/v1/operators/ID/statements of the ID in "sub".',
)
OPERATOR_SUBJECT_WRONG = ProblemType(
    "operator_subject_wrong",
    "The statement is not about the key that it brings",
    'To register, set "sub" and the header\'s "kid" to the RFC 7638 thumbprint of "jwk".',
)
OPERATOR_STATEMENT_REPLAYED = ProblemType(
    "operator_statement_replayed",
    "A statement of this operator with this or a later iat was accepted already",
    "If it was yours there is nothing to do; otherwise set iat and exp anew, a second "
    "later at least, sign and send.",
)
OPERATOR_KEY_UNKNOWN = ProblemType(
    "operator_key_unknown",
    "No operator has this key",
    "Show the API key that was made last, or sign with the registered key; without "
    "either you ask anonymously. To get a new API key, send a statement with act=update "
    "and api_key=true.",
)
CREDENTIALS_INVALID = ProblemType(
    "credentials_invalid",
    "What is to show who asks can't be understood",
    'Send "Authorization: Bearer" with the API key, or Signature-Input and Signature '
    "(RFC 9421), not both; without either you ask anonymously.",
)
REQUEST_SIGNATURE_INVALID = ProblemType(
    "request_signature_invalid",
    "The request's signature does not hold",
    "Cover @method, @authority, @path, @query and, with a body, content-digest; set "
    "created, expires (at most 300 seconds later), nonce, keyid and "
    'tag="fair-registry-operator" (RFC 9421), and sign for this registry\'s origin.',
)
REQUEST_REPLAYED = ProblemType(
    "request_replayed",
    "A request with this nonce was taken already",
    "Sign each request anew, with a nonce that no other has.",
)
CREDENTIALS_MISSING = ProblemType(
    "credentials_missing",
    "Only an operator can ask for this",
    'Send "Authorization: Bearer" with its API key, or sign the request with its key.',
)
REPORT_NOT_YOURS = ProblemType(
    "report_not_yours",
    "The report of an operator's rankings is the operator's own",
    "Ask the operator for it: it gets one, signed by the registry, at "
    "/v1/operators/self/report. The report of all has a part for each operator of many "
    "queries.",
)
REPORTS_BUSY = ProblemType(
    "reports_busy",
    "Other reports are being made",
    "Ask again after the seconds that Retry-After names; the reports of whole months are "
    "kept, signed, and need not be made anew.",
)
LINTS_BUSY = ProblemType(
    "lints_busy",
    "Other documents are being linted",
    "Ask again after the seconds that Retry-After names, or lint on your own machine with "
    "fair-registry lint.",
)
PART_SILENT = ProblemType(
    "part_silent",
    "A part that the registry needs shows no sign of work",
    "Searches are answered all the same. The operator looks at the log of the part that "
    "`pointer` names, and starts it again; fair-registry doctor tells more.",
)
SEARCHES_WAITING = ProblemType(
    "searches_waiting",
    "As many anonymous searches wait as the registry answers in some seconds",
    "Try again after the seconds that Retry-After names, or ask with an operator's key "
    "(POST /v1/operators).",
)
NOT_READY = ProblemType(
    "not_ready",
    "The registry is starting",
    "Try again after the seconds that Retry-After names.",
)
