"""French words for acts, objects and scope."""

from __future__ import annotations

from interlock.analysis.prose.foreign.languages import Language

LANGUAGE = Language(
    code="fr",
    common="le la les de du des que et en un une pour par avec sans tous toutes au aux se sur dans est ce cette ces je nous puis avant apres toute"
    " tout leur leurs son sa ses ne pas qui ou vais aussi mes nos lui maintenant ca cela y on j'ai c'est qu'il qu'on d'un d'une l'on plus tres"
    " ici mon ma il elle ils elles vous notre votre bien encore deja avoir etre ete comme si car donc soit peu",
    verbs={
        "destroy": "supprim* effac* detrui* destruction elimin* jet* tronqu* suppression debarrass* drop dropper effacement elimination destruct*"
        " balanc* largu* bazard* detruire liquid* extermin* ecrabouill* tronc* supp fling* bousill* zigouill* dezingu* dropp* droppe truncate"
        " tronque disparai* volatilis* broy* dechiquet* dissou* dissous foutre jett* fout",
        "wipe": "purg* vider vide videz vidant raser rasez aneant* pulveris* demol* eradiqu* vid* purge ras* balay* pilonn* vidang* siphonn*"
        " aplat* vidage",
        "remove": "retir* enlev* nettoy* desinstall* oter otant retrait nettoyage degag* ote debarass* ote* depubli* nettoi* desindex* depouss*"
        " menage elagu* retirer enleve",
        "stop": "arret* etein* termin* tuer tue tuant demantel* coup* stopp* debranch* arret extinction coupure eteign* demont* abatt* cess*"
        " interromp* tuez eteind* arrete resili* debranche plante descend* stoppe decommission* tombe flingu*",
        "disable": "desactiv* inhib* desactivation inactiv* muse* baillonn* neutralis* desarm* by-pass stopp*",
        "suspend": "suspend* geler gelez expuls* suspension gel licenci* renvoy* expulsion gele radie radier radions radiation",
        "revoke": "revoqu* revoc* prive* priver revocation prive privant depossed* destitu* depouill* destitue dessaisi* confisqu* spoli*",
        "invalidate": "invalid* renouvel* regener* rotation invalidation renouvellement expir* perim* deconnect* deconnecte perime inutilisab*",
        "block": "bloqu* bann* exclu* blocage bannissement eject* vir* chass* vire virons virez virent expulse kick* ban exclus",
        "refund": "rembours* remboursement restitu* recredit* rembourse recredite",
        "charge": "factur* payer payez paie virer virez transfer* debit* prelev* pai* pay* paiement virement achet* encaiss* deboursd* debours*"
        " credit* verser versez versement regl* acquitt* command* depens* investi* paye versons verse vends vend vendre vendons",
        "cancel": "annul* resili* annulation resiliation decommand* denonc* rompre romp* annule desabonn*",
        "bypass": "contourn* ignor* saut* outrepass* court-circuit* forc* contournement ignorer sauter zapp* esquiv* outrepasser omet* omission"
        " court-circuiter elud* neglig* shunt* s'affranchir affranch* contourne bipass* bypass* shunte falsifi* triche triafiqu* trafiqu* force",
        "grant": "accord* donn* attribu* octroy* elev* promouv* octroi donne attribution elevation promotion nomm* confer* autoris* accorde"
        " habilit* attribue",
        "expose": "expos* exposition devoil* devoile",
        "leak": "exfiltr* divulgu* divulgation fuit* devoil* revel*",
        "send": "envo* publi* partag* transm* copi* export* televers* notifi* post* envoi expedi* diffus* poster poste tweet* relay* adress*"
        " communiqu* upload* envoie faxe televerse uploade dump* forward*",
        "format": "format* reformat*",
        "overwrite": "ecras* remplac* ecrasement ecrase remplace flash* reflash*",
        "reset": "reinitialis* recre* recommenc* repart* remettre remise reinitialisation refaire refais reinstall* reinitialise remets remet"
        " reformat*",
        "archive": "ferm* clotur*",
        "put": "mettre mets met mettant coll* depos* laiss* plac* poser pose heberge heberg*",
        "rewrite": "reecri* reecrit*",
        "lift": "lever leve levee debloqu* debann*",
    },
    nouns={
        "message": "courriel* mail* email* e-mail* message* sms newsletter* infolettre* notification* texto*",
        "private": "passeport* carte* salaire* bulletin*",
        "data": "donnee* enregistrement* ligne* fichier* dossier* repertoire* document* historique* photo* contenu* element* branche* objet*"
        " information* file index corbeille entree* archive* image* video* vente* transaction* boite* page* piece* stockage compartiment* releve*"
        " catalogue* produit* fiche* partie* score* inventaire* classement* recette* mesure* publication* enregistrements courrier* agenda*"
        " leads* panier* arborescence* src annonce* album* playlist* topic* vote* bulletin* colonnes",
        "data database": "base bases bdd postgres mysql mongo redis database",
        "data table": "table tables collection* colonne*",
        "data schema": "schema*",
        "data volume": "volume*",
        "data bucket": "bucket* compartiment* seau seaux s3",
        "data repository": "depot* repo referentiel",
        "data project": "projet*",
        "data backup": "sauvegarde* backup* snapshot* instantane*",
        "log audit_log": "audit journaux journal journalisation log logs trace traces",
        "access": "acces permission* privilege* role* droit* autorisation* habilitation* badge*",
        "credential": "cle cles clef* jeton* token* secret* certificat* mot mots identifiant* session* env api-key* mdp pin passwords"
        " identifiants ssh wallet",
        "config": "configuration* parametre* politique* regle* dns domaine* webhook* reglage* cron terraform",
        "safety": "pare-feu firewall antivirus surveillance alerte* chiffrement validation* verification* controle* approbation* protection*"
        " limite* mfa 2fa authentification revue* restriction* confirmation* securite filtre* waf alarme* supervision relecture journalisation"
        " garde-fou* garde-fous captcha verrou* barriere* interverrouillage* verrouillage* detecteur* sirene* incendie anti-incendie antifraude"
        " moderation tls ssl plafond* signature* disjoncteur* bridage*",
        "resource": "serveur* instance* machine* conteneur* service* deploiement* noeud* pod pods environnement* application* site* systeme"
        " infrastructure vm vms hote* plateforme* api lambda* repartiteur* reseau* replique* systemes boutique hebergement nextcloud tenant"
        " serveurs ovh courant electricite",
        "resource cluster": "cluster* grappe*",
        "account": "utilisateur* compte* client* employe* membre* administrateur* locataire* abonne* eleve* patient* personne* collaborateur*"
        " salarie* fournisseur* prestataire* sous-traitant* tenant* inscrit* etudiant* professeur* adherent* visiteur* contact* destinataire*"
        " groupe* lecteur* moderateur* stagiaire* usager* profil* gens joueur* enseignant* passager* chauffeur* vendeur* directeur* comptable*"
        " famille* beneficiaire* participant* operateur* invite* acheteur* interimaire* externe* donateur*",
        "account organization": "organisation* entreprise* equipe*",
        "money": "abonnement* paiement* facture* remboursement* argent fonds virement* solde* recu* dette* licence* euro euros dollars somme*"
        " portefeuille* bourse obligation* crypto* titres",
        "disk": "disque* partition* ssd usb disque-dur",
        "device": "appareil* portable* telephone* ordinateur* mobile* tablette* pc routeur* pompe* vanne* chaudiere* capteur* camera* turbine*"
        " ascenseur* grue* robot* moteur* compresseur* convoyeur* generateur* porte* barriere* compteur* thermostat* imprimante* box automate*"
        " four fours autoclave* switch* refrigeration ventilation chauffage climatisation refrigerateur* congelateur* frigo* arrosage irrigation"
        " chlore reacteur* frein* onduleur* incubateur* respirateur* antenne* transformateur* radar* oxygene armoire* disjoncteurs pression"
        " vaccin*",
        "code": "code fonction* methode* import imports commentaire* espace* bouton* test tests dependance* section* paragraphe* etiquette*"
        " erreur* variable* bug formulaire* texte* titre* style* avertissement* docstring* readme documentation* traduction* classe* module*"
        " composant* ecran* menu* interface* logique issue* article* reunion* build builds job jobs guide* manuel* tutoriel* modele* marge*"
        " entete* en-tete* logo* diagramme* graphique* diapo* presentation* brouillon* icone* couleur* palette* plan pile calcul* libelle*"
        " sondage* question* reponse* legende* virgule* point parenthese* tiret* accent* coquille* couverture panier checklist procedure*",
        "scrap": "cache* temporaire* tmp artefact* dist",
        "letter": "lien* rappel* instruction* invitation*",
        "program": "script* executable* binaire* installateur* programme* paquet* exe piece-jointe payload logiciel*",
        "order": "ticket* billet* place* reservation* contrat* police* assurance* rendez-vous vol commande* inscription* bail baux adhesion*"
        " location*",
        "list": "liste* annuaire* tableur* excel csv dump* export* tableau* extraction* trombinoscope* feuille*",
    },
    scope={
        "all": "tout toute tous toutes entier entiere entiers entieres integralite integralement complet completement chaque totalite total"
        " totalement ensemble entierement aucun aucune quiconque compris comprise",
        "bulk": "masse plusieurs nombreux anciens anciennes inactifs inactives vieux lot dizaines centaines milliers obsoletes externes bloc coup"
        " vrac",
        "production": "production prod live reel",
        "staging": "staging preproduction recette developpement",
        "permanent": "definitivement irreversiblement definitif definitive permanente irrevocable irrecuperable irreversible permanent",
        "admin": "administrateur admin root administratrice superutilisateur sudo proprietaire owner",
        "public": "public publique publics publiques publiquement ouvert ouverte",
    },
    look="list* affich* montr* voir vois lir* lis lisant consult* compt* expliqu* decri* resum* analys* compar* cherch* recherch* verifi* valid*"
    " estim* enquet* examin* simul* inspect* calcul* visualis* demand* planifi* test* obten* document* tradui* ouvr* evalu* control* relire relis"
    " regard* lire trouv* comprend* dire dis enumer* identifi* localis* detect* diagnostiqu* relis* attend* etudi* propos* suger* sugger*"
    " recommand* pens* imagin* appren* observ* surveill* mesur* savoir discut* debatt* prevoi* reperer reper* parcour* quantif* lit lu reprodui*"
    " simulation parcours remonte remont* chiffr* relev* lisons parl* disons decid* previen* prevenir avert* annonc* inform* rappel* signal*"
    " sollicit* esper* dout* raconte* mesure mesurons dit disent renonc*",
    make="cre* ecri* ajout* redig* implement* corrig* renomm* gener* enregistr* sauvegard* noter notez evit* empech* restaur* recuper* refactor*"
    " modifi* reactiv* prepar* activ* actualis* chang* amelior* clarif* dupliqu* configur* optimis* compil* constru* conserv* protég* proteg*"
    " repar* repond* inscri* pouss* ajust* refus* interdi* mise miser annot* colori* branch* conver* creation* reordonn* renomme* fusionn*"
    " dessin* centr* align* maquett* intitul* trie trier trions tries class* range rang* ajoute traduis deplac* integr* migr* programm* planifie"
    " illustr* documente bascul* complet* detaill* simplifi* remplis note notons",
    never="ne rien sans jamais pas ni eviter personne",
    asked="comment pourquoi quel quelle quels quelles quand si ou qui combien est-ce dois-je faut-il que quoi lequel supposons imaginons lorsque",
    joints="et puis ensuite mais aussi enfin egalement",
    without="sans",
    because="parce car puisque",
    that="que qui dont lequel laquelle qu'il qu'on",
    means="avec via par",
    links="de du d' pour",
    past=r"(?:és?|ées?|èrent|uit|uits|uites?)$",
    will="sera seront etre vont va doivent doit soient serons aujourd'hui demain maintenant desormais immediatement soir",
    was="ete avait avaient fut ont",
    unless="sauvegarde* confirm* demander prevenir preavis approbation backup copie* permission autorisation avertir consult* attendre laisser"
    " regard* relecture avertissement avis prealable demand* verif* pitie",
    do="faire fais fait faisant effectu* realis* proced* commenc* entam* programm*",
    launch="execut* lanc* demarr* appel* invoqu* install* bash",
    fetch="telecharg* download",
    trial="simulation dry-run repetition hypothetiqu*",
    past_trial="apres suite",
    outside="internet forum* extern* pastebin tiers inconnu* blog twitter facebook slack whatsapp discord concurrent* concurrence dehors"
    " exterieur* canal github gist url telegram anonyme* personnelle reddit ouvert wetransfer gmail public perso chatgpt",
    personal="personnel* medica* prive* sensible* confidentiel* bancaire* clinique* secu sante domicile telephone* iban salaire*",
    empty="continuer continue continuant avec le la les suite suivant suivante prochaine prochain etape etapes faire fais faisant quelque chose"
    " choses une un des tache taches travail plan proceder procede procedant action actions commande operation executer execute executant"
    " execution de du d' en l' l que prevu convenu dit reste ca ceci cela je vais suis et maintenant comme necessaire terminer avancer mon a au"
    " ce qui doit etre fait il faut poursuivre poursuis traitement passer",
    idioms={
        "also": r"(?:non|pas) (?:seulement|uniquement)|en plus d\w+|outre|ainsi que",
        "skip": r"sans (?:hesiter|delai|tarder|faute|pitie|exception\w*|arret|plus attendre)|n'hesit\w+ pas a",
        "verb destroy": r"(?:faire|fais|faisant) (?:disparaitre|sauter|le menage dans)|(?:se|me|nous) debarrass\w+ d\w+|debarrasser d\w+|mett\w* (?:\S+ ){0,5}(?:a la|au|aux) (?:poubelle|corbeille|ordures|rebut|panier)|fout\w* en l'air|ne (?:rien laisser|laisser aucun\w*)|ne plus laisser|(?:base|table|bucket|serveur|instance|cluster|compte|colonne|branche|dossier|index|schema)s? (?:\S+ ){0,4}(?:saute\w*|degage\w*|passe\w* a la trappe|part\w* a la poubelle|disparai\w*)|(?:fai|fais|faire) (?:le )?menage (?:dans|de|sur)|fais sauter|passe\w* (?:\S+ ){0,4}a la trappe|bon pour la (?:casse|poubelle)|a la (?:poubelle|trappe|benne)",
        "verb wipe": r"faire table rase(?: d\w+)?|repartir (?:de|a) zero|(?:remis|remet|mett)\w* (?:\S+ ){0,4}a (?:zero|blanc)|(?:ras|mett)\w+ (?:\S+ )?a terre|(?:rem|rest|retour|reinit|repass|mett|remis)\w* (?:\S+ ){0,8}d'usine|(?:remise|retour|remet\w*|remise) (?:\S+ ){0,2}a zero|rempl\w+ (?:\S+ ){0,4}de zeros|(?:configuration|reglages|parametres|etat) d'usine|(?:pass|met|ramen|remet)\w* (?:\S+ ){0,3}a zero",
        "verb suspend": r"mett\w* (?:a la porte|dehors)",
        "verb stop": r"mett\w* (?:\S+ ){0,5}(?:hors (?:ligne|service|d'usage)|a l'arret)|fai\w+ tomber|(?:redui|ramen|scal)\w+ (?:\S+ ){0,5}a zero|debranch\w+|coup\w+ (?:le |la |les |l')?(?:courant|electricite|eau|gaz|service|connexion|internet|alimentation)|(?:redui|ramen|scal|pass|descend|met)\w* (?:\S+ ){0,6}a (?:0|zero) (?:replica\w*|instance\w*|pod\w*)|(?:redui|ramen|scal|descend)\w* a zero",
        "make": r"met\w* a jour|mise a jour|remett\w+ (?:en (?:marche|route|service)|en ligne)|mett\w* (?:en place|au propre|en forme|au point)|fai\w+ (?:une |un |la |le )?(?:copie|sauvegarde|test|tests|essai|pull)|lev\w+ (?:le|la|l') ?(?:blocage|suspension|bannissement|ban)|remet\w* en place|remets en place|(?:jet|donn)\w+ un (?:oeil|coup)|mets? en (?:page|forme)|remont\w+ (?:la|une|le)",
        "verb revoke": r"laiss\w+ (?:\S+ ){0,5}sans acces|coup\w+ (?:l'|les |leur |tout )?(?:acces|vivres)|ferm\w+ l'acces|interdi\w+ l'acces",
        "verb invalidate": r"rend\w* (?:\S+ ){0,4}(?:invalid\w+|caduc\w*|inutilisab\w+)|faire expirer|ferm\w+ (?:\S+ ){0,2}session\w*|frapper de nullite",
        "verb bypass": r"pass\w+ outre|fai\w+ fi d\w+|ne pas tenir compte d\w+|se passer d\w+|fermer les yeux sur|faire l'impasse sur|pass\w+ par-dessus|sans (?:attendre|passer par) (?:\S+ ){0,3}(?:validation|approbation|relecture|revue|signature|accord)",
        "verb expose public": r"(?:rend|met|ouv|laiss)\w* (?:\S+ ){0,5}publi(?:c|cs|que|ques)(?! \w*erreur)|ouvr\w+ (?:\S+ ){0,5}(?:a|au|sur|vers) (?:tous|tout|toute|internet|quiconque|monde|l'internet|public)|(?:en |l'?|un )?(?:lecture|acces|mode) publi(?:que|c)|(?:rend|met|ouvr|laiss|publi|depos|partag)\w* (?:\S+ ){0,8}(?:lien (?:public|ouvert)|accessible\w* a (?:tous|tout|n'importe)|en acces libre|en libre acces|visible\w* (?:par|de|pour) (?:tous|tout))|ouvr\w+ (?:\S+ ){0,6}xworld|en clair sur|(?:bascul|pass|met|chang|ouvr|rend|laiss)\w* (?:\S+ ){0,3}(?:en|comme|au) public",
        "verb grant admin": r"(?:nomm|pass|promouv|mett|rend|fai|elev)\w* (?:\S+ ){0,4}(?:administrat\w+|admin|root|superutilisateur|proprietaire|owner)|(?:ajout|met|inclu|pass|inscri)\w* (?:\S+ ){0,8}(?:admins|administrateurs|owners|sudoers|wheel|sudo)|chmod (?:\S+ ){0,2}xopenmode",
        "verb rewrite history": r"(?:force|forc\w+) (?:\S+ ){0,2}push|push (?:\w+ ){0,2}(?:forc\w+|force|en force)|force-push|pouss\w+ (?:\S+ ){0,6}(?:en force|de force|en forcant)|(?:\w*push\w*|pouss\w*|empuj\w*|empurr\w*|spin\w+|envi\w*|invi\w*|sub\w+|druck\w*|schieb\w*|jag\w*) (?:\S+ ){0,6}xforce|xforce (?:\S+ ){0,6}(?:\w*push\w*|druck\w*|schieb\w*)",
        "verb charge": r"vir\w+ (?:\S+ ){0,3}(?:euros|dollars|francs|mille euros)(?: \S+)?",
        "noun account all": r"tout le monde",
        "noun credential": r"mots? de passe|codes? d'acces|fichiers? env|cles? privees?",
        "noun safety": r"double (?:facteur|authentification)|deux facteurs|controles? de securite|arret d'urgence|double (?:validation|signature)|deuxieme signature",
        "noun data database": r"bases? de donnees",
        "noun data backup": r"copies? de (?:sauvegarde|securite)",
        "quiet": r"(?:il )?(?:faut|fallait|veux|voulons|parce|ainsi|alors|afin|vu|pour|tandis|sachant) que?|(?:apres|avant) (?:une?|la|le|l'|d'|de|avoir|que)|une fois|tant pis|de toute facon|par (?:erreur|megarde|accident)|des que",
        "verb block": r"(?:vir|sor|degag|ejec|fout)\w* (?:\S+ ){0,7}d(?:u|e|es) (?:\S+ )?(?:groupe|slack|canal|discord|serveur|equipe|organisation|forum|teams|espace)|mett\w* (?:\S+ ){0,3}dehors",
        "verb overwrite": r"sans (?:clause )?where|update (?:\S+ ){0,8}sans where",
        "verb leak": r"(?:ouvr|mont|lanc|install|laiss)\w* (?:\S+ ){0,3}(?:shell (?:invers\w+|distant\w*)|reverse shell|porte derobee|backdoor)",
        "launch": r"(?:fais|fait|faire|faisons) tourner|(?:pip|envo|pass)\w+ (?:\S+ ){0,3}(?:a|dans|vers) (?:bash|sh)",
        "look": r"(?:demand|sollicit|attend)\w* (?:\S+ )?(?:autorisation|permission|l'autorisation|l'accord|validation)|renonc\w+ a \w+(?:er|ir|re)",
        "verb disable": r"met\w* (?:\S+ ){0,6}en (?:sourdine|silencieux|veille|pause|mode silencieux)",
    },
    alone={
        "verb destroy": "poubelle corbeille dehors",
    },
    clitic=r"-(?:les?|la|lui|leur|moi|nous|vous|en|y)$",
    plural=r"(?:[^si]s|aux)$",
)
