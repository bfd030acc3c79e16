import pytest

from registry.sites.lookalikes import find_lookalikes, skeleton


@pytest.mark.parametrize(
    ("domain", "other"),
    [
        ("apple.com", "xn--80ak6aa92e.com"),
        ("paypal.com", "paypa1.com"),
        ("google.com", "g00gle.com"),
        ("microsoft.com", "rnicrosoft.com"),
        ("wow.de", "vvow.de"),
        ("bucher.de", "xn--bcher-kva.de"),
    ],
)
def test_lookalikes_share_a_skeleton(domain: str, other: str) -> None:
    assert skeleton(domain) == skeleton(other)


@pytest.mark.parametrize(
    "other", ["stop.io", "shop.de", "xn--shop-.io", "xn--99999999.io"]
)
def test_others_do_not(other: str) -> None:
    """Whatever no U-label stands behind is taken as it is."""
    assert skeleton("shop.io") != skeleton(other)


def test_groups_keep_the_order_of_the_domains() -> None:
    domains = ["paypal.com", "g00gle.com", "lone.com", "paypa1.com", "google.com"]
    assert find_lookalikes(domains) == [
        ("paypal.com", "paypa1.com"),
        ("g00gle.com", "google.com"),
    ]
