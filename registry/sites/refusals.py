"""Problem types of host names."""

from registry.errors import ProblemType

NO_HOST = ProblemType(
    "no_host", "There is no host name", "Give a host name such as shop.example."
)
IP_LITERAL = ProblemType(
    "ip_literal",
    "An IP address stands where a host name is wanted",
    "Give the site's public host name; addresses are never accepted.",
)
HOST_FORM = ProblemType(
    "host_form",
    "This is not the form of a host name",
    "Give only the host: at least two labels of letters, digits and inner hyphens, "
    "each of 1 to 63 characters, at most 253 in all, without scheme, port or path.",
)
HOST_ESCAPE = ProblemType(
    "host_escape",
    "The host name is percent-encoded",
    "Spell the host name in plain characters.",
)
TRAILING_DOT = ProblemType(
    "trailing_dot", "The host name ends in a dot", "Leave out the final dot."
)
IDNA = ProblemType(
    "idna",
    "The host name is not valid under IDNA 2008",
    "Use a name that a registry would register: no symbols, underscores, "
    "hidden characters or malformed xn-- labels.",
)
SPECIAL_TLD = ProblemType(
    "special_tld",
    "The host name belongs to a special-use or private domain",
    "Give a name that the public DNS resolves.",
)
PUBLIC_SUFFIX = ProblemType(
    "public_suffix",
    "The name is a public suffix, or lies under none that is known",
    "Give a name registered below a public suffix, such as shop.co.uk under co.uk.",
)
HOSTS_FILE = ProblemType(
    "hosts_file",
    "The hosts file is malformed",
    "Write lines of `host address:port`; the address must be a loopback address.",
)
