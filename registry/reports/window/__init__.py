"""A window of rankings in columns, and what each class of site got in it."""
