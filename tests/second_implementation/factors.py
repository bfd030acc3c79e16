"""Freshness, quality and capability depth."""

import math
import unicodedata
from datetime import datetime, timedelta
from statistics import median

from tests.second_implementation.constants import FULL, Constants, decay

ANSWERS = {"alive", "auth_wall", "wrong_protocol", "mismatch"}


def freshness(changed_at: datetime, now: datetime, policy: Constants):
    days = max(0, (now - changed_at) // timedelta(days=1))
    return decay(days, policy.freshness_scale_days, policy.freshness_floor)


def letters(text):
    text = unicodedata.normalize("NFKC", text).casefold()
    text = unicodedata.normalize("NFKC", text)
    return "".join(c for c in text if unicodedata.category(c)[0] == "L")


def offer(actions):
    return {
        (
            letters(action["name"]),
            letters(action["description"]),
            action["authRequired"],
            action["sensitivity"],
            action["confirmation"],
            action["deprecated"],
            frozenset(
                (
                    letters(parameter["name"]),
                    parameter["type"],
                    parameter["required"],
                    letters(parameter["description"]),
                    frozenset(map(letters, parameter["enum"])),
                )
                for parameter in action["parameters"]
            ),
        )
        for action in actions
    }


def last_change(before, after, changed_at, now, policy: Constants):
    if now - changed_at < timedelta(days=policy.freshness_credit_days):
        return changed_at
    return changed_at if offer(before) == offer(after) else now


def figures_of(probes):
    """probes: of the window, (outcome, milliseconds)."""
    counted = [
        (outcome, ms)
        for outcome, ms in probes
        if outcome not in {"blocked_by_robots", "never_checked"}
    ]
    answers = [ms for outcome, ms in counted if outcome in ANSWERS]
    return {
        "probes": len(counted),
        "answers": len(answers),
        "successes": sum(outcome == "alive" for outcome, _ in counted),
        "medianMs": round(median(answers)) if answers else None,
    }


def quality(figures, policy: Constants):
    probes = figures["probes"]
    if probes < policy.quality_probes_min:
        return policy.quality_prior
    half, middle = policy.quality_half_ms, figures["medianMs"]
    speed = 0 if middle is None else FULL * half // (half + middle)
    return (
        policy.quality_success_bp * FULL * figures["successes"] // probes
        + policy.quality_uptime_bp * FULL * figures["answers"] // probes
        + policy.quality_speed_bp * speed
    ) // FULL


def richness(action, described_words, policy: Constants):
    parameters = action["parameters"]
    count = len(parameters)
    typed = sum(parameter["type"] != "unknown" for parameter in parameters)
    documented = sum(bool(parameter["description"]) for parameter in parameters)
    shares = [
        whole * part // count if count else whole // 2
        for whole, part in (
            (policy.richness_typed_bp, typed),
            (policy.richness_documented_bp, documented),
        )
    ]
    total = policy.richness_named_bp + sum(shares)
    if described_words >= policy.described_words:
        total += policy.richness_described_bp
    if action["authRequired"] is not None:
        total += policy.richness_auth_bp
    if action["sensitivity"] is not None:
        total += policy.richness_sensitivity_bp
    return total


def are_near(first, second, threshold_bp):
    return len(first & second) * FULL >= threshold_bp * len(first | second)


def depth(actions, policy: Constants):
    """actions: (set of terms, richness)."""
    richest = {}
    for terms, rich in actions:
        bare = frozenset(term for term in terms if not term.isdecimal())
        richest[bare] = max(rich, richest.get(bare, 0))
    order = sorted(richest.items(), key=lambda item: (-item[1], sorted(item[0])))
    counting, total = [], 0
    for terms, rich in order:
        if not any(
            are_near(terms, set_, policy.duplicate_action_bp) for set_ in counting
        ):
            counting.append(terms)
            total += rich
    cap = policy.depth_cap_milli * 10
    if total >= cap:
        return FULL
    return round(FULL * math.log1p(total / FULL) / math.log1p(cap / FULL))
