import tomllib
from dataclasses import fields
from importlib.resources import files
from pathlib import Path

import pytest

from registry.ranking.policy import DEFAULT_POLICY, POLICIES, STATIC_POLICY
from registry.settings import Settings, as_environment
from registry.settings_reader import SettingsInvalid, read_settings

W1 = "witness.example/w1+b7ca19fe+BCk0ypSnkfID73RCwbtw1vTZbpRfImqHwhNn+5t4pM5j"
LOG_KEY = "registry.example/audit+1d57a2a5+AS8hCaL4nFuwLFYf1R0m93lMwe1ctXz7Tvgx3X/lchMX"


def test_nothing_set_gives_a_registry_on_loopback() -> None:
    settings = read_settings({})
    assert settings.origin == "http://127.0.0.1:8080"
    assert settings.log_origin == "127.0.0.1:8080"
    assert not settings.allow_loopback


def test_the_encoder_chooses_the_policy() -> None:
    assert read_settings({}).policy is DEFAULT_POLICY
    chosen = read_settings({"FAIR_REGISTRY_ENCODER": "static"})
    assert chosen.policy is STATIC_POLICY
    assert read_settings(as_environment(chosen)).policy is STATIC_POLICY


def test_what_is_given_wins_over_the_environment() -> None:
    settings = read_settings({"FAIR_REGISTRY_PORT": "9000"}, port=9001, host=None)
    assert settings.port == 9001


@pytest.mark.parametrize(
    ("environment", "named"),
    [
        ({"PORT": "http"}, "PORT"),
        ({"PORT": "0"}, "PORT"),
        ({"PORT": "65536"}, "PORT"),
        ({"ALLOW_LOOPBACK": "maybe"}, "ALLOW_LOOPBACK"),
        ({"ALLOW_LOOPBACK": "1", "HOST": "0.0.0.0"}, "ALLOW_LOOPBACK"),
        ({"ALLOW_LOOPBACK": "1", "HOST": "::"}, "ALLOW_LOOPBACK"),
        ({"ALLOW_LOOPBACK": "1", "HOST": "registry.example"}, "ALLOW_LOOPBACK"),
        ({"HOSTS_FILE": "/etc/hosts"}, "HOSTS_FILE"),
        ({"HOSTS_FILE": "/absent", "ALLOW_LOOPBACK": "1"}, "HOSTS_FILE: /absent"),
        ({"CA_FILE": "/absent.pem"}, "CA_FILE: /absent.pem"),
        ({"DATABASE_URL": "mysql://x"}, "DATABASE_URL names no PostgreSQL"),
        ({"DATABASE_URL": "postgresql://u:p@ss:word@db/x"}, "DATABASE_URL.* %40"),
        ({"DATABASE_URL": "postgresql://u:p@db:port/x"}, "DATABASE_URL"),
        (
            {"DATABASE_URL": "postgresql://u:p@db/x?target=any"},
            "DATABASE_URL.*target is not",
        ),
        ({"PUBLIC_URL": "registry.example"}, "PUBLIC_URL"),
        ({"PUBLIC_URL": "https://registry.example/"}, "PUBLIC_URL"),
        ({"PUBLIC_URL": "https://a b"}, "PUBLIC_URL"),
        ({"CRAWL_VISITS_PER_DAY": "often"}, "CRAWL_VISITS_PER_DAY"),
        ({"CRAWL_VISITS_PER_DAY": "nan"}, "CRAWL_VISITS_PER_DAY"),
        ({"CRAWL_VISITS_PER_DAY": "-1"}, "CRAWL_VISITS_PER_DAY"),
        ({"CRAWL_VISITS_PER_DAY": "1e9"}, "CRAWL_VISITS_PER_DAY"),
        ({"CRAWL_VISITS_PER_DAY": "0.0"}, "CRAWL_VISITS_PER_DAY"),
        ({"REFRESH_INTERVAL_S": "0"}, "REFRESH_INTERVAL_S"),
        ({"BOT_AUTH": "1"}, "BOT_AUTH"),
        ({"BOT_AUTH": "1", "PUBLIC_URL": "http://registry.example"}, "BOT_AUTH"),
        ({"BOT_AUTH": "1", "PUBLIC_URL": "https://registry.example/a"}, "BOT_AUTH"),
        ({"BOT_AUTH": "1", "PUBLIC_URL": 'https://a"b.example'}, "BOT_AUTH"),
        ({"BOT_AUTH": "1", "PUBLIC_URL": "https://bücher.example"}, "BOT_AUTH"),
        ({"BOT_AUTH_DRAFT": "ietf-99"}, "BOT_AUTH_DRAFT"),
        ({"BOT_ADDRESSES": "192.0.2.1/28"}, "BOT_ADDRESSES"),
        ({"BOT_ADDRESSES": "192.0.2.0/28; 192.0.2.64/28"}, "BOT_ADDRESSES"),
        ({"BOT_ADDRESSES": "our network"}, "BOT_ADDRESSES"),
        ({"OWN_NETWORKS": "203.0.113.1/24"}, "OWN_NETWORKS"),
        ({"CANARIES": "https://a.example/, http://b.example/"}, "CANARIES"),
        ({"CRAWLERS": "-1"}, "CRAWLERS"),
        ({"CRAWLERS": "33"}, "CRAWLERS"),
        ({"CRAWLERS_IN_ALL": "33"}, "CRAWLERS_IN_ALL"),
        ({"METRICS": "9101"}, "METRICS"),
        ({"METRICS": "localhost:9101"}, "METRICS"),
        ({"METRICS": "127.0.0.1:65536"}, "METRICS"),
        ({"WITNESSES": "https://witness.example"}, "WITNESSES"),
        ({"WITNESSES": W1}, "WITNESSES"),
        ({"WITNESSES": f"{W1} http://witness.example"}, "WITNESSES"),
        ({"WITNESSES": f"{W1} https://a.example, {W1} https://b.example"}, "WITNESSES"),
        ({"WITNESSES": LOG_KEY + " https://witness.example"}, "WITNESSES"),
        ({"WITNESS_QUORUM": "1"}, "WITNESS_QUORUM"),
        (
            {"WITNESSES": f"{W1} https://a.example", "WITNESS_QUORUM": "2"},
            "WITNESS_QUORUM asks for 2 witnesses, and FAIR_REGISTRY_WITNESSES names 1",
        ),
        ({"RETENTION_DAYS": "-1"}, "RETENTION_DAYS"),
        ({"RETENTION_DAYS": "36501"}, "RETENTION_DAYS"),
        ({"ENCODER": "bert"}, "ENCODER"),
        ({"LOG_FORMAT": "xml"}, "LOG_FORMAT"),
        ({"LOG_LEVEL": "loud"}, "LOG_LEVEL"),
    ],
)
def test_a_setting_that_can_not_be_is_refused_by_name(
    environment: dict[str, str], named: str
) -> None:
    prefixed = {f"FAIR_REGISTRY_{name}": value for name, value in environment.items()}
    with pytest.raises(SettingsInvalid, match=f"FAIR_REGISTRY_{named}"):
        read_settings(prefixed)


