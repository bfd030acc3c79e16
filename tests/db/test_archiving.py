"""The archive of a window in the database, and that its report is the database's."""

from collections.abc import Collection
from dataclasses import fields
from datetime import timedelta
from operator import mul
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from sqlalchemy.engine import URL

from registry import keyring
from registry.auditor.reports.declared_agreement import DeclaredAgreement
from registry.cli import main
from registry.db import labels as labels_as_told
from registry.db.engine.engines import Role
from registry.db.log import entries as stored_log
from registry.db.log.erased_pages import ERASED
from registry.db.log.logged_rankings import has_uncovered
from registry.db.log.rankings import RankingWriter
from registry.db.reports import observations, window_reading
from registry.db.schema.column_types import ulid_of
from registry.errors import Refused, Unavailable
from registry.identity.keys.private_keys import public_key_of
from registry.identity.keys.public_keys import PublicKey
from registry.index.sources import digest_of_code
from registry.ranking.policy import DEFAULT_POLICY
from registry.ranking.ties import tie_key
from registry.records.disclosure import seal
from registry.records.ranking_record import RankingFields
from registry.records.record import registration_record
from registry.reports.archive import observing
from registry.reports.archive.declared_rows import read_declared
from registry.reports.archive.duck import open_duck
from registry.reports.archive.label_agreement import LabelAgreement
from registry.reports.archive.label_rows import read_labels
from registry.reports.archive.ranking_agreement import RankingAgreement
from registry.reports.archive.reading import Archive, iterate_rankings, open_archive
from registry.reports.archive.site_rows import read_sites
from registry.reports.metrics.contradictions import CONTRADICTIONS
from registry.reports.model import FairnessReport
from registry.reports.report_terms import Algorithm, Terms
from registry.reports.window.columns import Rankings
from registry.settings import Settings
from registry.sites.identifier import format_site_id, make_ulid
from registry.sites.label import Label
from registry.tlog.checkpoint import parse_checkpoint
from registry.tlog.note import parse_vkey
from registry.usecases.log.sequence import Sequencer, load_edge
from registry.usecases.reports.archived_report import report_of_archive
from registry.usecases.reports.make_report import make_report
from registry.usecases.reports.write_archive import window_of_minutes, write_archive
from registry.usecases.search.receipts import make_receipt
from tests.db.rankings import MadeRanking
from tests.db.scene import NOON, Scene
from tests.db.test_labelling import put as put_label
from tests.db.test_labelling import signed
from tests.db.test_selecting import KEY as WEB_KEY
from tests.db.test_selecting import select
from tests.db.test_sequencing import SIGNER

KEY = Ed25519PrivateKey.from_private_bytes(b"p" * 32)
COUNT = 40
WINDOW = window_of_minutes(
    NOON - timedelta(hours=1), NOON + timedelta(hours=30), NOON + timedelta(days=9)
)
UNLISTED = 4711


@pytest.fixture(scope="module")
async def archives() -> dict[str, Any]:
    return {}


def make_ranking(scene: Scene, number: int, ids: list[int]) -> MadeRanking:
    now = scene.ids.clock()
    order = [] if number % 13 == 12 else ids[number % 2 :] + ids[: number % 2]
    spelled = list(map(format_site_id, order))
    sampled = [*ids, *range(1000, 1030 + number)] if order else []
    factors = [[9000 - 500 * rank, 5000, 5000, 7000, 8000] for rank in range(3)]
    seed = bytes(32)
    sealed = seal(
        {
            "query": f"question {number % 31}",
            "location": "u33d" if number % 2 else None,
            "filters": {"category": "restaurant"} if number % 3 else {},
            "request": {"id": "x"},
            "scores": [
                {
                    "factors": row,
                    "score": sum(map(mul, DEFAULT_POLICY.weights, row)),
                    "site": site,
                    "tie": f"{tie_key(seed, site):016x}",
                    **(
                        {"tier": number % 2, "probes": [1, 0, 0, None], "place": -1}
                        if number % 4
                        else {}
                    ),
                }
                for site, row in zip(spelled, factors, strict=False)
            ],
            "terms": {"question": 1},
            "answer": {
                "eligible": len(order) and 90,
                "order": spelled,
                "sample": list(map(format_site_id, sampled)),
            },
        },
        scene.ids.random_bytes,
        8,
    )
    fields = RankingFields(
        record_id=scene.ids.ulid(),
        at=now,
        operator=("anon", "op-1")[number % 2],
        policy=DEFAULT_POLICY.digest,
        snapshot=f"sha256:{'0' * 64}",
        seed_index=0,
        sd_digests=sealed.digests,
    )
    return MadeRanking(
        fields=fields,
        openings=sealed.openings,
        order=spelled,
        count=len(order) and 90,
        eligible=sampled,
        tie_seed=seed if number % 5 else None,
    )


