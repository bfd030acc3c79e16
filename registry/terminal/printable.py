"""Text of others, made fit for a terminal: it may be meant to steer one."""

MAX_SHOWN = 300
MAX_LINE = 2_000


def printable(text: object, limit: int = MAX_SHOWN) -> str:
    """Return the text cut to `limit`, each control, mark or odd space as an escape."""
    whole = str(text)
    shown = "".join(
        character if character.isprintable() else f"\\u{ord(character):04x}"
        for character in whole[:limit]
    )
    return shown if len(whole) <= limit else f"{shown}…"


def counted(number: int, noun: str) -> str:
    """Return the number and the noun, as "1 entry" and "2 entries"."""
    if number == 1:
        return f"1 {noun}"
    return f"{number} {noun[:-1]}ies" if noun.endswith("y") else f"{number} {noun}s"
