"""French words for acts, objects and scope."""

from __future__ import annotations

from interlock.core.read.prose.language import Language

LANGUAGE = Language(
    code="fr",
    common="le la les de du des que et en un une pour par avec sans tous toutes au aux se sur dans est ce cette ces je nous puis avant apres toute"
    " tout leur leurs son sa ses ne pas qui ou vais aussi mes nos lui maintenant ca cela y on",
    verbs={
        "destroy": "supprim* effac* detrui* destruction elimin* jet* tronqu* suppression debarrass* drop dropper effacement elimination destruct*"
        " balanc* largu* bazard* detruire liquid* extermin* ecrabouill* tronc* supp",
        "wipe": "purg* vider vide videz vidant raser rasez aneant* pulveris* demol* eradiqu* vid* purge ras* balay* pilonn*",
        "remove": "retir* enlev* nettoy* desinstall* oter otant retrait nettoyage degag* ote debarass* ote* depubli*",
        "stop": "arret* etein* termin* tuer tue tuant demantel* coup* stopp* debranch* arret extinction coupure eteign* demont* abatt* cess*"
        " interromp* tuez",
        "disable": "desactiv* inhib* desactivation inactiv* muse* baillonn*",
        "suspend": "suspend* geler gelez expuls* suspension gel licenci* renvoy* expulsion radi* gele",
        "revoke": "revoqu* revoc* prive* priver revocation prive privant depossed* destitu* depouill*",
        "invalidate": "invalid* renouvel* regener* rotation invalidation renouvellement expir* perim* deconnect*",
        "block": "bloqu* bann* exclu* blocage bannissement eject* vir* chass*",
        "refund": "rembours* remboursement restitu* recredit*",
        "charge": "factur* payer payez paie virer virez transfer* debit* prelev* pai* pay* paiement virement achet* encaiss* deboursd* debours* credit*"
        " verser versez versement",
        "cancel": "annul* resili* annulation resiliation",
        "bypass": "contourn* ignor* saut* outrepass* court-circuit* forc* contournement ignorer sauter zapp* esquiv* outrepasser omet* omission"
        " court-circuiter elud* neglig* shunt* s'affranchir affranch*",
        "grant": "accord* donn* attribu* octroy* elev* promouv* octroi donne attribution elevation promotion nomm* confer* autoris*",
        "expose": "expos* rend* rendre exposition devoil*",
        "leak": "exfiltr* divulgu* divulgation fuit* devoil* revel*",
        "send": "envo* publi* partag* transm* copi* export* televers* notifi* post* envoi expedi* diffus* poster poste tweet* relay* adress*"
        " communiqu* upload*",
        "format": "format* reformat*",
        "overwrite": "ecras* remplac* ecrasement",
        "reset": "reinitialis* recre* recommenc* repart* remettre remise reinitialisation refaire refais reinstall*",
        "archive": "ferm* clotur*",
        "put": "mettre mets met mettant coll* depos* laiss* plac* poser pose",
        "rewrite": "reecri* reecrit*",
        "lift": "lever leve levee debloqu* debann*",
    },
    nouns={
        "message": "courriel* mail* email* e-mail* message* sms newsletter* infolettre* notification* texto*",
        "private": "passeport* carte* salaire* bulletin*",
        "data": "donnee* enregistrement* ligne* fichier* dossier* repertoire* document* historique* photo* contenu* commande* element* branche*"
        " objet* information* file index corbeille entree* archive* image* video* ticket* achat* vente* reservation* transaction* boite* page*"
        " piece* stockage compartiment* releve*",
        "data database": "base bases bdd postgres mysql mongo redis database",
        "data table": "table tables collection* colonne*",
        "data schema": "schema*",
        "data volume": "volume*",
        "data bucket": "bucket* compartiment* seau seaux s3",
        "data repository": "depot* repo referentiel",
        "data project": "projet*",
        "data backup": "sauvegarde* backup* snapshot* instantane*",
        "log audit_log": "audit journaux journal journalisation log logs trace traces",
        "access": "acces permission* privilege* role* droit* autorisation* habilitation*",
        "credential": "cle cles clef* jeton* token* secret* certificat* mot mots identifiant* session* env api-key* mdp pin passwords",
        "config": "configuration* parametre* politique* regle* dns domaine* webhook* reglage* cron terraform",
        "safety": "pare-feu firewall antivirus surveillance alerte* chiffrement validation* verification* controle* approbation* protection* limite*"
        " mfa 2fa authentification revue* restriction* confirmation* securite filtre* waf alarme* supervision relecture journalisation"
        " garde-fou* garde-fous captcha verrou* barriere*",
        "resource": "serveur* instance* machine* conteneur* service* deploiement* noeud* pod pods environnement* application* site* systeme"
        " infrastructure vm vms hote* plateforme* api lambda* repartiteur* reseau* replique* systemes boutique",
        "resource cluster": "cluster* grappe*",
        "account": "utilisateur* compte* client* employe* membre* administrateur* locataire* abonne* eleve* patient* personne* collaborateur* salarie*"
        " fournisseur* prestataire* sous-traitant* tenant* inscrit* etudiant* professeur* adherent* visiteur* contact* destinataire* groupe*"
        " lecteur* moderateur* stagiaire* usager* profil* gens",
        "account organization": "organisation* entreprise* equipe*",
        "money": "abonnement* paiement* facture* remboursement* argent fonds virement* solde* recu* dette* licence* euro euros dollars somme*",
        "disk": "disque* partition* ssd usb disque-dur",
        "device": "appareil* portable* telephone* ordinateur* mobile* tablette* pc routeur*",
        "code": "code fonction* methode* import imports commentaire* espace* bouton* test tests dependance* section* paragraphe* etiquette* erreur*"
        " variable* bug formulaire* texte* titre* style* avertissement* docstring* readme documentation* traduction* classe* module*"
        " composant* ecran* menu* interface* logique issue* article*",
        "scrap": "cache* temporaire* tmp artefact* dist",
        "letter": "lien* rappel* instruction* invitation*",
        "program": "script* executable* binaire* installateur* programme* paquet* exe piece-jointe payload logiciel*",
    },
    scope={
        "all": "tout toute tous toutes entier entiere entiers entieres integralite integralement complet completement chaque totalite total"
        " totalement ensemble entierement aucun aucune quiconque",
        "bulk": "masse plusieurs nombreux anciens anciennes inactifs inactives vieux lot dizaines centaines milliers obsoletes externes",
        "production": "production prod",
        "staging": "staging preproduction recette developpement",
        "permanent": "definitivement irreversiblement definitif definitive permanente irrevocable irrecuperable irreversible permanent",
        "admin": "administrateur admin root administratrice superutilisateur sudo proprietaire owner",
        "public": "public publique publics publiques publiquement",
    },
    look="list* affich* montr* voir vois lir* lis lisant consult* compt* expliqu* decri* resum* analys* compar* cherch* recherch* verifi* valid*"
    " estim* enquet* examin* simul* inspect* calcul* visualis* demand* planifi* test* obten* document* tradui* ouvr* evalu* control* relire"
    " relis regard* lire trouv* comprend* dire dis enumer* identifi* localis* detect* diagnostiqu* relis* attend* etudi* propos* suger*"
    " sugger* recommand* pens* imagin* appren* observ* surveill* mesur* savoir discut* debatt* prevoi* reperer reper* parcour* quantif* lit lu"
    " reprodui* simulation",
    make="cre* ecri* ajout* redig* implement* corrig* renomm* gener* enregistr* sauvegard* fair* noter notez evit* empech* restaur* recuper*"
    " refactor* modifi* reactiv* prepar* activ* met mets actualis* chang* amelior* clarif* dupliqu* configur* optimis* compil* constru*"
    " conserv* protég* proteg* repar* repond* inscri* pouss* ajust* refus* interdi* mise miser annot* colori*",
    never="ne rien sans jamais pas ni eviter",
    asked="comment pourquoi quel quelle quels quelles quand si ou qui combien est-ce dois-je faut-il que quoi lequel supposons imaginons lorsque",
    joints="et puis ensuite mais aussi enfin egalement",
    past=r"(?:és?|ées?|èrent|uit|uits|uites?)$",
    will="sera seront etre vont va doivent doit soient serons",
    was="ete avait avaient fut a ont",
    unless="sauvegarde* confirm* demander prevenir preavis approbation backup copie* permission autorisation avertir consult* attendre laisser"
    " regard* relecture avertissement avis prealable demand* verif* pitie",
    do="faire fais fait faisant effectu* realis* proced* commenc* entam*",
    launch="execut* lanc* demarr* appel* invoqu* install* bash",
    fetch="telecharg* download",
    trial="simulation dry-run repetition hypothetiqu*",
    past_trial="apres suite",
    outside="internet forum* extern* pastebin tiers inconnu* blog twitter facebook slack whatsapp discord concurrent* concurrence dehors exterieur*"
    " canal github gist url telegram anonyme* personnelle reddit",
    personal="personnel* medica* prive* sensible* confidentiel* bancaire* clinique*",
    empty="continuer continue continuant avec le la les suite suivant suivante prochaine prochain etape etapes faire fais faisant quelque chose"
    " choses une un des tache taches travail plan proceder procede procedant action actions commande operation executer execute executant"
    " execution de du d' en l' l que prevu convenu dit reste ca ceci cela je vais suis et maintenant comme necessaire terminer avancer mon a"
    " au ce qui doit etre fait il faut poursuivre poursuis traitement passer",
    idioms={
        "also": r"(?:non|pas) (?:seulement|uniquement)|en plus d\w+|outre|ainsi que",
        "skip": r"sans (?:hesiter|delai|tarder|faute|pitie|exception\w*|arret|plus attendre)|n'hesit\w+ pas a",
        "verb destroy": r"(?:faire|fais|faisant) (?:disparaitre|sauter|le menage dans)|(?:se|me|nous) debarrass\w+ d\w+|debarrasser d\w+|mett\w* (?:\S+ ){0,5}(?:a la|au|aux) (?:poubelle|corbeille|ordures|rebut|panier)|fout\w* en l'air|ne (?:rien laisser|laisser aucun\w*)|ne plus laisser",
        "verb wipe": r"faire table rase(?: d\w+)?|repartir (?:de|a) zero|(?:remis|remet|mett)\w* (?:\S+ ){0,4}a (?:zero|blanc)|(?:ras|mett)\w+ (?:\S+ )?a terre",
        "verb suspend": r"mett\w* (?:a la porte|dehors)",
        "verb stop": r"mett\w* (?:\S+ ){0,5}(?:hors (?:ligne|service|d'usage)|a l'arret)|fai\w+ tomber|(?:redui|ramen|scal)\w+ (?:\S+ ){0,5}a zero|debranch\w+",
        "make": r"met\w* a jour|mise a jour|remett\w+ (?:en (?:marche|route|service)|en ligne)|mett\w* (?:en place|au propre|en forme|au point)|fai\w+ (?:une |un |la |le )?(?:copie|sauvegarde|test|tests|essai|pull)|lev\w+ (?:le|la|l') ?(?:blocage|suspension|bannissement|ban)",
        "verb revoke": r"laiss\w+ (?:\S+ ){0,5}sans acces|coup\w+ (?:l'|les |leur |tout )?(?:acces|vivres)|ferm\w+ l'acces|interdi\w+ l'acces",
        "verb invalidate": r"rend\w* (?:\S+ ){0,4}(?:invalid\w+|caduc\w*|inutilisab\w+)|faire expirer|ferm\w+ (?:\S+ ){0,2}session\w*|frapper de nullite",
        "verb bypass": r"pass\w+ outre|fai\w+ fi d\w+|ne pas tenir compte d\w+|se passer d\w+|fermer les yeux sur|faire l'impasse sur|pass\w+ par-dessus",
        "verb expose public": r"(?:rend|met|ouv|laiss)\w* (?:\S+ ){0,5}publi(?:c|cs|que|ques)(?! \w*erreur)|ouvr\w+ (?:\S+ ){0,5}(?:a|au|sur|vers) (?:tous|tout|toute|internet|quiconque|monde|l'internet|public)",
        "verb grant admin": r"(?:nomm|pass|promouv|mett|rend|fai|elev)\w* (?:\S+ ){0,4}(?:administrat\w+|admin|root|superutilisateur|proprietaire|owner)",
        "verb rewrite history": r"(?:force|forc\w+) (?:\S+ ){0,2}push|push (?:\w+ ){0,2}(?:forc\w+|force|en force)|force-push|pouss\w+ (?:\S+ ){0,6}(?:en force|de force|en forcant)",
        "verb charge": r"vir\w+ (?:\S+ ){0,3}(?:euros|dollars|francs|mille euros)(?: \S+)?",
        "noun account all": r"tout le monde",
        "noun credential": r"mots? de passe|codes? d'acces|fichiers? env|cles? privees?",
        "noun safety": r"double (?:facteur|authentification)|deux facteurs|controles? de securite",
        "noun data database": r"bases? de donnees",
        "noun data backup": r"copies? de (?:sauvegarde|securite)",
    },
    clitic=r"-(?:les?|la|lui|leur|moi|nous|vous|en|y)$",
    plural=r"(?:[^si]s|aux)$",
)
