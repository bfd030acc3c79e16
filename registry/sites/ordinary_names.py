"""Names of cities that are ordinary words: in a request they name no city.

Found by comparing the gazetteer's names with the words that the encoder's vocabulary has
in lower case, and with some 4,000 requests; read through by a person. Folded, as
`gazetteer.fold` gives them.
"""

_WORDS = """
adam adrian airport ajax alabel alice allen aloha along alta amet anew anna anten apex
arizona armenia asahi asia asse aston athena auch awry badger bake bali banda bank
barking barry bata bath batman bear begun belize bell bend berber bere best boom brad
bras brick bron bury bush butterfly caldera canton casper cela celle central centro
cham chinatown cine claudio clay coin colon colorado come como compton conda condado
converse cornelius coro corona crystal dalai darwin date david deal delaware deli
delta dire dole donna douane drama dual durant eagle eden ende enem enterprise essen
este fate federal fier fleet flora florida forest fountain franklin gare genoa gent
george goes gold golden goto green haar hang hanno hire holiday hollywood honda hook
horn hove humble ihren imperial independence jinja jordan kamen katol keller kennedy
kingsford kiva lamont langue largo lend lens liberal liberty liga lime lion lista
logos lone luau lucas mach magenta magna male mali manage mango manly march marco mari
marina marks martin mary mascot mason mentor mesa metro mile mine mission mitchell
mobile mojo mongo montana most much murphy nada newton nice nokia normal norman obama
obra officer ogre oklahoma oliva olympic ontario opportunity orange oregon pace papa
para paradise paramount pare part peer perm plum police porta portage pristine prosper
pueblo punch reading republic reservoir rest retreat rich roman roth rouge rugby sake
sale salt samba same sari savannah save seaside sebastian sedan semi sens seria
shaping solo sophia soul split spring sterling stuart summit sunrise sunset superior
surprise tabaco tango tank taylor tema temple terme terrace than tienen time tire tome
torrent tours trat trinidad tunes turbo tyre union university vari vera verl victoria
vincent virginia vista vladimir walker walnut waren wary wedding wetter wyoming yara
yoga young zima
"""
_PHRASES = """
apple valley; ara ali; as salt; back bay; back mountain; ban mai; ban mo; bath beach;
battle ground; bay city; bay point; bay shore; bay village; bel air; big spring; blue
island; blue mountains; broken arrow; broken hill; business bay; castle hill; castle
rock; cave spring; center city; center point; central city; central coast; central
falls; central point; city garden; city one; co to; college park; college point;
college station; commerce city; cottage lake; country club; country club hills;
country walk; crown point; del city; den den; discovery bay; discovery park; east
haven; east independence; east lake; east orange; east point; east village; echo park;
el centro; el segundo; fall river; federal way; ferry pass; financial district; five
corners; forest hills; forest lake; forest park; four corners; garden city; golden
gate; golden triangle; golden valley; great falls; green haven; green valley; half way
tree; ham lake; happy valley; high park north; high peak; high point; horizon city;
horizon hills; hung my; hunting park; imperial beach; international city; key west; la
banda; la porte; lake country; lake forest; lake in the hills; lake shore; league
city; leisure city; long branch; lower west side; may pen; mid city; mid levels;
middle river; middle village; mile end; mill park; mint hill; mission district;
mission hill; model town; mountain view; na di; nam can; national city; near north
side; near south side; new castle; new city; new cross; new haven; new hope; new
territory; noble park; north bay; north center; north delta; north haven; north hills;
north liberty; north port; north shore; o mon; ocean acres; old bridge; old city; park
slope; park view; park way; plant city; pleasant hill; pleasant view; point cook;
point pleasant; port area; post falls; rapid city; red wing; river falls; road town;
rock forest; rock hill; rock island; rose hill; round lake; round lake beach; round
rock; seven hills; short pump; silver lake; silver spring; so uk; south gate; south
hill; south river; south shore; south valley; spring hill; spring valley; state
college; strawberry hill; studio city; sugar hill; sugar land; sun city; sun city
center; sun city west; sun valley; sunset park; temple city; temple terrace; the gap;
the peak; the valley; the villages; times square; town n country; traverse city; tri
cities; union city; universal city; university city; university park; university
place; upper west side; valley station; valley stream; villa park; west bay; west end;
west hill; west hills; west island; west park; west town; west village; white bear
lake; white river; white rock; winter garden; winter haven; winter park
"""
ORDINARY_NAMES = frozenset(_WORDS.split()) | frozenset(
    " ".join(phrase.split()) for phrase in _PHRASES.split(";")
)
