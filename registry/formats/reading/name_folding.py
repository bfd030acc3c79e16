"""Folding of names and words that differ in spelling alone."""

import unicodedata

_MAX_WORD = 40


def match_key(name: str) -> str:
    """Fold `searchMenu`, `search_menu`, `search-menu` and `Search menu` into one."""
    folded = unicodedata.normalize("NFKC", name).casefold()
    if folded.isalnum():
        return folded
    return "".join(filter(str.isalnum, folded)) or name


def fold_word(text: str) -> str:
    """Fold `OAuth2`, `oauth-2` and `OAuth 2` into one; of prose only its beginning."""
    return "".join(filter(str.isalnum, text[:_MAX_WORD].lower()))