async def play(scene: Scene) -> None:
    """Forty answers over thirty hours, some with a choice, one erased."""
    sites = [await scene.register() for _ in range(2)]
    for site, size in zip(sites, ("small", "large"), strict=True):
        await scene.play(site, act="update", size=size, commission_rate="2.5%")
    ids = [(await scene.entry(site)).site_id for site in sites] + [UNLISTED]
    await scene.sql(
        "INSERT INTO disclosure.label (site_id, told_by, told_at, valid_from, size, "
        "source) VALUES (:id, 'document', :at, :at, 'micro', 'https://a.test/')",
        id=ids[0],
        at=NOON,
    )
    await put_label(scene, signed(ids[1], Label(size="medium")))
    async with scene.api.connect() as connection:
        writer = await RankingWriter.over(connection)
        for number in range(COUNT):
            ranking = make_ranking(scene, number, ids)
            await writer.write([ranking.row])
            scene.clock.advance(minutes=44, seconds=7.25)
            if number % 3 == 1:
                receipt = make_receipt(WEB_KEY, ranking.record.id)
                choice = None if number % 2 else format_site_id(ids[number % 4 == 0])
                await select(scene, receipt, choice)
    await scene.sql(
        f"UPDATE audit.ranking SET {', '.join(f'{name} = NULL' for name in ERASED)}, "
        "returned = '', sampled = '', eligible = 0 "
        "WHERE record_id = (SELECT "
        "record_id FROM audit.ranking ORDER BY record_id LIMIT 1)"
    )


async def publish(scene: Scene) -> None:
    async with scene.engines[Role.PUBLISHER].connect() as connection:
        sequencer = Sequencer(scene.engines[Role.PUBLISHER], SIGNER, scene.clock)
        edge = await load_edge(connection)
        await connection.commit()
        await sequencer.step(connection, edge)


async def archive(scene: Scene, folder: Path) -> Archive:
    async with scene.engines[Role.AUDITOR].connect() as connection:
        await write_archive(connection, WINDOW, folder, KEY)
    return open_archive(folder, public_key_of(KEY))


@pytest.fixture
async def written(
    scene: Scene, archives: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
) -> Archive:
    """Made once: nothing here changes what it is made of."""
    if not archives:
        await play(scene)
        with pytest.raises(Unavailable, match="archive_not_covered"):
            await archive(scene, tmp_path_factory.mktemp("archive") / "early")
        await publish(scene)
        folder = tmp_path_factory.mktemp("archive") / "archive"
        archives["archive"] = await archive(scene, folder)
    item: Archive = archives["archive"]
    return item


@pytest.mark.parametrize(
    "query", [{}, {"operator": "op-1"}, {"category": "restaurant"}], ids=str
)
async def test_both_ways_give_the_same_report(
    scene: Scene, written: Archive, query: dict[str, str]
) -> None:
    async with scene.engines[Role.AUDITOR].connect() as connection:
        report = await make_report(connection, WINDOW, DEFAULT_POLICY, **query)
    algorithm = Algorithm(
        policy_digest=DEFAULT_POLICY.digest, code_digest=digest_of_code()
    )
    terms = Terms(window=WINDOW, **query)
    assert report_of_archive(written, algorithm, terms, DEFAULT_POLICY) == report
    assert report.counts.rankings > 0
    assert report.counts.scored > 0
    counts = {field.name: field.sites for field in report[CONTRADICTIONS].fields}
    assert (counts["any"], counts["size"], counts["commission"]) == (2, 2, 0)


