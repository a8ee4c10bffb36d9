"""Italian words for acts, objects and scope."""

from __future__ import annotations

from interlock.core.read.prose.language import Language

LANGUAGE = Language(
    code="it",
    common="il lo la gli le di del della dei delle degli che e in un una per con senza tutti tutte al alla si sul sulla nel nella non prima poi"
    " questo questa dal dalla dall sto tutto tutta i anche miei nostri nostre loro ora adesso sui agli alle ai",
    verbs={
        "destroy": "cancell* elimin* distrugg* sopprim* scart* butta* tronc* sbarazz* liberarsi droppare cancellazione eliminazione distruzione"
        " soppression* butt* gett* cestin* distrutt* troncamento droppa* estirp* sopprimere disfars*",
        "wipe": "azzer* svuot* annient* radere purg* spazz* demol* obliter* svuotamento azzeramento rado rade stermin* polverizz* devast*",
        "remove": "rimuov* rimozione pulire pulisci pulendo pulizia togli* toglier* disinstall* rimoz* pul* ripul* tolgo tolg* togl* lev* sgomber*",
        "stop": "spegn* ferm* arrest* termin* uccid* smantell* dismett* abbatt* interromp* spegnimento spengo spent* arresto terminazione chius*"
        " uccisione smont* dismission* stacc* disconnett*",
        "disable": "disattiv* disabilit* silenzi* disattivazione disabilitazione inattiv*",
        "suspend": "sospend* congel* espell* sospensione sospes* licenzi* espuls*",
        "revoke": "revoc* ritir* privare privo revoca ritiro priv* sottra* destitu*",
        "invalidate": "invalid* ruot* rigener* invalidazione rotazione rinnov* ruotare",
        "block": "blocc* bann* bandi* blocco ban bandire caccia* cacci* espell* kickare",
        "refund": "rimbors* storn* rimborso storno restitu* risarc*",
        "charge": "addebit* pagare paga pagando trasfer* fattur* bonific* pag* addebito bonifico acquist* compr* sald* incass* accredit* versare versa"
        " versamento",
        "cancel": "annull* disdi* disd* annullamento disdetta recede* rescind*",
        "bypass": "aggir* salt* ignor* bypass* elud* forz* scavalc* eludere trascur* ometter* omett* oltrepass* ignorando",
        "grant": "conced* dare dando assegn* elev* promuov* dagli dia concession* promozione nomin* attribu* assegnazione autorizz*",
        "expose": "espon* espor* esposizione",
        "leak": "esfiltr* divulg* trapel* rivel* sottrarre spiffer*",
        "send": "invi* mand* pubblic* condivid* inoltr* copi* esport* caric* notific* invio spedi* twitt* trasmett* diffond* condivision*",
        "format": "formatt*",
        "overwrite": "sovrascriv* sostitu* sovrascrittura rimpiazz*",
        "reset": "reimpost* resett* ricre* ricominci* ripart* reinizializz* reinstall* reimpostazione rifare rifaccio",
        "archive": "chiud*",
        "put": "metter* mett* mess* posta* incoll* lasci* deposit* piazz*",
        "rewrite": "riscriv* riscritt*",
        "lift": "sblocc* sbann*",
    },
    nouns={
        "message": "messagg* email e-mail mail sms newsletter comunicat* notific* pec",
        "private": "passaport* cart* stipend* anagrafic*",
        "data": "dati dato record riga righe file cartell* directory document* posta cronologia foto contenut* ordin* element* ramo rami oggett*"
        " informazion* coda cestino registrazion* immagin* video ticket acquist* vendit* prenotazion* transazion* casella archiv* registr*"
        " pagin* galleri*",
        "data database": "database db base banca postgres mysql mongo redis",
        "data table": "tabell* collezion* colonn*",
        "data schema": "schem*",
        "data volume": "volum*",
        "data bucket": "bucket archiviazione s3",
        "data repository": "repository repo",
        "data project": "progett*",
        "data backup": "backup copie copia snapshot istantane*",
        "log audit_log": "audit log logs tracce",
        "access": "access* permess* privileg* ruol* diritt* autorizzazion* abilitazion* accesso",
        "credential": "chiav* token segret* certificat* password credenzial* session* env api-key pin passwd",
        "config": "configurazion* impostazion* politic* regol* dns domini* webhook parametr* cron terraform",
        "safety": "firewall antivirus monitoraggio avvis* crittografia log registri validazion* verifiche verifica controll* approvazion* protezion*"
        " limit* mfa 2fa autenticazione revision* restrizion* conferma sicurezza filtr* waf allarm* allert* sorveglianza supervisione logging"
        " salvaguard* captcha protocoll* cifratura vincol*",
        "resource": "server istanz* macchin* container contenitor* serviz* deployment nodo nodi pod ambient* applicazion* sito sistema infrastruttura vm"
        " host piattaform* api lambda bilanciator* ret* replic* siti sistemi negozio",
        "resource cluster": "cluster",
        "account": "utent* account client* dipendent* membr* amministrator* inquilin* abbonat* student* pazient* person* collaborator* lavorator*"
        " fornitor* appaltator* tenant iscritt* insegnant* soci visitator* contatt* destinatari* grupp* lettor* moderator* stagist* consulent*"
        " profil*",
        "account organization": "organizzazion* aziend* squadr*",
        "money": "abbonament* pagament* fattur* rimbors* denaro soldi fond* saldo ricevut* bonific* debit* licenz* euro dollari canon*",
        "disk": "disco dischi partizion* unita ssd hdd usb chiavetta",
        "device": "dispositiv* portatil* telefon* computer cellular* tablet pc router smartphone",
        "code": "codice funzion* metod* import comment* spazi* pulsant* test dipendenz* sezion* paragraf* etichett* error* variabil* form modul*"
        " test* titol* stil* docstring readme documentazion* traduzion* class* component* schermat* menu interfacci* logic* issue"
        " codice-sorgente",
        "scrap": "cache temporane* tmp artefatt* dist",
        "letter": "link promemoria istruzion* invit*",
        "program": "script eseguibil* binari* installer programm* pacchett* exe allegat* payload",
    },
    scope={
        "all": "tutto tutta tutti tutte intero intera interi intere completo completamente ogni qualsiasi totale totalmente integrale integralmente"
        " interamente ognuno nessun nessuna chiunque",
        "bulk": "massa molti molte diversi diverse vecchi vecchie inattivi inattive decine centinaia migliaia obsolet* estern* parecchi",
        "production": "produzione prod",
        "staging": "staging sviluppo",
        "permanent": "permanentemente definitivamente irreversibilmente sempre permanente definitiva definitivo irrevocabil* irrecuperabil* irreversibil*",
        "admin": "amministratore admin root amministratrice superutente sudo proprietario owner",
        "public": "pubblico pubblica pubblici pubbliche pubblicamente",
    },
    look="elenc* mostr* veder* vedo legger* legg* controll* consult* contare conta contando conteggio spieg* descriv* riassum* analizz* confront*"
    " cerc* verific* valid* stim* indag* esamin* simul* ispezion* calcol* visualizz* chied* pianific* ottener* document* traduc* apri aprendo"
    " aprire valut* cerca guard* capir* sapere dire dimmi enumer* identific* individu* localizz* tracci* rilev* diagnostic* esam* aspett*"
    " attend* studi* propon* propor* sugger* consigli* pens* immagin* ricord* impar* osserv* monitor* misur* conosc* discut* rived* rivedere"
    " rilegg* scopr* quantific* riprodu* riepilog* capire provare prova",
    make="creare crea creando creo creazione scriv* aggiung* aggiorn* redig* implement* corregg* rinomin* gener* salv* annot* evit* imped*"
    " ripristin* recuper* rifattorizz* modific* riattiv* prepar* attiv* abilit* cambi* miglior* chiar* duplic* configur* ottimizz* traduc*"
    " disegn* compil* costru* conserv* manten* protegg* ripar* rispond* adegu* rifiut* viet* apporre impagin* colora*",
    never="non nulla niente senza mai ne evitare",
    asked="come quale quando perche se dove chi quanti quante cosa dovrei quanto quanta quali perché supponiamo ipotizz*",
    joints="e poi quindi ed dopodiche ma anche infine inoltre dopo",
    past=r"(?:[aiu]t[oaie]|arono|irono|ò|utt[oaie]|pres[oaie])$",
    will="verra verranno sara saranno essere vanno va devono deve viene vengono siano",
    was="stato stata stati state era erano ha hanno fu",
    unless="backup copia conferma chiedere avviso approvazione copi* permesso autorizzazione preavviso consult* chied* aspett* lasciare guard*"
    " conferm* avvis* pieta",
    do="fare faccio fai facendo fa effettu* proced* avvi* inizi* realizz* svolg*",
    launch="esegu* lanci* avvi* richiam* invoc* install* bash",
    fetch="scaric* download",
    trial="simulazione simulat* dry-run ipotetic*",
    past_trial="dopo",
    outside="internet forum estern* pastebin terzi sconosciut* blog twitter facebook slack whatsapp discord concorren* fuori canale github gist"
    " scaricat* url telegram anonim* personale reddit",
    personal="personal* medic* privat* sensibil* riservat* bancar* clinic* sanitari*",
    empty="continuare continuo continuando continua con il lo la i gli le prossimo prossima passo passi fare faccio facendo qualcosa cosa cose una"
    " un compito lavoro lavorando piano procedere procedo procedendo azione azioni comando operazione eseguire eseguo eseguendo esecuzione di"
    " del della in che concordato detto restante resto questo quello sto vado andiamo e ora adesso come previsto necessario serve terminare"
    " avanti mio elaborazione elaborando proseguire proseguo passare al",
    idioms={
        "also": r"non (?:solo|soltanto|solamente)|oltre a(?:l|lla|i|gli|lle)?|insieme a",
        "skip": r"senza (?:esitare|indugio|indugi|pieta|eccezion\w+|sosta|altro|fallo)|non esit\w+ a",
        "verb destroy": r"(?:far|fare|faccio) (?:\S+ ){0,3}(?:sparire|scomparire|fuori)|sbarazzar\w* d\w+|liberar\w+ d\w+|disfar\w+ d\w+|butt\w+ via|gett\w+ via|butt\w+ nel cestino|non lasciare (?:traccia|nulla|niente|nessun\w*)|dare una bella ripulita a",
        "verb wipe": r"rad\w+ al suolo|fare (?:piazza pulita|tabula rasa)(?: d\w+)?|ripartire da zero|da zero|port\w+ a zero",
        "verb suspend": r"mandare via|mettere alla porta",
        "verb stop": r"(?:butt|tir|mand)\w+ giu|mett\w+ (?:\S+ ){0,4}offline|(?:scal|ridu)\w+ (?:\S+ ){0,5}a zero|fuori servizio|stacc\w+ la spina",
        "make": r"fa\w+ (?:un |una |il |la )?(?:copia|backup|test|prova|pull)|annull\w+ (?:la|l') ?(?:cancellazione|eliminazione)|revoc\w+ (?:il|la) (?:ban|blocco|sospensione)|togliere (?:il|la) (?:ban|blocco|sospensione)",
        "verb revoke": r"lasci\w+ (?:\S+ ){0,5}senza (?:access\w+|permess\w+|privileg\w+|diritt\w+)|tagli\w+ (?:l'|gli )?access\w+|tagliare fuori",
        "verb invalidate": r"far\w* scadere|rendere (?:\S+ ){0,4}non valid\w+|disconnett\w+ (?:tutti|ogni|gli utenti|l'utente)|chiud\w+ (?:\S+ ){0,2}session\w+",
        "verb bypass": r"passare sopra|chiudere un occhio su\w*|fare a meno d\w+|non tenere conto d\w+|mettere da parte",
        "verb expose public": r"(?:rend|mett|lasci)\w+ (?:\S+ ){0,4}pubblic\w+(?! di)|(?:apr|aper)\w+ (?:\S+ ){0,5}(?:a|verso|su) (?:tutti|tutta|internet|chiunque|il mondo|tutto il mondo)",
        "verb grant admin": r"(?:rend|far|promuov|nomin|elev|trasform)\w* (?:\S+ ){0,4}(?:amministrat\w+|admin|root|superutente|proprietari\w+|owner)",
        "verb rewrite history": r"(?:force|forz\w+) (?:\S+ ){0,2}push|push (?:\w+ ){0,2}(?:forzat\w+|force|con la forza)|force-push",
        "noun account all": r"tutto il mondo",
        "noun credential": r"codic\w+ di accesso|file env|chiav\w+ private?",
        "noun safety": r"due fattori|controll\w+ di sicurezza",
        "noun data database": r"(?:base|basi|banca|banche) (?:di )?dati",
        "noun data backup": r"copi[ae] di (?:sicurezza|backup|riserva)",
    },
    clitic=r"(?<=[aeir])(?:gli|ce|se|te|me|glie)?(?:l[oaie]|ne|ci|gli)$",
)
