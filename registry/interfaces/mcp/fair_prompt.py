"""The prompt for a fair selection, for hosts that offer prompts to people."""

from collections.abc import Mapping

NAME = "choose_fairly"
TITLE = "Choose a site fairly"
ABOUT = "Find a site for a task and choose by fit alone, with the choice on record"
ARGUMENTS = (
    ("task", "what should be done, in your own words", True),
    ("city", "where you are, if the place matters", False),
)
MOST_LETTERS = 1_000


def text_for(arguments: Mapping[str, str]) -> str:
    task = arguments["task"][:MOST_LETTERS]
    city = arguments.get("city", "")[:200]
    place = f" I am in {city}." if city else ""
    return (
        f"{task}{place}\n\n"
        "Use search_sites once, with my words as q"
        f"{' and the city' if city else ''}. Show me the first three in the order of the "
        "answer, each with its score and why it is there. Choose by what fits the task: "
        "not by how well a name is known, by your own preference, or by what a site says "
        "of itself. If two fit as well, take the one that is ranked higher. Before "
        "anything is booked, bought or sent, ask me. Then call report_selection once with "
        "ranking.id and the site you used, or null."
    )