async def test_published_labels_give_the_same_contradictions(
    scene: Scene, written: Archive
) -> None:
    """`GET /v1/labels?at=` of the window's end tells enough to count them again."""
    async with scene.engines[Role.AUDITOR].connect() as connection:
        report = await make_report(connection, WINDOW, DEFAULT_POLICY)
        published = await labels_as_told.labelled_sites(
            connection, WINDOW.end_at, after=-1, most=10_000
        )
    assert report[CONTRADICTIONS].registered == len(published)
    for field in report[CONTRADICTIONS].fields[1:]:
        differing = [field.name in site.claims.contradicted for site in published]
        twice = [field.name in site.claims.stated_twice for site in published]
        assert (field.sites, field.stated_twice) == (sum(differing), sum(twice))


async def test_both_ways_leave_out_the_same_of_large_samples(
    scene: Scene, written: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def report_now() -> FairnessReport:
        async with scene.engines[Role.AUDITOR].connect() as connection:
            return await make_report(connection, WINDOW, DEFAULT_POLICY)

    whole = await report_now()
    for module in (window_reading, observing):
        monkeypatch.setattr(module, "SAMPLED_MAX", 1)
    part = await report_now()
    algorithm, terms = whole.algorithm, Terms(window=WINDOW)
    assert report_of_archive(written, algorithm, terms, DEFAULT_POLICY) == part
    assert part != whole


def rows_of(parts: Collection[Rankings]) -> list[tuple[Any, ...]]:
    """Each ranking by itself, in whichever part it is."""
    rows = []
    for part in parts:
        returned = np.split(part.returned, np.cumsum(part.returned_counts)[:-1])
        sampled = np.split(part.sampled, np.cumsum(part.sampled_counts)[:-1])
        for row, (key, site) in enumerate(zip(part.keys, part.chosen, strict=True)):
            named = (
                part.operators[part.operator[row]],
                part.categories[part.category[row]],
            )
            sites = returned[row].tolist(), sampled[row].tolist()
            rows.append((int(key), *named, *sites, int(site)))
    return [*rows, (sum(part.empty for part in parts),)]


async def test_a_window_is_the_same_in_whatever_blocks_it_is_read(
    scene: Scene, written: Archive
) -> None:
    """With sites that nobody has registered."""

    async def columns(block: int) -> list[Any]:
        async with scene.engines[Role.AUDITOR].connect() as connection:
            read = await observations.observe(
                connection, WINDOW.start_at, WINDOW.end_at, block=block
            )
        whole = (read.scored, read.sites)
        arrays = [
            getattr(result, field.name) for result in whole for field in fields(result)
        ]
        arrays = [
            array.tolist() if isinstance(array, np.ndarray) else array
            for array in arrays
        ]
        return [rows_of(read.parts), *arrays]

    at_once = await columns(1_000)
    for block in (1, 3, 7):
        assert repr(await columns(block)) == repr(at_once)  # a NaN equals none


async def test_the_archive_says_what_the_log_says(
    scene: Scene, written: Archive, tmp_path: Path
) -> None:
    manifest = written.manifest
    tree = parse_checkpoint(manifest.checkpoint.partition("\n\n")[0] + "\n")
    async with scene.engines[Role.API].connect() as connection:
        bodies = await stored_log.read_bodies(connection, 0, tree.size)
    with open_duck(tmp_path) as duck:
        agreement = RankingAgreement(
            start=manifest.start,
            end=manifest.end,
            size=tree.size,
            sites=manifest.sites,
            rows=iterate_rankings(duck, written),
        )
        written.view(duck)
        labels = LabelAgreement(
            end=manifest.end_at, size=tree.size, labels=read_labels(duck)
        )
        declared = DeclaredAgreement(end=manifest.end_at, size=tree.size)
        for index, body in enumerate(bodies):
            agreement.visit(index, body)
            labels.visit(index, body)
            declared.visit(index, body)
        agreement.finish()
        differences = [line for line in agreement.differences if "sampled" not in line]
        sites = read_sites(duck)
        labels.finish(sites)
        assert labels.differences == []
        declared.finish(sites, list(read_labels(duck)), read_declared(duck))
    [of_documents] = declared.differences  # which say nothing of the size
    assert "label by documents is Label(size='micro'" in of_documents
    assert declared.sites == 1
    assert all("lacks what it declared" in line for line in declared.missing), (
        "the others are in no record"
    )
    assert labels.statements == 1
    assert agreement.rankings == manifest.rankings == COUNT
    assert agreement.choices == manifest.selections == 13
    [difference] = differences  # but samples, which the scene draws larger than 20
    assert "no record says that it was erased" in difference, (
        "it was erased by a superuser"
    )
    assert manifest.erased == 1


async def test_a_choice_that_is_reported_after_the_window_changes_no_report(
    scene: Scene, written: Archive
) -> None:
    """Else a report of a window could never be made again."""
    [row] = await scene.sql(
        "SELECT record_id FROM audit.ranking WHERE record_id NOT IN "
        "(SELECT ranking_id FROM audit.selection) ORDER BY 1 DESC LIMIT 1"
    )
    async with scene.engines[Role.AUDITOR].connect() as connection:
        before = await make_report(connection, WINDOW, DEFAULT_POLICY)
    scene.clock.now = WINDOW.end_at
    await select(scene, make_receipt(WEB_KEY, ulid_of(row[0])), None)
    async with scene.engines[Role.AUDITOR].connect() as connection:
        assert await make_report(connection, WINDOW, DEFAULT_POLICY) == before


async def test_rankings_are_kept_by_day(written: Archive) -> None:
    assert written.manifest.names == [
        "rankings/day=2026-11-20/rankings.parquet",
        "rankings/day=2026-11-21/rankings.parquet",
    ]
    by_name = {file.name: file.rows for file in written.manifest.files}
    assert (by_name.pop("labels.parquet"), by_name.pop("declared.parquet")) == (4, 2)
    assert sum(by_name.values()) == COUNT + written.manifest.sites


async def test_nothing_is_written_over(scene: Scene, written: Archive) -> None:
    with pytest.raises(Refused, match="archive_exists"):
        await archive(scene, written.folder)


def test_the_command_writes_it_too(
    written: Archive, database: URL, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, out = tmp_path / "data", tmp_path / "archive"
    settings = Settings(data=data)
    keyring.create_keyring(settings.keys, settings.log_origin)
    url = database.render_as_string(hide_password=False)
    monkeypatch.setenv("FAIR_REGISTRY_DATABASE_URL", url)
    window = ("--from", "2026-11-20T11:00Z", "--to", "2026-11-21T18:00Z")
    words = ("archive", *window, "--data", str(data), "--out", str(out), "--json")
    result = CliRunner().invoke(main, words, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    vkey = parse_vkey(keyring.load_vkey(settings.keys, keyring.PROMISE))
    key = PublicKey(alg="Ed25519", raw=vkey.public)
    assert open_archive(out, key).manifest == written.manifest, "to the last byte"
    again = CliRunner().invoke(main, words)
    assert (again.exit_code, "archive_exists" in again.output) == (1, True)
    bad = CliRunner().invoke(main, ("archive", "--from", "x", *words[3:]))
    assert bad.exit_code == 2


@pytest.mark.parametrize(
    ("start", "end"),
    [
        pytest.param(NOON, NOON, id="empty"),
        pytest.param(NOON, NOON - timedelta(days=1), id="backwards"),
        pytest.param(NOON - timedelta(days=401), NOON, id="too long"),
        pytest.param(NOON.replace(tzinfo=None), NOON, id="without a zone"),
        pytest.param(NOON - timedelta(days=1, seconds=1), NOON, id="with seconds"),
        pytest.param(NOON, NOON + timedelta(hours=1), id="not over"),
        pytest.param(NOON - timedelta(days=1), NOON, id="just over"),
    ],
)
def test_a_window_that_the_log_does_not_tell_is_refused(start: Any, end: Any) -> None:
    with pytest.raises(Refused, match="archive_window_invalid"):
        window_of_minutes(start, end, NOON)


@pytest.mark.parametrize(("seconds", "is_waited_for"), [(0, False), (1, True)])
async def test_a_registration_that_no_tree_has_yet_is_waited_for(
    scene: Scene, seconds: int, *, is_waited_for: bool
) -> None:
    """Its site would be in the archive, and no record of it in the archive's tree."""
    at = NOON - timedelta(days=400)  # before all else that tests here log
    record = registration_record(
        record_id=make_ulid(int(at.timestamp() * 1000), bytes(10)),
        at=at,
        site_id=format_site_id(7),
        act="register",
        seq=1,
        kid="k",
        jws=b"a.b.c",
    )
    end = at + timedelta(seconds=seconds)
    async with scene.engines[Role.ERASER].connect() as connection:
        assert not await has_uncovered(connection, end, 0)
        await stored_log.accept(connection, record, at)
        assert await has_uncovered(connection, end, 0) is is_waited_for
        await connection.rollback()
