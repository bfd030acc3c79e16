"""Members under another name than the format's own."""

from registry.formats.reading.reader import Reader


def note_spelling(holder: Reader, *names: str) -> None:
    """Note which of the other names stands where the first is meant.

    names: the format's own, then its synonyms in the order in which they are read.
    """
    members = holder.members
    for name in names:
        if members.get(name) is not None:
            if name != names[0]:
                detail = f"{name} is read as {names[0]}"
                holder.child(name).note("spelling", detail, f"Name it {names[0]}.")
            return
