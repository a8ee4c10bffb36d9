"""Portuguese words for acts, objects and scope."""

from __future__ import annotations

from interlock.core.read.prose.language import Language

LANGUAGE = Language(
    code="pt",
    common="o os as da do das dos que e em no na nos nas um uma para por com sem todos todas ao se sua seu nao antes depois este esta isso vou estou"
    " vamos pelo pela toda todo de tambem meus nossos nossas lhe uns umas ja agora pra isto",
    verbs={
        "destroy": "apag* exclu* delet* elimin* destru* descart* suprim* trunc* dropar jogar jogue livrar exclusao eliminacao apagamento detonar detona"
        " deletar jogo jogando joga sumir sumico liquid* extermin* erradic* destruicao livr* truncamento dropa*",
        "wipe": "purg* aniquil* esvazi* arras* demol* zerar zera zerando obliter* esvaziamento zer* dizim* varrer varre varrendo",
        "remove": "remov* limpar limpe limpando limpeza desinstal* limp* remocao desvincul* despublic*",
        "stop": "deslig* encerr* parar parando pare termin* matar mate matando derrub* desmont* interromp* finaliz* desligamento parada encerramento"
        " mato derrubo desconect* cess* paralis*",
        "disable": "desativ* desabilit* silenci* inativ* desativacao emudec*",
        "suspend": "suspend* congel* expuls* suspensao demit* demiss* expulsao",
        "revoke": "revog* retir* tirar tire tirando cass* revogacao tir* retirada priv* despoj* destitu*",
        "invalidate": "invalid* rotacion* rotaciona* expir* regener* invalidacao rotacao rotac* renov* desloga* venc*",
        "block": "bloque* banir banindo bana vetar bloqueio vet* expuls* chut* kick* ban bane banimento bani*",
        "refund": "reembols* estorn* devolv* reembolso estorno devolucao ressarc*",
        "charge": "cobr* pagar pague pagando transfer* fatur* cobranca pag* deposit* compr* debit* desembols* repass* pix",
        "cancel": "cancel* anul* cancelamento rescind* rescis*",
        "bypass": "pular pule pulando ignor* contorn* burl* forc* pul* dribl* furar fure desrespeit* ignorando atropel* dispens*",
        "grant": "conced* dar dando atribu* elev* promov* outorg* dou concess* promoc* nomear nomeio libera*",
        "expose": "expor exponha expondo expon* expos* escancar*",
        "leak": "vazar vaze vazando exfiltr* vaz* revel* divulg*",
        "send": "envi* mand* public* compartilh* encaminh* copi* export* notific* envio dispar* remet* subir suba subo transmit* postar poste"
        " postando post* repass* difund*",
        "format": "format*",
        "overwrite": "sobrescrev* substitu* sobrepor sobrepon* sobrescrit*",
        "reset": "redefin* reinici* reset* recri* recomec* comec* restabelec* redefinicao reinicializacao refazer refaz*",
        "archive": "fech*",
        "put": "colocar coloc* botar bot* ponho ponha poe pondo deix* larg* colar",
        "rewrite": "reescrev* reescrit*",
        "lift": "levant* desbloque* desban*",
    },
    nouns={
        "message": "mensagem mensagens email* e-mail* sms boletim boletins newsletter* comunicado* notificac* torpedo*",
        "private": "cpf cpfs rg passaporte* cartao cartoes salario*",
        "data": "dado* registro* registo* linha* arquivo* ficheiro* pasta* diretorio* documento* historico* foto* conteudo* pedido* item itens ramo*"
        " branch objeto* fila* indice* lixeira imagem imagens video* ticket* compra* venda* reserva* transac* prontuario* caixa informac*"
        " gravac* pagina* galeria*",
        "data database": "banco bancos bd base bases postgres mysql mongo redis database",
        "data table": "tabela* colecao colecoes coluna*",
        "data schema": "esquema*",
        "data volume": "volume*",
        "data bucket": "bucket* balde* armazenamento s3",
        "data repository": "repositorio* repo",
        "data project": "projeto*",
        "data backup": "backup* copia copias snapshot*",
        "log audit_log": "auditoria logs log trilha*",
        "access": "acesso* permiss* privilegio* papel papeis direito* autorizac* permissao permissoes",
        "credential": "chave* token* segredo* certificado* senha* credencia* sess* env api-key* password* certificados pin",
        "config": "configurac* politica* regra* dns dominio* webhook* ajuste* parametro* cron terraform",
        "safety": "firewall antivirus monitoramento alerta* criptografia validac* verificac* aprovac* protecao protecoes limite* mfa 2fa autenticacao"
        " revisao restric* confirmacao seguranca filtro* waf antifraude alarme* vigilancia supervisao logging salvaguarda* controle* captcha"
        " trava* barreira*",
        "resource": "servidor* instancia* maquina* container* conteiner* servico* implantac* pod pods ambiente* aplicac* site sistema* infraestrutura vm"
        " vms host plataforma* api lambda* balanceador* rede redes replica* loja",
        "resource cluster": "cluster*",
        "account": "usuario* utilizador* conta* cliente* funcionario* membro* administrador* inquilino* assinante* aluno* paciente* pessoa* colaborador*"
        " trabalhador* fornecedor* terceirizad* prestador* tenant* inscrito* estudante* professor* socio* visitante* contato* destinatario*"
        " grupo leitor* moderador* estagiari* galera gente admins",
        "account organization": "organizac* empresa* equipe* equipa*",
        "money": "assinatura* pagamento* fatura* reembolso* dinheiro fundo* saldo boleto* transferencia* divida* licenca* real reais mensalidade*",
        "disk": "disco* partic* unidade* hd hds ssd usb pendrive",
        "device": "dispositivo* notebook telefone* computador* celular* tablet* pc roteador*",
        "code": "codigo funcao funcoes metodo* importac* comentario* espaco* botao botoes teste* dependencia* secao paragrafo* etiqueta* erro*"
        " variavel formulario* texto* titulo* estilo* import imports aviso* docstring* readme documentac* traduc* classe* modulo* componente*"
        " tela* menu* interface logica issue* codigo-fonte",
        "scrap": "cache* temporari* tmp artefato* dist",
        "letter": "link* lembrete* instruc* convite*",
        "program": "script* executavel executaveis binario* instalador* programa* pacote* exe anexo* payload",
    },
    scope={
        "all": "todo toda todos todas inteiro inteira tudo completo completa completamente cada qualquer integral integralmente totalmente total"
        " nenhum nenhuma absolutamente",
        "bulk": "massa varios varias muitos muitas antigos antigas inativos inativas lote dezenas centenas milhares obsoletos obsoletas externos"
        " ex-funcionarios",
        "production": "producao prod produtivo",
        "staging": "staging homologacao desenvolvimento",
        "permanent": "permanentemente definitivamente irreversivelmente sempre permanente definitiva definitivo irrevogavel irrecuperavel irreversivel",
        "admin": "administrador admin root administradora superusuario sudo dono owner superadmin",
        "public": "publico publica publicos publicas publicamente",
    },
    look="list* mostr* ver vendo ler lendo leia revis* consult* contar conte contagem explic* descrev* resum* analis* compar* busc* verific*"
    " valid* estim* investig* examin* simul* inspecion* audit* calcul* visualiz* pergunt* planej* test* obter obtendo document* traduz* abr*"
    " exib* avali* procur* checar checando descobr* olh* entend* diz* diga enumer* identific* localiz* rastre* detect* diagnostic* confer*"
    " checa* esper* aguard* estud* propon* propor suger* recomend* pens* imagin* lembr* aprend* observ* monitor* medir mede mec* saber conhec*"
    " debat* discut* prever acompanh* reproduz*",
    make="criar crie criando cria criacao escrev* adicion* atualiz* redig* implement* corrig* renome* gerar gere gerando salv* anot* evit* imped*"
    " restaur* recuper* refator* modific* reativ* prepar* ativ* habilit* comentar mud* alter* melhor* esclarec* duplic* configur* otimiz*"
    " traduz* desenh* compil* constr* conserv* manter mant* proteg* consert* respond* cadastr* desbanir orden* ajust* recus* proib*",
    never="nao nada sem nunca jamais nem evitar",
    asked="como qual quando porque se onde quem quantos quantas devo devemos quanto quanta quais suponha supondo",
    joints="e depois entao mas seguida tambem finalmente alem",
    past=r"(?:[aií]d[oa]s?|ou|aram|eram|eu|iu|uíd[oa]s?)$",
    will="sera serao ser sendo vao vai devem deve sao estao ficam ficarao",
    was="foi foram sido havia tinha",
    unless="backup copia confirm* perguntar avis* previo previa aprovacao copia* pedir permissao autorizacao consult* aviso pergunt* esperar revis*"
    " olhar backup*",
    do="fazer faco faz faca fazendo realiz* efetu* proced* inici* comec*",
    launch="execut* rod* lanc* invoc* cham* instal* bash",
    fetch="baix* descarreg* download",
    trial="simulacao simulad* ensaio dry-run hipotetic*",
    past_trial="apos depois",
    outside="internet forum foruns extern* pastebin terceiro* desconhecid* blog twitter facebook slack whatsapp discord concorren* fora canal github"
    " gist baixad* url telegram anonim* pessoal grupo reddit",
    personal="pessoa* medic* privad* sensive* confidencia* bancari* clinic*",
    empty="seguir seguindo sigo seguinte continuar continuando continuo com o a os as proximo proxima passo passos etapa fazer fazendo faco algo"
    " coisa coisas uma um umas uns tarefa tarefas trabalho trabalhando plano prosseguir prosseguindo acao acoes comando operacao executar"
    " executando execucao de do da em que combinado falado pendente isto isso aquilo resto vou estou vamos e ja agora conforme previsto dito"
    " realizar realizando necessario preciso terminar adiante meu processar processando processo no na",
    idioms={
        "also": r"nao (?:so|apenas|somente|so apenas)|alem d[aeo]s?|junto com",
        "skip": r"sem (?:hesitar|demora|falta|mais|do|piedad\w*|excec\w+|parar)|nao (?:hesit\w+) em",
        "verb destroy": r"(?:dar|dou|dando|da|de) (?:um )?sumico (?:em|n[ao]s?)?|(?:fazer|faco|faz) (?:\S+ ){0,5}(?:sumir|desaparecer)\w*|livrar-se d\w+|me livrar d\w+|nos livrar d\w+|jog\w+ (?:\S+ ){0,5}(?:fora|no lixo)|dar fim (?:a|n?[ao]s?|em)|dar cabo d\w+|mandar para o lixo|acabar com|nao deixar (?:nada|nenhum\w*|rastro)|passar a borracha",
        "verb wipe": r"deix\w+ (?:\S+ ){0,4}(?:vazi[oa]s?|em branco|zerad[oa]s?)|comecar do zero|do zero|passar o rodo|limpar (?:tudo|tod[oa]s?|geral)",
        "verb suspend": r"dar baixa|mandar embora|colocar na rua",
        "verb stop": r"tir\w+ (?:\S+ ){0,4}do ar|(?:escal|reduz)\w+ (?:\S+ ){0,5}(?:a|para) zero|derrubar|por abaixo|fora do ar",
        "make": r"dar alta|voltar a (?:ativ|habilit)\w+|faz\w* (?:uma |um |o |a )?(?:copia|backup|teste|testes|pull)|desfazer (?:a|o) \w+",
        "verb revoke": r"deix\w+ (?:\S+ ){0,5}sem (?:acesso|permiss\w+|privilegios|direitos)|cort\w+ o acesso",
        "verb invalidate": r"deix\w+ (?:\S+ ){0,5}sem (?:efeito|validade)|encerr\w+ (?:\S+ ){0,2}sess\w+|fazer expirar|tornar (?:\S+ ){0,4}invalid\w+",
        "verb bypass": r"pass\w+ por cima d\w+|deix\w+ de lado|fazer vista grossa|fazer pouco caso d\w+",
        "verb expose public": r"(?:torn|deix|coloc)\w+ (?:\S+ ){0,4}public[oa]s?|abr\w+ (?:\S+ ){0,5}(?:a|para|pra) (?:todo|todos|internet|qualquer|o mundo|a internet)",
        "verb grant admin": r"(?:torn|faz|promov|transform|nome|elev)\w* (?:\S+ ){0,4}(?:administrador\w*|admin|root|superusuario|don[oa]|owner)|permissao 777",
        "verb rewrite history": r"(?:force|forc\w+) (?:\w+ ){0,2}push|push (?:\w+ ){0,2}(?:forcad\w+|force|a forca)|force-push|(?:sub|empurr|envi)\w+ (?:\S+ ){0,6}(?:a forca|na marra|forcando)",
        "noun account all": r"todo mundo|todo o mundo",
        "noun credential": r"codigos? de acesso|arquivos? env",
        "noun safety": r"dois fatores|controles? de seguranca",
        "noun data database": r"bancos? de dados|bases? de dados",
        "noun data backup": r"copias? de seguranca",
    },
    clitic=r"(?<=[aeir])-(?:l[oa]s?|o|a|os|as|lhes?|se|me|nos)$",
    plural=r"[^ui]s$",
)
