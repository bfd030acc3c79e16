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
from itertools import starmap
from typing import Any

import msgspec

from registry.ranking.capability_depth import Capability, capability_depth, richness
from registry.ranking.encoders.encoder import Encoder
from registry.ranking.encoders.meaning import SiteWords
from registry.ranking.policy import Policy
from registry.ranking.quality import ProbeFigures, quality
from registry.ranking.terms import distinct_terms, split_words
from registry.ranking.words.mask import Mask
from registry.ranking.words.site_words import (
    ActionWords,
    SiteTextReader,
    site_text_reader,
)
from registry.sites.place import Place, Point
from registry.sites.site import Site


class ActionProfile(msgspec.Struct, frozen=True, gc=False):
    """Distinct terms a field. name: as declared, own name cut out, for explanations."""

    name: str
    name_terms: tuple[str, ...]
    description_terms: tuple[str, ...]
    parameter_terms: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """Profile of a site: all that is known of it for ranking.

    policy: the digest of the policy that the terms and numbers follow. publisher: an opaque number of the registrable domain. category: casefolded, or "".
    country: ISO 3166-1 alpha-2 or "". local: its category is bound to a place; without a
    point it is nowhere near. place_id: of the point in GeoNames, 0 without one. site_terms: of category and description. embedding: see
    `vectors.quantise_sites`.
    capability_depth, quality: 0..10000. changed_at: the last semantic change.
    commission_tier: 0 for a declared 0%, else 1; orders what is shown as equal only.
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
    place_id: int = 0
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
    try:
        return _decoder.decode(body)
    except UnicodeDecodeError as error:  # msgspec lets it through
        raise msgspec.DecodeError(str(error)) from error


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """Subject of a profile.

    host, registrable_domain: lower-case A-labels, used for masking only.
    """

    site: Site
    site_id: int
    publisher: int
    host: str
    registrable_domain: str
    formats: Iterable[str]
    place: Place | None
    probes: ProbeFigures
    changed_at: datetime
    conformance: str = ""


@dataclass(frozen=True, slots=True)
class _Read:
    """The texts of a site, as words.

    relevant: its actions, without words where these do not count in relevance.
    """

    site: Site
    reading: SiteTextReader
    about: Sequence[str]
    actions: Sequence[ActionWords]
    relevant: Sequence[ActionWords]


def make_profiles(
    subjects: Sequence[Subject], *, encoder: Encoder, policy: Policy
) -> list[Profile]:
    """Make the profile of each subject, in their order.

    Each step is taken for all of them before the next: its code and its words stay in
    the processor's caches, which takes a fifth less than one profile after the other.
    """
    readings = [_reading_of(subject, encoder, policy) for subject in subjects]
    read = [
        _read(subject.site, how, policy)
        for subject, how in zip(subjects, readings, strict=True)
    ]
    embeddings = encoder.encode_sites(list(map(_site_words, read)))
    depths = [_depth(words.actions, policy) for words in read]
    return [
        _put_together(*parts, policy)
        for parts in zip(subjects, read, embeddings, depths, strict=True)
    ]


def make_profile(
    site: Site, *, encoder: Encoder, policy: Policy, **known: Any
) -> Profile:
    """known: of the `Subject`."""
    subject = Subject(site=site, **known)
    (profile,) = make_profiles([subject], encoder=encoder, policy=policy)
    return profile


def _reading_of(subject: Subject, encoder: Encoder, policy: Policy) -> SiteTextReader:
    return site_text_reader(
        subject.site.name,
        subject.host,
        subject.registrable_domain,
        subject.place,
        encoder=encoder,
        policy=policy,
    )


def _read(site: Site, reading: SiteTextReader, policy: Policy) -> _Read:
    actions = [reading.action(action) for action in site.actions]
    return _Read(
        site=site,
        reading=reading,
        about=reading.about(site),
        actions=actions,
        relevant=_relevant(actions, policy),
    )


def _relevant(actions: Sequence[ActionWords], policy: Policy) -> list[ActionWords]:
    """Leave out the words of undescribed actions, unless there are no others."""
    least = policy.relevant_description_words
    is_described = [len(action.description) >= least for action in actions]
    return [
        action if described or not any(is_described) else action.without_words()
        for action, described in zip(actions, is_described, strict=True)
    ]


def _put_together(
    subject: Subject, read: _Read, embedding: bytes, depth: int, policy: Policy
) -> Profile:
    site, place = subject.site, subject.place
    category = site.category.strip().casefold()
    return Profile(
        policy=policy.digest,
        site_id=subject.site_id,
        publisher=subject.publisher,
        category=category,
        country=_country(site, place),
        formats=tuple(sorted(set(subject.formats))),
        point=place.point if place else None,
        local=not is_placeless(category, policy),
        place_id=place.geonames_id if place else 0,
        site_terms=distinct_terms(read.about),
        actions=tuple([ActionProfile(own.shown, *own.terms) for own in read.relevant]),
        embedding=embedding,
        capability_depth=depth,
        quality=quality(subject.probes, policy),
        probes=subject.probes,
        changed_at=subject.changed_at,
        commission_tier=0 if site.commission_percent == 0 else 1,
        conformance=subject.conformance.casefold(),
        permissions=_granted(site, read.reading.mask),
        requires_auth=_requires_auth(site),
        action_names=_distinct([action.plain for action in read.actions]),
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
        " ".join(mask.words(name))
        for name, is_granted in site.permissions
        if is_granted
    )


def _requires_auth(site: Site) -> tuple[bool, ...]:
    declared = {action.auth_required for action in site.actions}
    return tuple([value for value in (False, True) if value in declared])


def _distinct(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(values) - {""}))


def _site_words(read: _Read) -> SiteWords:
    own = [words.action for words in read.relevant if any(words.terms)]
    site_text = read.site.description, read.site.category
    written = [site_text, *((action.description, action.name) for action in own)]
    return SiteWords(
        about=read.about,
        names=[action.name for action in read.relevant],
        descriptions=[action.description for action in read.relevant],
        parameters=[action.parameters for action in read.relevant],
        texts=starmap(read.reading.text, written),  # masked by who reads them alone
    )


def _depth(actions: Sequence[ActionWords], policy: Policy) -> int:
    return capability_depth([capability_of(own, policy) for own in actions], policy)


def capability_of(words: ActionWords, policy: Policy) -> Capability:
    return Capability(
        frozenset().union(*words.terms),
        richness(words.action, len(words.description), policy),
    )


def _country(site: Site, place: Place | None) -> str:
    if place is not None:
        return place.country
    return site.location.country if site.location else ""


def is_placeless(category: str, policy: Policy) -> bool:
    return "-".join(category.split()) in policy.non_local_categories
