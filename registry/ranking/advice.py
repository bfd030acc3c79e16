"""Advice to a site on how to rank higher: only missing facts, never flattery.

Each change is tried with the real profile and score before it is advised, alone and on
top of the advice before it. A change that lowers the score of a request for one of the
site's actions, or raises none, is no advice. So a site's description is to have the words
of its actions alone: others would make these weigh less.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from registry.ranking.advice_trial import AdviceTrial, coined_words, requests_of
from registry.ranking.decay import decay_table
from registry.ranking.encoders.encoder import Encoder
from registry.ranking.policy import Policy
from registry.ranking.quality import ProbeFigures, quality
from registry.ranking.words.site_words import ActionWords, site_text_reader
from registry.sites.action import Action
from registry.sites.place import Place, Point
from registry.sites.site import Site
from registry.sites.site_advice import Advice, LastProbe

MAX_SUBJECTS = 10
_SOMEWHERE = Place(geonames_id=0, name="", country="", point=Point(0, 0))


def advise(
    site: Site,
    *,
    host: str,
    registrable_domain: str,
    place: Place | None,
    encoder: Encoder,
    policy: Policy,
) -> tuple[Advice, ...]:
    """List advice for a site's documents. place: the gazetteer's, None if unknown."""
    reading = site_text_reader(
        site.name, host, registrable_domain, place, encoder=encoder, policy=policy
    )
    words = [reading.action(action) for action in site.actions]
    trial = AdviceTrial(
        host=host,
        registrable_domain=registrable_domain,
        place=place,
        requests=requests_of(words, encoder, policy),
        encoder=encoder,
        policy=policy,
    )
    return (
        *_advise_on_category(site),
        *_advise_on_relevance(site, words, trial),
        *_advise_on_proximity(site, trial),
        *(advice for advice, _ in try_changes(site, words, trial)),
    )


def advise_on_quality(
    figures: ProbeFigures, last: LastProbe, policy: Policy
) -> tuple[Advice, ...]:
    """List advice where probes fail and the newest did too; past ones need no advice."""
    if last.outcome == "alive" or figures.successes == figures.probes:
        return ()
    enough = max(figures.probes, policy.quality_probes_min)
    mended = replace(figures, probes=enough, answers=enough, successes=enough)
    gain = quality(mended, policy) - quality(figures, policy)
    how = (
        f"{figures.successes} of {figures.probes} quality probes got the right answer. "
        f"The newest sent GET {last.url}, got {last.got or last.outcome} and expected "
        f"{last.wanted or 'the right answer'}. docs/probes.md has the rules, "
        "/v1/sites/HOST/quality the single probes."
    )
    return (Advice(factor="quality", how=how, gain=max(0, gain), probe=last),)


def _advise_on_category(site: Site) -> Iterator[Advice]:
    if not site.category:
        how = (
            "State a category, such as bakery, in a document or in the registration: "
            "agents filter by `category`, and a site without one is in none of those "
            "answers."
        )
        yield Advice(factor="eligibility", how=how)


def _advise_on_relevance(
    site: Site, words: Sequence[ActionWords], trial: AdviceTrial
) -> Iterator[Advice]:
    if not site.actions:
        how = "List the actions that agents can call; without one nothing matches."
        yield Advice(factor="relevance", how=how)
    elif not site.description:
        described = describe_by_actions(site, words)
        if trial.raises(trial.profile_of(site), trial.profile_of(described)):
            how = (
                "Describe the site in a short sentence, in the words of its actions; "
                "other words make these weigh less."
            )
            yield Advice(factor="relevance", how=how)


def describe_by_actions(site: Site, words: Sequence[ActionWords]) -> Site:
    """Return the site with the shortest description in the words of its actions."""
    return replace(site, description=" ".join(item.plain for item in words))


def _advise_on_proximity(site: Site, trial: AdviceTrial) -> Iterator[Advice]:
    policy = trial.policy
    if trial.place is not None or not trial.profile_of(site, _SOMEWHERE).local:
        return
    if decay_table(policy.distance_scale_km)[0] <= policy.proximity_neutral:
        return  # a site with a place would be no nearer than one without
    if site.location and site.location.city:
        how = (
            "The city is not in the gazetteer; name the next larger one, with country."
        )
    else:
        how = "State city and country, if you serve people near you."
    yield Advice(factor="proximity", how=how)


def try_changes(
    site: Site, words: Sequence[ActionWords], trial: AdviceTrial
) -> Iterator[tuple[Advice, Site]]:
    """Yield advice that raises depth and lowers no score; the site with that alone.

    Each change is tried by itself, and beside those before it.
    """
    before, advised, policy = trial.profile_of(site), site, trial.policy
    for omission in _OMISSIONS:
        lacking = {
            number: item
            for number, item in enumerate(words)
            if omission.concerns(item, policy)
        }
        changed = _amended(site, lacking, omission, policy)
        after = trial.profile_of(changed)
        gain = after.capability_depth - before.capability_depth
        if gain <= 0 or not trial.raises(before, after):
            continue
        together = _amended(advised, lacking, omission, policy)
        if trial.raises(trial.profile_of(advised), trial.profile_of(together)):
            advised = together
            names = [item.action.name for item in lacking.values()]
            advice = Advice(
                factor="capability_depth",
                how=omission.how,
                gain=gain,
                actions=tuple(names[:MAX_SUBJECTS]),
                count=len(names),
            )
            yield advice, changed


@dataclass(frozen=True, slots=True)
class _Omission:
    """A missing fact. amend: adds it to an action, in as few words as possible."""

    how: str
    concerns: Callable[[ActionWords, Policy], bool]
    amend: Callable[[Action, ActionWords, Policy], Action]


def _amended(
    site: Site, lacking: Mapping[int, ActionWords], omission: _Omission, policy: Policy
) -> Site:
    actions = list(site.actions)
    for number, words in lacking.items():
        actions[number] = omission.amend(actions[number], words, policy)
    return replace(site, actions=tuple(actions))


def _describe(action: Action, words: ActionWords, policy: Policy) -> Action:
    """Describe it in the words of its name, and in as many others as it lacks."""
    own = {*words.name, *words.description}
    others = coined_words(max(0, policy.described_words - len(own)))
    return replace(action, description=f"{action.description} {action.name} {others}")


def _type_parameters(action: Action, *_: object) -> Action:
    typed = (
        replace(parameter, type="string") if parameter.type == "unknown" else parameter
        for parameter in action.parameters
    )
    return replace(action, parameters=tuple(typed))


def _document_parameters(action: Action, *_: object) -> Action:
    documented = (
        parameter
        if parameter.description
        else replace(parameter, description=coined_words(1, number))
        for number, parameter in enumerate(action.parameters)
    )
    return replace(action, parameters=tuple(documented))


_OMISSIONS = (
    _Omission(
        "Describe the action in a short sentence, with the words of its name.",
        lambda words, policy: len(words.description) < policy.described_words,
        _describe,
    ),
    _Omission(
        "State the type of every parameter.",
        lambda words, _: any(p.type == "unknown" for p in words.action.parameters),
        _type_parameters,
    ),
    _Omission(
        "Say what every parameter means, in a word or two.",
        lambda words, _: any(not p.description for p in words.action.parameters),
        _document_parameters,
    ),
    _Omission(
        "Say whether the action needs a login; no is an answer too.",
        lambda words, _: words.action.auth_required is None,
        lambda action, *_: replace(action, auth_required=False),
    ),
    _Omission(
        "Say what the action changes, or that it only reads.",
        lambda words, _: words.action.sensitivity is None,
        lambda action, *_: replace(action, sensitivity="read"),
    ),
)
