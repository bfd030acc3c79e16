"""Where there is no compiler, that is said, and nothing else happens."""

import pytest

from registry.compiled.compile import LIBRARY, compile_kernel


@pytest.mark.parametrize("named", ["no-such-compiler", "no-such-compiler -m64"])
def test_a_compiler_that_is_not_there_is_told(
    named: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CC", named)
    before = LIBRARY.stat() if LIBRARY.exists() else None

    assert not compile_kernel()

    assert "no C compiler here" in capfd.readouterr().err
    assert (LIBRARY.stat() if LIBRARY.exists() else None) == before
