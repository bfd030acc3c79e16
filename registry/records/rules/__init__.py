"""Rules that the records of a log keep, and what an auditor remembers for them."""
