"""A ranking from first to last: request, relevance, eligibility, order."""

import math

from tests.second_implementation.constants import FULL, read_policy
from tests.second_implementation.factors import freshness
from tests.second_implementation.lexicon import Lexicon
from tests.second_implementation.meaning import Meaning
from tests.second_implementation.order import answer, groups_of, order_of, tie_key
from tests.second_implementation.places import kilometres, proximity
from tests.second_implementation.site import RankedSite
from tests.second_implementation.words import plain_form, runs, stem, typed_words, words


def request_of(text, policy):
    """What a dialogue asks, line by line."""
    kinds = dict.fromkeys(policy.answering_speakers, "answers")
    kinds |= dict.fromkeys(policy.asking_speakers, "asks")
    turns = [["before", ""]]
    for line in text.split("\n"):
        label, colon, _ = line.replace("\uff1a", ":").partition(":")
        kind = kinds.get(
            "".join(c.lower() if c.isascii() else c for c in label.strip(" \t"))
        )
        if colon and kind:
            turns.append([kind, line[len(label) + 1 :]])
        else:
            turns[-1][1] += "\n" + line
    if {"asks", "answers"} - {kind for kind, _ in turns}:
        return text
    return "\n".join(words for kind, words in turns if kind != "answers")


class Request:
    def __init__(self, text, policy, lexicon, meaning):
        text = request_of(text, policy)
        words = list(typed_words(text, set(policy.split_words)))
        typed = [part for _, word in words for part in lexicon.parts(word)]
        content = list(dict.fromkeys(filter(lexicon.is_content, typed)))
        content = content[: policy.query_words_max]
        of = lexicon.corrections(typed, [shown for shown, _ in words])
        self.corrected = of
        self.terms = list(dict.fromkeys(map(stem, content)))
        self.shares = {}
        for word in content:
            shares = {stem(word): FULL}
            if word in of:
                shares = {
                    stem(word): FULL - policy.correction_share_bp,
                    stem(of[word]): policy.correction_share_bp,
                }
            for term, share in shares.items():
                self.shares[term] = max(share, self.shares.get(term, 0))
        sentence = [
            of.get(word, word)
            for word in typed
            if word in policy.stop_words or word in content
        ]
        if of:
            text = " ".join(sentence)
        self.vector, self.confidence = meaning.request(
            plain_form(run for run, _ in runs(text)),
            [of.get(word, word) for word in content],
            sentence,
        )


def idf(sites, containing):
    return round(1000 * math.log1p((sites - containing + 0.5) / (containing + 0.5)))


