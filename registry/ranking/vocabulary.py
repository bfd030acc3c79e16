"""The word lists of the default policy.

Part of the policy's hash: changing a word changes the ranking.
"""


def _listed(text: str) -> tuple[str, ...]:
    return tuple(sorted(set(text.split())))


_GRAMMAR = """
    a about above after again against all also am an and any are as at be because
    been before being below between both but by can cannot could did do does doing
    down during each few for from further had has have having he her here hers him
    his how i if in into is it its itself just me more most my no nor not now of off
    on once only or other our ours out over own per same she should so some such
    than that the their theirs them then there these they this those through to too
    under until up us very was we were what when where which while who whom why will
    with would you your yours im ive id couldn didn doesn don hasn haven isn shouldn
    wasn won wouldn aren
    """
_ASKING = """
    able find get give hello help hi know let like looking need please provide
    search show tell thank thanks use using want wondering
    """
_PRAISE = "best finest greatest leading premier top ultimate"

STOP_WORDS = _listed(f"{_GRAMMAR} {_ASKING} {_PRAISE}")

GENERIC_WORDS = _listed(
    """
    accountant agency airline airport api app apparel appliance art auction auto
    baby bakery bank bar barber beauty bed beer bicycle bike boat book booking bread
    bus business butcher cab cafe cake camera camp car care carpenter casino
    catering chat chemist chocolate cinema city cleaner cleaning clinic clothes
    clothing cloud club code coffee computer concert conference cook cosmetics
    courier course crypto currency dance data date deal delivery dental dentist
    design diet directory doctor domain donation drink drugs electrician electronics
    email energy event exchange farm fashion ferry festival film finance fish
    fishing fitness flight florist flower food football forex forum fruit fuel
    funeral furniture gallery game garage garden gas gift glass grocery guide gym
    hair hardware health hire holiday home honey hospital hostel hotel house housing
    ice image insurance internet invoice jewelry job kebab kitchen lab language
    laundry law lawyer learn lesson library loan locksmith lottery mail map market
    massage meal meat medicine menu mobile money mortgage motel movie moving museum
    music nail news office online optician order paint paper park parking parts
    party pay payment pet pharmacy phone photo photos physio piano pizza pizzeria
    plant plumber podcast post print property pub quiz radio rail recipe recruit
    rent rental repair reservation restaurant ride salad salon school science sell
    service shipping shoe shop shopping shuttle ski soap soccer software song spa
    sport stadium stock storage store stream study supermarket surf sushi swim table
    tailor talk tax taxi tea teacher tech tennis theater theatre ticket tool tour
    tours toy trade train trainer training translate translation transport travel
    tutor university vacation van vegetable vet video villa watch water weather
    web wedding wine work yoga zoo
    """
)

NON_LOCAL_CATEGORIES = _listed(
    """
    ai api cloud crypto data developer-tools documentation education-online email
    encyclopedia finance-data fintech games gaming hosting knowledge media music
    news online productivity reference research saas search social software
    streaming technology tools translation video weather
    """
)
