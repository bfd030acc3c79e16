"""Figures of a bench, as its command prints them."""

from collections.abc import Mapping

from registry.terminal.output import console, print_json
from registry.terminal.styled import Table


def tell_figures(figures: Mapping[str, object], *, as_json: bool) -> None:
    """Measured figures, by name; None was not measured."""
    if as_json:
        print_json(figures)
        return
    table = Table("figure", box=None)
    table.add_column("value", justify="right")
    for name, value in figures.items():
        table.add_row(name, "not measured" if value is None else str(value))
    console.print(table)
