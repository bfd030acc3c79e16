"""Labels as they were at any instant: said by sites, set by auditors, on record once."""

from datetime import date, timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from registry.db import labels
from registry.db.engine.engines import Role
from registry.db.reports import observations
from registry.errors import Conflict, Refused, RegistryError
from registry.records.labelling import Labelling, digest_source
from registry.records.packing import unpack
from registry.records.promise import verify_promise
from registry.records.record import parse_record
from registry.reports.labels import VALID_FOR, SiteLabel
from registry.sites.identifier import format_site_id
from registry.sites.label import Label
from registry.tlog.note import Signer, format_vkey
from registry.usecases.labels import accept_label
from registry.usecases.log.promiser import Promised
from tests.db.scene import NOON, PROMISE_KEY, Scene, body_of, understood, wab
from tests.db.test_attesting import AUDITOR, STRANGER

SOURCE = "https://business-register.example/entries/7"
LARGE_CHAIN = Label(size="large", independence="chain", chain="alder.example")


ORIGIN = "registry.test"


@pytest.fixture
async def site_id(scene: Scene) -> int:
    """Of a site that declared itself small and independent, at noon."""
    site = await scene.register()
    await scene.play(site, act="update", size="small", is_independent=True)
    return (await scene.entry(site)).site_id


def labelling(site_id: int, label: Label = LARGE_CHAIN, **changes: Any) -> Labelling:
    basis = Labelling(
        auditor=format_vkey(AUDITOR.verifier_key),
        audience=ORIGIN,
        site_id=format_site_id(site_id),
        label=label,
        observed_on=NOON.date(),
        stated_at=NOON,
        source_digest=digest_source(SOURCE),
    )
    return replace(basis, **changes)


def signed(
    site_id: int, label: Label = LARGE_CHAIN, signer: Signer = AUDITOR, **changes: Any
) -> Labelling:
    auditor = format_vkey(signer.verifier_key)
    own = labelling(site_id, label, auditor=auditor, **changes)
    return own.signed(signer.private)


async def put(
    scene: Scene, signed_labelling: Labelling, source: str = SOURCE, **given: Any
) -> Promised:
    async with scene.engines[Role.LABELLER].begin() as connection:
        return await accept_label(
            connection,
            signed_labelling,
            source,
            auditors={format_vkey(AUDITOR.verifier_key)},
            origin=ORIGIN,
            promiser=scene.promiser,
            ids=scene.ids,
            **given,
        )


async def label_at(scene: Scene, site_id: int, **after: float) -> SiteLabel:
    """after: noon."""
    async with scene.engines[Role.AUDITOR].connect() as connection:
        at = NOON + timedelta(**after)
        return (await labels.labels_at(connection, at))[site_id]


async def records_of(scene: Scene, site_id: int) -> list[dict[str, Any]]:
    rows = await scene.sql("SELECT body FROM audit.pending WHERE kind = 'label'")
    records = [dict(parse_record(unpack(row.body))) for row in rows]
    return [record for record in records if record["site"] == format_site_id(site_id)]


async def test_label_is_on_record_for_anyone_to_verify(
    scene: Scene, site_id: int
) -> None:
    attested = await put(scene, signed(site_id))
    (record,) = await records_of(scene, site_id)
    logged = Labelling.parse(record)
    logged.verify()
    assert logged == signed(site_id)
    public = PROMISE_KEY.public_key().public_bytes_raw()
    verify_promise(attested.promise, attested.record.leaf_hash, public)


async def test_labels_of_a_past_instant_stay_what_they_were(
    scene: Scene, site_id: int
) -> None:
    scene.clock.advance(hours=1)
    await put(scene, signed(site_id))
    before, after = (
        await label_at(scene, site_id),
        await label_at(scene, site_id, hours=1),
    )
    assert (before.size, before.source) == ("small", "registration")
    assert before.valid_from == NOON
    assert (after.size, after.chain, after.source) == (
        "large",
        "alder.example",
        "auditor",
    )
    assert after.valid_from == NOON + timedelta(hours=1)


async def test_auditor_s_later_word_replaces_all_of_the_former(
    scene: Scene, site_id: int
) -> None:
    await put(scene, signed(site_id))
    later = NOON + timedelta(seconds=1)
    await put(scene, signed(site_id, Label(size="medium"), stated_at=later))
    result = await label_at(scene, site_id)
    assert (result.size, result.independence) == ("medium", "independent")


async def test_retraction_leaves_what_the_site_declared(
    scene: Scene, site_id: int
) -> None:
    await put(scene, signed(site_id))
    await put(scene, signed(site_id, Label(), stated_at=NOON + timedelta(seconds=1)))
    result = await label_at(scene, site_id)
    assert (result.size, result.source) == ("small", "registration")


async def test_label_that_comes_late_does_not_undo_a_later_one(
    scene: Scene, site_id: int
) -> None:
    await put(scene, signed(site_id, Label(size="medium")))
    await put(scene, signed(site_id, stated_at=NOON - timedelta(hours=1)))
    assert (await label_at(scene, site_id)).size == "medium"


