# ruff: noqa: RUF001  letters of other scripts are what this is about
"""The word lists of the default policy.

Part of the policy's hash: changing a word changes the ranking. The longest stand in files
beside this one: `real_words.txt`, made by tests/unit/ranking/make_real_words.py, and
`trade_words.txt`, plain nouns of trades in other scripts than Latin, written by hand in
the form in which words are compared.
"""

from importlib.resources import files


def listed(text: str) -> tuple[str, ...]:
    """Sort the distinct words, so that the policy has one form."""
    return tuple(sorted(set(text.casefold().split())))


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

_GRAMMAR_ELSEWHERE = """
    aber als auf bei beim bitte das dem der des ein eine einem einen einer
    einfach fuer fur ich im ist kann mein meine meinen meiner mich mir mit mochte nach
    nicht oder ohne suche uber und vom von wie wir wo zum zur brauche konnen
    au aux avec ces cette chez dans est et je la le les mon nous ou par pas
    que qui sur un une veux voudrais vous cherche besoin trouver pouvez
    al como con cual de del donde el en es ese esta este hay las los mas mi mis muy
    necesito para pero por puedo quiero se su sus un una uno unos busco buscar
    ao aos da das do dos ela ele em essa esse eu isso meu minha na nao nas no nos
    onde ou para pela pelo preciso procuro quero um uma voce
    alla alle che cerco dei della delle di gli ho il lo mio mia nel nella per
    piu sono sul sulla voglio vorrei
    aan bij dat deze een en het ik mijn naar niet of om ook op te uit voor waar wat
    wil zijn zoek
    ben bir bu daha icin ile istiyorum lazim mi mu nasil ne nerede olan ve veya ya
    ariyorum
    adalah akan atau dalam dan dari dengan di ingin ini itu ke mau pada saya untuk
    yang cari
    dla do i jest lub moj na nie oraz po sie szukam ze chce
    l qu j
    без бы в во вот где для до его ее если есть же за и из или их к как ко которые
    ли мне мой мы на найти не но о об от по под помогите пожалуйста при про с со
    та так то у хочу что чтобы это этот я нужен нужна нужно нужны
    і й та що це як або для мені потрібно потрібен
    """
_GRAMMAR_IN_OTHER_SCRIPTS = """
    ابحث اريد الي او ان اين اي انا التي الذي الي بحاجه ب ثم حتي عن علي عند في قد كل كيف لا
    لي ما ما مع من هذا هذه هل هو هي و يا يمكن اجد لو سمحت من فضلك
    از اين است با براي به تا در را كه ميخواهم يك و كا كي كي كو سي مين هي
    אני את אל או אם איפה בבקשה גם הוא היא זה זו יש כי כל לא לי מה מחפש מחפשת עם על
    צריך רוצה של
    αν απο αυτο για δεν ειναι ενα ενας θα θελω και με μια μου να ο η οι σε στα στη στην
    στο στον τα τη την της τι το του των που πως
    और एक का की के को में मैं मुझे यह से है हैं पर लिए चाहिए क्या कर करे करना
    """
_GRAMMAR_WITHOUT_SPACES = """
    我想 我要 我们 请帮 帮我 想要 一个 可以 怎么 哪里 什么 需要 想找 请问 给我 我的 这个 那个
    です ます した して たい さい する から まで など ださ くだ てほ ほし しい もら らう
    は が を に で と の も へ や お ご か ね よ
    해줘 해주 주세 세요 하고 싶어 어요 에서 으로 하는 있는 입니 니다
    อยา ยาก ต้อ ของ และ ที่ ฉัน
    """
ASKING_WORDS = listed(_ASKING)
STOP_WORDS = listed(
    f"{_GRAMMAR} {_ASKING} {_PRAISE} {_GRAMMAR_ELSEWHERE}"
    f" {_GRAMMAR_IN_OTHER_SCRIPTS} {_GRAMMAR_WITHOUT_SPACES}"
)


