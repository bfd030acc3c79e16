"""The tables of a linter, as they are bundled: advice needs the encoder."""

from registry.ranking.encoders.encoder import load_encoder
from registry.ranking.policy import DEFAULT_POLICY
from registry.sites.gazetteer import Gazetteer
from registry.usecases.sites.lint import Linter


def load_linter(allow_loopback: bool) -> Linter:
    return Linter(
        gazetteer=Gazetteer.load(),
        encoder=load_encoder(),
        policy=DEFAULT_POLICY,
        allow_loopback=allow_loopback,
    )
