"""The report of an archive is that of the same rankings held in memory."""

from dataclasses import fields, replace

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.errors import Refused
from registry.ranking.policy import DEFAULT_POLICY
from registry.reports.archive import observing
from registry.reports.archive.window_spool import SpooledParts
from registry.reports.build_report import build_report
from registry.reports.metrics.contradictions import CONTRADICTIONS
from registry.reports.metrics.effective_weights import EFFECTIVE_WEIGHTS
from registry.reports.metrics.trials import INVARIANCE
from registry.sites.identifier import format_site_id
from registry.usecases.reports.archived_report import report_of_archive
from tests.unit.reports.archive.archived import (
    ALGORITHM,
    TERMS,
    TRIALS,
    archived,
    claims,
    disclosures,
    played,
)
from tests.unit.reports.observed import ObservedRanking, ObservedSelection, gather


def observed_of(row):
    """The same, read from the row by hand."""
    spell = lambda sites: tuple(map(format_site_id, sites))  # noqa: E731
    chosen = row.chosen and format_site_id(row.chosen)
    factors = [
        tuple(row.factors[at : at + 5]) for at in range(0, len(row.factors or []), 5)
    ]
    return ObservedRanking(
        id=row.id,
        eligible=row.eligible,
        returned=spell(row.returned),
        eligible_sample=spell(row.sampled),
        selection=None
        if row.selection_index is None
        else ObservedSelection(site_id=chosen),
        query=msgspec.json.decode(row.query) if row.query else "",
        operator=row.operator,
        category=row.category,
        factors=tuple(factors),
        located=row.located,
    )


def report_in_memory(rows, terms):
    rows = [row for row in rows if row.returned or row.query_salt is not None]
    outcomes = gather(map(observed_of, rows), disclosures(), terms.operator)
    return build_report(
        outcomes, ALGORITHM, terms, DEFAULT_POLICY, [TRIALS[0][0]], claims=claims()
    )


@pytest.fixture(scope="module")
def town():
    return played()


@pytest.fixture(scope="module")
def archive(town, tmp_path_factory):
    return archived(tmp_path_factory.mktemp("archive") / "of a town's", town.rows)


@pytest.mark.parametrize(
    "query",
    [{}, {"operator": "op-1"}, {"operator": "nobody"}, {"category": "hotel"}],
    ids=["all", "operator", "an operator that query nothing", "category"],
)
def test_an_archive_gives_the_report_of_its_rankings(town, archive, query):
    terms = replace(TERMS, **query)
    result = report_of_archive(archive, ALGORITHM, terms, DEFAULT_POLICY)
    assert result == report_in_memory(town.rows, terms)


def test_parts_add_up_to_the_same_report(town, archive, monkeypatch):
    monkeypatch.setattr(observing, "PART", 64)
    result = report_of_archive(archive, ALGORITHM, TERMS, DEFAULT_POLICY)
    assert result == report_in_memory(town.rows, TERMS)
    assert result.counts.empty_rankings > 0
    assert result.counts.scored > 400
    assert result[INVARIANCE].violations == 1
    eligible = [
        (factor.eligible_pairs, factor.eligible_swap_rate, factor.eligible_swap_share)
        for factor in result[EFFECTIVE_WEIGHTS]
    ]
    assert eligible == [(80, n / 80, n / 100) for n in (40, 30, 20, 10, 0)], (
        "of the trials, not of the returned sites"
    )
    contested = {field.name: field.sites for field in result[CONTRADICTIONS].fields}
    assert [contested[name] for name in ("any", "size", "independence")] == [3, 2, 2]


@given(st.lists(st.integers(0, 2**63 - 1), unique=True, max_size=300), st.data())
def test_each_site_is_found_at_its_place(ids, data):
    """Also where many share a slot of the table."""
    numbers = observing._KnownSites(np.array(ids, np.int64))
    places = data.draw(st.lists(st.sampled_from(range(len(ids))))) if ids else []
    sought = np.array([ids[place] for place in places], np.int64)
    assert numbers.find(sought).tolist() == places
    unknown = data.draw(st.integers(0, 2**63 - 1).filter(lambda item: item not in ids))
    with pytest.raises(Refused, match="not in the file of sites"):
        numbers.find(np.append(sought, unknown))


def test_parts_that_are_spooled_come_back_as_they_were(town, tmp_path):
    outcomes = gather(map(observed_of, town.rows), disclosures())
    parts = SpooledParts(tmp_path)
    for part in outcomes.parts:
        parts.append(part)
    assert len(parts) == 1
    for _ in range(2):
        [again], [part] = list(parts), list(outcomes.parts)
        for field in fields(part):
            saved, value = getattr(again, field.name), getattr(part, field.name)
            assert np.array_equal(saved, value), field.name
            assert type(saved) is type(value)
