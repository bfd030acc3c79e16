"""Requests of agents in the demo, some with a place; one is nonsense.

Most are in English, some in another language than the site that does what is asked.
"""

from typing import Any

Request = dict[str, Any]

OWN: Request = {"q": "find sites that agents can use"}
"""Request for what the registry itself does, which answers as one site among the others."""

SHOWN: tuple[Request, ...] = (
    {"q": "book a table for two tonight"},
    {"q": "book a table for two tonight", "city": "Amman", "country": "JO"},
    {"q": "repair my bicycle", "city": "Berlin"},
    {"q": "see a dentist", "lat": -1.29, "lon": 36.82},
    {"q": "translate a document"},
    {"q": "einen Kimono ausleihen", "city": "Kyoto"},
    {"q": "結婚式の会場を予約する", "city": "Amman"},
    {"q": "hire a wedding hall", "city": "Amman"},
    {"q": "reservar una mesa para cenar", "city": "Lima"},
    OWN,
)
"""Requests whose answers are shown whole."""

NONSENSE: Request = {"q": "qwrtz plimf vorgon"}

OTHERS: tuple[Request, ...] = (
    {"q": "order fresh bread", "city": "Zarqa"},
    {"q": "order a birthday cake", "city": "Potsdam"},
    {"q": "find a hotel room", "city": "Istanbul"},
    {"q": "reserve a room with a hot bath", "city": "Kyoto"},
    {"q": "cancel my hotel booking", "city": "Lima"},
    {"q": "late check out and airport transfer", "city": "İstanbul"},
    {"q": "send flowers to my mother", "city": "Lyon"},
    {"q": "wedding flowers", "city": "Toronto"},
    {"q": "buy a used book", "city": "Lima"},
    {"q": "reserve a book at the shop", "city": "Lyon"},
    {"q": "cinema tickets for tonight", "city": "Berlin"},
    {"q": "which films are on", "city": "Osaka"},
    {"q": "concert tickets with a seat map"},
    {"q": "return concert tickets"},
    {"q": "pottery class", "city": "Kyoto"},
    {"q": "guided walking tour", "city": "Osaka"},
    {"q": "shuttle ride from the airport", "city": "Nairobi"},
    {"q": "haircut prices", "city": "Nairobi"},
    {"q": "vaccinate my cat", "city": "Istanbul"},
    {"q": "adopt a dog", "city": "Istanbul"},
    {"q": "find a doctor", "city": "Amman"},
    {"q": "renew my prescription", "city": "Zarqa"},
    {"q": "what does a dental crown cost", "city": "Istanbul"},
    {"q": "the tap is leaking, call a plumber", "city": "Berlin"},
    {"q": "quote for a new boiler", "city": "Toronto"},
    {"q": "rent a bicycle", "city": "Lyon"},
    {"q": "test ride a bicycle", "city": "Toronto"},
    {"q": "have laundry picked up", "city": "Berlin"},
    {"q": "shorten trousers", "city": "Lyon"},
    {"q": "weekly vegetable box", "city": "Nairobi"},
    {"q": "math tutor", "city": "Amman"},
    {"q": "book a language lesson", "city": "Toronto"},
    {"q": "track a parcel"},
    {"q": "compare postage for a parcel"},
    {"q": "certified translation of a birth certificate"},
    {"q": "weather forecast for tomorrow"},
    {"q": "storm warnings"},
    {"q": "convert euros to yen"},
    {"q": "merge two pdf files"},
    {"q": "ask for a signature on a contract"},
    {"q": "search jobs for carpenters"},
    {"q": "find a recipe with lentils"},
    {"q": "rent a kimono", "city": "Kyoto"},
    {"q": "rent skis and boots"},
    {"q": "我想学书法"},
    {"q": "mein Fahrrad reparieren", "city": "Berlin"},
)
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
CITIES = tuple(
    dict.fromkeys(request["city"] for request in OTHERS if "city" in request)
)


def _on_another_day(request: Request, number: int) -> Request:
    """Ask on a day of the week, and from elsewhere: number steps on among the cities."""
    later = {**request, "q": f"{request['q']} on {DAYS[number]}"}
    if "city" in request:
        step = CITIES.index(request["city"]) + number + 1
        later["city"] = CITIES[step % len(CITIES)]
    return later


WEEK: tuple[Request, ...] = (
    *OTHERS,
    *(_on_another_day(request, day) for day in range(len(DAYS)) for request in OTHERS),
)
"""Requests that are only counted; agents report what they chose of each. A report tells nothing
that rests on fewer than thirty queries, so one day of a town says little."""


def choose(position: int, results: int) -> int | None:
    """Choose a result as the demo's agent does: mostly the first, at times none.

    position: of the request; results: how many there are.
    """
    wish = (0, 0, 1, 0, None, 0, 2)[(position + position // len(OTHERS)) % 7]
    return wish if wish is not None and wish < results else None
