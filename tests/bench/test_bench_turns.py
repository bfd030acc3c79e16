"""Searchers that are measured beside each other are asked in turns."""

from registry.bench.kernel.turns import TURN, milliseconds_in_turns


def test_each_is_asked_a_turn_of_requests_after_the_other() -> None:
    query: list[tuple[str, int]] = []
    requests = list(range(TURN + 3))

    spent = milliseconds_in_turns(
        (lambda number: query.append(("own", number)), requests),
        (lambda number: query.append(("rival", number)), requests),
    )

    first, second = requests[:TURN], requests[TURN:]
    turns = [
        (name, part) for part in (first, first, second) for name in ("own", "rival")
    ]
    assert query == [(name, number) for name, part in turns for number in part]
    assert [len(own) for own in spent] == [TURN + 3, TURN + 3]
    assert all(item >= 0 for own in spent for item in own)
