"""Word lists of the lexicon: words that are joined, taken apart, or corrected to.

Part of the policy's hash, as those of `vocabulary`.
"""

from registry.ranking.word_lists.vocabulary import listed

SPLIT_WORDS = listed(
    """
    e+mail e+mails e+book e+books e+commerce e+learning e+bike e+bikes e+scooter e+sim
    e+ticket e+tickets e+invoice e+signature e+shop e+visa t+shirt t+shirts x+ray x+rays
    wi+fi hi+fi sci+fi check+in check-out log+in log+out log-on sign+in sign+up sign-out
    pick-up drop-off take-away opt+in opt+out pre+order pre+orders re+order re+schedule
    web+site web+sites web+hook web+hooks home+page news+letter
    data-base data-bases wish+list play+list down-load up-load on-line off-line
    bar+code bar+codes post+code post+codes zip+code zip+codes hair+cut hair+cuts
    screen+shot time-table time-tables time+zone time+zones pod+cast
    """
)

SPELLED_WORDS = listed(
    """
    accommodation account action activity address adventure advertisement afternoon
    agenda airfare alert allergy alteration always ambulance amount analyse analysis
    analyst analyze another answer anything apartment application appointment
    arrangement article asset assign assistance assistant attach attraction audience
    audio authentication author availability available average batch beautiful
    beginner believe beverage billing body branch brand brilliant brochure broken
    browse building bulk button calculate calculation campaign cancellation
    candidate capacity cart category ceiling celebration certain champion channel
    character charge charging charity checkup child children choice christmas class
    classic classroom clean clear client climate clinical close college color colour
    column combine comfortable commission common comparison competition complaint
    complete condition config confirm confirmation connection consultation contact
    content contract convert converter corporate cost counselling count counter
    coverage create creative credit current daily damage daughter deadline decide
    decoration delete deliver depart department deposit describe description
    destination detail details develop developer different difficult direction
    disability discover dishwasher display distance district dollar download draft
    draw driveway easily edit education effect emergency employee employer
    employment engagement engineer engineering entertainment entrance entry
    environment equipment european evening everything exactly examination example
    excellent exhibition expensive experience export express extensive extra extract
    famous favorite favourite feature feed feedback field fill finally financial
    flexible flooding foreign forget form format forward fresh full future garbage
    gardening gate general generate gluten goal graduation grandfather grandmother
    graph graphic group guarantee guideline guitar haircut healthcare hide
    historical hundred husband identity imagine immediately import important improve
    include independent individual industrial industry info inform information
    ingredient inquire inquiry insert inside inspection install installation
    instruction intelligence interest interior international interview introduction
    inventory investment invitation invite involve issue item itinerary journey
    keyword laptop last latest launch lead leave lecture left leisure length level
    licence license light lighting lightning limit limited line link listen live
    load lock login loyalty luxury maintenance manage management manager marketing
    material measure medication meeting member membership mention merge method
    mileage minimum minister mode modern monitor monkey month monthly move musician
    name national natural near nearby necessary neighborhood network next normal
    notice nutritious object obtain occasion offer official opening operation
    opinion opportunity option orange organic organisation organization original
    outfit outline outside page paid painting part participate particular partner
    passenger patch path patient perfect performance period permission permit
    personal photograph photography physical place plan planning plastic platform
    play playground pleasant plot point policy popular position possible practice
    prefer prepare prescription present preset pressure prevent previous private
    probably problem process produce professional program programming progress
    project promote protection provider publish purchase purpose quality quantity
    query question queue quick quickly quotation railway random range rank rate
    recent reception recommend recommendation record recycling reduction reference
    refund region register registration regular related relationship relaxation
    release reliable reload remove rename render renovation replace replacement
    reply report representative require reserved reset residence resource response
    results retirement revenue review right road role rule sample save scan
    scholarship scrape screening seat secondary section secure security seminar
    sentence separate series server session settings several share ship shipment
    shooter shoulder side significant similar simple simply single site situation
    size slot solution something sort source space speaker special specialist
    specific spectacles staff standard startup state statement statistics status
    step stomach stop strawberry streaming street strong structure student studio
    sturdy style subject substitute successful suggest suggestion suitable suitcase
    summary supply surgery surprise swimming symptom sync system target task team
    technical technician technology telephone television temporary term terminal
    terrace test text theme therapist therapy thing thorough thought thousand thread
    ticketing time title today together token tonight toothache topic total
    tournament tracking traditional transaction transportation treatment trough
    tuition type understand unit unusual upgrade upload urgent useful user usual
    vaccination validate valuable variety various vendor verify version vintage
    visit volcanic wait warranty washing week weekend weekly welcome wheelchair
    whether wide width wish wonderful word write year yesterday zone
    """
)

