"""Inference: intervals and tests, for what chance could have made of a figure."""
