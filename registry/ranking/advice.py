"""What a site could say to stand higher: only what is missing, never what would flatter.

Each gain is computed: the factor as it would be if the thing were said of every action
that lacks it, less the factor as it is.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from registry.ranking.capability_depth import Capability, capability_depth, richness
from registry.ranking.encoder import Encoder
from registry.ranking.policy import Policy
from registry.ranking.profile import capability_of, is_placeless
from registry.ranking.site_words import ActionWords, reading_of
from registry.sites.action import Action
from registry.sites.place import Place
from registry.sites.site import Site

MAX_SUBJECTS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """One thing to say. gain: of the factor, 0..10000, None where the requests decide.

    actions: names of those that lack it, the first ten; `count` of them in all.
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
    """place: the gazetteer's, None if the site names none that it knows."""
    reading = reading_of(
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
    now = capability_depth((capability_of(each, policy) for each in words), policy)
    for omission in _OMISSIONS:
        lacking = [each for each in words if omission.concerns(each, policy)]
        if lacking:
            then = capability_depth(_improved(words, omission, policy), policy)
            yield Advice(
                factor="capability_depth",
                how=omission.how,
                gain=max(0, then - now),
                actions=tuple(each.action.name for each in lacking[:MAX_SUBJECTS]),
                count=len(lacking),
            )


@dataclass(frozen=True, slots=True)
class _Omission:
    """say: the action as if the thing were said; a description is only counted."""

    how: str
    concerns: Callable[[ActionWords, Policy], bool]
    say: Callable[[Action], Action] | None


def _improved(
    words: Sequence[ActionWords], omission: _Omission, policy: Policy
) -> Iterator[Capability]:
    for each in words:
        capability = capability_of(each, policy)
        if omission.concerns(each, policy):
            described = len(each.description)
            if omission.say is None:
                rich = richness(each.action, policy.described_words, policy)
            else:
                rich = richness(omission.say(each.action), described, policy)
            capability = Capability(capability.terms, rich)
        yield capability


def _type_parameters(action: Action) -> Action:
    typed = (replace(each, type="string") for each in action.parameters)
    return replace(action, parameters=tuple(typed))


def _document_parameters(action: Action) -> Action:
    said = (replace(each, description=each.name) for each in action.parameters)
    return replace(action, parameters=tuple(said))


_OMISSIONS = (
    _Omission(
        "Describe the action in a sentence; its name alone is not enough.",
        lambda words, policy: len(words.description) < policy.described_words,
        None,
    ),
    _Omission(
        "State the type of every parameter.",
        lambda words, _: any(one.type == "unknown" for one in words.action.parameters),
        _type_parameters,
    ),
    _Omission(
        "Say what every parameter means.",
        lambda words, _: any(not one.description for one in words.action.parameters),
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
