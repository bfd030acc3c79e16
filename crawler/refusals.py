"""Reasons of the crawler not to fetch, or not to take a response.

Faults of a host name itself are in `registry.sites.refusals`. `UNREACHABLE` groups the
codes that say the site could not be talked to, as against having answered wrongly.
"""

from registry.errors import ProblemType, Refused

# The address as it is written
URL_LENGTH = ProblemType(
    "url_length", "The URL is too long", "Use a URL of at most 2,048 characters."
)
URL_CHARS = ProblemType(
    "url_chars",
    "The URL holds characters or escapes that no URL may hold",
    "Percent-encode spaces and controls; leave out backslashes and dot segments.",
)
URL_SYNTAX = ProblemType(
    "url_syntax", "This is not a URL", "Write it as https://shop.example/path."
)
SCHEME = ProblemType("scheme", "The URL is not https", "Serve it over https.")
USERINFO = ProblemType(
    "userinfo", "The URL holds a user name or password", "Leave out everything up to @."
)
FRAGMENT = ProblemType(
    "fragment", "The URL has a fragment", "Leave out # and what follows it."
)
PORT = ProblemType("port", "The port is not allowed", "Serve it on port 443.")

# Where the name leads
ADDRESS = ProblemType(
    "address",
    "The host leads to an address that is not public",
    "Let every A and AAAA record of the host name a public address.",
)
DNS_NONE = ProblemType(
    "dns_none", "The host has no address", "Publish an A or AAAA record."
)
DNS_TOO_MANY = ProblemType(
    "dns_too_many", "The host has too many addresses", "Publish at most 32 addresses."
)
DNS_TIMEOUT = ProblemType(
    "dns_timeout", "The DNS did not answer in time", "Check the zone's name servers."
)
DNS_FAILED = ProblemType(
    "dns_failed", "The DNS did not resolve the name", "Check the zone's records."
)
DNS_SERVER = ProblemType(
    "dns_server", "The DNS server is misspelt", "Write address:port, as 127.0.0.1:5353."
)

# Where the answer leads
REDIRECT_LIMIT = ProblemType(
    "redirect_limit", "There are too many redirects", "Serve it at its own address."
)
REDIRECT_LOOP = ProblemType(
    "redirect_loop", "The redirects go in a circle", "Serve it at its own address."
)
REDIRECT_NO_LOCATION = ProblemType(
    "redirect_no_location", "A redirect leads nowhere", "Send one Location header."
)
REDIRECT_CROSS_SITE = ProblemType(
    "redirect_cross_site",
    "A redirect leads to another site",
    "Serve it on the host itself.",
)

# The conversation
DEADLINE = ProblemType(
    "deadline", "The whole took too long", "Serve it within ten seconds."
)
TIMEOUT = ProblemType(
    "timeout", "The server was silent for too long", "Answer within three seconds."
)
CONNECT = ProblemType(
    "connect", "The server can not be connected to", "Open port 443 to the public."
)
TLS = ProblemType(
    "tls",
    "The TLS handshake failed",
    "Serve TLS 1.2 or later with a certificate for this host from a public authority.",
)
PROTOCOL = ProblemType(
    "protocol", "The answer is not valid HTTP/1.1", "Check the server or its proxy."
)
HEADERS_COUNT = ProblemType(
    "headers_count", "The answer has too many headers", "Send at most 100."
)
STATUS = ProblemType(
    "status", "The status is not 200", "Answer with 200 and the document."
)

