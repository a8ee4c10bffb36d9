"""Dutch words for acts, objects and scope."""

from __future__ import annotations

from interlock.analysis.prose.foreign.languages import Language

LANGUAGE = Language(
    code="nl",
    common="de het een van en in voor met zonder alle naar uit op is niet wij ik dan te om wordt worden zich bij dit deze die aan al alles nu onze"
    " ook mijn ons hun hen je we er meteen door over nog zijn ja hier daar maar want dus omdat zodat heeft hebben had hij zij ze hem haar mij jou"
    " u tot tegen onder boven tussen vandaag morgen vanavond even gewoon wel geen iets gaat gaan ging moet kan mag zou zal vanaf daarna na eerst"
    " tijdens toch wie z'n zo ie eens",
    verbs={
        "destroy": "verwijder* wis wissen wissend vernietig* weggooi* gooi gooien verwerp* schrap* truncat* verwijderd gewist vernietigd"
        " verwijdering vernietiging wist weghal* wegdoen wegkieper* kieper* weggegooid schrapp* liquideer* elimineer* eliminer* uitroei* droppen"
        " drop dropt wegwerk* weghaal* mik mikken mikt flikker* donder* kwak* smijt* smijten wegmik* sloop slopen sloopt gesloopt opdoek* doek"
        " verdwijn* versnipper* vermorzel* wegknikker* nuke* gedropt gedropped schrappen verbrand* afvoer* deleten delete* truncaten leeggegooid"
        " weggemikt",
        "wipe": "leegmak* leegma* leeggooi* uitwis* wegvag* zuiver* purge* legen leegt leeghal* platgooi* uitgewist wegveg* schoonveg* leegruim*"
        " leeghaal* purgen leeggegooid leeggemaakt leegtrek* leegpomp* leegkiep* leeggekieperd ontruim*",
        "remove": "opruim* ruim* opschon* schoon* haal opgeruimd deinstalleer* opruimen opgeschoond wegnem* deinstaller* uithal* wegpoets* snoei*"
        " uitdun*",
        "stop": "stop* stopzet* afsluit* beeindig* uitschakel* uitgezet neerhal* afbreek* afbrek* breek kill* platleg* uitzet* afsluiten"
        " termineer* ontmantel* stopzetten stilleg* stillegg* uitschakeling afsluiting beeindiging neerhaal* omleg* platlegg* platgelegd"
        " uitzetten afgesloten ontmanteling stop-zetten afschal* loskoppel* uitknip* afkoppel* ontkoppel* losgekoppeld platgooien afschakel*"
        " stilzet* afzet* terugschal* afgeschakeld uitgooi* uitdraai* afschiet*",
        "disable": "schakel* deactiveer* deactiver* uitgeschakeld dempen uitschakelen uitschakeling deactivering uitzett* dempt overbrug*"
        " ontregel* afzett* uitgezet onklaar",
        "suspend": "schors* opschort* bevries* bevriez* geschorst schorsing opschorten ontsla* ontslag bevriezing ontsla ontslaan",
        "revoke": "intrek* trek ontneem* ontnem* ingetrokken intrekken afneem* afnem* ontzeg* intrekking ontneming afpak* ontnomen buitensluit*"
        " buitengesloten afgenomen ontnemen ontzeg ontzegt wegneem*",
        "invalidate": "ongeldig roteer* roter* vernieuw* invalideer* invalider* rotatie ongeldigverklaring uitlog* afmeld* uitgelogd",
        "block": "blokkeer* blokker* verban* bannen geblokkeerd blokkering verbanning eruitgooi* wegstur* uitsluit* kick* weren trap trappen"
        " trapt schop* knikker* wegjaag* verjaag* kickt uitgooi* royeer* royer* verstoot*",
        "refund": "terugbetal* terugbetaal* restitueer* vergoed* terugbetaling restitutie terugstort* terugboek* crediteer* restituer*",
        "charge": "betaal* betal* overmak* factureer* incasseer* afschrijv* uitbetal* uitbetaal* overmaking overboek* overgemaakt stort storten"
        " koop* aankop* koopt inkop* gireren incasser* afboek* boek boeken overgeboekt betaalt spendeer* investeer* bestel* uitgev* aanschaf*"
        " verkoop* verkop*",
        "cancel": "annuleer* annuler* opzeg* zeg annulering opzegging opgezegd afzegg* afzeg* ontbind* afzeggen annuleer",
        "bypass": "omzeil* negeer* neger* sla overslaan forceer* forcer* omzeiling passeer* passer* ontwijk* ontduik* overrul* doordruk* terzijde"
        " overgeslagen forceren overbrug* vervals* vals manipuleer* ontloop*",
        "grant": "geef geven verleen* verlen* toeken* ken toekenning toekennen toewijz* bevorder* promoveer* benoem* verhef* verhoog* krijgt"
        " krijgen geeft verstrek* promoot*",
        "expose": "blootstel* openbaar* blootstelling blootlegg* openstell* openzett* vrijgev* openbaar openzet*",
        "leak": "lek lekken exfiltreer* lekt uitlek* onthul* doorspel* verklap* doorverkoop* doorverkop* weggev*",
        "send": "stuur* sturen verstuur* versturen verzend* upload* publiceer* deel delen doorstuur* kopieer* kopier* exporteer* mail mailen"
        " verzending versturing doorsturen doorgev* deelt rondstur* post posten verspreid* mailt uitstur* sms'en sms-en twitter* overdrag* zend*"
        " appen verkoop* verkop* overbreng* knal slinger* doormail* app",
        "format": "formatteer* formatter* formattering herformatteer*",
        "overwrite": "overschrijf* overschrijv* vervang* overschreven vervanging flash* overheen overschrijf",
        "reset": "reset* herbegin* terugzet* herinstalleer* terugzetten herinitialiseer* initialiseer* terugdraai*",
        "archive": "sluit* sluiten ophef*",
        "put": "zetten zet plaats* plak* leggen hang* parkeer*",
        "rewrite": "herschrijv* herschrev*",
        "lift": "ophef* deblokkeer* deblokker* deblokkering",
    },
    nouns={
        "message": "bericht* mail mails e-mail* email* sms sms'je nieuwsbrief nieuwsbrieven melding* mailing*",
        "private": "klantgegevens persoonsgegevens patientgegevens klantdata salaris* paspoort* creditcard* bsn gebruikersgegevens"
        " personeelsdossier* betaalgegevens",
        "data": "gegevens data record* rij rijen bestand* map mappen directory document* geschiedenis foto* inhoud items item branch object*"
        " wachtrij index prullenbak foto's afbeelding* video* video's verkoop* transactie* dossier* postvak* inbox archief archieven pagina*"
        " upload* catalogus product* artikelbestand* fiche* speldata spelstand* score* inventaris* ranglijst* recept* meetreeks* meting*"
        " meetwaarde* teeltrecept* publicatie* agenda* lead* mappenstructuur* dataset* voorraad* archiefmap* profielmap* opname* beelden"
        " fotoboek* netwerkschijf gegevensset* broncodemap* cijfer* stem stemmen topic* rapportcijfer*",
        "data database": "database* databank* db postgres mysql mongo redis productiedatabase*",
        "data table": "tabel tabellen collectie* kolom* klantentabel gebruikerstabel",
        "data schema": "schema*",
        "data volume": "volume*",
        "data bucket": "bucket* emmer opslagbucket* s3 opslag opslagruimte",
        "data repository": "repository repositories repo repos",
        "data project": "project projecten",
        "data backup": "backup* back-up* reservekopie* snapshot* momentopname* veiligheidskopie* backups back-ups back-upmap* reservekopieen",
        "log audit_log": "auditlog* audit* logboek* beveiligingslog* log logs logbestand* auditspoor",
        "access": "toegang* rechten recht machtiging* rol rollen permissie* privilege* toegangsrechten beheerrechten schrijfrechten leesrechten"
        " adminrechten bevoegdhe* toegangspas* pas pasjes",
        "credential": "sleutel* token* geheim* certificaat certificaten wachtwoord* inloggegevens sessie* api-sleutel* wachtwoorden secret"
        " secrets env pincode* key keys sleutels wachtwoordenbestand* wachtwoordkluis* kluis herstelcode* ssh-sleutel* vault tls-certificaat",
        "config": "configuratie* instelling* beleid regel regels dns domein* webhook* parameter* dns-record* dns-zone* zone cronjob* terraform"
        " fabrieksinstelling*",
        "safety": "firewall antivirus monitoring waarschuwing* versleuteling bewaking logging validatie* controle* goedkeuring* beveiliging*"
        " limiet* mfa 2fa authenticatie tweefactor* beperking* bevestiging veiligheid* beveilig* filter* waf alarm* alarmen toezicht drempel*"
        " captcha review* codereview* tweestaps* encryptie slot vergrendeling snelheidslimiet* rem virusscanner* bestedingslimiet*"
        " toegangscontrole* vergrendeling* noodstop* brandmeld* brandalarm* rookmelder* sirene* interlock* lichtscherm* eindschakelaar*"
        " tweestapsverificatie tweefactorauthenticatie bescherming* blokkade* waterstandsblokkade signatuur* handtekening* spamfilter* moderatie"
        " tls ssl branchbescherming akkoord* vier-ogen* beveiligingsregel* begrenzing* begrenzer*",
        "resource": "server* productieserver* webserver* instantie* machine* container* dienst* deployment* node nodes pod pods omgeving*"
        " applicatie* website systeem systemen infrastructuur service services vm vms host hosts platform* api netwerk* loadbalancer* webwinkel"
        " site sites replica* proces processen vm's webspace slack-werkruimte werkruimte* stroom netwerkverbinding klantportaal portaal"
        " live-omgeving",
        "resource cluster": "cluster* productiecluster*",
        "account": "gebruiker* account* klant* medewerker* lid leden beheerder* tenant* abonnee* student* patient* persoon personen iedereen"
        " collega* werknemer* leverancier* aannemer* inhuur externen deelnemer* leerling* leraar docent* bezoeker* contact contacten ontvanger*"
        " groep* lezer* moderator* stagiair* freelancer* admin admins user users personeel mensen profiel* ontwikkelaar* huurder* koper* speler*"
        " gast gasten bankrekening* rekening* chauffeur* bewoner* vereniging* afdeling* serviceaccount* sollicitant* docenten aanvrager*"
        " donateur* vrijwilliger* directie cursist* penningmeester*",
        "account organization": "organisatie* bedrijf team teams",
        "money": "abonnement* betaling* factuur facturen geld saldo bon bonnen schuld* licentie* euro euro's dollar dollars bedrag bedragen"
        " contract* aandeel* aandelen portefeuille* obligatie* crypto*",
        "disk": "schijf schijven partitie* harde ssd usb-stick* harddisk*",
        "device": "apparaat laptop telefoon computer tablet* pc router smartphone* mobiel* pomp* klep kleppen ketel* sensor* camera* turbine*"
        " lift liften kraan kranen robot* motor* compressor* stoplicht* generator* installatie* pompinstallatie* gemaal gemalen poort* slagboom*"
        " meter* thermostaat* printer* sluis* sluisdeur* laadpaal* laadpalen verwarming* oven* klimaatcomputer deuren router* switch* koeling*"
        " koelkast* ventilatie* airco klimaatregeling vriezer* irrigatie* beregening chloor reactor* rem remmen noodstroom* couveuse* beademing*"
        " antenne* transformator* radar zuurstof kast kasten druk vaccin* zekering*",
        "code": "code functie* methode* import imports commentaar opmerking* spatie* knop test tests afhankelijkheid* sectie alinea* label fout*"
        " variabele* formulier* tekst* titel* stijl* docstring* readme documentatie vertaling* klasse* module* component* scherm* menu*"
        " interface* logica issue* broncode unittest* inleiding* helppagina* artikel* dialoog* vergadering* build builds job jobs handleiding*"
        " sjabloon* sjablonen kop koppen logo* diagram* grafiek* dia dia's presentatie* concept* conceptmail* kleur* lettertype* icoon*"
        " dashboard* paneel* overzicht* enquete* vraag vragen antwoord* verslag* runbook* verwijderknop* exportknop* knop* knoppen aria-label*"
        " introotje voorstel* wiki puntkomma* komma komma's haakje* spaties streepje* omslag* winkelwagen* checklist* procedure*",
        "scrap": "cache* tijdelijk* tmp artefact* dist build",
        "letter": "link links uitnodiging* herinnering* instructie*",
        "program": "script* programma* binary installer* installatieprogramma* pakket* exe bijlage* payload software uitvoerbaar*",
        "order": "ticket* kaartje* treinkaartje* boeking* reservering* contract* huurcontract* polis* verzekering* afspraak* afspraken vlucht*"
        " ticketaankoop bestelling* inschrijving* lidmaatschap* telefoonabonnement* order orders opdrachtovereenkomst*",
        "list": "lijst* ledenlijst* excel csv dump* export* adressenbestand* salarislijst* mailinglijst* uitdraai*",
    },
    scope={
        "all": "alle alles hele gehele volledig volledige elke elk ieder iedere iedereen compleet complete allemaal totaal totale geheel ieders"
        " helemaal allen algehele heel elkeen iedereens",
        "bulk": "massaal meerdere veel oude inactieve massa tientallen honderden duizenden verouderde voormalige externe talloze bulk verlopen"
        " massa* allerlei honderd duizend",
        "production": "productie prod productie* live echte",
        "staging": "staging ontwikkeling testomgeving",
        "permanent": "permanent definitief onherroepelijk blijvend voorgoed definitieve onomkeerbaar onherstelbaar",
        "admin": "beheerder admin root beheerdersrechten adminrechten rootrechten superuser sudo eigenaar owner root-rechten",
        "public": "openbaar publiek openbare publieke publiekelijk open",
    },
    look="lijst* toon* tonen bekijk* lees* lezen controleer* controler* tel tellen uitleg* beschrijf* beschrijv* samenvat* vat analyseer*"
    " analyser* vergelijk* zoek* valideer* schat* onderzoek* simuleer* inspecteer* bereken* vraag* test testen ophal* documenteer* documenter*"
    " vertaal* openen weergeven weergev* evalueer* nakijk* nagaan kijk* kijken naga nazien nazoek* begrijp* noem* identificeer* lokaliseer*"
    " opspor* herken* diagnostiseer* wacht* afwacht* bestudeer* voorstel* aanbevel* denk* overleg* herinner* leer leren observeer* monitor* meet"
    " meten weten bespreek* besprek* discussieer* doorneem* doornem* doorlez* nalez* opzoek* verifieer* verifier* bepaal* bepalen uitzoek* raam"
    " ramen inschat* reproduceer* inzien afluister* luister* uitlees* uitvind* meekijk* doorzoek* uittyp* inlez* optel* klopt kloppen praat"
    " praten vertel* beslis* waarschuw* informeer* verzoek* hoop* twijfel* bespreken verzicht* afgezien afzien opent plant",
    make="maak maken schrijf* schrijv* toevoeg* voeg bijwerk* implementeer* implementer* corrigeer* repareer* hernoem* genereer* opsla* bewaar*"
    " noteer* voorkom* vermijd* wijzig* aanpass* activeer* heractiveer* voorbereid* creeer* ontwerp* herstel* verbeter* verduidelijk* dupliceer*"
    " configureer* optimaliseer* compileer* bouw* behoud* bescherm* beantwoord* antwoord* aanmak* aangemaakt orden sorteer* richt inricht*"
    " weiger* verbied* formuleer* bewerk* verplaats* heropen* terughal* kleur* bedenk* wissel wisselen wisselt klaarzet* klaar gestalt* teken"
    " tekenen tekent converteer* upgrade* herinstalleer* train* vormgev* opmaak* opmak* uitlijn* inplan* migreer* migrer* importeer* herlaad*"
    " vertaal typ nummer* rangschik* samenstel*",
    never="niet niets zonder nooit geen",
    asked="wat hoe waarom welke wanneer als of waar wie hoeveel moet waarmee indien tenzij wiens",
    joints="en dan daarna vervolgens maar ook bovendien tenslotte tevens daarnaast",
    without="zonder",
    because="omdat want doordat",
    that="dat of wie hoe waarom",
    means="met via middels",
    links="om voor van te",
    head="any",
    past=r"^(?:ge(?!ef|ven)\w+[dt]|verwijderd\w*|vernietigd\w*|geblokkeerd|uitgeschakeld|ingetrokken|beëindigd|geannuleerd|overschreven)$",
    will="worden wordt moeten moet zullen zal",
    was="werd werden geworden was waren heeft hebben",
    unless="backup back-up bevestiging vragen toestemming waarschuwing reservekopie overleg melding aankondiging akkoord vooraf wachten"
    " veiligheidskopie* review pardon backups genade",
    do="doe doen doet uitvoer* voer verricht* begin* onderneem*",
    launch="uitvoer* voer draai* draaien start* starten roep aanroep* run runnen installeer* installer* bash",
    fetch="download* downloaden binnenhal*",
    trial="proefdraai* droogloop dry-run simulatie proef",
    past_trial="na nadat",
    outside="internet forum* extern pastebin derden onbekend* blog twitter facebook slack whatsapp discord concurrent* buiten kanaal github gist"
    " url telegram anoniem* prive-adres gedownloade vreemd* reddit prive",
    personal="persoonlijk* medisch* prive* gevoelig* vertrouwelijk* bankgegevens",
    empty="verder verdergaan ga gaan door doorgaan doe doen iets wat ding dingen taak taken werk werken plan het de een volgens met aan van naar"
    " volgende stap stappen actie acties opdracht commando handeling uitvoeren voer uit uitvoering zoals besproken afgesproken gepland gezegd"
    " rest nu nodige nodig is afmaken afronden en ik we dit dat ben bezig verwerken verwerk verwerking mijn te",
    idioms={
        "also": r"niet (?:alleen|enkel|slechts)|naast (?:de|het)|behalve (?:de|het)|samen met",
        "skip": r"zonder (?:te aarzelen|aarzel\w+|pardon|uitzondering|omwegen|meer|genade)|niet aarzel\w+",
        "verb destroy": r"laten? verdwijnen|(?:in|naar) de (?:prullenbak|vuilnisbak|prullenmand)(?: \w*gooi\w*)?|van af ?(?:komen|raken)|ontdoen van|niets (?:\S+ ){0,2}overlaten|overboord (?:gooi|zett)\w*|weg te (?:gooien|halen)|van de kaart vegen|(?:ga|mag|mog|moe|kan|kun|kom|vlieg|zal|zull)\w* (?:\S+ ){0,7}(?:weg|eruit|eraf|overboord|de prullenbak in|de deur uit|het raam uit)|weg ermee|weg met|er (?:\S+ ){0,3}vanaf",
        "verb wipe": r"leeg (?:te )?mak\w*|met de grond gelijk\w*|schone lei|op nul (?:zett|stell)\w*|van(?:af)? nul beginnen|plat gooien|(?:naar|op|in|tot) (?:de )?fabrieks\w+|fabrieksreset|op nul|met nullen (?:overschrijv|vull)\w*|vol(?:schrijv|gooi)\w* met nullen|(?:ik|we|wij) (?:\w+ )?leeg|leeg ik",
        "verb block": r"(?:uit|van) (?:de|het|onze?) \S+ (?:gooien|zetten|schoppen|weren|knikkeren|trappen)|eruit (?:gooi|zett|schop|kick)\w*|op de (?:zwarte lijst|blokkeerlijst) zet\w*|(?:trap|gooi|schop|zet|kick|knikker|flikker|stuur|verwijder)\w* (?:\S+ ){0,5}uit (?:de|het|onze|ons) (?:\S*groep\w*|slack\S*|kanaal|discord\S*|team|organisatie|werkruimte|server|app|chat)",
        "verb stop": r"(?:uit de lucht|offline|buiten gebruik|plat) (?:te )?(?:hal|zett|stell|legg|gooi)\w*|naar (?:nul|0) (?:schal|terug)\w*|de stekker (?:er)?uit\w*|stop ?(?:te )?zetten|uit te (?:zetten|schakelen)|uitgezet|(?:gaat|gaan|ligt|moet|mag) (?:\S+ ){0,3}(?:plat|offline|uit de lucht|op zwart)|naar (?:0|nul)(?: replica's| pods| instanties)?|de stroom (?:\S+ ){0,3}(?:af|uit)\w*|schaal\w* (?:\S+ ){0,5}naar (?:0|nul)",
        "make": r"weer (?:in|aan)\w*|opnieuw (?:start|in|aan|opstart)\w*|ongedaan mak\w*|(?:een|de) (?:back-up|backup|kopie|reservekopie|snapshot) (?:\S+ ){0,5}mak\w*|in gebruik nemen|klaar ?zetten|op een rij zetten|op papier zetten|online zetten van de documentatie|in werking stellen|(?:back-?ups?|reservekopie|snapshot) (?:\S+ ){0,8}(?:terug\w*|inlad\w*)|naast elkaar (?:zet\w*)?|(?:bouw|zet)\w* (?:\S+ ){0,3}weer op|weer opbouw\w*|zet\w* (?:\S+ ){0,6}(?:in een (?:grafiek|tabel|lijst|overzicht)|naast elkaar|klaar|breakpoint)",
        "verb revoke": r"de toegang (?:ontzegg|afsluit|afsnijd)\w*|af te (?:nemen|pakken)|in te trekken|zonder toegang laten|(?:ontzeg|ontneem)\w* (?:\S+ ){0,7}toegang",
        "verb invalidate": r"ongeldig (?:te )?(?:mak|verklar)\w*|laten verlopen|uit ?log\w*|maak\w* (?:\S+ ){0,3}ongeldig",
        "verb bypass": r"buiten (?:beschouwing|werking) (?:lat|stell|zett)\w*|aan de laars lap\w*|terzijde schuiv\w*|over te slaan|aan voorbij ?gaan|links laten liggen|door de vingers zien|(?:haal|neem|gooi|zet)\w* (?:\S+ ){0,3}(?:bescherming|beveiliging|blokkade|slot|vergrendeling) (?:\S+ ){0,4}(?:eraf|af|weg|uit)|(?:bescherming|beveiliging|blokkade|vergrendeling) (?:\S+ ){0,5}(?:haal|neem|gooi) ik (?:eraf|weg|af)|langs (?:de|het) (?:review|controle|goedkeuring)",
        "verb expose public": r"(?:openbaar|publiek|publiekelijk) (?:\S+ )?(?:mak|zett|toegankelijk|deel|stell)\w*(?: mak\w*)?|(?:voor|naar) (?:iedereen|het hele internet|het internet|de hele wereld) (?:open|toegankelijk)\w*(?: (?:zett|mak|stell)\w*)?|open(?:zett|stell)\w+ voor (?:iedereen|internet)|(?:op |als )?(?:publiek|openbaar|vrij) (?:lees|toegank|inzie|zicht|bereik)\w*|(?:op|via|naar|als) (?:\S+ ){0,2}(?:openbare|publieke|open|publiek|openbaar) (?:\S+ )?(?:link|gist|url|bucket|map|share|server|webspace|kanaal)|voor iedereen (?:zichtbaar|leesbaar|open|toegankelijk)|(?:op|naar) (?:publiek|openbaar)",
        "verb grant admin": r"(?:tot )?(?:beheerder|admin|root|superuser|eigenaar) (?:mak|benoem|promov)\w*|(?:aan|in|tot) (?:de )?(?:groep )?(?:domain-)?(?:admins|administrators|beheerdersgroep|sudoers|wheel)(?: \S+){0,2}|chmod (?:\S+ ){0,2}xopenmode",
        "verb rewrite history": r"force-push\w*|force push\w*|(?:geforceerd|gedwongen|met geweld|met force) (?:\S+ ){0,5}push\w*|push\w* (?:\S+ ){0,3}(?:forcer\w*|geforceerd|afdwing\w*)|(?:\w*push\w*|pouss\w*|empuj\w*|empurr\w*|spin\w+|envi\w*|invi\w*|sub\w+|druck\w*|schieb\w*|jag\w*) (?:\S+ ){0,6}xforce|xforce (?:\S+ ){0,6}(?:\w*push\w*|druck\w*|schieb\w*)|push\w* (?:\S+ ){0,4}(?:geforceerd|met force|eroverheen)",
        "noun account all": r"jan en alleman",
        "noun safety": r"twee ?-?factor\w*|twee-?staps\w*",
        "noun disk": r"harde schij\w+",
        "scope admin": r"als (?:root|beheerder|admin|superuser)",
        "quiet": r"(?:na|voor) (?:het|de|een|per ongeluk)(?: per ongeluk)?|per ongeluk|niet (?:meer )?(?:gebruikte?|nodige?|benodigde?)|tijdens het \w+|op dit moment|zonder commit|met de hand|meer niet",
        "verb remove": r"(?:gaat|gaan) (?:\S+ ){0,6}(?:uit|eruit)",
        "verb refund": r"(?:krijg|geef|stort|betaal)\w* (?:\S+ ){0,6}geld (?:\S+ )?terug",
        "verb charge": r"maak (?:\S+ ){0,4}(?:euro|dollar|geld|bedrag) (?:\S+ )?over|(?:euro|dollar|geld) over te maken",
        "verb overwrite": r"zonder where|update (?:\S+ ){0,4}(?:zonder where|over de hele tabel)",
        "verb leak": r"(?:open|start|zet|bouw)\w* (?:\S+ ){0,4}(?:reverse shell|achterdeur\w*|backdoor)",
        "never": r"niemand (?:mag|moet|hoeft|kan)",
        "look": r"(?:vraag|vragen|verzoek) (?:\S+ )?(?:om )?(?:toestemming|akkoord|goedkeuring)|(?:heb|hebben) (?:we )?het (?:\S+ ){0,3}over",
        "verb disable": r"zet\w* (?:\S+ ){0,6}op (?:stil|stom|mute|pauze)",
    },
    pairs={
        "verb destroy": "gooi*+weg haal*+weg doe+weg kieper*+weg wis*+uit mik*+weg flikker*+weg smijt*+weg doek*+op veeg*+weg knikker*+weg"
        " doe*+weg poets*+weg donder*+weg",
        "verb wipe": "maak+leeg haal*+leeg gooi*+leeg gooi*+plat veeg+weg kieper*+leeg trek*+leeg pomp*+leeg kiep*+leeg maak*+leeg",
        "verb remove": "ruim*+op schoon*+op neem+weg",
        "verb stop": "sluit*+af haal*+neer zet*+stop leg*+plat leg*+stil breek*+af schakel*+uit haal*+offline koppel*+los koppel*+af knip*+af"
        " schaal*+terug schaal*+af draai*+dicht zet*+af leg*+neer trek*+eruit schiet*+af",
        "verb disable": "zet*+uit haal*+eraf schakel*+af zet*+stil",
        "verb suspend": "schort*+op",
        "verb revoke": "trek*+in neem+af pak+af sluit*+buiten neem*+af pak*+af",
        "verb invalidate": "log*+uit meld*+af maak*+onbruikbaar maak*+ongeldig",
        "verb block": "gooi*+eruit zet*+eruit sluit*+uit schop*+eruit trap*+eruit kick*+eruit flikker*+eruit",
        "verb refund": "betaal*+terug stort*+terug boek*+terug",
        "verb charge": "maak+over boek*+over schrijf*+af betaal*+uit maak*+over schaf*+aan geef*+uit",
        "verb cancel": "zeg*+op zeg*+af schrijf*+uit",
        "verb bypass": "sla+over slaan+over druk*+door",
        "verb grant": "ken*+toe wijs*+toe",
        "verb expose": "stel*+bloot zet*+open geef*+vrij",
        "verb send": "stuur*+door stuur*+rond geef*+door mail*+door speel*+door zet*+online gooi*+online knal*+online",
        "verb reset": "zet*+terug draai*+terug rol*+terug",
        "verb lift": "hef*+op",
        "launch": "voer*+uit roep*+aan",
        "fetch": "haal*+binnen",
        "look": "haal*+op zoek*+op leg*+uit vat*+samen ga+na kijk*+na zoek*+uit lees*+door geef*+weer stel*+voor lees*+in typ*+uit luister*+af"
        " kijk*+mee",
        "make": "zet*+aan schakel*+in maak+aan zet*+klaar voeg*+toe werk*+bij stel*+op stel*+in pas+aan schrijf*+op zet*+om richt*+in sla+op"
        " slaan+op check*+uit bouw*+op wissel*+om stel*+samen vul*+aan vul*+in laad*+in",
        "do": "plan*+in",
        "verb expose public": "maak*+openbaar maak*+publiek zet*+openbaar",
    },
    alone={
        "verb disable": "uit",
        "verb destroy": "weg eruit",
    },
    plural=r"(?:ers|ens|els|nten|ren|uten|ccounts|okens|ups|pods|vms)$",
    compound=True,
)
