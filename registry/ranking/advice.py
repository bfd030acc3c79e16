"""Advice to a site on how to rank higher: only missing facts, never flattery.

Each gain is computed: the factor with the fact added to every action that lacks it, less
the present factor.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from registry.ranking.capability_depth import Capability, capability_depth, richness
from registry.ranking.encoders.encoder import Encoder
from registry.ranking.policy import Policy
from registry.ranking.profile import capability_of, is_placeless
from registry.ranking.words.site_words import ActionWords, site_text_reader
from registry.sites.action import Action
from registry.sites.place import Place
from registry.sites.site import Site

MAX_SUBJECTS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """A fact to add. gain: of the factor, 0..10000, None if it depends on requests.

    actions: names of the first ten that lack it, of `count` in all.
    """

    factor: Literal["relevance", "proximity", "capability_depth"]
    how: str
    gain: int | None = None
    actions: tuple[str, ...] = ()
    count: int = 0


def advise(
    site: Site,
    *,
    host: str,
    registrable_domain: str,
    place: Place | None,
    encoder: Encoder,
    policy: Policy,
) -> tuple[Advice, ...]:
    """List advice for a site. place: the gazetteer's, None if unknown."""
    reading = site_text_reader(
        site.name, host, registrable_domain, place, encoder=encoder, policy=policy
    )
    words = [reading.action(action) for action in site.actions]
    return (
        *_advise_on_relevance(site),
        *_advise_on_proximity(site, place, policy),
        *_advise_on_depth(words, policy),
    )


def _advise_on_relevance(site: Site) -> Iterator[Advice]:
    if not site.actions:
        how = "List the actions that agents can call; without one nothing matches."
        yield Advice(factor="relevance", how=how)
    if not site.category:
        how = "Name the category: its words are searched, and agents filter by it."
        yield Advice(factor="relevance", how=how)
    if not site.description:
        how = "Describe the site in a sentence or two: the words are searched."
        yield Advice(factor="relevance", how=how)


def _advise_on_proximity(
    site: Site, place: Place | None, policy: Policy
) -> Iterator[Advice]:
    if place is not None or is_placeless(site.category.strip().casefold(), policy):
        return
    if site.location and site.location.city:
        how = (
            "The city is not in the gazetteer; name the next larger one, with country."
        )
    else:
        how = "State city and country, if you serve people near you."
    yield Advice(factor="proximity", how=how)


def _advise_on_depth(words: Sequence[ActionWords], policy: Policy) -> Iterator[Advice]:
    depth = capability_depth((capability_of(item, policy) for item in words), policy)
    for omission in _OMISSIONS:
        lacking = [item for item in words if omission.concerns(item, policy)]
        if lacking:
            improved = capability_depth(_improved(words, omission, policy), policy)
            yield Advice(
                factor="capability_depth",
                how=omission.how,
                gain=max(0, improved - depth),
                actions=tuple(item.action.name for item in lacking[:MAX_SUBJECTS]),
                count=len(lacking),
            )


@dataclass(frozen=True, slots=True)
class _Omission:
    """A missing fact. amend: adds it to an action; None for a description."""

    how: str
    concerns: Callable[[ActionWords, Policy], bool]
    amend: Callable[[Action], Action] | None


def _improved(
    words: Sequence[ActionWords], omission: _Omission, policy: Policy
) -> Iterator[Capability]:
    for item in words:
        capability = capability_of(item, policy)
        if omission.concerns(item, policy):
            if omission.amend is None:
                rich = richness(item.action, policy.described_words, policy)
            else:
                action = omission.amend(item.action)
                rich = richness(action, len(item.description), policy)
            capability = Capability(capability.terms, rich)
        yield capability


def _type_parameters(action: Action) -> Action:
    typed = (replace(parameter, type="string") for parameter in action.parameters)
    return replace(action, parameters=tuple(typed))


def _document_parameters(action: Action) -> Action:
    documented = (replace(p, description=p.name) for p in action.parameters)
    return replace(action, parameters=tuple(documented))


_OMISSIONS = (
    _Omission(
        "Describe the action in a sentence; its name alone is not enough.",
        lambda words, policy: len(words.description) < policy.described_words,
        None,
    ),
    _Omission(
        "State the type of every parameter.",
        lambda words, _: any(p.type == "unknown" for p in words.action.parameters),
        _type_parameters,
    ),
    _Omission(
        "Say what every parameter means.",
        lambda words, _: any(not p.description for p in words.action.parameters),
        _document_parameters,
    ),
    _Omission(
        "Say whether the action needs a login; no is an answer too.",
        lambda words, _: words.action.auth_required is None,
        lambda action: replace(action, auth_required=False),
    ),
    _Omission(
        "Say what the action changes, or that it only reads.",
        lambda words, _: words.action.sensitivity is None,
        lambda action: replace(action, sensitivity="read"),
    ),
)
