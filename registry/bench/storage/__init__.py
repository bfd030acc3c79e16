"""Sizes of tables, and what makes them smaller."""