ACT_WORDS = listed(
    """
    add apply ask book buy call cancel change check choose compare estimate fetch
    follow hold join list look make notify open order pay pick put read receive renew
    request reserve return schedule see select sell send start submit subscribe take
    track update view
    """
)

GENERIC_WORDS = listed(
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

_TRADES = """
    aquarium archive bakehouse barbershop beach bench blind blog bookkeeping bookshop
    bookstore boot bouquet brake brewery brush builder bulb butter cabin candle canteen
    caravan card cargo carpet carpentry ceramic chair charter cheese chiropractor
    choir cider circus clock coach coat cocktail conference construction copy
    cosmetic costume cottage counsel craft cruise curtain cycle cycling dairy deli
    delicatessen dental diving document dog drill driver driving drone dry dumpling
    duvet embroidery engraving estate excursion eyewear fabric farmer fence fertilizer
    firewood fishmonger fleet floor flooring forge forwarding foundry framing freight
    fridge frame fryer game gardener glasses glazier goldsmith golf grill grocer guest
    guesthouse gutter hairdresser handyman hat heating helmet herb hiking hobby hockey
    honeymoon hoodie horse hosting icecream immigration inn ironmonger jacket jeans
    jeweller jewellery joinery juice karate kayak kennel keramik key kindergarten kiosk
    kiteboard knife lamp landscaping lashes lease leather lens lemonade limousine linen
    lingerie linguist literature livestock lodge loft luggage lunch makeup manicure
    marina masonry mattress mechanic media meditation midwife milk mirror moped
    mosaic motor motorcycle mountain mover needlework newspaper noodle notary nurse
    nursery nutrition optics optometrist orchard orthodontist osteopath outdoor
    outfitter oven oyster packaging paddle padel painter pan pancake parcel parish
    pasta pastry patisserie paving pedicure perfume photographer physiotherapy pickle
    picture pie pillow plasterer plumbing podiatrist pool postage pottery poultry
    pram pretzel printer psychologist pump puppy quilt racket ramen refrigerator
    removal rice roofing room rope rug sail sandal sandwich sauna sausage scaffolding
    scooter seafood seed sewing shave shirt shoemaker shuttle signature silver skate
    skincare sleep snack snowboard sock sofa solar soup spice spirits squash stationery
    steak stroller sweets swimwear tapas tattoo teashop telescope tent textile tile
    tiling timber tobacco toy tractor trailer transfer transit trekking truck tutor
    tyre umbrella upholstery vegan vegetarian veterinarian veterinary violin volunteer
    waffle walk wallpaper warehouse waste watchmaker wellness wig window winery
    woodwork workshop yacht yarn yogurt
    """
_THINGS = """
    advice airplane almanac alphabet animal anime antique area arrival astrology
    astronomy autocomplete avatar award backup badge balance balloon barcode basket
    bath bathroom battery bedroom birthday blanket blood bookmark bottle bowl box
    breakfast browser budget bundle calculator calendar calorie candy cartoon cash
    castle catalog ceremony certificate chatbot chicken church citizen clay cleaning
    coin collection comic comment commodity community company compass concert contest
    corner country county coupon covid creator creature cricket cryptocurrency culture
    customer dashboard date daycare demand departure dessert device diabetes diary
    dictionary dinner disaster discount dish dividend dna dns document domestic
    donation dreams dress earnings earthquake editor electric electricity election
    emoji encyclopedia energy engine english estimate exam exercise expense extractor
    factory fact family fiction file filter fixture flash folder footprint forecast
    forest forex fortune freelancer french friend front gadget generator genre
    geography german gif glossary goods gps grade grammar grandma greek greeting guard
    habit handmade hashtag headline healing heart helper history holy horoscope host
    hotline hour household humor hunter icon idea illness index inflation injury
    insight instrument investing italian japanese joke keyboard kid knot korean label
    lake landlord lane lantern layout leader league legal letter lifestyle listing
    liquor local location log logo lookup lottery lyrics machine magazine magic manual
    marine marriage match maths mathematics mechanics medical meme memory message
    messaging meter metro midnight mind minute mobile mood moon morning mosque motorsport
    motor mountain mouth multilingual mystery narrative nature neighbour newborn
    nickname night nonprofit note number ocean offline opera outlet overview owner
    package parent passport password penny people pepper percentage person phishing
    phrase pile pilot pipe planet planner plate player playlist podcast poem poetry
    poll pollution portfolio portrait portuguese postage postcode poster prayer
    pregnancy premium presentation price printing prize product profile programme
    promo proverb province proxy public punctuation puzzle qr quote rain ranking rating
    reader realtor referral refugee relative religion reminder resident result resume
    retail reward riddle river roommate route royal ruler sale salary satellite
    scanner scenario score scorecard screenshot season senior seo serial shadow
    shortener sign sketch skill slang sms social soil spam spanish spelling spell
    sponsor stamp star station sticker strategy subdomain subscription subtitle
    subway summer sunrise sunset supplier support survey symbol synonym tarot taste
    technique teen temperature template temple testimonial thermal thumbnail ticker
    tide timetable timezone tip tomorrow torrent tourism tourist tracker trading
    tradition traffic transcript translator traveller trend trending trip trivia
    trophy tunnel turkish tutorial tweet universe url utility vaccine validator valley
    value vat vehicle verification village virtual visa visitor vitamin volcano vote
    wall wallet watermark wave wealth website weight wheel wholesale widget wildlife
    wind winner winter wisdom woman workout workspace world worldwide writer youth
    zipcode zodiac
    """
_TRADES_ELSEWHERE = """
    acougue apotheek apotheke albergo alfaiate arzt autohaus backerei bakkerij berber
    blumen boucherie boulangerie brasserie buchhandlung carniceria carrosserie chaussures
    clinica clinique cocina coiffeur colegio consultorio cordonnerie couture cuisine
    dentista dentiste dershane doner eczane ecole eisdiele epicerie escola escuela
    fahrrad farmacia ferreteria ferramenta fietsen fioraio firin fleuriste floristeria
    fotograf friseur gaststatte gasthaus gelateria hastane hopital ijssalon imprimerie
    kapper karate kino kitabevi klempner klinik konditorei kuafor kuche kurs
    lavanderia lavanderie libreria librairie livraria lokanta loodgieter macelleria
    magasin market mercado metzgerei moda mobel musee museo muzik oficina osteria otel
    padaria panaderia panificio papelaria papeterie parrucchiere pasteleria pasticceria
    peluqueria pension pescheria pharmacie piscina plombier praxis quincaillerie
    ramen rechtsanwalt reifen reinigung reisen restaurang restaurante restoran
    ristorante sapataria sartoria schlosser schlusseldienst schneiderei schuhe slager
    sprachschule steuerberater supermercado taller tandarts tannlege tapas taverna
    teatro tienda trattoria tischlerei veikals velo verduleria veterinaire veterinario
    viajes voyages werkstatt winkel zahnarzt zapateria
    """
EVERYDAY_WORDS = listed(f"{_TRADES} {_THINGS} {_TRADES_ELSEWHERE}")

NON_LOCAL_CATEGORIES = listed(
    """
    ai api cloud crypto data developer-tools documentation education-online email
    encyclopedia finance-data fintech games gaming hosting knowledge media music
    news online productivity reference research saas search social software
    streaming technology tools translation video weather
    """
)


def _in_file(name: str) -> tuple[str, ...]:
    return listed(files(__package__).joinpath(name).read_text(encoding="utf-8"))


REAL_WORDS = _in_file("real_words.txt")
TRADE_WORDS = _in_file("trade_words.txt")
