"""The page of a site tells what its entry tells machines."""

import httpx
import pytest

HOST = "zaytoun-table.test"


def test_page_tells_what_the_entry_tells(http: httpx.Client) -> None:
    entry = http.get(f"/v1/sites/{HOST}").json()
    page = http.get(f"/sites/{HOST}")
    assert page.status_code == 200
    assert page.headers["Content-Type"].startswith("text/html")
    for shown_text in (
        entry["provider"]["name"],
        entry["provider"]["category"],
        entry["location"]["city"],
        entry["actions"][0]["name"],
        entry["documents"][0]["url"],
        "listed, its control of the host proved",
    ):
        assert shown_text in page.text


def test_page_shows_labels_and_leads_to_who_set_them(http: httpx.Client) -> None:
    counting = http.get(f"/v1/sites/{HOST}/disclosures").json()["counting"]
    page = http.get(f"/sites/{HOST}").text
    assert f"<dd>{counting['size'] or 'unknown'}</dd>" in page
    assert f'href="/v1/sites/{HOST}/disclosures"' in page


@pytest.mark.parametrize(
    "host",
    [
        pytest.param("nobody.test", id="nobody"),
        pytest.param("%3Cscript%3Ealert(1)%3C%2Fscript%3E", id="a script"),
        pytest.param("127.0.0.1", id="an address"),
        pytest.param("%00", id="nothing"),
        pytest.param("a" * 300, id="too long"),
    ],
)
def test_no_site_has_no_page(http: httpx.Client, host: str) -> None:
    answer = http.get(f"/sites/{host}", headers={"Accept": "text/html"})
    assert answer.status_code == 404
    assert "<script>" not in answer.text
