"""German words for acts, objects and scope."""

from __future__ import annotations

from interlock.analysis.prose.foreign.languages import Language

LANGUAGE = Language(
    code="de",
    common="der die das den dem des und in ein eine einen einem einer fur mit ohne alle allen aller alles zu aus auf ist von im nicht wir ich vor"
    " nach dann wird werden sich am bei vom zum zur jetzt sowie bitte auch meine unsere unserer unseren ihr ihre ihnen uns es sind als so um"
    " weiter ja hier dort noch nur mal kurz dabei damit weil dass hat habe haben sein ihn ihm mir dir euch unter uber gegen durch wegen seit bis"
    " gleich heute morgen benenne",
    verbs={
        "destroy": "losch* loesch* geloscht geloescht entsorg* vernicht* zerstor* zerstoer* verwerf* wegwerf* wirf droppe* droppen tilg* truncat*"
        " ausradier* loszuwerden loswerden verschwinden loschung vernichtung beseitig* weghau* wegschmeiss* weggeworfen wegzuwerfen wegwerfen"
        " eliminier* kassier* schredder* kloppen droppt gedroppt ausmerz* liquidier* haue haut hauen weghauen rausschmeiss* schmeiss* verschrott*"
        " auflos* aufloes* loeschst loscht ausgemerzt gedropped dropt zerschiess* zerschoss* zerleg* abserv* weggeklickt kippen kippe verklapp*"
        " sprenge sprengen vernichte ausgeloscht entsorgt rausgeloscht",
        "wipe": "ausloesch* auslosch* plattmach* ausmist* tabula platt auszuloschen leerung geleert leerraum* leermach* ausraum* plattmachen"
        " plattzumachen plattgemacht entleer* purg* wegfeg* leeren leere leert leergeraumt leergemacht nullen nulle genullt wegputz* ausputz*"
        " leerzuraumen",
        "remove": "entfern* raum* aufraum* bereinig* saub* saeub* aufgeraumt deinstallier* wegraum* entfernt entfernung raeum* weggenommen"
        " wegmach* rausnehm* rausloesch* wegbekomm* abraum* wegschaff* rausschmeissen wegzuraumen ausbau*",
        "stop": "stopp* beend* abschalt* herunterfahr* runterfahr* heruntergefahren abgeschaltet terminier* kill* abreiss* abbau* stillleg*"
        " stilleg* abschiess* lahmleg* ausschalt* herunterzufahren abzuschalten auszuschalten abschaltung stilllegung stoppung beendigung"
        " runterzufahren abwurg* abgestellt abzustellen niederreiss* terminierung vom-netz abgeschossen abschuss ausknips* demontier* terminiere"
        " abklemm* klemm* abdreh* abzuklemmen stoppe dekommissionier* stillzulegen herunterskalier* runterskalier* trenn* abtrenn*",
        "disable": "deaktivier* deaktiviert abstell* stummschalt* ausgeschaltet deaktivierung ausser ausgeknipst abgestellt ausstell* ausmach*"
        " lahm* uberbruck* ueberbrueck* stillzulegen entscharf* abgeschalten stummzuschalten",
        "suspend": "suspendier* einfrier* sperr* gesperrt suspendierung einfrieren eingefroren sperrung entlass* feuer* rauszuwerfen"
        " exmatrikulier* feuern gefeuert kaltstell* beurlaub*",
        "revoke": "entzieh* entzog* widerruf* wegnehm* nimm entzogen widerrufen aberkenn* entzug widerrufung wegzunehmen weggenommen entreiss*"
        " beraub* einkassier* aussperr* abnehmen entzieht abgenommen entrecht*",
        "invalidate": "invalidier* rotier* erneuer* ungultig ungueltig rotation ungultigmach* annullier* entwert* ausloggen auszuloggen abmelden"
        " abzumelden verfallen zwangsabmeld* ausgeloggt unbrauchbar",
        "block": "blockier* bann* verbann* rauswerf* rausschmeiss* blockierung bann verbannung rauskick* kick* hinauswerf* hinausschmeiss*"
        " ausschliess* rausgeworfen vergraul* rausschmeissen rauszuschmeissen rauswirf* kicke kicken",
        "refund": "erstatt* ruckerstatt* zuruckerstatt* rueckerstatt* zurueckerstatt* erstattung ruckerstattung ruckzahl* rueckzahl* gutschreib*"
        " zuruckzahl* zurueckzahl* erstattet zuruckuberweis* ruckuberweis* zuruckbuch*",
        "charge": "bezahl* zahl* uberweis* ueberweis* belast* abbuch* auszahl* auszuzahlen ausgezahlt uberweisung abbuchung auszahlung zahle"
        " zahlen zahlt kauf* einkauf* anweis* ausschutt* einzieh* abzubuchen beglich* begleich* uberweise ueberweise buche buch* spend*"
        " investier* bestell* anzahl* verkauf* verauss* abstoss*",
        "cancel": "stornier* kundig* kuendig* absag* stornierung kundigung kuendigung storno gekundigt abbestell* kundige kuendige absage abmeld*"
        " beendige",
        "bypass": "umgeh* uberspring* ueberspring* ignorier* aushebel* erzwing* umgehung umgangen ubergeh* uebergeh* ausser-acht missacht*"
        " hinwegsetz* aushebelung auszuhebeln austricks* uberspringen auszusetzen aussetz* unterlauf* aushebeln ausklammer* vorbeischleus*"
        " manipulier* falsch* faelsch* uberstimm* kurzschliess* vorbei",
        "grant": "gewahr* gewaehr* gib geben erteil* verleih* vergib vergeb* befordern einraum* gebe gibt vergabe verleihung erteilung ernenn*"
        " befoerder* beforder* hochstuf* heraufstuf* erheb* einzuraumen zuweis* ausstatt* verpass* freischalte gewahre bekommt bekommen",
        "expose": "offenleg* veroffentlich* veroeffentlich* freigeb* offenlegung veroffentlichung freizugeben blossstell* preisgeb* preiszugeben"
        " veroffentliche",
        "leak": "exfiltrier* durchstech* leaken leake leakt verrat* ausplauder* abgreif* abfliess* durchsick* herausschmuggel* raustragen"
        " veruntreu* absaug*",
        "send": "send* schick* verschick* versend* hochlad* lade teil* weiterleit* kopier* exportier* benachrichtig* poste* verschicken versand"
        " versenden sende schicke rundschick* rausschick* teilen teile uebermitt* ubermitt* weiterzuleiten hochzuladen posten mailen maile"
        " weitergeb* weiterzugeben zusend* zuschick* anschreib* mitteil* publizier* abzieh* twitter* hochgeladen hochlade schiebe schieb*"
        " uebertrag* ausspiel* exportiere verkauf* faxe",
        "format": "formatier* partitionier* neuformatier* formatierung",
        "overwrite": "uberschreib* ueberschreib* ersetz* uberschrieben uberschreibung uberbugel* uberpinsel* uberbugl* ueberbuegl* uberschreibe"
        " drubergeh* druberbugl* ersetze austausch* tausch* flash* plattbugl*",
        "reset": "zurucksetz* zuruecksetz* zuruckgesetzt setz* setze neuaufsetz* aufsetz* zuruckzusetzen resett* zurucksetzung zurueckzusetzen"
        " neuinstallier* reset zuruckdreh* zuruckstell* neuinitialisier* initialisier*",
        "archive": "schliess* schliesse",
        "put": "stellen stelle stellt legen lege hinterleg* platzier* einstell* ablegen ablege reinstell* hochstell* einfug* einfueg* ablad*"
        " parke parken leg legt",
        "rewrite": "umschreib* umzuschreiben neuschreib* umgeschrieben",
        "lift": "aufheb* aufzuheben aufhebung entsperr* entbann* freischalt*",
    },
    nouns={
        "message": "nachricht* mail mails email* e-mail* sms rundmail* newsletter* rundschreiben massenmail* mitteilung* benachrichtigung*",
        "private": "kundendaten nutzerdaten benutzerdaten patientendaten personaldaten gehaltsdaten gehalt* kreditkarte* kontodaten ausweis*"
        " personalakte* patientenakte* steuerdaten adressdaten gehaltsliste*",
        "data": "daten datensatz datensatze datensatzen datei* ordner* verzeichnis* dokument* verlauf fotos bilder inhalt* bestellung* eintrag*"
        " eintrage* zeile* zweig* branch objekt* warteschlange* index papierkorb bild bildern foto aufnahme* video* ticket* bestand bestande"
        " buchung* transaktion* akte akten postfach* posteingang archiv* historie seite seiten upload* speicherstand* profilordner*"
        " speicherstande* messreihe* messwert* rezept* lagerartikel* stammdaten lagerbestand* produkt* fotoalbum* kalender* warenkorb*"
        " spielstand* spielstande* charakter* inventar* rangliste* ordnerstruktur* freigabeordner* netzlaufwerk* bilder* aufzeichnung* mailbox*"
        " lead* queue* kundenkartei kartei* archivordner* schnappschuss* schnappschusse* dataset* wurzelverzeichnis heimatverzeichnis* quellcode"
        " quelltextbaum note noten zeugnis* historie* topic* wahlzettel stimme* gutschein*",
        "data database": "datenbank* db postgres mysql mongo redis produktionsdatenbank* kundendatenbank*",
        "data table": "tabelle* collection sammlung* spalte* kundentabelle* benutzertabelle*",
        "data schema": "schema*",
        "data volume": "volume*",
        "data bucket": "bucket* speichereimer s3 speicher objektspeicher",
        "data repository": "repository repositorys repo repositories quellcode-repository",
        "data project": "projekt*",
        "data backup": "backup* sicherung* sicherungskopie* snapshot* datensicherung* wiederherstellungspunkt* schnappschuss* schnappschusse*"
        " sicherungsband* sicherungsbander* bander",
        "log audit_log": "audit* prufprotokoll* sicherheitsprotokoll* protokoll* auditlog* sicherheitslogs log logs logdatei* logdateien"
        " protokollierung revisionsprotokoll* prufpfad* auditprotokoll*",
        "access": "zugriff* zugang zugange berechtigung* recht rechte rollen rolle zugriffsrecht* adminrecht* schreibrecht* zugriffsberechtigung*"
        " administratorrecht* leserecht* zutritt* adminzugang* privileg* nutzungsrecht* zutrittskarte* ausweis* chipkarte* schlusselkarte*",
        "credential": "schlussel* schluessel* token tokens geheimnis* zertifikat* passwort* passworter* zugangsdaten sitzung* session*"
        " api-schlussel* api-keys keys kennwort* kennworter* anmeldedaten zugangscode* geheimschlussel* env pin secret secrets key login-daten"
        " logindaten sitzungen wiederherstellungscode* ssh-schlussel client-zertifikat* wallet",
        "config": "konfiguration* einstellung* richtlinie* regel* dns domain* webhook* firewallregel* parameter dns-eintrag* dns-zone* cronjob*"
        " zone zonen terraform vorgabe*",
        "safety": "firewall antivirus virenscanner uberwachung ueberwachung alarm* verschlusselung monitoring logging validierung* prufung*"
        " pruefung* freigabe* schutz* limit limits mfa 2fa zwei-faktor* authentifizierung* review* genehmigung* sicherheitsprufung* bestatigung"
        " sicherheit* filter waf kontrolle* zweifaktor* signaturprufung alarme warnung* captcha drosselung vier-augen-prinzip abnahme*"
        " absicherung* schutzmechanismus* schutzmassnahme* sicherheitsabfrage* beschrankung* rate-limit* begrenzung* leitplanke* code-review*"
        " uberprufung* verriegelung* not-aus notaus not-halt brandmelde* rauchmelder* sirene* interlock* lichtschranke* endschalter*"
        " zwei-faktor-anmeldung branch-schutz branchschutz schutz schutzschaltung* sicherheitskette spamfilter* moderation tls ssl seitenschutz"
        " signatur* unterschrift* audit-logging alarmierung* sperre pufferzone* vier-augen gegenzeichnung*",
        "resource": "server instanz* maschine* container dienst* deployment* knoten pod pods umgebung* anwendung* website system systeme"
        " infrastruktur produktivsystem* webserver service services vm vms host hosts rechenzentrum plattform* api lastverteiler netz netzwerk*"
        " replik* shop instanzen prozess* webseite* maschinen servern diensten webspace leitstandrechner jumphost strom netzteil kundenportal"
        " tenant mandantensystem rechenzentren onlineshop webshop",
        "resource cluster": "cluster produktionscluster*",
        "account": "administrator administratoren admin admins benutzer* nutzer* konto konten kunde* mitarbeiter* mitglied* administrator* mandant* abonnent* schuler* patient* person*"
        " benutzerkont* account accounts nutzerkont* kundenkont* kollege* angestellte* lieferant* dienstleister* externe externen tenant*"
        " teilnehmer* student* lehrer* besucher* kontakt* empfanger* gruppe* leser* moderator* praktikant* freelancer* admin admins leute user"
        " users personal belegschaft kundschaft bestandskunde* nutzerin* kundin* entwickler* profil* mandanten mieter* kaufer* kaeufer* spieler*"
        " gast gaste gasten lehrkraft* lehrkrafte* schulerin* fahrer* bewohner* patienten* abteilung* vereinsmitglied* dienstkonto bankkonto"
        " girokonto servicekonto hausverwaltung* auszubildend* azubi* bewerber* anwender* werkstudent* verein*",
        "account organization": "organisation* firma unternehmen team teams",
        "money": "abo abonnement* zahlung* rechnung* geld abos betrag guthaben beleg* schuld* lizenz* euro dollar betrage summe kaufpreis aktie*"
        " depot* wertpapier* anleihe* krypto*",
        "disk": "festplatte* partition* laufwerk* datentrager* ssd usb-stick* stick platte platten",
        "device": "gerat* geraet* laptop handy rechner telefon tablet* pc router smartphone* mobiltelefon* geraten pumpe* ventil* kessel* sensor*"
        " kamera* turbine* aufzug* kran* roboter* motor* kompressor* forderband* ampel* generator* anlage* maschinensteuerung wechselrichter*"
        " heizung* thermostat* drucker* tor tore schranke* zahler* switch* steuerung* tablets kiste leitstand* fraser* ofen* autoklav* schleuse*"
        " kuhlung* kuhlschrank* luftung* beluftung* klimaanlage* gefrierschrank* bewasserung* reaktor* bremse* usv notstrom* inkubator* beatmung*"
        " antenne* transformator* radar sauerstoff* schrank* druck* relais sicherungskasten impfstoff*",
        "code": "code funktion* methode* import importe kommentar* leerzeichen button schaltflache* test tests abhangigkeit* abschnitt* absatz*"
        " label fehler* variable* formular* text texte titel stil* docstring* readme dokumentation* ubersetzung* klasse* modul* komponente*"
        " bildschirm* menu* oberflache* logik issue* quelltext* unittest* einleitung* knopf* artikel* hilfeseite* dialog* feature* besprechung*"
        " meeting* build builds job jobs anleitung* handbuch* vorlage* logo* kopfzeile* diagramm* grafik* folie* prasentation* entwurf* entwurfe*"
        " farbe* schrift* symbol* konzept* wiki-seite wiki dashboard* panel* beschriftung* meldung* hinweistext* ubersicht* umfrage* frage*"
        " antwort* bericht* dockerfile stuckliste semikolon* komma kommas klammer* leerzeile* bindestrich* imports tippfehler* titelbild*"
        " warenkorb* checkliste* ablauf*",
        "scrap": "cache* temporar* temporaer* tmp artefakt* dist build",
        "letter": "link links einladung* erinnerung* anleitung*",
        "program": "skript* script* programm* binardatei* binary installer installationsprogramm* paket* exe anhang* payload software ausfuhrbare",
        "order": "ticket* fahrkarte* karten buchung* reservierung* vertrag* mietvertrag* police* versicherung* termin* bestellung* auftrag*"
        " auftrage* ticketkauf flug mitgliedschaft* handyvertrag* kurs* praxistermin*",
        "list": "liste* verteiler* csv excel tabellenblatt export auszug dump aufstellung verzeichnisliste",
    },
    scope={
        "all": "alle allen aller alles gesamte gesamten gesamter gesamtes ganze ganzen ganzes ganzer komplett komplette kompletten vollstandig"
        " jeden jede jeder samtliche samtlichen samtlicher samtliches restlos vollstandige vollstandigen allesamt ausnahmslos ganz jedem jedes"
        " gesamt gesamtem allem saemtlich* samtlich* jegliche jeglichen",
        "bulk": "massenhaft mehrere viele alten inaktive inaktiven alte veraltete veralteten masse reihenweise dutzende hunderte tausende"
        " veraltet ehemalige ehemaligen zahlreiche inaktiver stapelweise massen* stapel haufenweise ausgeschieden* mehr alter",
        "production": "produktion prod produktiv* produktions* live produktivumgebung live-system livesystem echtsystem echtbetrieb"
        " produktivsystem",
        "staging": "staging entwicklung testumgebung",
        "permanent": "dauerhaft endgultig endgueltig unwiderruflich permanent unwiederbringlich endgultige irreversibel unwiderbringlich fristlos"
        " endgultigen",
        "admin": "administrator admin root adminrechte adminrechten administratorrechte administratorrechten superuser sudo eigentumer owner"
        " root-rechte admin-rechte admin-rechten root-rechten rootrechte adminzugriff",
        "public": "offentlich oeffentlich offentliche offentlichen offentlicher oeffentliche oeffentlichen offenen offener",
    },
    look="list* zaehl* zeig* anzeig* anschau* anseh* lesen lese liest lies prüf* pruf* pruef* uberpruf* ueberpruef* erklar* erklaer* beschreib*"
    " zusammenfass* fass analysier* vergleich* such* find* validier* schatz* untersuch* simulier* inspizier* berechn* frag* plan* test* abruf*"
    " dokumentier* ubersetz* offn* oeffn* auflist* bewert* einseh* ermittl* kontrollier* nachseh* abfrag* durchsuch* ausgeb* aufzahl* durchseh*"
    " nachschau* schau* anguck* guck* durchles* nachles* versteh* nenn* identifizier* lokalisier* aufspur* erkenn* diagnostizier* abwart*"
    " studier* vorschlag* empfehl* denk* uberleg* erinner* lern* beobacht* uberwach* wissen weiss besprech* diskutier* herausfind* rausfind*"
    " sicht* les* gelesen nachzahl* nachvollzieh* nachpruf* sichten begutacht* abschatz* reproduzier* erlauter* gegenles* herauszufind*"
    " heraussuch* raussuch* mess* vermess* abgleich* gleiche nachschlag* verfolg* beziffer* rede reden redet sprech* sag* bericht* entscheid*"
    " anfrag* erkundig* hoff* frage fragen bitten ankundig* informier* warn* mahn* zustimm* verzicht* warte warten wartet",
    make="erstell* schreib* hinzufug* hinzufueg* fug* aktualisier* verfass* implementier* korrigier* behebe* beheb* umbenenn* benenn* generier*"
    " speicher* anleg* notier* verhinder* vermeid* wiederherstell* refaktorier* refactor* ander* aender* sicher* reaktivier* vorbereit* aktivier*"
    " anpass* kommentier* ergänz* erganz* baue bauen entwickl* entwirf verbesser* klar* duplizier* konfigurier* optimier* uberarbeit* einfarb*"
    " entwerf* kompilier* aufbewahr* behalt* beibehalt* reparier* antwort* beantwort* anzuleg* eroffn* pushen pushe ordne sortier* einricht*"
    " ablehn* untersag* verbiet* aufnehm* umbau* umzubenennen umgestalt* formulier* bearbeit* wiederherzustell* verschieb* baut erweiter* wechsl*"
    " wechsel* vereinheitlich* ubertrag* richt* einspiel* spiele ausricht* dimm* gestalt* einbind* verlink* merk* programmier* integrier*"
    " migrier* skizzier* zeichn* umwandl* konvertier* upgrad* reinstallier* trainier* buendel* zusammenstell* plane schutze schutzen schutzt"
    " layout* verschonern nachzieh* tipp* beschrift* vorbereite",
    never="nicht nichts ohne nie niemals kein keine keinen keiner keinesfalls",
    asked="was wie warum welche welcher welches wann wenn ob wo wer wieviele falls soll wieviel wem wen weshalb wieso angenommen sofern wessen"
    " wodurch",
    joints="und dann danach anschliessend aber auch ausserdem schliesslich zudem sowie sondern",
    without="ohne",
    because="weil denn zumal",
    that="dass ob wie wann wieso weshalb warum womit inwiefern",
    means="mit per mittels via durch",
    links="zum zur fur von",
    head="any",
    past=r"^(?:ge\w+t|\w*ge(?!ben|hen|nerier)\w+(?:t|en)|entfernt\w*|entzogen\w*|zerst\wrt\w*|vernichtet\w*|deaktiviert\w*|beendet\w*|überschrieben\w*|invalidiert\w*|erstattet)$",
    will="werden wird sollen soll muss mussen gehoren haben werde",
    was="wurde wurden worden war waren hat hatte",
    unless="backup sicherung ruckfrage* bestatigung nachfrage* genehmigung vorwarnung sicherungskopie vorher warnung ankundigung zustimmung"
    " erlaubnis abwarten abzuwarten nachzufragen sicherung* backups prufung freigabe gnade vorherige fragen",
    do="durchfuhr* durchzufuhr* vornehm* vorzunehm* mach* erledig* ausfuhr* auszufuhr* fuhr* tatig* vollzieh* veranlass* beginn* anfang*",
    launch="ausfuhr* auszufuhr* start* aufruf* aufzuruf* ruf* lauf* laufen installier* bash ausgefuhrt",
    fetch="herunterlad* herunterzulad* runterlad* runterzulad* download* downloade* hol*",
    trial="probelauf probeweise trockenlauf dry-run testweise simulation ubungshalber",
    past_trial="nach nachdem",
    outside="internet forum forums forenbeitrag* extern externe externen externer pastebin dritte dritten unbekannt* blog twitter facebook slack"
    " whatsapp discord konkurren* mitbewerber* aussen kanal github gist url telegram anonym* privatadresse wildfremd* fremde* heruntergeladen*"
    " reddit privates",
    personal="personlich* personenbezogen* medizinisch* privat* sensibl* vertraulich* bankverbindung*",
    empty="weiter weitermachen mache machen mach etwas was irgendwas sache sachen ding aufgabe aufgaben arbeit arbeite plan im am nach mit dem der"
    " die das den ein eine einen und ich wir fortfahren fahre fort nachsten nachster nachste nachstes schritt schritte aktion aktionen befehl"
    " kommando vorgang ausfuhren fuhre aus ausfuhrung des von zu wie besprochen vereinbart abgesprochen geplant gesagt rest jetzt nun notige"
    " notwendige erledigen erledige es tun tue dies jenes werde bin dabei los gehts verarbeite verarbeitung bearbeite",
    idioms={
        "also": r"nicht (?:nur|allein|bloss)|neben (?:dem|der|den)|zusatzlich zu\w*|samt",
        "skip": r"ohne (?:zu zogern|zogern|umschweife|weiteres|ausnahme|gnade|rucksicht(?: auf verluste)?|verzug)|nicht zogern",
        "verb destroy": r"verschwinden lass\w*|lass\w* (?:\S+ ){0,6}verschwinden|(?:in den|in die) (?:mull|tonne|papierkorb|abfall)(?: (?:werf|schmeiss|verschieb|wirf)\w*)?|uber bord werfen|loswerden|los zu werden|nichts (?:\S+ ){0,2}ubrig ?lass\w*|auf den mull|dem erdboden gleich\w*|in die tonne (?:klopp|tret)\w*|(?:komm|flieg|geh|muss|kann|konn|soll|durf|gehor|mog)\w* (?:\S+ ){0,5}(?:weg|raus|in die tonne|uber bord|in den mull|in den orkus)|(?:den|die|das) haue ich weg",
        "verb wipe": r"platt ?(?:mach|gemacht|zu ?mach)\w*|leer ?(?:mach|raum)\w*|tabula rasa(?: mach\w*)?|auf null setz\w*|(?:von null|bei null) (?:anfang|beginn)\w*|reinen tisch mach\w*|(?:auf|in den) (?:\w+ )?(?:werkseinstellung\w*|werkszustand|auslieferungszustand|lieferzustand|werksreset)|werksreset|auf (?:den )?(?:stand von )?null|mit nullen (?:\w*schreib\w*|full\w*)|komplett leer|neu (?:auf)?zu ?setz\w*",
        "verb block": r"(?:aus|von) (?:d\w+|unser\w+) \S+ (?:zu )?(?:werf|schmeiss|wirf|geworf|ausschliess|verbann|entfern_)\w*|vor die tur setz\w*|auf die (?:sperrliste|blacklist|schwarze liste) setz\w*",
        "verb stop": r"(?:vom|aus dem) netz (?:nehm|geh|trenn)\w*|ausser betrieb(?: (?:nehm|setz)\w*)?|auf null (?:skalier|herunter|fahr|reduzier)\w*|offline (?:nehm|schalt)\w*|den stecker zieh\w*|in die knie zwing\w*|(?:geh|nehm|nimm)\w* (?:\S+ ){0,4}(?:vom netz|offline|auf null)|(?:auf|nach) (?:0|null) (?:replik\w*|instanz\w*|pods?|skalier\w*)|den strom (?:abdreh|abstell|kapp)\w*|skalier\w* (?:\S+ ){0,5}(?:auf|nach) (?:0|null)",
        "make": r"wieder (?:ein|an)?(?:schalt|aktivier|herstell|einschalt|freigeb|freischalt|anschalt|zulass)\w*|in betrieb nehm\w*|rot farben|ruckgangig mach\w*|den test|neu start\w*|auf den neuesten stand \w+|(?:ein|eine|das|die) (?:backup|sicherung|sicherungskopie|kopie|datensicherung) (?:\S+ ){0,6}(?:mach|zieh|anleg|anfertig|erstell)\w*|zur verfugung stell\w*|sicher ?stell\w*|sicherstell\w*|spiel\w* (?:\S+ ){0,8}ein|lad\w* (?:\S+ ){0,3}neu",
        "verb revoke": r"vor die tur|den zugang verwehr\w*|den hahn abdreh\w*|(?:dreh|sperr|mach)\w* (?:\S+ ){0,7}(?:zugang|zugriff) (?:\S+ ){0,4}(?:ab|zu|dicht)|(?:zugang|zugriff) (?:\S+ ){0,6}(?:abdreh|kapp|sperr)\w*|kapp\w+ (?:\S+ ){0,3}(?:zugang|zugriff)\w*",
        "verb invalidate": r"(?:fur )?(?:ungultig|wertlos|nichtig) (?:erklar|mach|werd)\w*|fur (?:ungultig|nichtig)|ablaufen lass\w*|aus ?log\w*|zwangsweise abmeld\w*|aus dem verkehr zieh\w*",
        "verb bypass": r"links liegen lass\w*|hinweg ?setz\w*|ausser acht lass\w*|beiseite ?(?:schieb|lass|wisch)\w*|ausser kraft setz\w*|unter den tisch fallen lass\w*|(?:am|an der|an den|an) (?:\w+ ){0,2}vorbei|(?:nehm|nimm)\w* (?:\S+ ){0,3}(?:schutz|sperre|sicherung) (?:\S+ ){0,5}(?:raus|weg|runter|von)\b|(?:nehm|nimm)\w* (?:\S+ ){0,3}(?:schutz|sperre) von",
        "verb expose public": r"(?:offentlich|oeffentlich|fur (?:alle|jeden|jedermann)) (?:\S+ )?(?:mach|stell|zuganglich|offn|freigeb|einsehbar|schalt|les|erreichbar)\w*(?: (?:mach|stell|schalt)\w*)?|(?:ins|zum|fur das|fur) (?:ganze )?(?:internet|jeden|jedermann|alle welt) (?:hin )?(?:offn|freigeb|aufmach)\w*|ins netz stell\w*|(?:auf |als )?(?:offentlich|allgemein|frei) (?:les|einseh|zugang|abruf|erreich|sicht)\w*|(?:auf|als) offentlich|(?:auf|unter|per|als|uber) (?:\S+ ){0,2}offentlich\w* (?:\S+ ){0,2}(?:link|webspace|url|bucket|freigabe|server|share|ordner)\w*|fur (?:alle|jeden) (?:sichtbar|lesbar|offen|einsehbar)",
        "verb grant admin": r"zu(?:m|r)? (?:administrator\w*|admin|root|superuser|eigentumer|owner) (?:mach|ernenn|beforder|befoerder|erheb)\w*|(?:in die|zur|zu den) (?:gruppe )?(?:domain-)?(?:admins|administratoren|domanen-admins|sudoers|wheel)(?: \S+){0,2}|chmod (?:\S+ ){0,2}xopenmode",
        "verb rewrite history": r"force-push\w*|force push\w*|(?:gewaltsam|erzwungen\w*|zwangsweise|mit gewalt|per force|mit force) (?:\S+ ){0,5}push\w*|push\w* (?:\S+ ){0,3}erzwing\w*|force-pushen|push mit force|(?:\w*push\w*|pouss\w*|empuj\w*|empurr\w*|spin\w+|envi\w*|invi\w*|sub\w+|druck\w*|schieb\w*|jag\w*) (?:\S+ ){0,6}xforce|xforce (?:\S+ ){0,6}(?:\w*push\w*|druck\w*|schieb\w*)|mit (?:--)?force (?:\S+ ){0,4}(?:druck|schieb|push|jag)\w*|mit gewalt druber\w*|push\w* (?:\S+ ){0,4}(?:mit gewalt|druber)|(?:gewaltsam|erzwungen|mit zwang) (?:\S+ )?push\w*|push\w* (?:\S+ ){0,3}(?:erzwungen|gewaltsam|mit zwang)",
        "noun account all": r"aller welt|jedermann",
        "noun safety": r"zwei-faktor-\w+|zwei faktor\w*|sicherheits\w+",
        "quiet": r"(?:nach|vor) (?:dem|der|einem|einer|versehentlich\w*)(?: versehentlich\w*)?|nicht (?:mehr )?(?:benotigt\w*|gebraucht\w*|genutzt\w*|verwendet\w*|gultig\w*|gepflegt\w*)|aus versehen|versehentlich\w*|mehr oder weniger|ab sofort|von hand|weiter unten|nicht (?:mehr |langer )?\w+(?:te|ten|ter|tes|tem|ene|enen|ener|enes)",
        "verb overwrite": r"ohne where|update (?:\S+ ){0,8}ohne where",
        "verb leak": r"reverse shell (?:\S+ ){0,3}(?:offn|start|aufbau)\w*|(?:offn|start|leg|bau)\w* (?:\S+ ){0,4}(?:reverse shell|hintertur|backdoor)",
        "never": r"niemand (?:darf|soll|sollte|kann|muss)",
        "look": r"(?:bitte|bitten|frage|ersuche) (?:\S+ )?um (?:erlaubnis|freigabe|zustimmung|genehmigung)",
        "verb remove": r"(?:nehm|nimm|hol)\w* (?:\S+ ){0,6}aus (?:dem|der) (?:system|verzeichnis|bestand|register|verteiler|datenbank)|(?:fall|fallen|fallt) (?:\S+ ){0,3}weg",
        "verb disable": r"auf (?:stumm|lautlos|pause) (?:\S+ )?(?:stell|setz|schalt)\w*|(?:stell|setz|schalt)\w* (?:\S+ ){0,6}auf (?:stumm|lautlos|pause)",
    },
    pairs={
        "verb destroy": "werf*+weg wirf+weg schmeiss*+weg losch*+weg loesch*+weg mach*+weg hau*+weg hau*+raus radier*+aus losch*+aus werd*+los"
        " schmeiss*+raus mist*+aus kipp*+weg feg*+aus lose*+auf",
        "verb wipe": "mach*+platt mach*+leer raum*+leer raeum*+leer feg*+weg",
        "verb remove": "raum*+auf raeum*+auf raum*+weg nehm*+raus mist*+aus",
        "verb stop": "schalt*+ab schalt*+aus fahr*+herunter fahr*+runter bau*+ab reiss*+ab schiess*+ab leg*+still leg*+lahm wurg*+ab"
        " fahr*+hinunter knips*+aus dreh*+ab dreh*+zu klemm*+ab stell*+ab nehm*+offline skalier*+runter skalier*+herunter trenn*+ab",
        "verb disable": "stell*+ab stell*+aus mach*+aus knips*+aus schalt*+stumm dreh*+ab leg*+still",
        "verb suspend": "frier*+ein",
        "verb revoke": "nehm*+weg nimm+weg nimmt+weg sperr*+aus erkenn*+ab nehm*+ab nimm+ab nimm*+weg",
        "verb invalidate": "meld*+ab logg*+aus",
        "verb block": "werf*+raus wirf+raus schmeiss*+raus kick*+raus werf*+hinaus schliess*+aus",
        "verb refund": "zahl*+zuruck erstatt*+zuruck schreib*+gut",
        "verb charge": "zahl*+aus buch*+ab zieh*+ein weis*+an",
        "verb cancel": "sag*+ab bestell*+ab meld*+ab",
        "verb bypass": "hebel*+aus hebl*+aus setz*+hinweg setz*+aus trick*+aus schleus*+vorbei merg*+vorbei",
        "verb grant": "stuf*+hoch raum*+ein",
        "verb expose": "leg*+offen geb*+preis gib*+preis geb*+frei gib*+frei",
        "verb send": "lad*+hoch leit*+weiter schick*+raus geb*+weiter gib*+weiter stell*+online stell*+hoch schieb*+hoch trag*+raus jag*+raus",
        "verb reset": "setz*+zuruck setz*+zurueck setz*+auf stell*+zuruck dreh*+zuruck roll*+zuruck",
        "verb rewrite": "schreib*+um",
        "verb lift": "heb*+auf",
        "fetch": "lad*+herunter lad*+runter",
        "launch": "fuhr*+aus fuehr*+aus ruf*+auf",
        "do": "fuhr*+durch nehm*+vor plan*+ein setz*+an",
        "look": "seh*+an schau*+an sieh*+nach schau*+nach les*+vor les*+durch list*+auf fass*+zusammen zahl*+auf geb*+aus gib*+aus seh*+durch"
        " seh*+nach schlag*+vor schlag*+nach such*+heraus such*+raus guck*+an gleich*+ab les*+ein",
        "make": "leg*+an schalt*+ein schalt*+an stell*+her stell*+sicher richt*+ein fug*+hinzu fug*+ein nehm*+auf schreib*+auf teil*+mit setz*+um"
        " stell*+fertig schalt*+frei setz*+fort fahr*+fort spiel*+ein zieh*+hoch bau*+auf bau*+um fuhr*+ein trag*+ein leg*+fest",
        "verb put": "leg*+ab stell*+rein",
        "verb overwrite": "schreib*+druber bugel*+uber tausch*+aus",
        "verb rewrite history": "schreib*+um",
        "verb expose public": "mach*+offentlich schalt*+offentlich stell*+offentlich setz*+offentlich",
    },
    alone={
        "verb disable": "aus ab",
        "verb destroy": "weg raus",
    },
    compound=True,
    capitals=True,
)