def lexical_of(matched, weights, policy):
    ceiling = max(1, sum(sorted(weights, reverse=True)[: policy.scored_terms]))
    return min(FULL, matched * ((FULL << 32) // (255 * ceiling)) >> 32)


def cosine_of(site_vector, request_vector, confidence):
    product = sum(a * b for a, b in zip(site_vector, request_vector, strict=True))
    q = sum(a * a for a in site_vector)
    reciprocal = min(65535, (math.isqrt(2**34 // q) + 1) // 2) if q else 0
    length = math.isqrt(sum(b * b for b in request_vector) << 32)
    multiplier = (confidence << 32) // length if length else 0
    return min(FULL, max(0, product) * reciprocal * multiplier >> 32)


def relevance_of(lexical, cosine, terms, policy):
    share = min(
        policy.lexical_share_max_bp,
        policy.lexical_share_base_bp
        + policy.lexical_share_growth_bp * terms // policy.lexical_share_terms,
    )
    fused = (share * lexical + (FULL - share) * cosine) // policy.full_relevance_bp
    missing = max(0, policy.relevance_min_terms - terms)
    floor = max(
        policy.relevance_min + missing * policy.relevance_min_step,
        (FULL - share)
        * min(least_meaning(terms, policy)[:2])
        // policy.full_relevance_bp,
    )
    return min(FULL, fused), floor


def least_meaning(terms, policy):
    """With a word and without: of an eligible site; of one at least."""
    further = max(0, min(terms, policy.meaning_terms_max) - policy.meaning_terms_min)
    both = policy.meaning_min_bp, policy.meaning_only_min_bp
    fallen = policy.meaning_step_bp * further
    lacking = fallen + policy.meaning_beside_step_bp * further
    return [max(0, x - by) for by in (lacking, fallen) for x in both]


def is_eligible(matched, cosine, relevance, floor, terms, *, policy):
    with_words, alone, *_ = least_meaning(terms, policy)
    return cosine >= (with_words if matched > 0 else alone) and relevance >= floor


def answers(matched, cosine, terms, policy):
    *_, with_words, alone = least_meaning(terms, policy)
    return cosine >= (with_words if matched > 0 else alone)


class Registry:
    """policy_text: JSON. sites: normalised, as the vectors have them."""

    def __init__(self, policy_text, sites=()):
        self.policy = policy = read_policy(policy_text)
        self.meaning = Meaning(policy)
        self.lexicon = Lexicon(policy, set().union(*self.meaning.vocabularies))
        self.sites = {site["id"]: self.read(site) for site in sites}
        self.impacts = {number: site.impacts for number, site in self.sites.items()}
        self.published = {
            number: (site.site["registrableDomain"], site.terms, site.signature)
            for number, site in self.sites.items()
        }
        self.groups = groups_of(self.published, policy)
        self._requests, self._cosines, self._kilometres = {}, {}, {}

    def read(self, site):
        return RankedSite(site, self.policy, self.lexicon, self.meaning)

    def request(self, text):
        if text not in self._requests:
            self._requests[text] = Request(
                text, self.policy, self.lexicon, self.meaning
            )
        return self._requests[text]

    def weights(self, request):
        of = list(self.impacts.values())
        counts = {term: sum(term in own for own in of) for term in request.shares}
        return {
            term: idf(len(of), counts[term]) * share // FULL
            for term, share in request.shares.items()
        }

    def passes(self, site, filters, cell):
        declared = {a["authRequired"] for a in site.site["actions"]}
        pairs = site.mask.pairs
        has = {
            "category": [site.site["category"].strip().casefold()],
            "country": [site.country],
            "language": [
                tag.strip().casefold().replace("_", "-").partition("-")[0]
                for tag in site.site["languages"]
            ],
            "action": [
                " ".join(site.mask.words_left(action["name"]))
                for action in site.site["actions"]
            ],
            "open_to": ["members" if True in declared else "anyone"],
        }
        for name, value in filters.items():
            if name == "within_km":
                located = site.local and cell is not None
                if not located or kilometres(site.place, cell) >= value:
                    return False
                continue
            compared = " ".join(words(value, pairs)) if name == "action" else value
            if not compared or compared not in has[name]:
                return False
        return True

    def rank(self, text, cell, filters, *, now, seed, places):
        """Return the first places: id, score, five factors, ids behind."""
        policy, request = self.policy, self.request(text)
        weights = self.weights(request)
        scored = {}
        keys = []
        answered = False
        for number, site in self.sites.items():
            own = self.impacts[number]
            matched = sum(weight * own.get(term, 0) for term, weight in weights.items())
            lexical = lexical_of(matched, weights.values(), policy)
            if (text, number) not in self._cosines:
                self._cosines[text, number] = cosine_of(
                    site.vector, request.vector, request.confidence
                )
            cosine = self._cosines[text, number]
            relevance, floor = relevance_of(lexical, cosine, len(request.terms), policy)
            terms = len(request.terms)
            if not is_eligible(matched, cosine, relevance, floor, terms, policy=policy):
                continue
            if not self.passes(site, filters, cell):
                continue
            answered = answered or answers(matched, cosine, terms, policy)
            factors = (
                relevance,
                proximity(site.place, cell, policy, local=site.local),
                site.depth,
                site.quality,
                freshness(site.changed_at, now, policy),
            )
            score = sum(
                w * f for w, f in zip(self.factor_weights, factors, strict=True)
            )
            scored[number] = (score, factors)
            standing = order_of(score, relevance, site.quality, site.tier, policy)
            keys.append((*standing, tie_key(seed, number), number))
        if not answered:
            return [], 0
        order = answer(keys, self.published, self.groups, policy)
        return [
            (number, *scored[number], tuple(behind))
            for number, behind in list(order.items())[:places]
        ], len(keys)

    @property
    def factor_weights(self):
        policy = self.policy
        return (
            policy.weight_relevance,
            policy.weight_proximity,
            policy.weight_capability_depth,
            policy.weight_quality,
            policy.weight_freshness,
        )
