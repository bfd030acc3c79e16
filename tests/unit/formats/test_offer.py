"""What resets freshness: what agents can do, once a month, and nothing else."""

from datetime import UTC, datetime, timedelta

import pytest
from msgspec.structs import replace

from registry.formats.offer import last_change, offer_digest
from registry.sites.action import Action, Call, Parameter
from registry.sites.site import LocationClaim, Site

BOOK = Action(
    name="book_table",
    description="Book a table for a party",
    parameters=(Parameter(name="guests", type="integer", description="How many"),),
)
SITE = Site(
    name="Bistro",
    description="Food",
    category="restaurant",
    commission_percent=3.0,
    is_independent=True,
    actions=(BOOK,),
)
NOW = datetime(2026, 11, 24, tzinfo=UTC)


def with_action(**changes: object) -> Site:
    return replace(SITE, actions=(replace(BOOK, **changes),))


def described(text: str) -> Site:
    return with_action(description=text)


@pytest.mark.parametrize(
    "site",
    [
        pytest.param(described("Book  a table for a party"), id="a double space"),
        pytest.param(described("BOOK a Table for a party"), id="case"),
        pytest.param(described("Book a\u200b table for a party"), id="zero width"),
        pytest.param(described("Book a\u00a0table for a party"), id="no-break space"),
        pytest.param(described("Book a ta\u00adble for a party"), id="soft hyphen"),
        pytest.param(described("Book a table, for a party!"), id="punctuation"),
        pytest.param(described("Book a table for a party 2026-11-24"), id="a date"),
        pytest.param(described("\uff22ook a table for a party"), id="a wide letter"),
        pytest.param(with_action(name="bookTable"), id="a name in other case"),
        pytest.param(
            with_action(calls=(Call(format="wab", transport="http", target="/?v=2"),)),
            id="another address",
        ),
        pytest.param(replace(SITE, name="Grand Hotel"), id="another provider name"),
        pytest.param(replace(SITE, commission_percent=0.0), id="another commission"),
        pytest.param(replace(SITE, is_independent=False), id="independence"),
        pytest.param(replace(SITE, description="Fine food"), id="a description"),
        pytest.param(replace(SITE, location=LocationClaim(city="Kiel")), id="a move"),
        pytest.param(replace(SITE, actions=(BOOK, BOOK)), id="the action again"),
    ],
)
def test_freshness_is_not_reset_by(site: Site) -> None:
    long_ago = NOW - timedelta(days=400)
    assert last_change(SITE, site, long_ago, NOW, credit_days=30) == long_ago


@pytest.mark.parametrize(
    "site",
    [
        pytest.param(described("Book a table and a cook"), id="other words"),
        pytest.param(
            replace(SITE, actions=(BOOK, Action(name="cancel"))), id="another"
        ),
        pytest.param(replace(SITE, actions=()), id="none"),
        pytest.param(with_action(parameters=()), id="no parameters"),
        pytest.param(with_action(sensitivity="write"), id="its effect"),
    ],
)
def test_what_agents_can_do_counts_once_in_thirty_days(site: Site) -> None:
    assert offer_digest(site) != offer_digest(SITE)
    for days, counts in ((0, False), (29, False), (30, True), (400, True)):
        changed_at = NOW - timedelta(days=days)
        counted = last_change(SITE, site, changed_at, NOW, credit_days=30)
        assert counted == (NOW if counts else changed_at)
