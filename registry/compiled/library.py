"""Loading of the compiled library, if it was compiled from the installed sources."""

import ctypes
from functools import cache
from typing import Any, cast

import numpy.typing as npt

from registry.compiled.compile import LIBRARY, digest_of_sources


@cache
def find_library() -> ctypes.CDLL | None:
    """Load the library, whose calls release the GIL; None if NumPy must do."""
    try:
        library = ctypes.CDLL(str(LIBRARY))
        compiled = (ctypes.c_char * 64).in_dll(library, "sources").value.decode()
    except (OSError, ValueError):
        return None
    return library if compiled == digest_of_sources() else None


def pointers_to(*arrays: npt.NDArray[Any]) -> tuple[ctypes.c_void_p, ...]:
    return tuple(pointer_to(array) for array in arrays)


def pointer_to(array: npt.NDArray[Any]) -> ctypes.c_void_p:
    """Return a pointer to the first item; the caller keeps the array alive."""
    try:
        # A third of the time of `array.ctypes`, and called in every search.
        first = ctypes.c_char.from_buffer(cast("bytearray", array))
    except (TypeError, ValueError):  # read only, or empty
        return ctypes.c_void_p(array.ctypes.data)
    return ctypes.c_void_p(ctypes.addressof(first))
