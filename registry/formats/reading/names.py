"""When differently spelled names and words mean the same."""

import unicodedata

_MAX_WORD = 40


def match_key(name: str) -> str:
    """Equal for `searchMenu`, `search_menu`, `search-menu` and `Search menu`."""
    folded = unicodedata.normalize("NFKC", name).casefold()
    if folded.isalnum():
        return folded
    return "".join(filter(str.isalnum, folded)) or name


def fold_word(text: str) -> str:
    """Equal for `OAuth2`, `oauth-2` and `OAuth 2`; of prose its beginning."""
    return "".join(filter(str.isalnum, text[:_MAX_WORD].lower()))
