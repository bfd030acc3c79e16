import pytest

from tests.unit.work import assert_linear


def test_work_that_grows_with_the_square_is_found() -> None:
    def quadratic(size: int) -> None:
        for first in range(size):
            for second in range(size):
                first + second

    with pytest.raises(AssertionError):
        assert_linear(quadratic, 50)


def test_linear_work_passes() -> None:
    def linear(size: int) -> None:
        for number in range(size):
            number + 1

    assert_linear(linear, 1_000)
