"""What fairness is measured by: the formulas of the field, over rankings."""
