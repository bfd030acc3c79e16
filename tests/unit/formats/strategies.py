"""Sites such as documents can declare."""

from hypothesis import strategies as st

from registry.formats.reading.call_targets import is_off_origin, resolve_target
from registry.formats.reading.reader import clean_text
from registry.sites.action import Action, Call, Parameter
from registry.sites.site import LocationClaim, Site

SITE_URL = "https://shop.example/"
TEXTS = st.text(max_size=30).map(clean_text)
NAMES = TEXTS.filter(bool) | st.from_regex(r"[a-z][A-Za-z0-9_-]{0,12}", fullmatch=True)
TYPES = ("string", "number", "integer", "boolean", "array", "object", "unknown")
UNKNOWN_OR_TRUTH = st.none() | st.booleans()
_PATHS = st.from_regex(r"/[a-z]{1,5}(/[a-z{}]{1,5})?", fullmatch=True)
_HOSTS = st.sampled_from(["https://shop.example", "https://api.shop.example:8443"])


@st.composite
def urls(draw: st.DrawFn) -> str:
    url = resolve_target(draw(_PATHS), base=draw(_HOSTS))
    assert url is not None
    return url


@st.composite
def calls(draw: st.DrawFn) -> Call:
    format_, transport = draw(
        st.sampled_from(
            [
                ("awp", "http"),
                ("awas", "navigate"),
                ("webmcp", "form"),
                ("a2a", "jsonrpc"),
                ("wab", "http"),
                ("abp", "window.abp"),
                ("webmcp", "page"),
            ]
        )
    )
    scripted = transport in ("window.abp", "page")
    target = "" if scripted else draw(urls())
    return Call(
        format=format_,
        transport=transport,
        method=draw(st.sampled_from(["", "GET", "POST", "api"])),
        target=target,
        operation=draw(TEXTS),
        off_origin=bool(target) and is_off_origin(target, site_url=SITE_URL),
    )


def _bridge_call(transport: str, target: str) -> Call:
    socket = target.replace("https", "wss", 1)
    place = {"js_global": "window.AICommands", "websocket": socket}
    target = place.get(transport, f"{target}/execute")
    return Call(
        format="wab",
        transport=transport,
        target=target,
        off_origin="://" in target and is_off_origin(target, site_url=SITE_URL),
    )


BRIDGE_CALLS = st.builds(
    _bridge_call, st.sampled_from(["http", "websocket", "js_global"]), urls()
)
PARAMETERS = st.builds(
    Parameter,
    name=NAMES,
    type=st.sampled_from(TYPES),
    required=UNKNOWN_OR_TRUTH,
    description=TEXTS,
    enum=st.lists(TEXTS.filter(bool), max_size=3).map(tuple),
)
ACTIONS = st.builds(
    Action,
    name=NAMES,
    description=TEXTS,
    parameters=st.lists(PARAMETERS, max_size=4, unique_by=lambda entry: entry.name).map(
        tuple
    ),
    auth_required=UNKNOWN_OR_TRUTH,
    sensitivity=st.sampled_from([None, "read", "write", "destructive", "irreversible"]),
    confirmation=UNKNOWN_OR_TRUTH,
    experimental=st.booleans(),
    deprecated=st.booleans(),
    calls=st.lists(calls() | BRIDGE_CALLS, max_size=3).map(tuple),
)
LOCATIONS = st.builds(
    LocationClaim, city=TEXTS, country=st.sampled_from(["", "AT", "JO"])
).filter(lambda item: bool(item.city or item.country))
CLAIMS = {
    "direct_benefit": TEXTS,
    "trust_signatures": st.lists(TEXTS.filter(bool), max_size=5, unique=True).map(
        tuple
    ),
}
"""Claims of a site that only WAB has members for."""
SITES = st.builds(
    Site,
    name=TEXTS,
    description=TEXTS,
    category=TEXTS,
    url=st.just("") | urls(),
    location=st.none() | LOCATIONS,
    languages=st.lists(st.sampled_from(["de", "de-AT", "en", "ar"]), unique=True).map(
        tuple
    ),
    permissions=st.dictionaries(
        st.sampled_from(["click", "scroll", "readContent", "order"]), st.booleans()
    ).map(lambda granted: tuple(granted.items())),
    commission_percent=st.none() | st.floats(0, 100),
    is_independent=UNKNOWN_OR_TRUTH,
    actions=st.lists(ACTIONS, max_size=4, unique_by=lambda entry: entry.name).map(
        tuple
    ),
)
