"""HTTP methods, as documents declare them."""

from registry.formats.reading.reader import Reader

HTTP_METHODS = frozenset({"GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"})


def read_method(holder: Reader, *names: str) -> str:
    """Read the method in upper case; "" if none is declared, or another word is."""
    declared = holder.text(*names).upper()
    if not declared or declared in HTTP_METHODS:
        return declared
    holder.child(*names).deviate("no_method", declared=declared[:80])
    return ""
