"""The town's own authority, and a certificate of its own for each host."""

import ssl
from collections.abc import Mapping

import trustme


def issue_context(authority: trustme.CA, host: str) -> ssl.SSLContext:
    """Return a server context with a certificate for that name alone."""
    context = _server_context()
    authority.issue_cert(host, common_name=host).configure_cert(context)
    return context


def choose_by_name(contexts: Mapping[str, ssl.SSLContext]) -> ssl.SSLContext:
    """A context that becomes the one of the name asked for (SNI, RFC 6066).

    It has no certificate of its own: a name that is not of the town is refused.
    """

    def choose(
        handshake: ssl.SSLObject, name: str | None, _context: ssl.SSLContext
    ) -> int | None:
        if name is None or name not in contexts:
            return ssl.ALERT_DESCRIPTION_UNRECOGNIZED_NAME
        handshake.context = contexts[name]
        return None

    front = _server_context()
    front.sni_callback = choose
    return front


def _server_context() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    return context
