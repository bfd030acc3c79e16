"""An archive beside its log: whatever is otherwise is told, and nothing else."""

from datetime import timedelta

import pytest

from registry.index.query.eligible_estimate import PANEL_ROWS
from registry.records.ranking_columns import RankingColumns, pack_sites
from registry.reports.archive.agreement import MAX_SENTENCES
from registry.reports.archive.archive_rows import (
    ArchivedRanking,
    archive_ranking,
    read_logged,
)
from registry.reports.archive.ranking_agreement import RankingAgreement
from registry.reports.archive.row_check import COUNTED_SITES, differences_of
from registry.sites.label import Label
from tests.unit.records.encoded import encode_disclosure
from tests.unit.records.history import NOON
from tests.unit.reports.archive.archived import (
    SITES,
    WINDOW,
    Town,
    disclosures,
    invented,
    missing,
    played,
    reordered,
)

COUNT = 200
START, END = "2026-11-20T00:00Z", "2026-11-22T00:00Z"


def compared(town, *, start=START, end=END, size=None):
    agreement = RankingAgreement(
        start=start,
        end=end,
        sites=30,
        size=len(town.bodies) if size is None else size,
        rows=iter(town.rows),
    )
    for index, body in enumerate(town.bodies):
        agreement.visit(index, body)
    agreement.finish()
    return agreement


def test_an_honest_archive_is_as_the_log_says():
    town = played(COUNT)
    comparison = compared(town)
    assert comparison.differences == []
    assert comparison.rankings == COUNT
    assert comparison.choices == sum(
        row.selection_index is not None for row in town.rows
    )


@pytest.mark.parametrize("is_label", [True, False], ids=["label", "registration"])
@pytest.mark.parametrize(
    ("seconds", "behind", "count"), [(-1, 0, 1), (-1, 1, 0), (0, 0, 0), (-1, -1, 1)]
)
def test_the_tree_of_an_archive_has_all_of_before_the_end(
    is_label, seconds, behind, count
):
    """behind: entries more that it has. Rankings and choices the window itself has."""
    town = played(10)
    size = len(town.bodies) + behind
    town.now = WINDOW.end_at + timedelta(seconds=seconds)
    if is_label:
        town.label(SITES[20], Label(size="large"))
    else:
        town.register(disclosures()[20])
    assert len(compared(town, size=size).differences) == count


def test_records_outside_the_window_are_no_matter():
    town = played(COUNT)
    start, end = "2026-11-20T13:00Z", "2026-11-20T15:00Z"
    town.rows = [row for row in town.rows if start <= row.minute < end]
    for item in town.rows:
        late = town.bodies[item.selection_index] if item.selection_index else b""
        if f'"t":"{end}"'.encode() in late:
            item.selection_index = item.chosen = None
    comparison = compared(town, start=start, end=end)
    assert comparison.differences == []
    assert 0 < comparison.rankings < COUNT


def test_choices_across_the_ends_of_a_window_are_no_matter():
    """From a ranking before it, and after it from one that is in it."""
    town = Town().begin()
    before = town.ask(1)
    town.pass_by(hours=1)
    inside = town.ask(2)
    town.choose(before, before.returned[0])
    town.pass_by(hours=1)
    town.choose(inside, inside.returned[0])
    inside.selection_index = inside.chosen = None
    town.rows = [inside]
    comparison = compared(town, start="2026-11-20T12:30Z", end="2026-11-20T13:30Z")
    assert (comparison.differences, comparison.rankings) == ([], 1)


def asked_otherwise(town):
    row = next(row for row in town.rows[60:] if row.query)
    row.query = '"something else"'


def forged_factors(town):
    row = next(row for row in town.rows[60:] if row.factors)
    row.factors[0] += 1


def told_as_erased(town):
    row = next(row for row in town.rows[60:] if row.query)
    row.scores_salt = row.factors = row.totals = row.ties = None


def answer_held_back(town):
    """And that alone: scores as a text need no order of the answer."""
    row = next(row for row in town.rows[60:] if row.factors)
    row.scores = row._value("scores").decode()
    row.factors = row.totals = row.ties = row.tiers = row.probes = row.places = None
    row.answer_salt, row.eligible, row.returned, row.sampled = None, 0, [], []


