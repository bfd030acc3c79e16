"""The crawler's processes, its benches included."""

import os

# More threads of BLAS would spin beside each other while documents are encoded: on two
# busy cores a document took 31 ms of CPU, not 9.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
