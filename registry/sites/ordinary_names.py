"""Names of cities that are ordinary words: in a request they name no city.

Found by comparing the gazetteer's names with the words that the encoder's vocabulary has
in lower case, and with some 4,000 requests; read through by a person. Folded, as
`gazetteer.fold` gives them.
"""

import tomllib
from importlib.resources import files

_TABLE = files("registry.sites").joinpath("geonames", "ordinary_names.toml")
_NAMES: dict[str, str] = tomllib.loads(_TABLE.read_text(encoding="utf-8"))
ORDINARY_NAMES = frozenset(_NAMES["words"].split()) | frozenset(
    " ".join(phrase.split()) for phrase in _NAMES["phrases"].split(";")
)
