"""Metrics of fairness, one a file; `table` lists them."""