# The body
CONTENT_TYPE = ProblemType(
    "content_type",
    "The content type is not the expected one",
    "Send one Content-Type header that names the document's own type.",
)
BODY_WIRE = ProblemType(
    "body_wire", "The body is too long", "Send at most 256 KiB, compressed or not."
)
BODY_DECODED = ProblemType(
    "body_decoded", "The decompressed body is too long", "Keep it below 512 KiB."
)
BODY_RATIO = ProblemType(
    "body_ratio", "The body is compressed too well to be true", "Send it uncompressed."
)
ENCODING = ProblemType(
    "encoding", "The content coding was not asked for", "Send gzip or no coding."
)
ENCODING_STACK = ProblemType(
    "encoding_stack", "The body is coded more than once", "Send gzip or no coding."
)
ENCODING_CORRUPT = ProblemType(
    "encoding_corrupt", "The gzip stream is broken or cut off", "Send all of it."
)
ENCODING_TRAILER = ProblemType(
    "encoding_trailer", "Bytes follow the gzip stream", "Send one gzip member only."
)

# Permission and presence
ROBOTS_DISALLOWED = ProblemType(
    "robots_disallowed",
    "Your robots.txt forbids it",
    "Allow this path for our product token, or for *.",
)
ROBOTS_UNREACHABLE = ProblemType(
    "robots_unreachable",
    "robots.txt could not be read, which forbids everything (RFC 9309, 2.3.1.4)",
    "Answer /robots.txt with 200, or with 404 if there are no rules.",
)
NOT_FOUND = ProblemType(
    "document_absent", "There is no document here", "Publish it at this address."
)
REFERENCE_DANGLING = ProblemType(
    "reference_dangling",
    "The document points to a catalogue of actions that its site does not serve",
    "Serve an AWAS document there, or the actions at /.well-known/ai-actions.json.",
)
BUDGET = ProblemType(
    "budget", "The site used up its requests for this visit", "Declare fewer documents."
)

# The answer to a probe
BRIDGE_ANSWER = ProblemType(
    "bridge_answer",
    "The bridge does not answer as WAB 1.0 says",
    "Answer in the response format of section 5.2 with the result of section 5.3.",
)
DOCUMENT_OTHER = ProblemType(
    "document_other",
    "Something else stands where the site's document was",
    "Serve the registered document at its address, or register the new one.",
)
OWN_LINE = ProblemType(
    "own_line",
    "The registry could not reach its own targets either",
    "There is nothing to do; what was probed meanwhile counts for nobody.",
)

# Our own restraint
BREAKER_OPEN = ProblemType(
    "breaker_open",
    "The host, its domain or its network failed so often that it is left in peace",
    "See that it answers; the registry comes again by itself.",
)
NETWORK_BUSY = ProblemType(
    "network_busy",
    "The registry asks as much of this domain or network as it allows itself",
    "There is nothing to do; the registry comes again by itself.",
)

UNREACHABLE = frozenset(
    kind.code
    for kind in (
        ADDRESS,
        DNS_NONE,
        DNS_TOO_MANY,
        DNS_TIMEOUT,
        DNS_FAILED,
        DEADLINE,
        TIMEOUT,
        CONNECT,
        TLS,
        ROBOTS_UNREACHABLE,
    )
)

LATER = {kind.code: kind for kind in (BREAKER_OPEN, NETWORK_BUSY)}
"""We did not ask: that says nothing about the site, and is no downtime of it."""


class UnexpectedStatus(Refused):
    """The server answered, but neither 200 nor a 304 that was asked for.

    retry_after: the header as it came, bounded; see `schedule.parse_retry_after`.
    """

    def __init__(self, status: int, retry_after: str = "") -> None:
        self.status = status
        self.retry_after = retry_after
        super().__init__(STATUS, f"the server answered {status}")


class UnexpectedType(Refused):
    """The media type is none of those asked for. media_type: "" where none is given."""

    def __init__(self, media_type: str) -> None:
        self.media_type = media_type
        super().__init__(CONTENT_TYPE, f"it is {media_type or 'not given'}")


def may_pass(refused: Refused) -> bool:
    """Return whether the same request may well succeed a moment later."""
    if isinstance(refused, UnexpectedStatus):
        return refused.status >= 500 or refused.status == 429
    if refused.code in LATER:
        return True
    return refused.code in UNREACHABLE or refused.code == PROTOCOL.code
