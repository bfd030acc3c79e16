"""Files of generations: what is read of them for a name that nobody has."""

from pathlib import Path

from registry.index.building.generation_files import FRAME, PREFIX, read_generation

TERABYTE = 1 << 40


def test_an_unknown_name_costs_the_heads_of_the_frames_alone(tmp_path: Path) -> None:
    with (tmp_path / f"{PREFIX}1").open("wb") as file:
        file.write(FRAME.pack(bytes(32), bytes(32), TERABYTE, 0))
        file.truncate(FRAME.size + TERABYTE)  # no machine reads so much of it
    (tmp_path / f"{PREFIX}2").touch()  # as it is when a builder has just begun it
    for name in ("sha256:" + "1" * 64, "sha256:1", "../x", ""):
        assert read_generation(tmp_path, name) is None
