"""`register` and the acts after it, from the command line to a running registry."""

import json
from pathlib import Path

from click.testing import CliRunner, Result
from sqlalchemy import text

from registry.cli import main
from registry.db.engine.engines import open_engine
from registry.identity.keys.private_keys import load_private_key, public_key_of
from registry.identity.keys.public_keys import PublicKey
from tests.api.running import CHANGING_KEYS, RunningRegistry


class Owner:
    """Who runs commands for a site of the town, with keys in a folder of his own."""

    def __init__(self, registry: RunningRegistry, host: str, config: Path) -> None:
        self.registry = registry
        self.host = host
        self._keys = config / "fair-registry" / "keys"
        self._environment = {
            "FAIR_REGISTRY_URL": registry.origin,
            "XDG_CONFIG_HOME": str(config),
        }

    def run(self, *words: str) -> Result:
        return CliRunner().invoke(main, words, env=self._environment)

    def key_file(self, name: str) -> Path:
        return self._keys / f"{name}.pem"

    def keygen(self, name: str) -> PublicKey:
        ran = self.run("keygen", name)
        assert ran.exit_code == 0, ran.output
        return public_key_of(load_private_key(self.key_file(name).read_bytes()))

    def accepted(self, act: str, *options: str) -> None:
        ran = self.run(act, self.host, *options, "--json")
        assert ran.exit_code == 0, ran.stderr
        assert json.loads(ran.stdout)["problems"] == []

    def refused(self, act: str, *options: str) -> str:
        """Return the code of the problem."""
        ran = self.run(act, self.host, *options, "--json")
        assert ran.exit_code == 1, ran.stderr
        [problem] = json.loads(ran.stdout)["problems"]
        return str(problem["code"])


def owner_of(registry: RunningRegistry, host: str, config: Path) -> Owner:
    """Return the owner of a site that was just registered."""
    owner = Owner(registry, host, config)
    registry.town.publish_keys(host, owner.keygen(host))
    owner.accepted("register", "--category", "crafts")
    return owner


def test_owner_updates_rotates_revokes_and_withdraws(
    registry: RunningRegistry, tmp_path: Path
) -> None:
    host = CHANGING_KEYS[0]
    owner = owner_of(registry, host, tmp_path)
    owner.accepted(
        "update", "--category", "tailor", "--city", "Lyon", "--country", "FR"
    )
    listed = registry.http.get(f"/v1/sites/{host}").json()
    assert listed["provider"]["category"] == "tailor"
    assert listed["location"] == {"city": "Lyon", "country": "FR"}

    old = public_key_of(load_private_key(owner.key_file(host).read_bytes()))
    new = owner.keygen("new")
    following = ("--key", str(owner.key_file("new")))
    assert owner.refused("rotate", "--next-kid", new.kid) == "next_key_not_published"
    registry.town.publish_keys(host, old, new)
    owner.accepted("rotate", "--next-key", str(owner.key_file("new")))
    owner.accepted("revoke", *following, "--revoked-key", str(owner.key_file(host)))
    assert owner.refused("update") == "key_revoked"
    unknown = owner.refused("revoke", *following, "--revoked-kid", "A" * 43)
    assert unknown == "revoked_key_unknown"

    searched = owner.run("search", "a table in Paris, Texas")
    assert "--city Paris --country US" in searched.stdout

    hinted = owner.run("refresh", host, *following, "--json")
    assert hinted.exit_code == 0, hinted.stderr
    assert json.loads(hinted.stdout)["host"] == host
    assert owner.run("refresh", "no host", *following).exit_code == 2

    owner.accepted("withdraw", *following)
    gone = registry.http.get(f"/v1/sites/{host}")
    assert gone.json()["code"] == "site_withdrawn"


def test_owner_who_lost_the_key_recovers_by_dns(
    registry: RunningRegistry, tmp_path: Path
) -> None:
    host = CHANGING_KEYS[1]
    owner = owner_of(registry, host, tmp_path)
    new = owner.keygen("new")
    registry.town.publish_keys(host, new)
    key = ("--key", str(owner.key_file("new")))

    unproven = owner.run("recover", host, *key)
    assert unproven.exit_code == 1
    assert "key_recovery_needs_dns" in unproven.stderr
    assert f'_agent-registry.{host}. IN TXT "v=ar1; kid={new.kid}"' in unproven.stderr

    registry.town.publish_record(f"_agent-registry.{host}", f"v=ar1; kid={new.kid}")
    assert owner.refused("recover", *key) == "key_held"
    registry.run(pass_days(registry.settings.database_url, host, days=3))
    owner.accepted("recover", *key)
    listed = registry.http.get(f"/v1/sites/{host}").json()
    assert listed["provider"]["category"] == "crafts", "nothing declared is lost"
    owner.accepted("withdraw", *key)


async def pass_days(database_url: str, host: str, *, days: int) -> None:
    """Move the first sightings of the site's keys into the past."""
    engine = open_engine(database_url)
    async with engine.begin() as connection:
        await connection.execute(
            text(
                "UPDATE registry.site_key SET first_seen_at = first_seen_at - "
                "make_interval(days => :days) WHERE site_id = "
                "(SELECT site_id FROM registry.site WHERE host = :host)"
            ),
            {"days": days, "host": host},
        )
    await engine.dispose()


def test_key_is_named_by_one_of_two_options(tmp_path: Path) -> None:
    for words in (
        ["rotate", "shop.test"],
        ["revoke", "shop.test", "--revoked-kid", "short"],
    ):
        ran = CliRunner().invoke(main, words, env={"XDG_CONFIG_HOME": str(tmp_path)})
        assert ran.exit_code == 2, ran.output
        assert "-kid" in ran.output


def test_key_that_was_not_made_is_reported_with_the_way_to_make_it(
    tmp_path: Path,
) -> None:
    words = ["withdraw", "shop.test"]
    ran = CliRunner().invoke(main, words, env={"XDG_CONFIG_HOME": str(tmp_path)})
    assert ran.exit_code == 1
    assert f"{tmp_path}/fair-registry/keys/shop.test.pem" in ran.output
    assert "keygen" in ran.output


def test_city_without_a_country_is_refused_and_not_dropped(tmp_path: Path) -> None:
    environment = {"XDG_CONFIG_HOME": str(tmp_path)}
    CliRunner().invoke(main, ["keygen", "shop.test"], env=environment)
    words = ["register", "shop.test", "--city", "Lyon"]
    ran = CliRunner().invoke(main, words, env=environment)
    assert ran.exit_code == 2
    assert "--country" in ran.output
