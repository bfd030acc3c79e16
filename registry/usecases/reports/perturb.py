"""Listings as they would be if one thing were otherwise: the perturbations themselves.

What each has to leave alone stands in `reports.invariance`. A listing carries also what
the registry knows of a site and its ranker must not, so that a profile maker that took
it in would be found out.
"""

import json
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from random import Random

from msgspec import structs

from registry.formats.offer import last_change
from registry.identity.statements.declarations import Declarations
from registry.ranking.profile import Profile
from registry.ranking.quality import ProbeFigures
from registry.ranking.terms import split_words
from registry.sites.entry import SiteEntry, SiteStatus
from registry.sites.identifier import MAX_SITE_NUMBER
from registry.sites.place import Point
from registry.sites.site import Site
from registry.usecases.sites.parse_site import (
    FetchedBody,
    NoDocument,
    ParsedSite,
    Registrant,
    parse_site,
)

_SYLLABLES = ("zwu", "qix", "vlo", "jyf", "xub", "kpe", "gwi", "dzo")
_UMLAUT_VOWELS = frozenset("aouAOU")
SIZES = ("micro", "small", "medium", "large", "unknown")


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialListing:
    """A listed site with all that is known of it.

    formats, probes: as its profile is made of them. size, independence: labels for
    reports. tier, visits: the registry stores none; here they can be set.
    """

    entry: SiteEntry
    formats: frozenset[str]
    probes: ProbeFigures
    documents: tuple[FetchedBody, ...] = ()
    declarations: Declarations = field(default_factory=Declarations)
    size: str = "unknown"
    independence: str = "unknown"
    tier: str = ""
    visits: int = 0


MakeProfile = Callable[[TrialListing], Profile]


@dataclass(frozen=True, slots=True)
class Draw:
    """Sources that a perturbation draws from. user: where the queries are asked from."""

    rng: Random
    now: datetime
    user: Point


Perturb = Callable[[TrialListing, Draw], TrialListing]


def renamed(listing: TrialListing, draw: Draw) -> TrialListing:
    """The old name stays beside the new one where the texts may say parts of it.

    Otherwise these words would count that the old name had kept from counting. A part
    may be spelled with other vowels there, so two letters are enough of it.
    """
    site, brand = listing.entry.site, coin_word(draw.rng)
    texts = _words_of(site)
    if brand.casefold() in texts:
        return listing
    parts = split_words(_folded(site.name))
    is_part_used = any(part[0] in _UMLAUT_VOWELS or part[:2] in texts for part in parts)
    name = f"{site.name} | {brand}" if is_part_used else brand
    description = f"{brand}. {site.description}"
    changed = structs.replace(site, name=name, description=description)
    return _with_site(listing, changed, draw)


def coin_word(rng: Random) -> str:
    """A word that nobody has."""
    return "".join(rng.choices(_SYLLABLES, k=4)).capitalize()


def _folded(text: str) -> str:
    """Strip accents and the like."""
    decomposed = unicodedata.normalize("NFKD", text)
    return "".join(letter for letter in decomposed if not unicodedata.combining(letter))


def _words_of(site: Site) -> str:
    words = [site.description, site.category, *(name for name, _ in site.permissions)]
    for action in site.actions:
        words += [action.name, action.description]
        for parameter in action.parameters:
            words += [parameter.name, parameter.description]
    return _folded("\n".join(words)).casefold()


def with_other_trust(listing: TrialListing, draw: Draw) -> TrialListing:
    entry = listing.entry
    status: SiteStatus = "unverified" if entry.status == "active" else "active"
    return replace(
        listing,
        entry=replace(
            entry,
            status=status,
            proved_at=draw.now,
            proof_source=f"https://{draw.rng.randrange(1000)}.example/keys",
        ),
    )


def with_tier(listing: TrialListing, draw: Draw) -> TrialListing:
    return replace(listing, tier=draw.rng.choice(("gold", "silver", "enterprise")))


def with_traffic(listing: TrialListing, draw: Draw) -> TrialListing:
    return replace(listing, visits=draw.rng.randint(10**6, 10**9))