def test_budget_is_a_number_with_or_without_a_fraction() -> None:
    for text, number in (("2", 2.0), ("0.25", 0.25)):
        settings = read_settings({"FAIR_REGISTRY_CRAWL_VISITS_PER_DAY": text})
        assert settings.crawl_visits_per_day == number
        assert read_settings(as_environment(settings)) == settings


def test_canaries_stand_between_commas() -> None:
    assert read_settings({}).canary_urls == ()
    given = {"FAIR_REGISTRY_CANARIES": "https://a.example/, https://b.example/up,"}
    assert read_settings(given).canary_urls == (
        "https://a.example/",
        "https://b.example/up",
    )


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.9.1", "::1", "localhost"])
def test_development_mode_goes_with_a_loopback_address(host: str) -> None:
    settings = read_settings({"FAIR_REGISTRY_ALLOW_LOOPBACK": "1"}, host=host)
    assert settings.allow_loopback


def test_a_child_process_reads_the_same_settings(tmp_path: Path) -> None:
    hosts_file = tmp_path / "hosts"
    hosts_file.touch()
    settings = read_settings(
        {},
        data=Path("/srv/data"),
        port=8123,
        allow_loopback=True,
        hosts_file=hosts_file,
        dns="127.0.0.1:5353",
        public_url="https://registry.example",
        bot_auth=True,
        bot_auth_draft="ietf-01",
        bot_addresses="192.0.2.0/28, 2001:db8::/48",
    )
    assert read_settings(as_environment(settings)) == settings


