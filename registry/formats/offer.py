"""Digest of what agents can do at a site, by which its freshness is counted.

Covered are the actions alone, each once, with their words reduced to letters: case,
spaces, zero-width characters, punctuation, digits and ways to join the words of a name
change nothing. Nor do the provider's name, its commission or independence, its place,
or where an action is called.
"""

import unicodedata
from collections.abc import Iterable
from datetime import datetime, timedelta

from registry.formats.semantic import semantic_hash
from registry.sites.action import Action, Parameter
from registry.sites.site import Site


def offer_digest(site: Site) -> bytes:
    """Return 32 bytes, equal as long as agents can do the same."""
    actions = frozenset(map(_reduced_action, site.actions))
    return semantic_hash(Site(actions=tuple(actions)))


def last_change(
    before: Site, after: Site, changed_at: datetime, now: datetime, *, credit_days: int
) -> datetime:
    """Return when the offer changed last, as freshness counts it.

    changed_at: the last time until now. credit_days: a change counts this long after the
    last that did, and no sooner.
    """
    if now - changed_at < timedelta(days=credit_days):
        return changed_at
    return changed_at if offer_digest(before) == offer_digest(after) else now


def _reduced_action(action: Action) -> Action:
    return Action(
        name=_letters(action.name),
        description=_letters(action.description),
        parameters=_distinct(map(_reduced_parameter, action.parameters)),
        auth_required=action.auth_required,
        sensitivity=action.sensitivity,
        confirmation=action.confirmation,
        deprecated=action.deprecated,
    )


def _reduced_parameter(parameter: Parameter) -> Parameter:
    return Parameter(
        name=_letters(parameter.name),
        type=parameter.type,
        required=parameter.required,
        description=_letters(parameter.description),
        enum=tuple(sorted(set(map(_letters, parameter.enum)))),
    )


def _distinct(parameters: Iterable[Parameter]) -> tuple[Parameter, ...]:
    """Return them in one order, so that equal actions are equal."""
    return tuple(sorted(set(parameters), key=repr))


def _letters(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).casefold()
    return "".join(filter(str.isalpha, unicodedata.normalize("NFKC", folded)))
