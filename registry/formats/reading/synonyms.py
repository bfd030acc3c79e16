"""Members under a synonym of the format's own name."""

from registry.formats.reading.reader import Reader


def note_synonym(holder: Reader, *names: str) -> None:
    """Record which synonym is used for the first name.

    names: the format's own, then its synonyms in the order in which they are read.
    """
    members = holder.members
    for name in names:
        if members.get(name) is not None:
            if name != names[0]:
                holder.child(name).deviate("synonym", name=name, own=names[0])
            return
