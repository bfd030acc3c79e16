"""The https URLs that statements and records may name.

Only the syntax is checked; the crawler's guard decides which addresses may be fetched.
Backslashes, credentials and control characters are refused because URL
parsers disagree about them.
"""

import re

MAX_LENGTH = 2048
_HTTPS_URL = re.compile(
    r"https://(?:[a-z0-9-]{1,63}\.)+[a-z0-9-]{1,63}"  # host
    r"(?P<port>:[0-9]{1,5})?"
    r"(?:[/?][!$-;=?-\[\]_a-z~]*)?",  # printable ASCII without space " # < > \ ^ ` { | }
    re.IGNORECASE,
)
_MAX_PORT = 65535


def parse_https_url(text: str) -> str:
    """Check the URL and return it. Raises: ValueError, its message a predicate."""
    if len(text) > MAX_LENGTH:
        raise ValueError(f"must have at most {MAX_LENGTH} characters")
    match = _HTTPS_URL.fullmatch(text)
    if match is None:
        raise ValueError(
            "must be an https URL with a host name, in ASCII, "
            "without credentials, fragment or spaces"
        )
    port = match["port"]
    if port is not None and not 0 < int(port[1:]) <= _MAX_PORT:
        raise ValueError("must name a port from 1 to 65535")
    return text