def with_other_labels(listing: TrialListing, draw: Draw) -> TrialListing:
    size = draw.rng.choice([size for size in SIZES if size != listing.size])
    is_independent = listing.entry.site.is_independent is not True
    labelled = replace(
        listing, size=size, independence="independent" if is_independent else "chain"
    )
    site = structs.replace(listing.entry.site, is_independent=is_independent)
    return _with_site(labelled, site, draw)


def with_other_commission(listing: TrialListing, draw: Draw) -> TrialListing:
    """Keep which sites declare 0%: that is a tier among equal scores."""
    if listing.entry.site.commission_percent == 0:
        return listing
    percent = draw.rng.choice((None, 0.5, 3.0, 15.0, 40.0))
    return _with_commission(listing, percent, draw)


def with_zero_commission(listing: TrialListing, draw: Draw) -> TrialListing:
    is_zero = listing.entry.site.commission_percent == 0
    other = draw.rng.choice((None, 12.5))
    return _with_commission(listing, other if is_zero else 0.0, draw)


def _with_commission(
    listing: TrialListing, percent: float | None, draw: Draw
) -> TrialListing:
    site = structs.replace(listing.entry.site, commission_percent=percent)
    return _with_site(listing, site, draw)


def registered_otherwise(listing: TrialListing, draw: Draw) -> TrialListing:
    at = draw.now - timedelta(days=draw.rng.randint(0, 2_000))
    seq = draw.rng.randint(1, 10**6)
    return replace(listing, entry=replace(listing.entry, registered_at=at, seq=seq))


def with_other_identity(listing: TrialListing, draw: Draw) -> TrialListing:
    """Move a site below another public suffix, with another id, key and date.

    The labels before it stay: the words of a host's own name are masked in its texts,
    and other words would be otherwise. A site whose texts say the host keeps it.
    """
    entry = listing.entry
    suffix = entry.registrable_domain.partition(".")[2]
    label = coin_word(draw.rng).casefold()
    if entry.registrable_domain in _words_of(entry.site) or not suffix:
        label = suffix
    host, domain = (
        f"{name.removesuffix(suffix)}{label}"
        for name in (entry.host, entry.registrable_domain)
    )
    other = replace(
        entry,
        site_id=draw.rng.randrange(1, MAX_SITE_NUMBER),
        host=host,
        registrable_domain=domain,
        proof_source=f"https://{host}/keys/{draw.rng.randrange(1000)}",
    )
    return registered_otherwise(replace(listing, entry=other), draw)


def with_keys_shuffled(listing: TrialListing, draw: Draw) -> TrialListing:
    """Read its documents again from their bytes in another order.

    Only where the bytes as they are give what is listed: a document that was left out,
    or has run out since, can't be compared.
    """
    entry = listing.entry
    before = _read(listing, listing.documents, draw.now)
    if before is None or before.meaning != entry.semantic_hash:
        return listing
    shuffled = tuple(_shuffled(document, draw.rng) for document in listing.documents)
    after = _read(listing, shuffled, draw.now)
    if after is None:  # refused in another order: no site any more
        return _with_site(listing, Site(), draw)
    stays = after.meaning == entry.semantic_hash
    changed_at = entry.changed_at if stays else draw.now
    changed = replace(entry, site=after.site, changed_at=changed_at)
    return replace(listing, entry=changed)


def _read(
    listing: TrialListing, documents: Sequence[FetchedBody], now: datetime
) -> ParsedSite | None:
    """Parse the site; None where no document counts."""
    try:
        return parse_site(
            documents,
            Registrant(
                site_url=f"https://{listing.entry.host}/",
                declarations=listing.declarations,
            ),
            now=now,
        )
    except NoDocument:
        return None


def _shuffled(document: FetchedBody, rng: Random) -> FetchedBody:
    """Leave a page as it is: its order is what it shows."""
    if document.is_page:
        return document
    try:
        content = json.loads(document.body)
    except (ValueError, RecursionError):
        return document
    body = json.dumps(_in_other_order(content, rng), ensure_ascii=False, indent=1)
    return replace(document, body=body.encode(), parsed=None)


