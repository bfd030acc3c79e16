"""One thread of BLAS for the tests: more would spin beside each other.

A plugin that `addopts` names, since it has to be there before NumPy is: other plugins
import that, before any `conftest.py` is read.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
