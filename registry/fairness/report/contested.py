"""Sites by what is contested of them: where two tellers state a field differently."""

from collections.abc import Mapping

import numpy as np

from registry.fairness.labels import FIELDS, Claims
from registry.fairness.window.classes import Classes

ANY = "any"
UNCONTESTED = "uncontested"
DIMENSION = "contradiction"


def sort_contested(claims: Mapping[int, Claims], count: int) -> Classes:
    """claims: by the numbers of sites. count: of all sites.

    Classes are of sites of which the same fields are contested; joined, of each field.
    """
    patterns = sorted({one.contradicted for one in claims.values() if one.contradicted})
    names = (UNCONTESTED, *(f"{' and '.join(one)} alone" for one in patterns))
    code = np.zeros(count, np.int64)
    for site, one in claims.items():
        code[site] = patterns.index(one.contradicted) + 1 if one.contradicted else 0
    joined = {
        field: tuple(
            name
            for name, pattern in zip(names[1:], patterns, strict=True)
            if field in {ANY, *pattern}
        )
        for field in (ANY, *FIELDS)
    }
    return Classes(dimension=DIMENSION, names=names, code=code, joined=joined)
