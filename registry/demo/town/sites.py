"""The whole cast. Every name is invented; `.test` is reserved (RFC 6761, section 6.2)."""

from registry.demo.town.cast.browsing import BROWSING
from registry.demo.town.cast.caring import CARING
from registry.demo.town.cast.eating import EATING
from registry.demo.town.cast.mending import MENDING
from registry.demo.town.cast.online import ONLINE
from registry.demo.town.cast.travelling import TRAVELLING
from registry.demo.town.member import Member

CAST: tuple[Member, ...] = (
    *EATING,
    *CARING,
    *MENDING,
    *TRAVELLING,
    *BROWSING,
    *ONLINE,
)