async def test_owner_is_told_what_an_auditor_says(scene: Scene, site_id: int) -> None:
    await put(scene, signed(site_id, Label(size="large", commission_percent=12.5)))
    await put(scene, signed(site_id, Label(), stated_at=NOON + timedelta(seconds=1)))
    rows = await scene.sql(
        "SELECT detail FROM registry.notice WHERE site_id = :id AND code = 'labelled'"
        " ORDER BY notice_id",
        id=site_id,
    )
    assert [row.detail for row in rows] == [
        "auditor.example says: size large, commission 12.5%.",
        "auditor.example withdraws its statement.",
    ]


async def test_replayed_label_is_on_record_once(scene: Scene, site_id: int) -> None:
    """It stands in a public log: anyone could send it again after a retraction."""
    await put(scene, signed(site_id))
    await put(scene, signed(site_id, Label(), stated_at=NOON + timedelta(seconds=1)))
    with pytest.raises(Conflict, match="label_known"):
        await put(scene, signed(site_id))
    assert (await label_at(scene, site_id)).size == "small"
    assert len(await records_of(scene, site_id)) == 2


@pytest.mark.parametrize(
    ("changes", "source", "code"),
    [
        pytest.param(
            {"signer": STRANGER}, SOURCE, "auditor_unknown", id="a stranger's"
        ),
        pytest.param({}, "hearsay", "label_invalid", id="another source"),
        pytest.param(
            {"source_digest": digest_source("two\nlines")},
            "two\nlines",
            "label_invalid",
            id="a source of two lines",
        ),
        pytest.param(
            {"source_digest": digest_source("")}, "", "label_invalid", id="no source"
        ),
        pytest.param(
            {"stated_at": NOON + timedelta(minutes=2)},
            SOURCE,
            "label_out_of_time",
            id="signed in the future",
        ),
        pytest.param(
            {"observed_on": date(2026, 11, 21)},
            SOURCE,
            "label_out_of_time",
            id="observed tomorrow",
        ),
        pytest.param(
            {"observed_on": NOON.date() - VALID_FOR},
            SOURCE,
            "label_out_of_time",
            id="observed long ago",
        ),
        pytest.param({"site": 404}, SOURCE, "site_unknown", id="of no site"),
    ],
)
async def test_label_that_can_not_stand_leaves_no_trace(
    scene: Scene, site_id: int, changes: dict[str, Any], source: str, code: str
) -> None:
    given = dict(changes)
    item = signed(given.pop("site", site_id), **given)
    with pytest.raises(RegistryError, match=code):
        await put(scene, item, source)
    assert await records_of(scene, site_id) == []
    assert (await label_at(scene, site_id)).size == "small"


async def test_changed_after_it_was_signed(scene: Scene, site_id: int) -> None:
    changed = replace(signed(site_id), label=Label(size="micro"))
    with pytest.raises(Refused, match="label_invalid"):
        await put(scene, changed)


async def test_what_a_site_says_again_is_no_new_row(scene: Scene) -> None:
    site = await scene.register()
    for _ in range(3):
        await scene.play(site, act="update", size="micro", commission_rate="5%")
        scene.clock.advance(hours=1)
    site_id = (await scene.entry(site)).site_id
    (row,) = await scene.sql(
        "SELECT * FROM disclosure.label WHERE site_id = :id", id=site_id
    )
    assert (row.told_by, row.size, row.commission_percent) == (
        "registration",
        "micro",
        5,
    )
    assert row.source.startswith("sha256:")


async def test_what_documents_say_is_a_label_of_its_own(scene: Scene) -> None:
    site = await scene.register()
    fairness = {"fairness_metrics": {"commission_rate": "4%", "is_independent": True}}
    for members in (fairness, fairness, {}):
        content = body_of(site.host, wab(**members), at=scene.clock())
        what = understood(site.host, content, at=scene.clock())
        await scene.play(site, what=what, act="update", commission_rate="9%")
        scene.clock.advance(hours=1)
    site_id = (await scene.entry(site)).site_id
    async with scene.engines[Role.AUDITOR].connect() as connection:
        history = await labels.history_of(connection, site_id, scene.clock(), 100)
    documented = [change for change in history if change.kind == "document"]
    assert [label.label for label in documented] == [
        Label(),
        Label(independence="independent", commission_percent=4.0),
    ]
    assert documented[0].source == f"https://{site.host.name}/agent-bridge.json"
    assert (await label_at(scene, site_id)).commission_percent == 9.0
    assert (await label_at(scene, site_id)).independence == "independent"
    assert (await label_at(scene, site_id, hours=2)).independence is None


async def test_report_of_a_window_takes_the_labels_of_its_end(
    scene: Scene, site_id: int
) -> None:
    scene.clock.advance(hours=1)
    await put(scene, signed(site_id))
    sizes = []
    async with scene.engines[Role.AUDITOR].connect() as connection:
        for hours in (-1, 0, 1):
            at = NOON + timedelta(hours=hours)
            result = await observations.site_disclosures(connection, at)
            sizes.append(
                [
                    site.size
                    for site in result
                    if site.site_id == format_site_id(site_id)
                ]
            )
    assert sizes == [[], ["small"], ["large"]], "a site counts once it is registered"


async def test_published_page_names_contradictions(scene: Scene, site_id: int) -> None:
    await put(scene, signed(site_id))
    async with scene.engines[Role.AUDITOR].connect() as connection:
        (site,) = await labels.labelled_sites(
            connection, NOON, after=site_id - 1, most=1
        )
    assert site.site_id == format_site_id(site_id)
    assert site.label.size == "large"
    assert site.claims.contradicted == ("size", "independence")
