"""Routes of all faces: which handlers the application has, and at which paths."""

from litestar import Router
from litestar.enums import HttpMethod
from litestar.routes import HTTPRoute
from litestar.types import ControllerRouterHandler

from registry.interfaces.ard.ard_routes import get_manifest
from registry.interfaces.discovery.discovery_routes import OWN_DOCUMENTS
from registry.interfaces.http.conditional import Conditional
from registry.interfaces.log import tile_routes as tiles
from registry.interfaces.mcp.mcp_routes import answer_message
from registry.interfaces.mcp.server_card import get_server_card, get_server_json
from registry.interfaces.rest import health, operators
from registry.interfaces.rest.labels import labels
from registry.interfaces.rest.log import about, attestations, proofs
from registry.interfaces.rest.registration import registrations
from registry.interfaces.rest.reports import (
    exposure_routes,
    invariance,
    kept_reports,
    reports,
)
from registry.interfaces.rest.search import (
    counterfactuals,
    policy,
    rankings,
    search,
    selections,
)
from registry.interfaces.rest.sites import (
    changes,
    lint,
    notices,
    profile_proofs,
    refresh,
    sites,
)
from registry.interfaces.rest.webhook_routes import WEBHOOKS
from registry.interfaces.wab.bridge_document import get_own_document
from registry.interfaces.wab.bridge_routes import EXPOSED, PROXY, WAB
from registry.interfaces.wab.domain_trust import TRUST
from registry.interfaces.wab.socket_routes import converse
from registry.interfaces.web import openapi, pages
from registry.interfaces.web import static_files as files


def _without_options(router: Router) -> Router:
    """Return the router without its answers to OPTIONS: the application makes them anew.

    Litestar makes them when the first handler of a path is registered, and their `Allow`
    would lack the methods of the later ones.
    """
    for route in router.routes:
        if isinstance(route, HTTPRoute):
            route.route_handlers = [
                handler
                for handler in route.route_handlers
                if HttpMethod.OPTIONS not in handler.http_methods
            ]
    return router


V1 = _without_options(
    Router(
        "/v1",
        middleware=[Conditional()],
        route_handlers=[
            about.get_log,
            attestations.attest,
            changes.get_changes,
            changes.watch_changes,
            counterfactuals.answer_counterfactual,
            exposure_routes.get_exposure,
            exposure_routes.get_own_exposure,
            exposure_routes.list_exposure,
            invariance.list_invariance_runs,
            invariance.get_trial_material,
            kept_reports.get_kept_report,
            kept_reports.list_reports,
            labels.get_disclosures,
            labels.get_labels,
            labels.set_label,
            lint.get_advice,
            lint.lint_document,
            notices.get_notices,
            operators.change_operator,
            operators.get_operator,
            operators.get_own_operator,
            operators.get_own_report,
            operators.register_operator,
            policy.get_policy,
            policy.get_policy_history,
            policy.get_policy_text,
            profile_proofs.get_generation,
            profile_proofs.get_material,
            rankings.erase,
            rankings.get_ranking,
            rankings.get_ranking_proof,
            proofs.get_consistency,
            proofs.get_inclusion,
            proofs.get_record,
            proofs.get_record_proof,
            refresh.refresh_site,
            registrations.create_challenge,
            registrations.get_registration,
            registrations.submit,
            registrations.watch_registration,
            reports.get_fairness_report,
            search.search_by_body,
            search.search_by_query,
            selections.report_selection,
            sites.get_document,
            sites.get_history,
            sites.get_quality,
            sites.get_site,
            sites.list_sites,
            *WEBHOOKS,
        ],
    )
)

AT_THE_ROOT: list[ControllerRouterHandler] = [
    answer_message,
    *OWN_DOCUMENTS,
    WAB,
    PROXY,
    TRUST,
    converse,
    get_own_document,
    get_manifest,
    get_server_card,
    get_server_json,
    files.get_icon,
    files.get_robots,
    files.get_security,
    files.get_style,
    health.get_liveness,
    health.get_readiness,
    openapi.get_openapi,
    openapi.show_openapi,
    pages.get_addresses,
    pages.get_directory,
    pages.get_policy_page,
    pages.show_bot,
    pages.show_policy,
    pages.show_problem,
    pages.show_search,
    pages.show_site,
    tiles.get_checkpoint,
    tiles.get_tile,
]

EXPOSED_HEADERS = [
    *("ETag", "Location", "Retry-After"),
    *("RateLimit", "RateLimit-Policy", "X-Request-Id"),
    *("X-JWS-Signature", kept_reports.LEAF_HEADER),
    *EXPOSED,
]
