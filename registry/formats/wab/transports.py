"""Transports of a WAB bridge by section 4.3.7 and by the dialects."""

from collections.abc import Iterator

from registry.formats.extension import read_interface, undeclared_in
from registry.formats.reading.reader import Reader
from registry.sites.action import Call

EXECUTE = "/execute"  # below the base URL of a bridge, section 7.3.1
_DEFAULT_INTERFACE = "window.AICommands"  # section 4.3.7


def read_transports(body: Reader) -> tuple[Call, ...]:
    if "transport" in undeclared_in(body):
        return ()
    for holder in (body, body.child("capabilities")):
        named = holder.child("transport")
        if isinstance(named.value, list):
            return tuple(_listed_transports(body, holder.texts("transport")))
    return tuple(_described_transports(body))


def _listed_transports(body: Reader, named: tuple[str, ...]) -> Iterator[Call]:
    endpoint = _execute_address(body, body.child("transport"))
    if "http" in named and endpoint:
        yield body.call("wab", "http", endpoint)
    if {"javascript", "js_global"}.intersection(named):
        yield Call(format="wab", transport="js_global", target=_DEFAULT_INTERFACE)


def _described_transports(body: Reader) -> Iterator[Call]:
    transport = body.child("transport")
    http = transport.child("http")
    url = _execute_address(body, http)
    if url and http.boolean("enabled") is not False:
        yield body.call("wab", "http", url)
    websocket = transport.child("websocket")
    if websocket.boolean("enabled") is not False:
        socket_url = websocket.target("url")
        if socket_url:
            yield body.call("wab", "websocket", socket_url)
    script = transport.child("js_global")
    if script.boolean("enabled"):
        interface = read_interface(script) or _DEFAULT_INTERFACE
        yield Call(format="wab", transport="js_global", target=interface)


def _execute_address(body: Reader, http: Reader) -> str | None:
    """Return the address of section 7.3.1, or of the dialects."""
    base = http.text("base_url")
    if base:
        return http.resolve(base.rstrip("/") + EXECUTE, names=("base_url",))
    declared = body.child("endpoints").target("execute", "api")
    # In the manifest dialect `endpoint` is the discovery document itself.
    if declared or body.text("endpoint").endswith(".json"):
        return declared
    return body.target("endpoint")
