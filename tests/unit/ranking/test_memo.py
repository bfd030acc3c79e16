"""What was found out of a word is found out once, as long as there is room."""

from registry.ranking.memo import Memo


class Counting:
    def __init__(self) -> None:
        self.calls: list[str] = []

    def __call__(self, word: str) -> int:
        self.calls.append(word)
        return len(word)


def test_a_word_is_looked_at_once() -> None:
    find = Counting()
    lengths = Memo(find, longest=10, most=3)
    assert [lengths["book"], lengths["room"], lengths["book"]] == [4, 4, 4]
    assert find.calls == ["book", "room"]


def test_a_long_run_of_letters_is_answered_and_not_kept() -> None:
    find = Counting()
    lengths = Memo(find, longest=10, most=3)
    assert [lengths["a" * 11], lengths["a" * 11]] == [11, 11]
    assert len(find.calls) == 2
    assert not lengths


def test_it_begins_anew_where_there_are_too_many() -> None:
    lengths = Memo(len, longest=10, most=3)
    for number in range(100):
        assert lengths[f"word{number}"] == len(f"word{number}")
        assert len(lengths) <= 3
