"""Kinds of refusals that belong to HTTP itself."""

from registry.errors import ProblemType

BODY_INVALID = ProblemType(
    "body_invalid",
    "The body is not the JSON that this call takes",
    "Compare the body with the schema at /openapi; `pointer` names the place.",
)
HOST_AMBIGUOUS = ProblemType(
    "host_ambiguous",
    "The request names no host, or two",
    "Send Host exactly once, with the registry's name.",
)
PARAMETER_UNKNOWN = ProblemType(
    "parameter_unknown",
    "The call has no such parameter",
    "Leave it out, or correct its spelling; the parameters are listed at /openapi.",
)
PARAMETER_INVALID = ProblemType(
    "parameter_invalid",
    "A parameter does not hold what it should",
    "Correct the parameter that `pointer` names; /openapi has its type and limits.",
)
PARAMETER_MISSING = ProblemType(
    "parameter_missing",
    "The call needs a parameter that was not given",
    "Give the parameter that `pointer` names; /openapi says what it takes.",
)
TEXT_INVALID = ProblemType(
    "text_invalid",
    "The text holds characters that are no text",
    "Send UTF-8 without control characters, NUL or unpaired surrogates.",
)
CURSOR_INVALID = ProblemType(
    "cursor_invalid",
    "The cursor is not one that this registry gave out for this call",
    "Repeat the call without a cursor and follow its nextCursor.",
)
CURSOR_EXPIRED = ProblemType(
    "cursor_expired",
    "The cursor is more than a day old",
    "Repeat the call without a cursor: what it listed has changed since.",
)
CHANGED_MEANWHILE = ProblemType(
    "changed_meanwhile",
    "What was to be changed is no longer as If-Match names it",
    "Read it again, decide anew, and repeat the call with the ETag of that answer.",
)
NOTHING_TO_MATCH = ProblemType(
    "nothing_to_match",
    "This call changes nothing that has an ETag",
    "Leave If-Match out. Statements carry an order of their own: seq, or iat.",
)
NOT_FOUND = ProblemType(
    "not_found", "Nothing is here", "The calls of this registry are listed at /openapi."
)
METHOD_NOT_ALLOWED = ProblemType(
    "method_not_allowed",
    "The resource does not take this method",
    "The Allow header names those it takes.",
)
BODY_TOO_LARGE = ProblemType(
    "body_too_large",
    "The body is larger than any this call needs",
    "Send at most 64 KiB.",
)
MEDIA_TYPE_UNSUPPORTED = ProblemType(
    "media_type_unsupported",
    "The call does not take this media type",
    "Set Content-Type to the one that /openapi names for the call.",
)
BODY_LATE = ProblemType(
    "body_late", "The body did not arrive in time", "Send it whole within ten seconds."
)
TILE_UNKNOWN = ProblemType(
    "tile_unknown",
    "No published tree has this tile",
    "Read /checkpoint and ask for tiles of its size, as C2SP tlog-tiles names them.",
)
REQUEST_INVALID = ProblemType(
    "request_invalid",
    "The request can't be understood",
    "Compare it with the call's description at /openapi.",
)
DATABASE_UNAVAILABLE = ProblemType(
    "database_unavailable",
    "The registry can't reach its database at the moment",
    "Nothing was changed. Try again after the seconds that Retry-After names.",
)
INTERNAL = ProblemType(
    "internal_error",
    "The registry made a mistake",
    "It is logged. Try again; if it stays, report it with the answer's X-Request-Id.",
)
TOO_MANY_REQUESTS = ProblemType(
    "too_many_requests",
    "Too many requests in too short a time",
    "Wait for the seconds that Retry-After names. RateLimit tells what is left; an "
    "operator's key has an allowance of its own, larger than a network's.",
)
ANONYMOUS_TURNED_AWAY = ProblemType(
    "anonymous_turned_away",
    "The registry runs short of room, and answers operators only for now",
    "Ask with an operator's key (POST /v1/operators), or try again after the seconds that "
    "Retry-After names.",
)
TOO_MANY_STREAMS = ProblemType(
    "too_many_streams",
    "This client has as many event streams open as it may have at once",
    "Close one, or ask again and again instead: GET /v1/registrations/{id}, "
    "GET /v1/changes.",
)
STREAMS_TAKEN = ProblemType(
    "streams_taken",
    "All event streams of this process are taken",
    "Ask again and again instead: GET /v1/registrations/{id}, GET /v1/changes; or try "
    "again after the seconds that Retry-After names.",
)
ORIGIN_MISMATCH = ProblemType(
    "origin_mismatch",
    "A page of this origin may not call",
    "Call from a page that was loaded by https, or from the registry's own pages.",
)
IDEMPOTENCY_KEY_INVALID = ProblemType(
    "idempotency_key_invalid",
    "The Idempotency-Key is none",
    "Send one value of 1 to 255 visible ASCII characters without spaces, quoted or bare, "
    "such as a UUID.",
)
IDEMPOTENCY_KEY_REUSED = ProblemType(
    "idempotency_key_reused",
    "The Idempotency-Key was used for another request",
    "Send a new key with a new request; the old one belongs to what it was sent with for "
    "a day.",
)
IDEMPOTENCY_IN_FLIGHT = ProblemType(
    "idempotency_in_flight",
    "The request with this Idempotency-Key is still at work",
    "Repeat it after the seconds that Retry-After names: the answer is then the first's.",
)
