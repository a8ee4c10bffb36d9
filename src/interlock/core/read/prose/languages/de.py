"""German words for acts, objects and scope."""

from __future__ import annotations

from interlock.core.read.prose.language import Language

LANGUAGE = Language(
    code="de",
    common="der die das den dem des und in ein eine einen einem einer fur mit ohne alle allen aller alles zu aus auf ist von im nicht wir ich vor"
    " nach dann wird werden sich am bei vom zum zur jetzt sowie bitte auch meine unsere unserer unseren ihr ihre ihnen uns es sind als so um"
    " weiter",
    verbs={
        "destroy": "losch* loesch* geloscht geloescht entsorg* vernicht* zerstor* zerstoer* verwerf* wegwerf* wirf droppe* droppen tilg* truncat*"
        " ausradier* loszuwerden loswerden verschwinden loschung vernichtung beseitig* weghau* wegschmeiss* weggeworfen wegzuwerfen wegwerfen"
        " eliminier* kassier* schredder* kloppen droppt gedroppt ausmerz* liquidier*",
        "wipe": "ausloesch* auslosch* plattmach* ausmist* tabula platt auszuloschen leerung geleert leerraum* leermach* ausraum* plattmachen"
        " plattzumachen plattgemacht entleer* purg* wegfeg* leeren leere leert",
        "remove": "entfern* raum* aufraum* bereinig* saub* saeub* aufgeraumt deinstallier* wegraum* entfernt entfernung raeum* weggenommen wegmach*"
        " rausnehm* rausloesch* wegbekomm* abraum*",
        "stop": "stopp* beend* abschalt* schalt* herunterfahr* runterfahr* heruntergefahren abgeschaltet terminier* kill* abreiss* abbau* fahr* fahre"
        " stillleg* stilleg* abschiess* lahmleg* ausschalt* herunterzufahren abzuschalten auszuschalten abschaltung stilllegung stoppung"
        " beendigung runterzufahren abwurg* abgestellt abzustellen niederreiss* terminierung vom-netz abgeschossen abschuss ausknips*"
        " demontier*",
        "disable": "deaktivier* deaktiviert abstell* stummschalt* ausgeschaltet stell deaktivierung ausser ausgeknipst abgestellt ausstell* ausmach*"
        " lahm*",
        "suspend": "suspendier* einfrier* sperr* gesperrt suspendierung einfrieren eingefroren sperrung entlass* feuer* rauszuwerfen exmatrikulier*",
        "revoke": "entzieh* entzog* widerruf* wegnehm* nimm entzogen widerrufen aberkenn* entzug widerrufung wegzunehmen weggenommen entreiss* beraub*"
        " einkassier* aussperr* abnehmen",
        "invalidate": "invalidier* rotier* erneuer* ungultig ungueltig rotation ungultigmach* annullier* entwert* ausloggen auszuloggen abmelden abzumelden"
        " verfallen",
        "block": "blockier* bann* verbann* rauswerf* rausschmeiss* blockierung bann verbannung rauskick* kick* hinauswerf* hinausschmeiss*"
        " ausschliess* rausgeworfen vergraul*",
        "refund": "erstatt* ruckerstatt* zuruckerstatt* rueckerstatt* zurueckerstatt* erstattung ruckerstattung ruckzahl* rueckzahl* gutschreib*"
        " zuruckzahl* zurueckzahl* erstattet",
        "charge": "bezahl* zahl* uberweis* ueberweis* belast* abbuch* auszahl* auszuzahlen ausgezahlt uberweisung abbuchung auszahlung zahle zahlen"
        " zahlt kauf* einkauf* anweis* ausschutt* einzieh* abzubuchen beglich* begleich*",
        "cancel": "stornier* kundig* kuendig* absag* stornierung kundigung kuendigung storno gekundigt abbestell*",
        "bypass": "umgeh* uberspring* ueberspring* ignorier* aushebel* erzwing* umgehung umgangen ubergeh* uebergeh* ausser-acht missacht* hinwegsetz*"
        " aushebelung auszuhebeln austricks* uberspringen auszusetzen aussetz* unterlauf* aushebeln",
        "grant": "gewahr* gewaehr* gib geben erteil* verleih* vergib vergeb* befordern einraum* gebe gibt vergabe verleihung erteilung ernenn*"
        " befoerder* beforder* hochstuf* heraufstuf* erheb* einzuraumen zuweis*",
        "expose": "offenleg* veroffentlich* veroeffentlich* freigeb* offenlegung veroffentlichung freizugeben blossstell* preisgeb* preiszugeben",
        "leak": "exfiltrier* durchstech* leaken leake leakt verrat* ausplauder* abgreif* abfliess* durchsick* herausschmuggel* raustragen",
        "send": "send* schick* verschick* versend* hochlad* lade teil* weiterleit* kopier* exportier* benachrichtig* poste* verschicken versand"
        " versenden sende schicke rundschick* rausschick* teilen teile uebermitt* ubermitt* weiterzuleiten hochzuladen posten mailen maile"
        " weitergeb* weiterzugeben zusend* zuschick* anschreib* mitteil* publizier* abzieh* twitter* hochgeladen",
        "format": "formatier* partitionier* neuformatier* formatierung",
        "overwrite": "uberschreib* ueberschreib* ersetz* uberschrieben uberschreibung uberbugel* uberpinsel*",
        "reset": "zurucksetz* zuruecksetz* zuruckgesetzt setz* setze neuaufsetz* aufsetz* zuruckzusetzen resett* zurucksetzung zurueckzusetzen"
        " neuinstallier* reset",
        "archive": "schliess* schliesse",
        "put": "stellen stelle stellt legen lege hinterleg* platzier* einstell* ablegen ablege reinstell* hochstell* einfug* einfueg*",
        "rewrite": "umschreib* umzuschreiben neuschreib* umgeschrieben",
        "lift": "aufheb* aufzuheben aufhebung entsperr* entbann* freischalt*",
    },
    nouns={
        "message": "nachricht* mail mails email* e-mail* sms rundmail* newsletter* rundschreiben massenmail* mitteilung* benachrichtigung*",
        "private": "kundendaten nutzerdaten benutzerdaten patientendaten personaldaten gehaltsdaten gehalt* kreditkarte* kontodaten ausweis*"
        " personalakte* patientenakte* steuerdaten adressdaten gehaltsliste*",
        "data": "daten datensatz datensatze datensatzen datei* ordner* verzeichnis* dokument* verlauf fotos bilder inhalt* bestellung* eintrag*"
        " eintrage* zeile* zweig* branch objekt* warteschlange* index papierkorb bild bildern foto aufnahme* video* ticket* bestand bestande"
        " buchung* transaktion* akte akten postfach* posteingang archiv* historie seite seiten upload* speicherstand*",
        "data database": "datenbank* db postgres mysql mongo redis produktionsdatenbank* kundendatenbank*",
        "data table": "tabelle* collection sammlung* spalte* kundentabelle* benutzertabelle*",
        "data schema": "schema*",
        "data volume": "volume*",
        "data bucket": "bucket* speichereimer s3 speicher objektspeicher",
        "data repository": "repository repositorys repo repositories quellcode-repository",
        "data project": "projekt*",
        "data backup": "backup* sicherung* sicherungskopie* snapshot* datensicherung* wiederherstellungspunkt*",
        "log audit_log": "audit* prufprotokoll* sicherheitsprotokoll* protokoll* auditlog* sicherheitslogs log logs logdatei* logdateien protokollierung"
        " revisionsprotokoll* prufpfad* auditprotokoll*",
        "access": "zugriff* zugang zugange berechtigung* recht rechte rollen rolle zugriffsrecht* adminrecht* schreibrecht* zugriffsberechtigung*"
        " administratorrecht* leserecht* zutritt* adminzugang* privileg* nutzungsrecht*",
        "credential": "schlussel* schluessel* token tokens geheimnis* zertifikat* passwort* passworter* zugangsdaten sitzung* session* api-schlussel*"
        " api-keys keys kennwort* kennworter* anmeldedaten zugangscode* geheimschlussel* env pin secret secrets key login-daten logindaten"
        " sitzungen",
        "config": "konfiguration* einstellung* richtlinie* regel* dns domain* webhook* firewallregel* parameter dns-eintrag* dns-zone* cronjob* zone"
        " zonen terraform vorgabe*",
        "safety": "firewall antivirus virenscanner uberwachung ueberwachung alarm* verschlusselung monitoring logging validierung* prufung* pruefung*"
        " freigabe* schutz* limit limits mfa 2fa zwei-faktor* authentifizierung* review* genehmigung* sicherheitsprufung* bestatigung"
        " sicherheit* filter waf kontrolle* zweifaktor* signaturprufung alarme warnung* captcha drosselung vier-augen-prinzip abnahme*"
        " absicherung* schutzmechanismus* schutzmassnahme* sicherheitsabfrage* beschrankung* rate-limit* begrenzung* leitplanke* code-review*"
        " uberprufung*",
        "resource": "server instanz* maschine* container dienst* deployment* knoten pod pods umgebung* anwendung* website system systeme infrastruktur"
        " produktivsystem* webserver service services vm vms host hosts rechenzentrum plattform* api lastverteiler netz netzwerk* replik* shop"
        " instanzen prozess* webseite* maschinen servern diensten",
        "resource cluster": "cluster produktionscluster*",
        "account": "benutzer* nutzer* konto konten kunde* mitarbeiter* mitglied* administrator* mandant* abonnent* schuler* patient* person*"
        " benutzerkont* account accounts nutzerkont* kundenkont* kollege* angestellte* lieferant* dienstleister* externe externen tenant*"
        " teilnehmer* student* lehrer* besucher* kontakt* empfanger* gruppe* leser* moderator* praktikant* freelancer* admin admins leute user"
        " users personal belegschaft kundschaft bestandskunde* nutzerin* kundin* entwickler* profil* mandanten",
        "account organization": "organisation* firma unternehmen team teams",
        "money": "abo abonnement* zahlung* rechnung* geld abos betrag guthaben beleg* schuld* lizenz* euro dollar betrage summe vertrag vertrage"
        " vertragen kaufe kaufpreis",
        "disk": "festplatte* partition* laufwerk* datentrager* ssd usb-stick* stick platte platten",
        "device": "gerat* geraet* laptop handy rechner telefon tablet* pc router smartphone* mobiltelefon* geraten",
        "code": "code funktion* methode* import importe kommentar* leerzeichen button schaltflache* test tests abhangigkeit* abschnitt* absatz* label"
        " fehler* variable* formular* text texte titel stil* docstring* readme dokumentation* ubersetzung* klasse* modul* komponente*"
        " bildschirm* menu* oberflache* logik issue* quelltext* unittest* einleitung* knopf* artikel* hilfeseite* dialog* feature*",
        "scrap": "cache* temporar* temporaer* tmp artefakt* dist build",
        "letter": "link links einladung* erinnerung* anleitung*",
        "program": "skript* script* programm* binardatei* binary installer installationsprogramm* paket* exe anhang* payload software ausfuhrbare",
    },
    scope={
        "all": "alle allen aller alles gesamte gesamten gesamter gesamtes ganze ganzen ganzes ganzer komplett komplette kompletten vollstandig jeden"
        " jede jeder samtliche samtlichen samtlicher samtliches restlos vollstandige vollstandigen allesamt ausnahmslos ganz jedem jedes"
        " gesamt gesamtem allem",
        "bulk": "massenhaft mehrere viele alten inaktive inaktiven alte veraltete veralteten masse reihenweise dutzende hunderte tausende veraltet"
        " ehemalige ehemaligen zahlreiche inaktiver stapelweise",
        "production": "produktion prod produktiv* produktions* live produktivumgebung",
        "staging": "staging entwicklung testumgebung",
        "permanent": "dauerhaft endgultig endgueltig unwiderruflich permanent unwiederbringlich endgultige irreversibel unwiderbringlich",
        "admin": "administrator admin root adminrechte adminrechten administratorrechte administratorrechten superuser sudo eigentumer owner"
        " root-rechte admin-rechte admin-rechten root-rechten rootrechte adminzugriff",
        "public": "offentlich oeffentlich offentliche offentlichen offentlicher oeffentliche oeffentlichen",
    },
    look="list* zeig* anzeig* anschau* anseh* lesen lese liest lies prüf* pruf* pruef* uberpruf* ueberpruef* erklar* erklaer* beschreib*"
    " zusammenfass* fass analysier* vergleich* such* find* validier* schatz* untersuch* simulier* inspizier* berechn* frag* plan* test* abruf*"
    " dokumentier* ubersetz* offn* oeffn* auflist* bewert* einseh* ermittl* kontrollier* nachseh* abfrag* durchsuch* ausgeb* aufzahl*"
    " durchseh* nachschau* schau* anguck* guck* durchles* nachles* versteh* nenn* identifizier* lokalisier* aufspur* erkenn* diagnostizier*"
    " wart* abwart* studier* vorschlag* empfehl* denk* uberleg* erinner* lern* beobacht* uberwach* wissen weiss besprech* diskutier*"
    " herausfind* rausfind* sicht* les* gelesen nachzahl* nachvollzieh* nachpruf* sichten begutacht* abschatz* reproduzier* erlauter*"
    " gegenles*",
    make="erstell* schreib* hinzufug* hinzufueg* fug* aktualisier* verfass* implementier* korrigier* behebe* beheb* umbenenn* benenn* generier*"
    " speicher* anleg* lege notier* verhinder* vermeid* wiederherstell* refaktorier* refactor* ander* aender* sicher* reaktivier* vorbereit*"
    " aktivier* anpass* kommentier* ergänz* erganz* baue bauen entwickl* entwirf verbesser* klar* duplizier* konfigurier* optimier*"
    " uberarbeit* einfarb* entwerf* kompilier* aufbewahr* behalt* beibehalt* schutz* reparier* antwort* beantwort* anzuleg* eroffn* pushen"
    " pushe ordne sortier* einricht* ablehn* untersag* verbiet* aufnehm* umbau* umzubenennen umgestalt* formulier* bearbeit* wiederherzustell*"
    " verschieb*",
    never="nicht nichts ohne nie niemals kein keine keinen keiner keinesfalls",
    asked="was wie warum welche welcher welches wann wenn ob wo wer wieviele falls soll wieviel wem wen weshalb wieso angenommen sofern wessen"
    " wodurch",
    joints="und dann danach anschliessend aber auch ausserdem schliesslich zudem sowie sondern",
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
        "verb destroy": r"verschwinden lass\w*|lass\w* (?:\S+ ){0,6}verschwinden|(?:in den|in die) (?:mull|tonne|papierkorb|abfall)(?: (?:werf|schmeiss|verschieb|wirf)\w*)?|uber bord werfen|loswerden|los zu werden|nichts (?:\S+ ){0,2}ubrig ?lass\w*|auf den mull|dem erdboden gleich\w*|in die tonne (?:klopp|tret)\w*",
        "verb wipe": r"platt ?(?:mach|gemacht|zu ?mach)\w*|leer ?(?:mach|raum)\w*|tabula rasa(?: mach\w*)?|auf null setz\w*|(?:von null|bei null) (?:anfang|beginn)\w*|reinen tisch mach\w*",
        "verb block": r"(?:aus|von) (?:d\w+|unser\w+) \S+ (?:zu )?(?:werf|schmeiss|wirf|geworf|ausschliess|verbann|entfern_)\w*|vor die tur setz\w*|auf die (?:sperrliste|blacklist|schwarze liste) setz\w*",
        "verb stop": r"(?:vom|aus dem) netz (?:nehm|geh|trenn)\w*|ausser betrieb(?: (?:nehm|setz)\w*)?|auf null (?:skalier|herunter|fahr|reduzier)\w*|offline (?:nehm|schalt)\w*|den stecker zieh\w*|in die knie zwing\w*",
        "make": r"wieder (?:ein|an)?(?:schalt|aktivier|herstell|einschalt|freigeb|freischalt|anschalt|zulass)\w*|in betrieb nehm\w*|rot farben|ruckgangig mach\w*|den test|neu start\w*|auf den neuesten stand \w+|(?:ein|eine|das|die) (?:backup|sicherung|sicherungskopie|kopie|datensicherung) (?:\S+ ){0,6}(?:mach|zieh|anleg|anfertig|erstell)\w*|zur verfugung stell\w*|sicher ?stell\w*|sicherstell\w*",
        "verb revoke": r"vor die tur|den zugang verwehr\w*|den hahn abdreh\w*",
        "verb invalidate": r"(?:fur )?(?:ungultig|wertlos|nichtig) (?:erklar|mach|werd)\w*|fur (?:ungultig|nichtig)|ablaufen lass\w*|aus ?log\w*|zwangsweise abmeld\w*|aus dem verkehr zieh\w*",
        "verb bypass": r"links liegen lass\w*|hinweg ?setz\w*|ausser acht lass\w*|beiseite ?(?:schieb|lass|wisch)\w*|ausser kraft setz\w*|unter den tisch fallen lass\w*",
        "verb expose public": r"(?:offentlich|oeffentlich|fur (?:alle|jeden|jedermann)) (?:\S+ )?(?:mach|stell|zuganglich|offn|freigeb|einsehbar|schalt|les|erreichbar)\w*(?: (?:mach|stell|schalt)\w*)?|(?:ins|zum|fur das|fur) (?:ganze )?(?:internet|jeden|jedermann|alle welt) (?:hin )?(?:offn|freigeb|aufmach)\w*|ins netz stell\w*",
        "verb grant admin": r"zu(?:m|r)? (?:administrator\w*|admin|root|superuser|eigentumer|owner) (?:mach|ernenn|beforder|befoerder|erheb)\w*",
        "verb rewrite history": r"force-push\w*|force push\w*|(?:gewaltsam|erzwungen\w*|zwangsweise|mit gewalt|per force|mit force) (?:\S+ ){0,5}push\w*|push\w* (?:\S+ ){0,3}erzwing\w*|force-pushen|push mit force",
        "noun account all": r"aller welt|jedermann",
        "noun safety": r"zwei-faktor-\w+|zwei faktor\w*|sicherheits\w+",
    },
    pairs={
        "verb destroy": "werf*+weg wirf+weg schmeiss*+weg losch*+weg loesch*+weg mach*+weg hau*+weg hau*+raus radier*+aus losch*+aus werd*+los",
        "verb wipe": "mach*+platt mach*+leer raum*+leer raeum*+leer feg*+weg",
        "verb remove": "raum*+auf raeum*+auf raum*+weg nehm*+raus mist*+aus",
        "verb stop": "schalt*+ab schalt*+aus fahr*+herunter fahr*+runter bau*+ab reiss*+ab schiess*+ab leg*+still leg*+lahm wurg*+ab fahr*+hinunter",
        "verb disable": "stell*+ab stell*+aus mach*+aus knips*+aus schalt*+stumm dreh*+ab",
        "verb suspend": "frier*+ein",
        "verb revoke": "nehm*+weg nimm+weg nimmt+weg sperr*+aus erkenn*+ab nehm*+ab nimm+ab",
        "verb invalidate": "meld*+ab logg*+aus",
        "verb block": "werf*+raus wirf+raus schmeiss*+raus kick*+raus werf*+hinaus schliess*+aus",
        "verb refund": "zahl*+zuruck erstatt*+zuruck schreib*+gut",
        "verb charge": "zahl*+aus buch*+ab zieh*+ein",
        "verb cancel": "sag*+ab bestell*+ab",
        "verb bypass": "hebel*+aus hebl*+aus setz*+hinweg setz*+aus",
        "verb grant": "stuf*+hoch raum*+ein",
        "verb expose": "leg*+offen geb*+preis gib*+preis geb*+frei gib*+frei",
        "verb send": "lad*+hoch leit*+weiter schick*+raus geb*+weiter gib*+weiter stell*+online",
        "verb reset": "setz*+zuruck setz*+zurueck setz*+auf",
        "verb rewrite": "schreib*+um",
        "verb lift": "heb*+auf",
        "fetch": "lad*+herunter lad*+runter",
        "launch": "fuhr*+aus fuehr*+aus ruf*+auf",
        "do": "fuhr*+durch nehm*+vor",
        "look": "seh*+an schau*+an sieh*+nach schau*+nach les*+vor les*+durch list*+auf fass*+zusammen zahl*+auf geb*+aus gib*+aus seh*+durch"
        " seh*+nach",
        "make": "leg*+an schalt*+ein schalt*+an stell*+her stell*+sicher richt*+ein fug*+hinzu fug*+ein nehm*+auf schreib*+auf teil*+mit setz*+um"
        " stell*+fertig schalt*+frei setz*+fort fahr*+fort",
    },
    compound=True,
)
