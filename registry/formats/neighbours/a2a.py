"""A2A agent cards: `/.well-known/agent-card.json`, before 0.3, 0.3 and 1.0.

A thin adapter: only a card of 1.0 is compared with its specification. A skill says in
prose what the agent can be asked, and has parameters in the wild only; tags and examples
are not read.
"""

from collections.abc import Iterator

from registry.formats.document import Document
from registry.formats.extension import extend_action
from registry.formats.reading.action_list import gather
from registry.formats.reading.claims import read_address
from registry.formats.reading.conformance import load_specifications
from registry.formats.reading.gating import read_auth
from registry.formats.reading.parameters import read_parameters
from registry.formats.reading.reader import Reader
from registry.formats.reading.tools import declared_tools, lists_tools, names_mcp_tools
from registry.sites.action import Action, Call
from registry.sites.site import Site
from registry.strict_json import JsonObject, JsonValue

# By A2A 1.0, section 4.4.1, as far as JSON Schema can express it.
AGENT_CARD_1_0 = load_specifications(__package__, "a2a_schema.json")["1.0"]
_MAX_INTERFACES = 10
_MAX_TRANSPORT_CHARACTERS = 40
_SKILL_NAMES = ("id", "name")
# Members that other documents with a name and skills (resumes, skill indexes) lack.
_MARKS = frozenset(
    {"capabilities", "defaultInputModes", "defaultOutputModes", "protocolVersion"}
    | {"supportedInterfaces", "additionalInterfaces", "preferredTransport"}
    | {"securitySchemes"}
)
_FEATURES = frozenset({"streaming", "pushNotifications", "stateTransitionHistory"})
_REQUIREMENTS = ("security", "securityRequirements", "security_requirements")


def is_a2a(raw: JsonObject) -> bool:
    if not isinstance(raw.get("name"), str):
        return False
    if lists_tools(raw.get("skills"), _SKILL_NAMES):
        return bool(_MARKS & raw.keys())
    return "serverInfo" not in raw and _is_bare_card(raw)


def _is_bare_card(raw: JsonObject) -> bool:
    """Return whether a card has no skills and lists no tools of MCP either."""
    if raw.get("skills") not in (None, []) or names_mcp_tools(raw.get("mcp")):
        return False
    capabilities = raw.get("capabilities")
    return isinstance(raw.get("defaultInputModes"), list) or (
        isinstance(capabilities, dict)
        and isinstance(raw.get("protocolVersion"), str)
        and bool(_FEATURES & capabilities.keys())
    )


def read_a2a(card: Reader) -> Document:
    is_judged = isinstance(card.members.get("supportedInterfaces"), list)
    if is_judged:
        AGENT_CARD_1_0.compare(card)
    interfaces = tuple(_read_interfaces(card))
    if not interfaces:
        card.deviate("agent_without_address")
    if not card.child("skills").value:
        card.deviate("no_skill")
    auth = _read_security(card)
    return card.log.conclude(
        format="a2a",
        dialect="agent_card",
        version=card.text("protocolVersion"),
        site=Site(
            name=card.text("name"),
            description=card.text("description"),
            url=_read_address(card),
            actions=gather(
                (skill, _read_skill(name, skill, interfaces, auth))
                for name, skill in declared_tools(card.child("skills"), _SKILL_NAMES)
            ),
        ),
        raw=card.members,
        is_judged=is_judged,
    )


def _read_address(card: Reader) -> str:
    """Return the provider's address if the provider is the site."""
    url = read_address(card.child("provider"), "url")
    return "" if card.log.off_origin(url) else url


def _read_interfaces(card: Reader) -> Iterator[tuple[str, str]]:
    """Yield transport and URL of each interface of the agent."""
    seen: set[str] = set()
    for transport, url in _declared_interfaces(card):
        if url and url not in seen:
            seen.add(url)
            yield transport.lower()[:_MAX_TRANSPORT_CHARACTERS] or "a2a", url


def _declared_interfaces(card: Reader) -> Iterator[tuple[str, str | None]]:
    names = ("supportedInterfaces", "additionalInterfaces")
    for interface in card.items(*names, limit=_MAX_INTERFACES):
        binding = interface.text("protocolBinding", "protocol", "transport")
        yield binding, interface.target("url")
    yield card.text("preferredTransport"), card.target("url")
    yield "", card.child("endpoints").target("a2a")


def _read_skill(
    name: str,
    skill: Reader,
    interfaces: tuple[tuple[str, str], ...],
    auth_required: bool | None,
) -> Action:
    title = skill.text("name", "title")
    own_auth = _read_security(skill)
    parsed = Action(
        name=name,
        description=skill.text("description") or (title if title != name else ""),
        parameters=read_parameters(skill, "inputSchema", "parameters"),
        auth_required=auth_required if own_auth is None else own_auth,
        calls=tuple(_read_calls(name, skill, interfaces)),
    )
    return extend_action(parsed, skill, skill.child("inputSchema").child("properties"))


def _read_calls(
    name: str, skill: Reader, interfaces: tuple[tuple[str, str], ...]
) -> Iterator[Call]:
    own = skill.target("uri", "url", "endpoint")
    if own:
        yield skill.call("a2a", "http", own, operation=name)
    for transport, url in interfaces:
        yield skill.call("a2a", transport, url, operation=name)


def _read_security(holder: Reader) -> bool | None:
    """Return whether each alternative requires a security scheme, as in OpenAPI.

    Schemes alone say how callers identify themselves, not whether they must.
    """
    declared = holder.child(*_REQUIREMENTS).value
    if isinstance(declared, list):
        required = list(map(_requires_scheme, declared))
        return None if None in required else all(required) and bool(required)
    return read_auth(holder.child("authentication"))


def _requires_scheme(requirement: JsonValue) -> bool | None:
    if not isinstance(requirement, dict):
        return None
    schemes = requirement.get("schemes", requirement)
    return bool(schemes) if isinstance(schemes, dict) else None
