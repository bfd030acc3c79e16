"""What chance could have made of a figure: intervals and tests."""