NAME_PARTS = listed(
    """
    add all api app bag bar bed bid box bus buy cab car cat csv day dog eat fee find
    fix fly for get give gym help job key know log low map net new off old one out
    pay pdf pet pub put row run search set show sms spa sql tag tax tea tell the top
    toy try two url use via web xml zip
    """
)
LINKING_PARTS = listed("a an and at by for in my of on or the to your")
COMPOUND_PARTS = listed(
    """
    abholung adresse anfrage angebot arbeit ausflug auskunft auto backwaren bahn
    berater beratung bericht beschreibung bestellung bett bewertung bild blume
    blumen brille brot brunnen buch buchung buro dach daten dienst diensten druck
    einkauf essen etage fahrrad fahrt farbe feier fenster ferien fest firma flug
    foto fracht frau garten gast geburtstag geld gericht geschaft geschenk getranke
    gutschein hafen handel handwerk haus heizung herren hilfe hochzeit hotel hund
    karte karten katze kauf kinder kino kirche kleid kleider konto kosten kranken
    kuchen kunde kunden kunst kurs laden lager leben lehrer leihe liefer lieferung
    liste mail maler markt miete moebel nachhilfe nachricht nachrichten name paket
    parkplatz pferd pflanzen pflege plan platz preis produkt rad raum rechnung recht
    reinigung reise reisen reparatur reservierung restaurant rohr schein schiff
    schloss schlussel schmuck schreiner schuh schuhe schule schwimmbad service sport
    sprache stadt steuer strom suche tag tasche taxi teppich termin test ticket tier
    tisch tischler torte transport treppe ubersetzung uhr umzug unterkunft
    unterricht urlaub veranstaltung vergleich verkauf verleih vermietung versand
    versicherung vertrag verwaltung wagen wasche wasser weg wein werkzeug wetter
    wohnung zahn zahnarzt zeit zeitung zentrum zimmer
    """
)
CLOSED_WORDS = listed(
    """
    airline audiobook automobile autopilot bathroom bedtime birthday bookable
    bookkeeping bootcamp butterfly buyable candlelight cardboard carpool chatroom
    classroom copyright copywriter countdown counterpart countryside database
    daylight deadline discoverable downgrade downtown drawback drawdown earthquake
    endgame everyday extraversion fillable fingerprint firework fireworks flashcard
    football footprint framework frontend fullscreen gameplay greenhouse guideline
    handbook handmade headline headphone headphones highlight homeowner homework
    honeymoon horseback houseplant icecream inactivity infographic inside intake
    keyboard lifestyle lightweight livestream lookout mailbox mainstream marketplace
    masterpiece moonlight motherboard notable notebook outcome outdoor outfit outlet
    outline outlook output outside overall overnight overview overwater overweight
    paperwork partnership passport password pineapple playable playoff plotline
    printable rainbow roadmap roadside roadwork rundown runway seafood searchable
    seaside setback shipyard showcase showroom sightseeing skyline smartphone
    snowboard songwriter spaceship sponsorship spreadsheet starfish steamboat
    stopover storefront streamable streamline stronghold sunlight sunrise sunset
    sweetheart tagline teamwork testimony textbook timeframe timeline together
    tonight topping trackable trademark turnover underscore understand underwear
    underweight upcoming update upgrade upload upright upvote viewpoint warehouse
    waterfall waterfront watermelon weekday weekend wherein whiteboard wildlife
    workflow workforce workout
    """
)
