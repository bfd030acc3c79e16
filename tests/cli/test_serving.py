"""Which processes `serve` starts."""

from registry.cli.supervise import parts_of_service
from registry.settings import Settings, as_environment, read_settings


def test_as_many_crawlers_are_started_as_are_wanted_beside_one_of_the_others() -> None:
    parts = parts_of_service("127.0.0.1", 8080, 1, crawlers=3)
    crawlers = [one for one in parts if list(one.arguments) == ["-m", "crawler"]]
    assert len(parts) == 3 + 4
    assert len({one.name for one in parts}) == len(parts)
    assert len(crawlers) == 3


def test_who_has_witnesses_has_a_process_that_asks_them() -> None:
    asks = ["-m", "crawler.witnesses"]
    for witnessed in (False, True):
        parts = parts_of_service("127.0.0.1", 8080, 1, witnessed=witnessed)
        assert (asks in [list(one.arguments) for one in parts]) is witnessed


def test_each_of_them_is_told_how_many_there_are() -> None:
    told = read_settings(as_environment(Settings(crawlers=3)))
    assert told.crawler_shares == 3
