"""When two formats mean the same action by differently spelled names."""

import unicodedata


def match_key(name: str) -> str:
    """Equal for `searchMenu`, `search_menu`, `search-menu` and `Search menu`."""
    folded = unicodedata.normalize("NFKC", name).casefold()
    return "".join(filter(str.isalnum, folded)) or name