def hidden_choice(town):
    row = next(row for row in town.rows if row.chosen)
    row.selection_index = row.chosen = None


def other_choice(town):
    row = next(row for row in town.rows if row.chosen)
    row.chosen = next(site for site in row.returned if site != row.chosen)


def invented_choice(town):
    row = next(row for row in town.rows if row.selection_index is None)
    row.selection_index = row.leaf_index + 1


def sampled_twice(town):
    row = next(row for row in town.rows if row.sampled)
    row.sampled[0] = row.sampled[1]


def sampled_less(town):
    """One eligible site a ranking is left out: it would raise the gap of its kind."""
    for row in town.rows[:2]:
        row.sampled = row.sampled[1:]


def sampled_otherwise(town):
    row = next(row for row in town.rows if row.sampled)
    row.sampled[0] = next(site for site in SITES if site not in row.sampled)


def other_operator(town):
    town.rows[5].operator = "op-7"


def out_of_order(town):
    town.rows[8], town.rows[9] = town.rows[9], town.rows[8]


def behind_the_end(town):
    other = played(COUNT).rows[20]
    other.leaf_index = len(town.bodies) + 5
    town.rows.append(other)


def short_factors(town):
    next(row for row in town.rows if row.factors).factors.pop()


def other_minute(town):
    town.rows[5].minute = "2026-11-20T12:00Z"


def other_place(town):
    row = next(row for row in town.rows if row.located)
    row.location = '"u33e"'


def other_count(town):
    town.rows[5].eligible += 1


def second_choice(town):
    row = next(row for row in town.rows if row.chosen)
    saved = row.selection_index, row.chosen
    town.choose(row, row.chosen)
    row.selection_index, row.chosen = saved


def no_json(town):
    next(row for row in town.rows if row.query).query = '"bread'


def other_key(town):
    town.rows[6].query_key += 1


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        pytest.param(missing, "is not in the archive", id="a ranking missing"),
        pytest.param(invented, "the log has none", id="a ranking invented"),
        pytest.param(reordered, "the answer is not", id="an order changed"),
        pytest.param(asked_otherwise, "the query is not", id="a query changed"),
        pytest.param(forged_factors, "the scores is not", id="factors changed"),
        pytest.param(told_as_erased, "no record says", id="scores held back"),
        pytest.param(answer_held_back, "no record says", id="an answer held back"),
        pytest.param(hidden_choice, "is not in the archive", id="a choice held back"),
        pytest.param(other_choice, "of another site", id="a choice changed"),
        pytest.param(invented_choice, "no such choice", id="a choice invented"),
        pytest.param(sampled_twice, "no sample", id="a sample that is none"),
        pytest.param(sampled_less, "where it takes 20", id="a sampled site left out"),
        pytest.param(sampled_otherwise, "the answer is not", id="a site in its place"),
        pytest.param(other_operator, "another operator", id="an operator changed"),
        pytest.param(
            out_of_order, "out of the log's order", id="rows in another order"
        ),
        pytest.param(behind_the_end, "the log has none", id="a ranking behind the log"),
        pytest.param(short_factors, "can't be read", id="factors too few"),
        pytest.param(other_minute, "another minute", id="a minute changed"),
        pytest.param(other_place, "the location is not", id="a place changed"),
        pytest.param(other_count, "eligible sites", id="a number of eligible changed"),
        pytest.param(second_choice, "is not in the archive", id="a second choice"),
        pytest.param(no_json, "can't be read", id="a query that is no JSON"),
        pytest.param(other_key, "query_key does not follow", id="a key changed"),
    ],
)
def test_what_is_unlike_is_reported(change, expected):
    town = played(COUNT)
    change(town)
    differences = compared(town).differences
    assert any(expected in line for line in differences), differences
    assert len(differences) < 5


def test_what_was_erased_after_the_archive_was_made_is_no_excuse():
    town = played(COUNT)
    row = next(row for row in town.rows if row.query)
    size, town.now = len(town.bodies), WINDOW.end_at
    town.forget(row)
    assert compared(town).differences == []
    [difference] = compared(town, size=size).differences
    assert "no record says that it was erased" in difference


