"""Records of version 1, in which order, counts and choices stood for everybody to read."""

from registry.records.canonical import canonical_json
from registry.records.record import Record, format_minute


def ranking_record_1(fields, order, eligible, operator_count=None):
    """fields: of a ranking. order: ids of sites."""
    members = {
        "v": 1,
        "kind": "ranking",
        "id": fields.record_id,
        "t": format_minute(fields.at),
        "op": fields.operator,
        "policy": fields.policy,
        "snap": fields.snapshot,
        "seed": fields.seed_index,
        "n": eligible,
        "k": len(order),
        "order": list(order),
        "_sd_alg": "sha-256",
        "_sd": list(fields.sd_digests),
    }
    if operator_count is not None:
        members["opn"] = operator_count
    body = canonical_json(members)
    return Record(id=fields.record_id, kind="ranking", body=body)


def selection_record_1(record_id, at, operator, ranking_id, site_id):
    members = {
        "v": 1,
        "kind": "selection",
        "id": record_id,
        "t": format_minute(at),
        "op": operator,
        "ranking": ranking_id,
        "site": site_id,
    }
    return Record(id=record_id, kind="selection", body=canonical_json(members))
