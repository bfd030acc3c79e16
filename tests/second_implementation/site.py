"""All that ranking knows of a site, from its normalised form."""

from datetime import datetime

from tests.second_implementation.factors import depth, quality, richness
from tests.second_implementation.mask import Mask
from tests.second_implementation.order import signature
from tests.second_implementation.places import find_city, is_local, point_of
from tests.second_implementation.words import stem


def terms_of(content):
    return list(dict.fromkeys(map(stem, content)))


class RankedSite:
    """site: a normalised site as the vectors have it."""

    def __init__(self, site, policy, lexicon, meaning):
        self.site, self.policy = site, policy
        city = find_city(site["city"], site["country"]) if site["city"] else None
        self.place = point_of(city)
        self.country = city[2] if city else site["country"]
        self.mask = Mask(
            site["name"],
            site["host"],
            site["registrableDomain"],
            city[1] if city else "",
            policy=policy,
            vocabularies=meaning.vocabularies,
        )
        self.lexicon = lexicon
        category, description = site["category"], site["description"]
        about = self._field(f"{category} \n {description}", policy.site_words_max)
        actions = [self._action(action) for action in site["actions"]]
        least = policy.relevant_description_words
        described = [len(own[1]) >= least for own in actions]
        relevant = [
            own if counts or not any(described) else ((), (), ())
            for own, counts in zip(actions, described, strict=True)
        ]
        fields = [about, *([w for a in relevant for w in a[i]] for i in range(3))]
        cut = self.mask.cut_text
        sentences = [cut(description) or cut(category)]
        sentences += [
            cut(action["description"]) or cut(action["name"])
            for action, own in zip(site["actions"], relevant, strict=True)
            if any(own)
        ]
        self.vector = meaning.site(
            fields,
            sentences,
            [" ".join(own[0]) for own in relevant],
        )
        self.field_terms = [set(terms_of(field)) for field in fields]
        self.terms = set().union(*self.field_terms)
        self.signature = signature(self.terms, self.field_terms[0], policy)
        self.action_terms = [list(map(terms_of, action)) for action in relevant]
        self.richnesses = [
            richness(action, len(own[1]), policy)
            for action, own in zip(site["actions"], actions, strict=True)
        ]
        self.depth = depth(
            [
                (set().union(*map(terms_of, own)), rich)
                for own, rich in zip(actions, self.richnesses, strict=True)
            ],
            policy,
        )
        self.quality = quality(site["probes"], policy)
        self.local = is_local(category, policy)
        self.changed_at = datetime.fromisoformat(site["changedAt"])
        self.tier = 0 if site["commission"] == 0 else 1

    def _field(self, text, limit):
        return self.lexicon.content(self.mask.words_left(text), limit)

    def _action(self, action):
        policy = self.policy
        inputs = " \n ".join(
            f"{p['name']} \n {p['description']}" for p in action["parameters"]
        )
        return (
            self._field(action["name"], policy.name_words_max),
            self._field(action["description"], policy.description_words_max),
            self._field(inputs, policy.parameter_words_max),
        )

    @property
    def impacts(self):
        policy = self.policy
        about, names, descriptions, parameters = self.field_terms
        weights = {}
        for field, weight in (
            (names, policy.action_name_weight_milli),
            (descriptions, policy.description_weight_milli),
            (parameters, policy.parameter_weight_milli),
            (about, policy.site_weight_milli),
        ):
            for term in field:
                weights[term] = weights.get(term, 0) + weight
        b, p = policy.bm25_b_bp, policy.length_pivot_milli
        length = sum(weights.values())
        damped = policy.bm25_k1_milli * ((10000 - b) * p + b * length)
        return {
            term: max(1, 255 * weight * 10000 * p // (weight * 10000 * p + damped))
            for term, weight in weights.items()
        }
