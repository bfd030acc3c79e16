"""The fairness report: its figures, their words, and how they are made."""
