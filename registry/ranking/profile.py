"""The profile: all that the ranker may know of a site.

A profile holds no name, brand, host, tier, label or count of visitors; the site's own
name and domain are cut out of its text before anything else sees it. It is made once,
when a site or its probe figures change, kept as bytes, and read back by the index under
a database role that sees nothing else. It names the policy that it was made under:
profiles of two policies can't stand in one order.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

import msgspec

from registry.ranking.capability_depth import Capability, capability_depth, richness
from registry.ranking.encoder import Encoder
from registry.ranking.mask import Everyday, Mask, make_mask
from registry.ranking.meaning import SiteWords
from registry.ranking.policy import Policy
from registry.ranking.quality import ProbeFigures, quality
from registry.ranking.spelling import Lexicon, lexicon_of
from registry.ranking.text import distinct_terms, split_words, stem
from registry.sites.action import Action
from registry.sites.place import Place, Point
from registry.sites.site import Site


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionProfile:
    """Distinct terms a field. name: as declared, own name cut out, for explanations."""

    name: str
    name_terms: tuple[str, ...]
    description_terms: tuple[str, ...]
    parameter_terms: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """What is known of a site for ranking.

    policy: the digest of the policy that the terms and numbers follow. publisher: an opaque number of the registrable domain. category: casefolded, or "".
    country: ISO 3166-1 alpha-2 or "". local: has a point, and its category is bound to
    it. site_terms: of category and description. embedding: see
    `vectors.quantise_site`.
    capability_depth, quality: 0..10000. changed_at: the last semantic change.
    commission_tier: 0 for a declared 0%, else 1; orders equal scores only (WAB §9.5.3).
    What follows serves filters only. conformance: of its documents together, casefolded,
    or "". permissions: those it grants, action_names: as `plain_name`, own name cut out.
    requires_auth: what its actions declare. languages: as `primary_language`.
    """

    policy: str
    site_id: int
    publisher: int
    category: str
    country: str
    formats: tuple[str, ...]
    point: Point | None
    local: bool
    site_terms: tuple[str, ...]
    actions: tuple[ActionProfile, ...]
    embedding: bytes
    capability_depth: int
    quality: int
    probes: ProbeFigures
    changed_at: datetime
    commission_tier: int
    conformance: str = ""
    permissions: tuple[str, ...] = ()
    requires_auth: tuple[bool, ...] = ()
    action_names: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()


_decoder = msgspec.msgpack.Decoder(Profile)


def encode_profile(profile: Profile) -> bytes:
    return msgspec.msgpack.encode(profile)


def parse_profile(body: bytes) -> Profile:
    """Raises: msgspec.DecodeError."""
    return _decoder.decode(body)


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionWords:
    """An action's content words a field, masked. plain: its name as `plain_name`.

    terms: distinct ones of the three fields, in their order.
    """

    action: Action
    shown: str
    plain: str
    name: Sequence[str]
    description: Sequence[str]
    parameters: Sequence[str]
    terms: tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]

    def capability(self, policy: Policy) -> Capability:
        return Capability(
            frozenset().union(*self.terms),
            richness(self.action, len(self.description), policy),
        )


@dataclass(frozen=True, slots=True)
class Reading:
    """How the texts of a site are read: its own name cut out, then words taken apart.

    In this order, because the name may be written in one word.
    """

    mask: Mask
    lexicon: Lexicon
    policy: Policy

    def about(self, site: Site) -> list[str]:
        said = f"{site.category} \n {site.description}"
        return self._content(said, self.policy.site_words_max)

    def action(self, action: Action) -> ActionWords:
        policy = self.policy
        words = split_words(action.name)
        kept = self.mask.cut(words)
        plain = " ".join(kept)
        said = " \n ".join(
            [f"{each.name} \n {each.description}" for each in action.parameters]
        )
        name = self.lexicon.saying(kept, limit=policy.name_words_max)
        description = self._content(action.description, policy.description_words_max)
        parameters = self._content(said, policy.parameter_words_max)
        return ActionWords(
            action=action,
            shown=action.name if kept == words else plain,
            plain=plain,
            name=name,
            description=description,
            parameters=parameters,
            terms=(
                distinct_terms(name),
                distinct_terms(description),
                distinct_terms(parameters),
            ),
        )

    def _content(self, text: str, limit: int) -> list[str]:
        kept = self.mask.cut(split_words(text))
        return self.lexicon.saying(kept, limit=limit)


def reading_of(
    name: str,
    host: str,
    registrable_domain: str,
    place: Place | None,
    *,
    encoder: Encoder,
    policy: Policy,
) -> Reading:
    """host, registrable_domain: lower-case A-labels, used for masking only."""
    everyday = Everyday(encoder, policy, place_terms(place))
    mask = make_mask(name, host, registrable_domain, everyday)
    return Reading(mask, lexicon_of(encoder, policy), policy)


def make_profile(
    site: Site,
    *,
    site_id: int,
    publisher: int,
    host: str,
    registrable_domain: str,
    formats: Iterable[str],
    place: Place | None,
    probes: ProbeFigures,
    changed_at: datetime,
    encoder: Encoder,
    policy: Policy,
    conformance: str = "",
) -> Profile:
    """host, registrable_domain: lower-case A-labels, used for masking only."""
    reading = reading_of(
        site.name, host, registrable_domain, place, encoder=encoder, policy=policy
    )
    actions = [reading.action(action) for action in site.actions]
    about = reading.about(site)
    category = site.category.strip().casefold()
    return Profile(
        policy=policy.digest,
        site_id=site_id,
        publisher=publisher,
        category=category,
        country=_country(site, place),
        formats=tuple(sorted(set(formats))),
        point=place.point if place else None,
        local=place is not None and not is_placeless(category, policy),
        site_terms=distinct_terms(about),
        actions=tuple(_action_profile(each) for each in actions),
        embedding=encoder.encode_site(_site_words(about, actions)),
        capability_depth=_depth(actions, policy),
        quality=quality(probes, policy),
        probes=probes,
        changed_at=changed_at,
        commission_tier=0 if site.commission_percent == 0 else 1,
        conformance=conformance.casefold(),
        permissions=_granted(site, reading.mask),
        requires_auth=_requires_auth(site),
        action_names=_distinct(each.plain for each in actions),
        languages=_distinct(map(primary_language, site.languages)),
    )


def plain_name(name: str) -> str:
    """The words of an identifier, however it is written.

    `addToCart`, `add-to-cart` and `Add to cart` give "add to cart"; `???` gives "".
    """
    return " ".join(split_words(name))


def primary_language(tag: str) -> str:
    """`de-AT` gives "de". tag: BCP 47."""
    return tag.strip().casefold().replace("_", "-").partition("-")[0]


def _granted(site: Site, mask: Mask) -> tuple[str, ...]:
    return _distinct(
        " ".join(mask.cut(split_words(name)))
        for name, is_granted in site.permissions
        if is_granted
    )


def _requires_auth(site: Site) -> tuple[bool, ...]:
    declared = {action.auth_required for action in site.actions}
    return tuple(value for value in (False, True) if value in declared)


def _distinct(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(values) - {""}))


def _site_words(about: Sequence[str], actions: Sequence[ActionWords]) -> SiteWords:
    return SiteWords(
        about=about,
        names=[each.name for each in actions],
        descriptions=[each.description for each in actions],
        parameters=[each.parameters for each in actions],
    )


def _action_profile(words: ActionWords) -> ActionProfile:
    name, description, parameters = words.terms
    return ActionProfile(
        name=words.shown,
        name_terms=name,
        description_terms=description,
        parameter_terms=parameters,
    )


def _depth(actions: Sequence[ActionWords], policy: Policy) -> int:
    return capability_depth((each.capability(policy) for each in actions), policy)


def place_terms(place: Place | None) -> frozenset[str]:
    return frozenset(map(stem, split_words(place.name))) if place else frozenset()


def _country(site: Site, place: Place | None) -> str:
    if place is not None:
        return place.country
    return site.location.country if site.location else ""


def is_placeless(category: str, policy: Policy) -> bool:
    return "-".join(category.split()) in policy.non_local_categories
