"""The policy in plain language, in the order of EU 2019/1150, article 5.

What is weighed and why so much, what is left out and what sees to that, how ties are
drawn, what manipulation meets. It says what the code does; no constant stands here.
"""

from collections.abc import Mapping
from typing import NamedTuple


class Weighed(NamedTuple):
    """meaning: of a factor. reason: why it weighs as much as it does."""

    meaning: str
    reason: str


class Exclusion(NamedTuple):
    """A fact, what, that is no input; enforced: the means that keep it out."""

    what: str
    enforced: str


class Rule(NamedTuple):
    """attempt: to be ranked higher than one is worth. answer: why it brings nothing."""

    attempt: str
    answer: str


WEIGHED: Mapping[str, Weighed] = {
    "relevance": Weighed(
        "How well what the site can do answers the request: words it shares with the "
        "site's actions and descriptions, and closeness of meaning. Below a threshold "
        "a site is not in the answer at all, however near or fresh.",
        "A site that can't do what was asked is of no use, however near or good it is. "
        "So this weighs most, twice as much as any other.",
    ),
    "proximity": Weighed(
        "How near the site is to the place that was given, told to the ranking only as "
        "a coarse cell. Without a place it is the same for all.",
        "Much of what is asked for is done at a place. Nearness decides among sites "
        "that fit about as well, and seldom against one that fits far better.",
    ),
    "capabilityDepth": Weighed(
        "How many different actions the site describes, and how well: typed and "
        "documented parameters, declared authentication and effects. Repetition does "
        "not count.",
        "An agent can act at a site as far as its actions are described. It weighs less "
        "than fit and place, because a simple site does a simple task well.",
    ),
    "quality": Weighed(
        "How reliably and how fast the site answered the registry's own probes, which "
        "are the same for every site.",
        "A site that does not answer helps nobody. It weighs as much as depth: both say "
        "how well a task will go there, not whether it is the right place.",
    ),
    "freshness": Weighed(
        "How long ago the meaning of the site's documents last changed. New dates, "
        "versions or formatting are no change.",
        "What was looked after lately is more likely to be true. It weighs least, "
        "because what works need not change.",
    ),
}

ORIGIN = "These weights are those of WAB 1.0, section 9.4."

EXCLUSIONS = (
    Exclusion(
        "The name and the brand of a site",
        "A site's own name and domain are cut out of the text that it is ranked by. "
        "The registry tries this each day with changed names, unless its operator has "
        "turned that off; no score may differ.",
    ),
    Exclusion(
        "Its size, whether it belongs to a chain and to which, its commission",
        "These are kept in a part of the database that the ranker's role has no right "
        "to enter. They serve reports. One bit of them is known to the ranker: whether "
        "the site itself claims a commission of 0%, see ties.",
    ),
    Exclusion(
        "Popularity, traffic and what agents chose before",
        "Choices are kept with the log, which the ranker's role can't read, and no "
        "factor counts visits, answers or choices.",
    ),
    Exclusion(
        "Payment, paid tiers and agreements",
        "The registry stores none of them, so there is nothing to be read.",
    ),
    Exclusion(
        "Who asks",
        "The ranking is given the words of the request, its filters and a coarse cell "
        "of its place. It is not given an account, an address or earlier requests.",
    ),
)

RULES = (
    Rule(
        "Repeating words, or adding words of other trades",
        "A word counts once in a field, and each field has a limit. The name of the "
        "site is not matched at all.",
    ),
    Rule(
        "Adding many actions that say the same",
        "Actions that share most of their words are one action, and depth grows ever "
        "more slowly, up to a limit.",
    ),
    Rule(
        "New dates, versions, spaces or another order",
        "Freshness counts changes of meaning that the registry's own crawl saw.",
    ),
    Rule(
        "Reports of good quality, by oneself or by friends",
        "Quality comes from the registry's own probes, as many for each site. What "
        "agents report is shown in the fairness report and moves no score.",
    ),
    Rule(
        "Traffic, bought or made",
        "No factor depends on how often a site is visited, shown or chosen.",
    ),
    Rule(
        "Claiming to be in many cities",
        "A site has one place, and it has to be one that the gazetteer knows.",
    ),
    Rule(
        "Many sites that offer the same",
        "Sites of one registrable domain that say nearly the same share one place in "
        "an answer.",
    ),
    Rule(
        "Many sites of one's own that offer something different each",
        "One registrable domain has a few places of an answer, on all its pages "
        "together; its other sites stand behind the last of them.",
    ),
    Rule(
        "Naming brands, one's own or another's",
        "The site's own name and domain are cut out before anything is compared. "
        "Words of others count as words and no more.",
    ),
    Rule(
        "Guessing or steering the draw between equals",
        "It hangs on a secret that is committed to in the log before the day begins "
        "and revealed after it has ended.",
    ),
    Rule(
        "False labels of size, chain or commission",
        "They move no rank but that of ties. Auditors may contradict them, with source "
        "and date; both are shown at /v1/sites/HOST/disclosures.",
    ),
)

STATEMENTS: Mapping[str, str] = {
    "excluded": (
        "Names, brands, popularity, traffic, paid tiers and agreements are no inputs: "
        "they are absent from what the ranker is given, its database role can't read "
        "them, and a site's own name and domain are cut out of the text it is ranked by."
    ),
    "remuneration": "Nobody can pay for a position, an entry or a review.",
    "ties": (
        "Sites of equal score are ordered by a declared commission of 0% first (WAB "
        "9.5.3), then by a shuffle that is drawn anew for each request from a secret "
        "committed to before the day and revealed after it."
    ),
    "manipulation": (
        "Repeated and near-duplicate text and actions don't count; freshness counts "
        "changes of meaning that the registry's own crawl saw; quality comes from the "
        "registry's own probes; near-duplicate sites of one domain share one place, and "
        "one domain has only a few places of an answer."
    ),
    "removal": (
        "A site can be taken out of all answers only by an act that is on record in the "
        "log with its reason and is told to the site's owner; so are the release of a "
        "site and the outcome of an appeal."
    ),
    "changes": (
        "A policy is named by the hash of all its weights and constants. A changed "
        "policy has another hash, and its record stands in the log before the first "
        "answer that is ranked by it."
    ),
}
