"""The registry's own discovery documents: from `own_site`, or as their files have them."""

import json
from importlib.metadata import version
from importlib.resources import files
from string import Template
from typing import Literal
from urllib.parse import urlsplit

import jinja2

from registry.formats.writing.forms import Form, write_as
from registry.interfaces.discovery.own_site import NAME, OWN_ACTIONS, SUMMARY, own_site
from registry.strict_json import JsonObject

Manifest = Literal["mcp", "a2a", "ard", "mcp-registry", "mcp-server-card"]
_MANIFESTS = Template(files(__package__).joinpath("own_manifests.json").read_text())
_LLMS_TXT = jinja2.Template(
    files(__package__).joinpath("llms.txt").read_text(),
    undefined=jinja2.StrictUndefined,
    trim_blocks=True,
    keep_trailing_newline=True,
)


def own_document(form: Form, origin: str) -> JsonObject:
    """Write what the registry offers in one of the formats."""
    return write_as(form, own_site(origin), host=urlsplit(origin).netloc)


def own_manifest(name: Manifest, origin: str) -> JsonObject:
    """Return a manifest that points to what the registry offers.

    mcp, a2a: of AWAS (Manifest Requirements). ard: of /.well-known/ard.json. mcp-registry:
    what an owner hands to the MCP registry. mcp-server-card: SEP-1649, without the tools.
    """
    host = urlsplit(origin).hostname or ""
    values = {
        "name": NAME,
        "summary": SUMMARY,
        "version": version("fair-registry"),
        "origin": origin,
        "host": host,
        "reversed_host": ".".join(reversed(host.split("."))),
    }
    escaped = {key: json.dumps(value)[1:-1] for key, value in values.items()}
    manifest: JsonObject = json.loads(_MANIFESTS.substitute(escaped))[name]
    return manifest


def llms_txt(origin: str) -> str:
    """Return the registry in Markdown for language models, after llmstxt.org."""
    words = {"name": NAME, "summary": SUMMARY, "actions": OWN_ACTIONS}
    return str(_LLMS_TXT.render(words, origin=origin))
