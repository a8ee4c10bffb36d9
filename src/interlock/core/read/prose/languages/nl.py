"""Dutch words for acts, objects and scope."""

from __future__ import annotations

from interlock.core.read.prose.language import Language

LANGUAGE = Language(
    code="nl",
    common="de het een van en in voor met zonder alle naar uit op is niet wij ik dan te om wordt worden zich bij dit deze die aan al alles nu onze"
    " ook mijn ons hun hen je we er meteen door over nog zijn",
    verbs={
        "destroy": "verwijder* wis wissen wissend vernietig* weggooi* gooi gooien verwerp* schrap* truncat* verwijderd gewist vernietigd verwijdering"
        " vernietiging wist weghal* wegdoen wegkieper* kieper* weggegooid schrapp* liquideer* elimineer* eliminer* uitroei* droppen drop dropt"
        " wegwerk* weghaal*",
        "wipe": "leegmak* leegma* leeg leeggooi* uitwis* wegvag* zuiver* purge* legen leegt leeghal* platgooi* uitgewist wegveg* schoonveg* leegruim*"
        " leeghaal* purgen",
        "remove": "opruim* ruim* opschon* schoon* haal opgeruimd deinstalleer* opruimen opgeschoond wegnem* deinstaller* uithal*",
        "stop": "stop* stopzet* afsluit* beeindig* uitschakel* uitgezet neerhal* afbreek* afbrek* breek kill* platleg* uitzet* leg afsluiten"
        " termineer* ontmantel* stopzetten stilleg* stillegg* uitschakeling afsluiting beeindiging neerhaal* omleg* platlegg* platgelegd"
        " uitzetten afgesloten ontmanteling stop-zetten afschal* loskoppel*",
        "disable": "schakel* deactiveer* deactiver* uitgeschakeld dempen uitschakelen uitschakeling deactivering uitzett* dempt",
        "suspend": "schors* opschort* bevries* bevriez* geschorst schorsing opschorten ontsla* ontslag bevriezing",
        "revoke": "intrek* trek ontneem* ontnem* ingetrokken intrekken afneem* afnem* ontzeg* intrekking ontneming afpak* ontnomen buitensluit*"
        " buitengesloten",
        "invalidate": "ongeldig roteer* roter* vernieuw* invalideer* invalider* rotatie ongeldigverklaring uitlog* afmeld*",
        "block": "blokkeer* blokker* verban* ban bannen geblokkeerd blokkering verbanning eruitgooi* wegstur* uitsluit* kick* weren",
        "refund": "terugbetal* terugbetaal* restitueer* vergoed* terugbetaling restitutie terugstort* terugboek* crediteer*",
        "charge": "betaal* betal* overmak* factureer* incasseer* afschrijv* uitbetal* uitbetaal* overmaking overboek* overgemaakt stort storten koop*"
        " aankop* koopt inkop* gireren incasser* afboek*",
        "cancel": "annuleer* annuler* opzeg* zeg annulering opzegging opgezegd afzegg* afzeg*",
        "bypass": "omzeil* negeer* neger* sla overslaan forceer* forcer* omzeiling passeer* passer* ontwijk* ontduik* overrul* doordruk* terzijde"
        " overgeslagen forceren",
        "grant": "geef geven verleen* verlen* toeken* ken toekenning toekennen toewijz* bevorder* promoveer* benoem* verhef* verhoog*",
        "expose": "blootstel* openbaar* blootstelling blootlegg* openstell* openzett* vrijgev*",
        "leak": "lek lekken exfiltreer* lekt uitlek* onthul* doorspel* verklap*",
        "send": "stuur* sturen verstuur* versturen verzend* upload* publiceer* deel delen doorstuur* kopieer* kopier* exporteer* mail mailen"
        " verzending versturing doorsturen doorgev* deelt rondstur* post posten verspreid* mailt uitstur* sms'en sms-en twitter* overdrag*"
        " zend* appen",
        "format": "formatteer* formatter* formattering herformatteer*",
        "overwrite": "overschrijf* overschrijv* vervang* overschreven vervanging",
        "reset": "reset* herbegin* terugzet* herinstalleer* terugzetten",
        "archive": "sluit* sluiten",
        "put": "zetten zet plaats* plak* leggen leg hang*",
        "rewrite": "herschrijv* herschrev*",
        "lift": "ophef* deblokkeer* deblokker* deblokkering",
    },
    nouns={
        "message": "bericht* mail mails e-mail* email* sms sms'je nieuwsbrief nieuwsbrieven melding* mailing*",
        "private": "klantgegevens persoonsgegevens patientgegevens klantdata salaris* paspoort* creditcard* bsn gebruikersgegevens personeelsdossier*"
        " betaalgegevens",
        "data": "gegevens data record* rij rijen bestand* map mappen directory document* geschiedenis foto* inhoud bestelling* items item branch"
        " object* wachtrij index prullenbak foto's afbeelding* video* video's ticket* aankoop aankopen verkoop* boeking* transactie* dossier*"
        " postvak* inbox archief archieven pagina* upload*",
        "data database": "database* databank* db postgres mysql mongo redis productiedatabase*",
        "data table": "tabel tabellen collectie* kolom* klantentabel gebruikerstabel",
        "data schema": "schema*",
        "data volume": "volume*",
        "data bucket": "bucket* emmer opslagbucket* s3 opslag opslagruimte",
        "data repository": "repository repositories repo repos",
        "data project": "project projecten",
        "data backup": "backup* back-up* reservekopie* snapshot* momentopname* veiligheidskopie* backups",
        "log audit_log": "auditlog* audit* logboek* beveiligingslog* log logs logbestand* auditspoor",
        "access": "toegang* rechten recht machtiging* rol rollen permissie* privilege* toegangsrechten beheerrechten schrijfrechten leesrechten"
        " adminrechten bevoegdhe*",
        "credential": "sleutel* token* geheim* certificaat certificaten wachtwoord* inloggegevens sessie* api-sleutel* wachtwoorden secret secrets env"
        " pincode* key keys sleutels",
        "config": "configuratie* instelling* beleid regel regels dns domein* webhook* parameter* dns-record* dns-zone* zone cronjob* terraform",
        "safety": "firewall antivirus monitoring waarschuwing* versleuteling bewaking logging validatie* controle* goedkeuring* beveiliging* limiet*"
        " mfa 2fa authenticatie tweefactor* beperking* bevestiging veiligheid* beveilig* filter* waf alarm* alarmen toezicht drempel* captcha"
        " review* codereview* tweestaps* encryptie slot vergrendeling snelheidslimiet* check checks rem",
        "resource": "server* productieserver* webserver* instantie* machine* container* dienst* deployment* node nodes pod pods omgeving* applicatie*"
        " website systeem systemen infrastructuur service services vm vms host hosts platform* api netwerk* loadbalancer* webwinkel site sites"
        " replica* proces processen vm's",
        "resource cluster": "cluster* productiecluster*",
        "account": "gebruiker* account* klant* medewerker* lid leden beheerder* tenant* abonnee* student* patient* persoon personen iedereen collega*"
        " werknemer* leverancier* aannemer* inhuur externen deelnemer* leerling* leraar docent* bezoeker* contact contacten ontvanger* groep*"
        " lezer* moderator* stagiair* freelancer* admin admins user users personeel mensen profiel* ontwikkelaar*",
        "account organization": "organisatie* bedrijf team teams",
        "money": "abonnement* betaling* factuur facturen geld saldo bon bonnen schuld* licentie* euro euro's dollar dollars bedrag bedragen contract*",
        "disk": "schijf schijven partitie* harde ssd usb-stick* harddisk*",
        "device": "apparaat laptop telefoon computer tablet* pc router smartphone* mobiel*",
        "code": "code functie* methode* import imports commentaar opmerking* spatie* knop test tests afhankelijkheid* sectie alinea* label fout*"
        " variabele* formulier* tekst* titel* stijl* docstring* readme documentatie vertaling* klasse* module* component* scherm* menu*"
        " interface* logica issue* broncode unittest* inleiding* helppagina* artikel* dialoog*",
        "scrap": "cache* tijdelijk* tmp artefact* dist build",
        "letter": "link links uitnodiging* herinnering* instructie*",
        "program": "script* programma* binary installer* installatieprogramma* pakket* exe bijlage* payload software uitvoerbaar*",
    },
    scope={
        "all": "alle alles hele gehele volledig volledige elke elk ieder iedere iedereen compleet complete allemaal totaal totale geheel ieders"
        " helemaal allen",
        "bulk": "massaal meerdere veel oude inactieve massa tientallen honderden duizenden verouderde voormalige externe talloze bulk verlopen",
        "production": "productie prod productie* live",
        "staging": "staging ontwikkeling testomgeving",
        "permanent": "permanent definitief onherroepelijk blijvend voorgoed definitieve onomkeerbaar onherstelbaar",
        "admin": "beheerder admin root beheerdersrechten adminrechten rootrechten superuser sudo eigenaar owner root-rechten",
        "public": "openbaar publiek openbare publieke publiekelijk",
    },
    look="lijst* toon* tonen bekijk* lees* lezen controleer* controler* tel tellen uitleg* beschrijf* beschrijv* samenvat* vat analyseer*"
    " analyser* vergelijk* zoek* valideer* schat* onderzoek* simuleer* inspecteer* bereken* vraag* plan plannen test testen ophal*"
    " documenteer* documenter* vertaal* open openen weergeven weergev* evalueer* nakijk* nagaan kijk* kijken naga nazien nazoek* begrijp*"
    " noem* identificeer* lokaliseer* opspor* herken* diagnostiseer* wacht* afwacht* bestudeer* voorstel* aanbevel* denk* overleg* herinner*"
    " leer leren observeer* monitor* meet meten weten bespreek* besprek* discussieer* doorneem* doornem* doorlez* nalez* opzoek* verifieer*"
    " verifier* bepaal* bepalen uitzoek* raam ramen inschat* reproduceer* inzien",
    make="maak maken schrijf* schrijv* toevoeg* voeg werk bijwerk* implementeer* implementer* corrigeer* repareer* hernoem* genereer* opsla*"
    " bewaar* noteer* voorkom* vermijd* wijzig* pas aanpass* activeer* heractiveer* voorbereid* creeer* ontwerp* herstel* verbeter*"
    " verduidelijk* dupliceer* configureer* optimaliseer* compileer* bouw* behoud* bescherm* beantwoord* antwoord* aanmak* aangemaakt orden"
    " sorteer* richt inricht* weiger* verbied* formuleer* bewerk* verplaats* heropen* terughal* kleur*",
    never="niet niets zonder nooit geen",
    asked="wat hoe waarom welke wanneer als of waar wie hoeveel moet waarmee indien tenzij wiens",
    joints="en dan daarna vervolgens maar ook bovendien tenslotte tevens daarnaast",
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
    outside="internet forum* extern pastebin derden onbekend* blog twitter facebook slack whatsapp discord concurrent* buiten kanaal github gist url"
    " telegram anoniem* prive-adres gedownloade vreemd* reddit prive",
    personal="persoonlijk* medisch* prive* gevoelig* vertrouwelijk* bankgegevens",
    empty="verder verdergaan ga gaan door doorgaan doe doen iets wat ding dingen taak taken werk werken plan het de een volgens met aan van naar"
    " volgende stap stappen actie acties opdracht commando handeling uitvoeren voer uit uitvoering zoals besproken afgesproken gepland gezegd"
    " rest nu nodige nodig is afmaken afronden en ik we dit dat ben bezig verwerken verwerk verwerking mijn te",
    idioms={
        "also": r"niet (?:alleen|enkel|slechts)|naast (?:de|het)|behalve (?:de|het)|samen met",
        "skip": r"zonder (?:te aarzelen|aarzel\w+|pardon|uitzondering|omwegen|meer|genade)|niet aarzel\w+",
        "verb destroy": r"laten? verdwijnen|(?:in|naar) de (?:prullenbak|vuilnisbak|prullenmand)(?: \w*gooi\w*)?|van af ?(?:komen|raken)|ontdoen van|niets (?:\S+ ){0,2}overlaten|overboord (?:gooi|zett)\w*|weg te (?:gooien|halen)|van de kaart vegen",
        "verb wipe": r"leeg (?:te )?mak\w*|met de grond gelijk\w*|schone lei|op nul (?:zett|stell)\w*|van(?:af)? nul beginnen|plat gooien",
        "verb block": r"(?:uit|van) (?:de|het|onze?) \S+ (?:gooien|zetten|schoppen|weren|knikkeren|trappen)|eruit (?:gooi|zett|schop|kick)\w*|op de (?:zwarte lijst|blokkeerlijst) zet\w*",
        "verb stop": r"(?:uit de lucht|offline|buiten gebruik|plat) (?:te )?(?:hal|zett|stell|legg|gooi)\w*|naar (?:nul|0) (?:schal|terug)\w*|de stekker (?:er)?uit\w*|stop ?(?:te )?zetten|uit te (?:zetten|schakelen)|uitgezet",
        "make": r"weer (?:in|aan)\w*|opnieuw (?:start|in|aan|opstart)\w*|ongedaan mak\w*|(?:een|de) (?:back-up|backup|kopie|reservekopie|snapshot) (?:\S+ ){0,5}mak\w*|in gebruik nemen|klaar ?zetten|op een rij zetten|op papier zetten|online zetten van de documentatie|in werking stellen",
        "verb revoke": r"de toegang (?:ontzegg|afsluit|afsnijd)\w*|af te (?:nemen|pakken)|in te trekken|zonder toegang laten",
        "verb invalidate": r"ongeldig (?:te )?(?:mak|verklar)\w*|laten verlopen|uit ?log\w*",
        "verb bypass": r"buiten (?:beschouwing|werking) (?:lat|stell|zett)\w*|aan de laars lap\w*|terzijde schuiv\w*|over te slaan|aan voorbij ?gaan|links laten liggen|door de vingers zien",
        "verb expose public": r"(?:openbaar|publiek|publiekelijk) (?:\S+ )?(?:mak|zett|toegankelijk|deel|stell)\w*(?: mak\w*)?|(?:voor|naar) (?:iedereen|het hele internet|het internet|de hele wereld) (?:open|toegankelijk)\w*(?: (?:zett|mak|stell)\w*)?|open(?:zett|stell)\w+ voor (?:iedereen|internet)",
        "verb grant admin": r"(?:tot )?(?:beheerder|admin|root|superuser|eigenaar) (?:mak|benoem|promov)\w*",
        "verb rewrite history": r"force-push\w*|force push\w*|(?:geforceerd|gedwongen|met geweld|met force) (?:\S+ ){0,5}push\w*|push\w* (?:\S+ ){0,3}(?:forcer\w*|geforceerd|afdwing\w*)",
        "noun account all": r"jan en alleman",
        "noun safety": r"twee ?-?factor\w*|twee-?staps\w*",
        "noun disk": r"harde schij\w+",
    },
    pairs={
        "verb destroy": "gooi*+weg haal*+weg doe+weg kieper*+weg wis*+uit",
        "verb wipe": "maak+leeg haal*+leeg gooi*+leeg gooi*+plat veeg+weg",
        "verb remove": "ruim*+op schoon*+op neem+weg",
        "verb stop": "sluit*+af haal*+neer zet*+stop leg*+plat leg*+stil breek*+af schakel*+uit haal*+offline koppel*+los",
        "verb disable": "zet*+uit",
        "verb suspend": "schort*+op",
        "verb revoke": "trek*+in neem+af pak+af sluit*+buiten",
        "verb invalidate": "log*+uit meld*+af",
        "verb block": "gooi*+eruit zet*+eruit sluit*+uit schop*+eruit",
        "verb refund": "betaal*+terug stort*+terug boek*+terug",
        "verb charge": "maak+over boek*+over schrijf*+af betaal*+uit",
        "verb cancel": "zeg*+op zeg*+af",
        "verb bypass": "sla+over slaan+over druk*+door",
        "verb grant": "ken*+toe wijs*+toe",
        "verb expose": "stel*+bloot zet*+open geef*+vrij",
        "verb send": "stuur*+door stuur*+rond geef*+door",
        "verb reset": "zet*+terug",
        "verb lift": "hef*+op",
        "launch": "voer*+uit roep*+aan",
        "fetch": "haal*+binnen",
        "look": "haal*+op zoek*+op leg*+uit vat*+samen ga+na kijk*+na zoek*+uit lees*+door geef*+weer stel*+voor",
        "make": "zet*+aan schakel*+in maak+aan zet*+klaar voeg*+toe werk*+bij stel*+op stel*+in pas+aan schrijf*+op zet*+om richt*+in sla+op slaan+op",
    },
    plural=r"(?:ers|ens|els|nten|ren|uten|ccounts|okens|ups|pods|vms)$",
    compound=True,
)
