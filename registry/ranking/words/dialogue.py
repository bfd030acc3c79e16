"""Dialogues: of what several speakers say, what is asked.

Agents hand over conversations as lines that begin with a speaker. What the assistant says
is no request, and its words are those of other trades.
"""

import re
from functools import lru_cache

from registry.ranking.policy import Policy


def asked_part(text: str, policy: Policy) -> str:
    """Return what stands before the first speaker of a dialogue, and what askers say.

    Another text is returned as it is.
    """
    if "\n" not in text:
        return text
    before, *turns = _speaker(policy).split(text)
    requests = [
        words
        for speaker, words in zip(turns[::2], turns[1::2], strict=True)
        if speaker.lower() in policy.asking_speakers
    ]
    is_dialogue = 0 < len(requests) < len(turns) // 2
    return "\n".join([before, *requests]) if is_dialogue else text


@lru_cache(maxsize=2)
def _speaker(policy: Policy) -> re.Pattern[str]:
    speakers = "|".join([*policy.asking_speakers, *policy.answering_speakers])
    return re.compile(
        rf"^[ \t]*({speakers})[ \t]*[:\uff1a]", re.ASCII | re.IGNORECASE | re.MULTILINE
    )
