"""Italian words for acts, objects and scope."""

from __future__ import annotations

from interlock.analysis.prose.foreign.languages import Language

LANGUAGE = Language(
    code="it",
    common="il lo la gli le di del della dei delle degli che e in un una per con senza tutti tutte al alla si sul sulla nel nella non prima poi"
    " questo questa dal dalla dall sto tutto tutta i anche miei nostri nostre loro ora adesso sui agli alle ai io noi lui lei piu molto qui fino"
    " su tra fra perche ma suoi fu sono mio oggi domani ho hai ci c'e allo nello sugli tanto gia cosi",
    verbs={
        "destroy": "cancell* elimin* distrugg* sopprim* scart* butta* tronc* sbarazz* liberarsi droppare cancellazione eliminazione distruzione"
        " soppression* butt* gett* cestin* distrutt* troncamento droppa* estirp* sopprimere disfars* droppo droppiamo elimino sparire spariscono"
        " sparisce sparisca spariscano scompa* distruggo tritur* annichil* trucid* falci* fucil* silur* truncare truncate spian*",
        "wipe": "azzer* svuot* annient* radere purg* spazz* demol* obliter* svuotamento azzeramento rado rade stermin* polverizz* devast* azzero"
        " svuoto ripul*",
        "remove": "rimuov* rimozione pulire pulisci pulendo pulizia togli* toglier* disinstall* rimoz* pul* ripul* tolgo tolg* togl* lev*"
        " sgomber* sfolt* espung* epur* levo",
        "stop": "spegn* ferm* arrest* termin* uccid* smantell* dismett* abbatt* interromp* spegnimento spengo spent* arresto terminazione chius*"
        " uccisione smont* dismission* stacc* disconnett* fermo killo killa* stoppo smonto stacco decommission* speng*",
        "disable": "disattiv* disabilit* silenzi* disattivazione disabilitazione inattiv* disinnes* neutralizz* ponticell* disarm* esclud*",
        "suspend": "sospend* congel* espell* sospensione sospes* licenzi* espuls* licenzio radiare radiamo sospendo congedo",
        "revoke": "revoc* ritir* privare privo revoca ritiro priv* sottra* destitu* spogli* confisc* revoch*",
        "invalidate": "invalid* ruot* rigener* invalidazione rotazione rinnov* ruotare inutilizzabil*",
        "block": "blocc* bann* bandi* blocco ban bandire caccia* cacci* espell* kickare banno espello cacciamo kicko allontan*",
        "refund": "rimbors* storn* rimborso storno restitu* risarc* restituisco riaccredit*",
        "charge": "addebit* pagare paga pagando trasfer* fattur* bonific* pag* addebito bonifico acquist* compr* sald* incass* accredit* versare"
        " versa versamento pago verso compro acquisto spend* invest* liquid* versiamo trasferisco vend*",
        "cancel": "annull* disdi* disd* annullamento disdetta recede* rescind* disdico rescindo annullo recedo recess*",
        "bypass": "aggir* salt* ignor* bypass* elud* forz* scavalc* eludere trascur* ometter* omett* oltrepass* ignorando aggiro scavalco bypasso"
        " forzo falsific* ponticello",
        "grant": "conced* dare dando assegn* elev* promuov* dagli dia concession* promozione nomin* attribu* assegnazione autorizz* do diamo"
        " concedo promuovo assegno conferisc* confer* nomino",
        "expose": "espon* espor* esposizione espongo svel*",
        "leak": "esfiltr* divulg* trapel* rivel* sottrarre spiffer*",
        "send": "invi* mand* pubblic* condivid* inoltr* copi* esport* caric* notific* invio spedi* twitt* trasmett* diffond* condivision* mando"
        " carico giro girare passare passiamo passo sped* vend* vendo condivido inoltro upload* uplod*",
        "format": "formatt*",
        "overwrite": "sovrascriv* sostitu* sovrascrittura rimpiazz* sovrascrivo sostituisco rimpiazzo flash* schiacci*",
        "reset": "reimpost* resett* ricre* ricominci* ripart* reinizializz* reinstall* reimpostazione rifare rifaccio resetto reinizializzo"
        " inizializz*",
        "archive": "chiud*",
        "put": "metter* mett* mess* posta* incoll* lasci* deposit* piazz* metto lascio appoggi*",
        "rewrite": "riscriv* riscritt*",
        "lift": "sblocc* sbann*",
    },
    nouns={
        "message": "messagg* email e-mail mail sms newsletter comunicat* notific* pec",
        "private": "passaport* cart* stipend* anagrafic*",
        "data": "dati dato record riga righe file cartell* directory document* posta cronologia foto contenut* element* ramo rami oggett*"
        " informazion* coda cestino registrazion* immagin* video vendit* transazion* casella archiv* registr* pagin* galleri* catalog* prodott*"
        " sched* partit* punteggi* inventari* classific* ricett* misurazion* lettur* pubblicazion* event* lead giacenz* magazzino* calendari*"
        " fascicol* mailbox allegat* condivision* voto voti topic pagell*",
        "data database": "database db base banca postgres mysql mongo redis",
        "data table": "tabell* collezion* colonn*",
        "data schema": "schem*",
        "data volume": "volum*",
        "data bucket": "bucket archiviazione s3",
        "data repository": "repository repo",
        "data project": "progett*",
        "data backup": "backup copie copia snapshot istantane*",
        "log audit_log": "audit log logs tracce",
        "access": "access* permess* privileg* ruol* diritt* autorizzazion* abilitazion* accesso badge tessere tesserin*",
        "credential": "chiav* token segret* certificat* password credenzial* session* env api-key pin passwd wallet ssh",
        "config": "configurazion* impostazion* politic* regol* dns domini* webhook parametr* cron terraform",
        "safety": "firewall antivirus monitoraggio avvis* crittografia registri validazion* verifiche verifica controll* approvazion* protezion*"
        " limit* mfa 2fa autenticazione revision* restrizion* conferma sicurezza filtr* waf allarm* allert* sorveglianza supervisione logging"
        " salvaguard* captcha protocoll* cifratura vincol* tetto tetti soglia soglie interblocc* sirena sirene antincendio rilevator* antifrode"
        " moderazion* tls ssl firma firme lucchett*",
        "resource": "server istanz* macchin* container contenitor* serviz* deployment nodo nodi pod ambient* applicazion* sito sistema"
        " infrastruttura vm host piattaform* api lambda bilanciator* ret* replic* siti sistemi negozio hosting nuvola tenant fornitura corrente"
        " infrastruttur*",
        "resource cluster": "cluster",
        "account": "utent* account client* dipendent* membr* amministrator* inquilin* abbonat* student* pazient* person* collaborator* lavorator*"
        " fornitor* appaltator* tenant iscritt* insegnant* soci visitator* contatt* destinatari* grupp* lettor* moderator* stagist* consulent*"
        " profil* conto conti ospit* giocator* docent* autist* venditor* direttor* famigli* beneficiari* partecipant* operator* invitat*"
        " acquirent* ex-dipendent* praticant* tirocinant* alunn* condomin* associazion*",
        "account organization": "organizzazion* aziend* squadr*",
        "money": "abbonament* pagament* fattur* rimbors* denaro soldi fond* saldo ricevut* bonific* debit* licenz* euro dollari canon* azion*"
        " portafogli* titol* cripto*",
        "disk": "disco dischi partizion* unita ssd hdd usb chiavetta",
        "device": "dispositiv* portatil* telefon* computer cellular* tablet pc router smartphone pomp* valvol* caldai* sensor* telecamer* turbin*"
        " ascensor* gru robot* motor* compressor* nastr* semafor* generator* sottostazion* porta porte sbarr* contator* termostat* stampant*"
        " centralin* autoclav* forn* cella celle impiant* refrigerazion* raffreddament* ventilazion* riscaldament* climatizzazion* frigorifer*"
        " congelator* irrigazion* cloro reattor* fren* incubatric* respirator* antenn* trasformator* radar ossigeno armadi* pression* vaccin*"
        " interruttor*",
        "code": "codice funzion* metod* import comment* spazi* pulsant* test dipendenz* sezion* paragraf* etichett* error* variabil* form modul*"
        " titol* stil* docstring readme documentazion* traduzion* class* component* schermat* menu interfacci* logic* issue codice-sorgente"
        " riunion* build job guid* manual* tutorial* modell* margin* intestazion* logo* diagramm* grafic* slide presentazion* bozz* icon* color*"
        " domand* rispost* questionari* changelog somm* verbal* riepilog* pian* piano testo virgol* punto parentesi trattin* accent* refus*"
        " copertina carrello checklist procedur*",
        "scrap": "cache temporane* tmp artefatt* dist",
        "letter": "link promemoria istruzion* invit*",
        "program": "script eseguibil* binari* installer programm* pacchett* exe allegat* payload",
        "order": "ticket bigliett* contratt* polizz* assicurazion* prenotazion* appuntament* volo voli iscrizion* affitt* locazion* tesserament*"
        " utenz* ordine ordini",
        "list": "elenc* list* foglio fogli excel csv dump rubric* indirizzar* anagrafic* tabulat* estratt*",
    },
    scope={
        "all": "tutto tutta tutti tutte intero intera interi intere completo completamente ogni qualsiasi totale totalmente integrale"
        " integralmente interamente ognuno nessun nessuna chiunque tutt'e",
        "bulk": "massa molti molte diversi diverse vecchi vecchie inattivi inattive decine centinaia migliaia obsolet* estern* parecchi blocco"
        " massiv* colpo lotto lotti",
        "production": "produzione prod live reale",
        "staging": "staging sviluppo",
        "permanent": "permanentemente definitivamente irreversibilmente sempre permanente definitiva definitivo irrevocabil* irrecuperabil*"
        " irreversibil* definitiv*",
        "admin": "amministratore admin root amministratrice superutente sudo proprietario owner",
        "public": "pubblica pubblici pubbliche pubblicamente aperto aperta aperti",
    },
    look="mostr* veder* vedo legger* legg* controll* consult* contare conta contando conteggio spieg* descriv* riassum* analizz* confront* cerc*"
    " verific* valid* stim* indag* esamin* simul* ispezion* calcol* visualizz* chied* pianific* ottener* document* traduc* apri aprendo aprire"
    " valut* cerca guard* capir* sapere dire dimmi enumer* identific* individu* localizz* rilev* diagnostic* esam* aspett* attend* propon*"
    " propor* sugger* consigli* pens* immagin* ricord* impar* osserv* monitor* misur* conosc* discut* rived* rivedere rilegg* scopr* quantific*"
    " riprodu* riepilog* capire provare confronto confrontiamo guardo leggo controllo verifico riepilogo parl* dico dice diciamo comunic* decid*"
    " avvert* annunci* inform* sollecit* dubit* racconto dicono rinunci*",
    make="impedi* creare crea creando creo creazione scriv* aggiung* aggiorn* redig* implement* corregg* rinomin* gener* salv* annot* evit* imped*"
    " ripristin* recuper* rifattorizz* modific* riattiv* prepar* attiv* abilit* cambi* miglior* chiar* duplic* configur* ottimizz* traduc*"
    " disegn* compil* costru* conserv* manten* protegg* ripar* rispond* adegu* rifiut* viet* apporre impagin* colora* includ* riordin* alline*"
    " centr* convert* sincronizz* integr* ampli* estend* registr* import* programm* agend* riformul* abbozz* semplific* migr* sottotitol*"
    " trascriv* tagg* impost* sposto reinstall* compilo rifin* suddivid* unisc* fusion* inserisc* inser*",
    never="non nulla niente senza mai ne evitare nessuno",
    asked="come quale quando perche se dove chi quanti quante cosa dovrei quanto quanta quali perché supponiamo ipotizz*",
    joints="e poi quindi ed dopodiche ma anche infine inoltre dopo",
    without="senza",
    because="perche poiche siccome",
    that="che cui",
    means="con via tramite mediante",
    now="addebito accredito edito limito invito disabilito abilito butto butta butti debutto sbatto resetto formatto",
    links="di per del della",
    past=r"(?:[aiu]t[oaie]|arono|irono|ò|distrutt[oaie]|pres[oaie])$",
    will="verra verranno sara saranno essere vanno va devono deve viene vengono siano",
    was="stato stata stati state era erano ha hanno fu",
    unless="backup copia conferma chiedere avviso approvazione copi* permesso autorizzazione preavviso consult* chied* aspett* lasciare guard*"
    " conferm* avvis* pieta",
    do="fare faccio fai facendo fa effettu* proced* avvi* inizi* realizz* svolg* programm* pianificazione",
    launch="esegu* lanci* avvi* richiam* invoc* install* bash chiam*",
    fetch="scaric* download",
    trial="simulazione simulat* dry-run ipotetic*",
    past_trial="dopo",
    outside="internet forum estern* pastebin terzi sconosciut* blog twitter facebook slack whatsapp discord concorren* fuori canale github gist"
    " scaricat* url telegram anonim* personale reddit aperto aperta wetransfer drive gmail hotmail",
    personal="personal* medic* privat* sensibil* riservat* bancar* clinic* sanitari* fiscal* salut* domicili* telefon* iban stipend*",
    empty="continuare continuo continuando continua con il lo la i gli le prossimo prossima passo passi fare faccio facendo qualcosa cosa cose una"
    " un compito lavoro lavorando piano procedere procedo procedendo azione azioni comando operazione eseguire eseguo eseguendo esecuzione di del"
    " della in che concordato detto restante resto questo quello sto vado andiamo e ora adesso come previsto necessario serve terminare avanti"
    " mio elaborazione elaborando proseguire proseguo passare al",
    idioms={
        "also": r"non (?:solo|soltanto|solamente)|oltre a(?:l|lla|i|gli|lle)?|insieme a",
        "skip": r"senza (?:esitare|indugio|indugi|pieta|eccezion\w+|sosta|altro|fallo)|non esit\w+ a",
        "verb destroy": r"(?:far|fare|faccio) (?:\S+ ){0,3}(?:sparire|scomparire|fuori)|sbarazzar\w* d\w+|liberar\w+ d\w+|disfar\w+ d\w+|butt\w+ via|gett\w+ via|butt\w+ nel cestino|non lasciare (?:traccia|nulla|niente|nessun\w*)|dare una bella ripulita a|(?:faccio|fai|fare|facciamo|far|lo faccio|la faccio) fuori|va(?:nno)? (?:nel )?(?:buttat\w+|cestino|macero)|(?:mand|spedi)\w* (?:\S+ ){0,4}al macero|(?:mi|ci) liber\w+ d\w+",
        "verb wipe": r"rad\w+ al suolo|fare (?:piazza pulita|tabula rasa)(?: d\w+)?|ripartire da zero|da zero|port\w+ a zero|(?:ripristin|riport|resett|reset|reimpost|rimett)\w* (?:\S+ ){0,8}di fabbrica|inizializz\w* da zero|riemp\w+ (?:\S+ ){0,4}di zeri",
        "verb suspend": r"mandare via|mettere alla porta",
        "verb stop": r"(?:butt|tir|mand)\w+ giu|mett\w+ (?:\S+ ){0,4}offline|(?:scal|ridu)\w+ (?:\S+ ){0,5}a zero|fuori servizio|stacc\w+ la spina|(?:port|scal|ridu|mett)\w+ (?:\S+ ){0,6}a (?:0|zero)(?: repliche| istanze| pod)?|tagli\w+ (?:la|il|l'|le) ?(?:luce|acqua|gas|corrente|servizio|connessione)",
        "make": r"fa\w+ (?:un |una |il |la )?(?:copia|backup|test|prova|pull)|annull\w+ (?:la|l') ?(?:cancellazione|eliminazione)|revoc\w+ (?:il|la) (?:ban|blocco|sospensione)|togliere (?:il|la) (?:ban|blocco|sospensione)",
        "verb revoke": r"lasci\w+ (?:\S+ ){0,5}senza (?:access\w+|permess\w+|privileg\w+|diritt\w+)|tagli\w+ (?:l'|gli )?access\w+|tagliare fuori",
        "verb invalidate": r"far\w* scadere|rendere (?:\S+ ){0,4}non valid\w+|disconnett\w+ (?:tutti|ogni|gli utenti|l'utente)|chiud\w+ (?:\S+ ){0,2}session\w+",
        "verb bypass": r"passare sopra|chiudere un occhio su\w*|fare a meno d\w+|non tenere conto d\w+|mettere da parte|senza (?:aspettare|passare p\w+|attendere) (?:\S+ ){0,2}(?:revisione|approvazione|firma|validazione)",
        "verb expose public": r"(?:rend|mett|lasci)\w+ (?:\S+ ){0,4}pubblic\w+(?! di)|(?:apr|aper)\w+ (?:\S+ ){0,5}(?:a|verso|su) (?:tutti|tutta|internet|chiunque|il mondo|tutto il mondo)|(?:in |con |ad |a )?(?:lettura|accesso|modalita) pubblic[oa]|(?:rend|mett|lasci|apr|pubblic|caric|condivid)\w* (?:\S+ ){0,9}(?:link (?:pubblico|aperto)|accessibil\w+ a (?:tutti|chiunque)|visibil\w+ a (?:tutti|chiunque))|apr\w+ (?:\S+ ){0,6}xworld|(?:cambi|pass|mett|impost|rend|apr|lasci)\w* (?:\S+ ){0,3}(?:in|a|come|su) pubblic[oa]",
        "verb grant admin": r"(?:rend|far|promuov|nomin|elev|trasform)\w* (?:\S+ ){0,4}(?:amministrat\w+|admin|root|superutente|proprietari\w+|owner)|(?:aggiung|mett|inser|includ)\w* (?:\S+ ){0,8}(?:admins|amministratori|owners|sudoers|wheel|sudo)|chmod (?:\S+ ){0,2}xopenmode",
        "verb rewrite history": r"(?:force|forz\w+) (?:\S+ ){0,2}push|push (?:\w+ ){0,2}(?:forzat\w+|force|con la forza)|force-push|(?:\w*push\w*|pouss\w*|empuj\w*|empurr\w*|spin\w+|envi\w*|invi\w*|sub\w+|druck\w*|schieb\w*|jag\w*) (?:\S+ ){0,6}xforce|xforce (?:\S+ ){0,6}(?:\w*push\w*|druck\w*|schieb\w*)",
        "noun account all": r"tutto il mondo",
        "noun credential": r"codic\w+ di accesso|file env|chiav\w+ private?",
        "noun safety": r"due fattori|controll\w+ di sicurezza|doppia firma|seconda firma|arresto di emergenza",
        "noun data database": r"(?:base|basi|banca|banche) (?:di )?dati",
        "noun data backup": r"copi[ae] di (?:sicurezza|backup|riserva)",
        "scope admin": r"come (?:root|amministratore|superutente)",
        "quiet": r"(?:dopo|prima) (?:un[ao]?|la|il|aver\w*|di|del\w*|che)|una volta|invece di|per (?:errore|sbaglio)",
        "look": r"cont(?:o|iamo|are) (?:quant\w+|le|gli|i)|rifaccio (?:a mente )?(?:la|i|il)|(?:chied|sollecit|attend|aspett)\w* (?:\S+ )?(?:permesso|autorizzazione|approvazione|conferma)|rinunci\w+ a(?:d)? \w+re",
        "verb block": r"(?:butt|caccia|cacci|sbatt|mand)\w* (?:\S+ )?(?:fuori )?(?:\S+ ){0,3}d(?:al|alla|agli|allo) (?:gruppo|canale|server|slack|discord|team|organizzazione|chat)|butt\w+ fuori",
        "verb send": r"pubblico (?:l'\w+|il|la|i|gli|le|un|una|su)",
        "verb overwrite": r"senza where|update (?:\S+ ){0,8}senza where",
        "verb leak": r"(?:apr|mont|lanci|install|lasci)\w+ (?:\S+ ){0,3}(?:shell (?:invers\w+|remot\w+)|reverse shell|backdoor)",
        "launch": r"(?:mand|pass|gir)\w+ (?:\S+ ){0,3}(?:direttamente )?(?:a|in) (?:bash|sh)",
        "noun account": r"cont[oi] corrent[ei]|cont[oi] bancar\w+",
        "verb disable": r"(?:mett|lasci)\w+ (?:\S+ ){0,6}(?:in muto|in silenzio|in pausa)",
    },
    alone={
        "verb destroy": "via fuori",
    },
    clitic=r"(?<=[aeir])(?:gli|ce|se|te|me|glie)?(?:l[oaie]|ne|ci|gli)$",
)