def test_the_crawlers_networks_are_read_from_one_line() -> None:
    assert read_settings({}).bot_networks == ()
    settings = read_settings(
        {}, bot_addresses="192.0.2.0/28, 192.0.2.77 ,2001:db8::/48"
    )
    assert [str(network) for network in settings.bot_networks] == [
        "192.0.2.0/28",
        "192.0.2.77/32",
        "2001:db8::/48",
    ]


@pytest.mark.parametrize("port", ["", ":8443"])
def test_requests_are_signed_where_others_can_look_for_the_key(port: str) -> None:
    url = f"https://registry.example{port}"
    assert read_settings({}, bot_auth=True, public_url=url).bot_auth


def test_every_setting_says_what_it_is() -> None:
    says = tomllib.loads(files("registry").joinpath("settings.toml").read_text())
    assert list(says) == [item.name for item in fields(Settings)]
    assert all(text.endswith(".") for text in says.values())


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("off", None),
        ("127.0.0.1:9101", ("127.0.0.1", 9101)),
        ("127.0.0.1:0", ("127.0.0.1", 0)),
        ("[::1]:9101", ("::1", 9101)),
    ],
)
def test_metrics_are_served_where_that_is_said(
    text: str, at: tuple[str, int] | None
) -> None:
    assert Settings(metrics=text).metrics_at == at


@pytest.mark.parametrize(
    ("crawlers", "in_all", "shares"),
    [(0, 0, 0), (1, 0, 1), (3, 0, 3), (3, 5, 5), (3, 2, 3)],
)
def test_a_crawler_has_the_share_of_one_of_all(
    crawlers: int, in_all: int, shares: int
) -> None:
    settings = Settings(crawlers=crawlers, crawlers_in_all=in_all)
    assert settings.crawler_shares == shares


def test_witnesses_are_named_by_key_and_address() -> None:
    variables = {"FAIR_REGISTRY_WITNESSES": f"{W1} https://witness.example/log/, "}
    [witness] = read_settings(variables).witness_list
    assert witness.url == "https://witness.example/log/add-checkpoint"
    assert witness.key.name == "witness.example/w1"


@pytest.mark.parametrize(
    ("variable", "advice"),
    [
        ("FAIR_REGISTRY_PUBLIC_URI", "did you mean FAIR_REGISTRY_PUBLIC_URL?"),
        ("FAIR_REGISTRY_WITNESS", "did you mean FAIR_REGISTRY_WITNESSES?"),
        ("FAIR_REGISTRY_port", "did you mean FAIR_REGISTRY_PORT?"),
    ],
)
def test_an_unknown_name_is_refused_with_the_near_one(
    variable: str, advice: str
) -> None:
    with pytest.raises(SettingsInvalid) as refused:
        read_settings({variable: ""})
    assert str(refused.value) == f"{variable} is not a setting; {advice}"


def test_variables_of_commands_and_of_others_are_no_settings() -> None:
    others = {"FAIR_REGISTRY_API_KEY": "frk_x", "FAIR_REGISTRY_URL": "", "PORT": "http"}
    assert read_settings(others) == Settings()


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("PORT", "http", "a whole number, 1..65535"),
        ("WORKERS", "-1", "a whole number from 0"),
        ("BOT_AUTH", "maybe", "1 or 0"),
        ("LOG_LEVEL", "loud", "one of error, info, warning"),
        ("BOT_AUTH_DRAFT", "x", "one of meunier-03, ietf-00, ietf-01"),
    ],
)
def test_a_refusal_says_what_may_be_set(name: str, text: str, expected: str) -> None:
    with pytest.raises(SettingsInvalid, match=f"{name} must be {expected}"):
        read_settings({f"FAIR_REGISTRY_{name}": text})


@pytest.mark.parametrize("text", ["1", "true", "YES", "on", "0", "False", "no", "off"])
def test_flags_have_several_spellings(text: str) -> None:
    settings = read_settings({"FAIR_REGISTRY_ALLOW_LOOPBACK": text})
    assert settings.allow_loopback is (text in {"1", "true", "YES", "on"})


def test_every_policy_can_be_set() -> None:
    for encoder in POLICIES:
        assert read_settings({}, encoder=encoder).encoder == encoder