def _in_other_order(value: object, rng: Random) -> object:
    if isinstance(value, list):
        return [_in_other_order(member, rng) for member in value]
    if not isinstance(value, dict):
        return value
    members = [(name, _in_other_order(own, rng)) for name, own in value.items()]
    rng.shuffle(members)
    return dict(members)


def moved_nearer(listing: TrialListing, draw: Draw) -> TrialListing:
    """Move to where the user is; a site without a place stays without."""
    place = listing.entry.place
    if place is None:
        return listing
    moved = replace(place, point=draw.user)
    return replace(listing, entry=replace(listing.entry, place=moved))


def moved_farther(listing: TrialListing, draw: Draw) -> TrialListing:
    """Move to where nothing is farther from the user."""
    place, user = listing.entry.place, draw.user
    if place is None:
        return listing
    longitude = user.longitude - 180 if user.longitude > 0 else user.longitude + 180
    moved = replace(place, point=Point(-user.latitude, longitude))
    return replace(listing, entry=replace(listing.entry, place=moved))


def make_fresher(listing: TrialListing, draw: Draw) -> TrialListing:
    age = max(timedelta(), draw.now - listing.entry.changed_at)
    changed_at = max(listing.entry.changed_at, draw.now - age / 2)
    return replace(listing, entry=replace(listing.entry, changed_at=changed_at))


def make_older(listing: TrialListing, draw: Draw) -> TrialListing:
    """Age by a day at the least."""
    entry = listing.entry
    age = max(timedelta(days=1), draw.now - entry.changed_at)
    return replace(listing, entry=replace(entry, changed_at=entry.changed_at - age))


def make_more_reliable(listing: TrialListing, draw: Draw) -> TrialListing:
    """The same number of probes, more of them well; none where none was made."""
    figures = listing.probes
    failed = figures.probes - figures.successes
    successes = figures.successes + draw.rng.randint(0, failed)
    better = structs.replace(
        figures,
        successes=successes,
        answers=max(figures.answers, successes),
        median_ms=None if figures.median_ms is None else figures.median_ms // 2,
    )
    return replace(listing, probes=better)


def make_less_reliable(listing: TrialListing, draw: Draw) -> TrialListing:
    """The same number of probes, fewer of them well."""
    figures = listing.probes
    worse = structs.replace(
        figures,
        successes=draw.rng.randint(0, figures.successes),
        median_ms=None if figures.median_ms is None else figures.median_ms * 2,
    )
    return replace(listing, probes=worse)


def declare_types(listing: TrialListing, draw: Draw) -> TrialListing:
    """Types and effects are declared where they were not; no word is added.

    As within a month of the last change, so that freshness hides no loss.
    """
    actions = tuple(
        structs.replace(
            action,
            sensitivity=action.sensitivity or draw.rng.choice(("read", "write")),
            parameters=tuple(
                structs.replace(
                    parameter,
                    type="string" if parameter.type == "unknown" else parameter.type,
                )
                for parameter in action.parameters
            ),
        )
        for action in listing.entry.site.actions
    )
    site = structs.replace(listing.entry.site, actions=actions)
    return replace(listing, entry=replace(listing.entry, site=site))


def _with_site(listing: TrialListing, site: Site, draw: Draw) -> TrialListing:
    """The site as its next visit would find it, at a time when any change counts."""
    entry = listing.entry
    changed_at = last_change(
        entry.site, site, entry.changed_at, draw.now, credit_days=0
    )
    changed = replace(entry, site=site, changed_at=max(entry.changed_at, changed_at))
    return replace(listing, entry=changed)


PERTURB: Mapping[str, Perturb] = {
    "name": renamed,
    "trust": with_other_trust,
    "tier": with_tier,
    "traffic": with_traffic,
    "labels": with_other_labels,
    "commission": with_other_commission,
    "zero_commission": with_zero_commission,
    "registration_order": registered_otherwise,
    "identity": with_other_identity,
    "key_order": with_keys_shuffled,
    "nearer": moved_nearer,
    "fresher": make_fresher,
    "working": make_more_reliable,
    "declared": declare_types,
    "farther": moved_farther,
    "older": make_older,
    "failing": make_less_reliable,
}
"""Perturbations of a site by name; that a site joins is no change of one."""
