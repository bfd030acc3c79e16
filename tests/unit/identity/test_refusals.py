from registry.errors import read_problem_types

KINDS = read_problem_types("registry.identity").values()


def test_codes_are_distinct_and_stable_names() -> None:
    codes = [kind.code for kind in KINDS]
    assert len(set(codes)) == len(codes)
    assert all(code.isidentifier() and code == code.lower() for code in codes)


def test_every_refusal_says_what_is_wrong_and_the_way_out() -> None:
    for kind in KINDS:
        assert kind.title[0].isupper()
        assert not kind.title.endswith(".")
        assert len(kind.fix) > 30