def test_a_range_that_was_erased_covers_what_stands_in_it():
    town = played(COUNT)
    rows = town.rows[100:120]
    bodies = list(town.bodies)
    for row in rows:
        town.forget(row)
    town.bodies = bodies
    assert len(compared(town).differences) == len(rows) - already(rows)
    town.erase(rows[0].leaf_index, [], last=rows[-1].leaf_index)
    assert compared(town).differences == []


def already(rows):
    """Those that the town has erased by itself."""
    untouched = {row.leaf_index for row in played(COUNT).rows if row.unopened}
    return sum(row.leaf_index in untouched for row in rows)


def test_an_archive_of_another_log_is_reported_in_a_hundred_lines():
    town, other = played(COUNT), played(COUNT)
    for row in other.rows:
        row.operator = "op-9"
    town.rows = other.rows
    assert len(compared(town).differences) == MAX_SENTENCES


@pytest.mark.parametrize(
    "scores",
    [
        pytest.param([], id="none"),
        pytest.param({"sites": 3}, id="no list"),
        pytest.param([{"site": "0000000000035", "score": 5}], id="fewer members"),
        pytest.param(
            [{"factors": [1] * 5, "score": 5, "site": "0000000000035", "tie": "AA"}],
            id="a key in capitals",
        ),
    ],
)
def test_scores_of_another_form_are_kept_as_they_were_disclosed(scores):
    """Say, of a later release: nothing is lost that was hashed."""
    town = played(COUNT)
    row = next(row for row in town.rows if row.factors)
    opened = encode_disclosure("c2FsdHNhbHRzYWx0c2FsdA", "scores", scores)
    openings = {**row.disclosures(), "scores": opened}
    body = town.bodies[row.leaf_index]
    columns = RankingColumns(
        accepted_at=NOON,
        operator=row.operator,
        eligible=row.eligible,
        returned=pack_sites(row.returned),
        sampled=pack_sites(row.sampled),
        query_key=row.query_key.to_bytes(8),
        category=row.category,
        located=row.located,
    )
    saved = archive_ranking(row.leaf_index, body, columns, openings, None)
    assert saved.factors is None
    assert saved.disclosures() == openings


def test_a_sample_of_all_eligible_sites_holds_those_that_were_shown():
    town = played(COUNT)
    row = next(row for row in town.rows if row.sampled)
    logged = read_logged(town.bodies[row.leaf_index])
    row.eligible = 20
    row.sampled = [site for site in SITES if site not in row.returned][:20]
    expected = "a returned site is not in the sample that holds all eligible ones"
    assert expected in {*differences_of(row, logged, 30)}
    row.sampled[: len(row.returned)] = row.returned
    assert expected not in {*differences_of(row, logged, 30)}


def test_of_a_registry_that_looks_at_a_part_of_its_sites_the_sample_may_be_smaller():
    assert COUNTED_SITES == PANEL_ROWS
    town = played(COUNT)
    row = next(row for row in town.rows if row.sampled)
    logged = read_logged(town.bodies[row.leaf_index])

    def is_short(sites):
        texts = differences_of(row, logged, sites)
        return any("are sampled of" in text for text in texts)

    row.sampled = row.sampled[:5]
    assert (is_short(30), is_short(3 * COUNTED_SITES)) == (True, False)
    row.sampled = row.sampled[:4]  # of 30 eligible at least 30 / 6 are looked at
    assert is_short(3 * COUNTED_SITES)


def other(value):
    """Another value of the same kind."""
    match value:
        case bool():
            return not value
        case int():
            return value + 1
        case str():
            return f"{value[:-1]}{'A' if value[-1:] != 'A' else 'B'}"
        case list():
            return [other(value[0]), *value[1:]] if value else [1]
    return None


@pytest.mark.parametrize("name", ArchivedRanking.__struct_fields__)
def test_no_column_is_another_one_unseen(name):
    """Of a choice too; what no row of a window has is null in each."""
    town = played(COUNT)
    row = next(
        (
            row
            for row in town.rows[60:]
            if row.chosen and getattr(row, name) is not None
        ),
        None,
    )
    if row is None:
        assert name == "scores"  # which stand in columns
        return
    setattr(row, name, other(getattr(row, name)))
    assert compared(town).differences
