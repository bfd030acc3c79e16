"""What intervals exclude."""

from registry.reports.inference.rates import Interval


def excludes(interval: Interval, value: float) -> bool:
    return value < interval.low or value > interval.high
