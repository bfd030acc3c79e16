"""Loading of the compiled library, if it was compiled from the installed sources."""

import ctypes
import sys
from functools import cache
from typing import Any, cast

import numpy.typing as npt

from registry.compiled.compile import FAILURE, LIBRARY, digest_of_sources


@cache
def find_library() -> ctypes.CDLL | None:
    """Load the library, whose calls release the GIL; None if NumPy must do."""
    try:
        library = ctypes.CDLL(str(LIBRARY))
        compiled = (ctypes.c_char * 64).in_dll(library, "sources").value.decode()
    except (OSError, ValueError):
        return None
    return library if compiled == digest_of_sources() else None


def explain_absence() -> str:
    """Return why `find_library` finds none."""
    if FAILURE.exists():
        return FAILURE.read_text(encoding="utf-8")
    if LIBRARY.exists():
        return "the compiled library is of other sources, or of another machine"
    return "this installation came without a compiled library"


def how_to_compile() -> str:
    compiler = "a C compiler (gcc and libc6-dev, or ziglang from the package index)"
    return f"install {compiler}, then: {sys.executable} -m registry.compiled.compile"


def pointer_to(array: npt.NDArray[Any]) -> ctypes.c_void_p:
    """Return a pointer to the first item; the caller keeps the array alive."""
    try:
        # A third of the time of `array.ctypes`, and called in every search.
        first = ctypes.c_char.from_buffer(cast("bytearray", array))
    except (TypeError, ValueError):  # read only, or empty
        return ctypes.c_void_p(array.ctypes.data)
    return ctypes.c_void_p(ctypes.addressof(first))
