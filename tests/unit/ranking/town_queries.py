"""What people ask for in the demo town, and who can really do it.

A host is right if one of its actions does what is asked, wherever it is: the queries
name no place. Written from the cast's stories before any of them was searched for.
"""

RESTAURANTS = "zaytoun-table table-du-fuseau tako-lane ceviche-norte galata-tables"
BAKERIES = "khubz-street brotlaube"
DENTISTS = "acacia-molar mint-drill"
PLUMBERS = "wasserwichtel otter-pipe"
HOTELS = "kule-rooms lucky-lantern moss-step-inn casa-siete-redes"
BICYCLES = "radhaus-kreuz maple-spoke velo-quai-vert"
FLORISTS = "petale-et-tige muddy-trowel"
CINEMAS = "kino-mondschein osaka-reels"

RIGHT_HOSTS: dict[str, str] = {
    # One word
    "bread": BAKERIES,
    "dentist": DENTISTS,
    "plumber": PLUMBERS,
    "hotel": HOTELS,
    "weather": "lark-barometer",
    "haircut": "comb-and-kiondo",
    "restaurant": RESTAURANTS,
    "vet": "pati-lantern",
    "flowers": FLORISTS,
    "translation": "lingua-ferry",
    # Two
    "movie tickets": CINEMAS,
    "bicycle repair": BICYCLES,
    "birthday cake": "brotlaube",
    "sign contract": "wax-thumb",
    "airport shuttle": "matatu-shuttle kule-rooms",
    "used books": "libreria-marea-gris dust-and-spine",
    "guided tour": "llama-loop bento-bridge-walks",
    "hotel room": HOTELS,
    "dry cleaning": "seifenspatz",
    "exchange rates": "penny-sextant",
    "storm warning": "lark-barometer",
    # Three
    "see a dentist": DENTISTS,
    "track my parcel": "parcel-heron",
    "rent a bike": "radhaus-kreuz velo-quai-vert",
    "buy concert tickets": "third-bell",
    "fix leaking tap": PLUMBERS,
    "find a job": "toolbelt-harbour",
    "open locked door": "midnight-latch",
    "pottery class beginners": "kyoto-clay",
    "vegetarian recipe ideas": "ladle-almanac",
    "merge pdf files": "paper-otter",
    "adopt a kitten": "pati-lantern",
    "renew my prescription": "almond-door-clinic",
    "vaccinate my dog": "pati-lantern",
    "blood test results": "almond-door-clinic",
    "private hot bath": "moss-step-inn",
    "wash a carpet": "knot-and-pile",
    "theatre play tonight": "third-bell",
    # Four and five
    "convert dollars to euros": "penny-sextant",
    "order bread for the weekend": BAKERIES,
    "send flowers to my mother": FLORISTS,
    "learn to speak Japanese": "polyglot-porch",
    "math tutor for my son": "cedar-slate",
    "my tooth hurts badly": DENTISTS,
    "groceries delivered to my home": "shamba-grocer",
    "reserve seats at the cinema": CINEMAS,
    "translate a contract into German": "lingua-ferry",
    "will it rain tomorrow": "lark-barometer",
    "cheap room near the station": HOTELS,
    "flowers for a wedding": FLORISTS,
    "burst pipe in the kitchen": PLUMBERS,
    "sell my old books": "libreria-marea-gris",
    "order a handmade tea bowl": "kyoto-clay",
    "have my bicycle brakes repaired": BICYCLES,
    "convert markdown to pdf": "paper-otter",
    "electronic signature for a lease": "wax-thumb",
    "weekly box of vegetables": "shamba-grocer",
    # Six to eight
    "book a table for two tonight": RESTAURANTS,
    "shorten my trousers before the wedding": "quiet-needle",
    "somewhere to have dinner with live music": RESTAURANTS,
    "pick up my dirty laundry tomorrow morning": "seifenspatz",
    "buy a gift voucher for a dinner": "ceviche-norte",
    "street food walking tour with a guide": "bento-bridge-walks",
    "book a double room for three nights": "kule-rooms moss-step-inn casa-siete-redes",
    "where is my package right now": "parcel-heron",
    "i need somebody to fix my toilet": PLUMBERS,
    "extract text from a pdf file": "paper-otter",
    "plan dinners for the whole week": "ladle-almanac",
    "hire a cook for my restaurant": "toolbelt-harbour",
    "get a doctor's appointment for my child": "almond-door-clinic",
    "braids for my daughter on saturday": "comb-and-kiondo",
    "fresh fish for lunch on a terrace": "ceviche-norte galata-tables",
    "reserve a book to pick up later": "rue-mercier-books dust-and-spine",
}

NONSENSE = (
    "qwrtz plimf vorgon",
    "zzzz 12345",
    "asdfgh",
    "xkqj wvbn",
    "vlkmx prqst dhgtr",
    "fnord",
    "aaaaaaaa",
    "hjkl yuio",
    "lorem ipsum dolor",
    "12345",
    "!!!",
    "mxyzptlk",
    "grzbl frmpf order",
    "wubba lubba dub",
    "blorp snarf",
)

OFF_TOPIC = (
    "quantum chromodynamics lecture",
    "buy a submarine",
    "nuclear reactor maintenance",
    "rocket engine telemetry",
    "dinosaur fossils",
    "medieval castle siege",
    "bitcoin mining pool",
    "photosynthesis in algae",
    "supreme court ruling",
    "pulsar observation schedule",
    "kubernetes cluster autoscaling",
    "crude oil futures",
    "chess openings",
    "presidential election polls",
    "write a poem about love",
    "genome sequencing",
    "car insurance quote",
    "divorce lawyer",
    "scuba diving certificate",
    "tax return filing",
    "football match scores",
    "mortgage refinancing",
    "buy a used tractor",
    "tattoo removal",
    "solar panel installation",
)
