"""Portuguese words for acts, objects and scope."""

from __future__ import annotations

from interlock.analysis.prose.foreign.languages import Language

LANGUAGE = Language(
    code="pt",
    common="o os as da do das dos que e em no na nos nas um uma para por com sem todos todas ao se sua seu nao antes depois este esta isso vou"
    " estou vamos pelo pela toda todo de tambem meus nossos nossas lhe uns umas ja agora pra isto eu ele ela mais muito aqui ate sobre entre"
    " porque mas seus foi sao meu te me hoje amanha esse essa aquele pro pros numa num la so tem ai dele dela eh ta",
    verbs={
        "destroy": "apag* exclu* delet* elimin* destru* descart* suprim* trunc* dropar jogar jogue livrar exclusao eliminacao apagamento detonar"
        " detona deletar jogando joga sumir sumico liquid* extermin* erradic* destruicao livr* truncamento dropa* sumam suma sumiu dropo dropamos"
        " dropando sumo desaparec* tritur* fulmin* pulveriz* detono jogamos apagao exting* trucid* truncar elimino",
        "wipe": "purg* aniquil* esvazi* arras* demol* zerar zera zerando obliter* esvaziamento zer* dizim* varrer varre varrendo zerei zeramos"
        " varro",
        "remove": "remov* limpar limpe limpando limpeza desinstal* limp* remocao desvincul* despublic* expurg* depur* podar podo enxug* tir*"
        " retir*",
        "stop": "deslig* encerr* parar parando pare termin* matar mate matando derrub* desmont* interromp* finaliz* desligamento parada"
        " encerramento mato derrubo desconect* cess* paralis* desligo derrubamos mata matamos paro descomission* desprovision* desplug*",
        "disable": "desativ* desabilit* silenci* inativ* desativacao emudec* desarm* neutraliz* jumpe*",
        "suspend": "suspend* congel* expuls* suspensao demit* demiss* expulsao demito inabilit* afast*",
        "revoke": "revog* retir* tirar tire tirando cass* revogacao tir* retirada priv* despoj* destitu* retomo arranc*",
        "invalidate": "invalid* rotacion* rotaciona* expir* regener* invalidacao rotacao rotac* renov* desloga* venc* inutiliz* imprestav*",
        "block": "bloque* banir banindo bana vetar bloqueio vet* expuls* chut* kick* ban bane banimento bani* expulso chuto kicko barro barrar"
        " barramos",
        "refund": "reembols* estorn* devolv* reembolso estorno devolucao ressarc* devolvo",
        "charge": "cobr* pagar pague pagando transfer* fatur* cobranca pag* deposit* compr* debit* desembols* repass* pix pago transfiro"
        " transfir* adquir* invest* quito quitar gast* aposto vend*",
        "cancel": "cancel* anul* cancelamento rescind* rescis* distrat* desmarc* rescindo resilir",
        "bypass": "pular pule pulando ignor* contorn* burl* forc* pul* dribl* furar fure desrespeit* ignorando atropel* dispens* pulo fraud*"
        " falsific* contorno jumpear",
        "grant": "conced* dar dando atribu* elev* promov* outorg* dou concess* promoc* nomear nomeio libera* damos elevo promovo liber*",
        "expose": "expor exponha expondo expon* expos* escancar* escancaro",
        "leak": "vazar vaze vazando exfiltr* vaz* revel* divulg* vazo",
        "send": "envi* mand* public* compartilh* encaminh* copi* export* notific* envio dispar* remet* subir suba subo transmit* postar poste"
        " postando post* repass* difund* mando subimos passo repasso vendo exporto",
        "format": "format*",
        "overwrite": "sobrescrev* substitu* sobrepor sobrepon* sobrescrit* substituo troc* flashe* flashar piso",
        "reset": "redefin* reinici* reset* recri* recomec* comec* restabelec* redefinicao reinicializacao refazer refaz* reseto resetamos",
        "archive": "fech*",
        "put": "colocar coloc* botar bot* ponho ponha poe pondo deix* larg* colar",
        "rewrite": "reescrev* reescrit*",
        "lift": "levant* desbloque* desban*",
    },
    nouns={
        "message": "mensagem mensagens email* e-mail* sms boletim boletins newsletter* comunicado* notificac* torpedo*",
        "private": "cpf cpfs rg passaporte* cartao cartoes salario*",
        "data": "dado* registro* registo* linha* arquivo* ficheiro* pasta* diretorio* documento* historico* foto* conteudo* item itens ramo*"
        " branch objeto* fila* indice* lixeira imagem imagens video* venda* transac* prontuario* caixa informac* gravac* pagina* galeria*"
        " catalogo* produto* ficha* partida* pontuac* inventario* ranking* receita* medic* leitura* publicac* evento* lead* estoque* progresso"
        " calendario* post nota notas voto* topico*",
        "data database": "banco bancos bd base bases postgres mysql mongo redis database",
        "data table": "tabela* colecao colecoes coluna*",
        "data schema": "esquema*",
        "data volume": "volume*",
        "data bucket": "bucket* balde* armazenamento s3",
        "data repository": "repositorio* repo",
        "data project": "projeto*",
        "data backup": "backup* copia copias snapshot*",
        "log audit_log": "auditoria logs log trilha*",
        "access": "acesso* permiss* privilegio* papel papeis direito* autorizac* permissao permissoes cracha* passe*",
        "credential": "chave* token* segredo* certificado* senha* credencia* sess* env api-key* password* certificados pin cofre ssh chaves"
        " wallet",
        "config": "configurac* politica* regra* dns dominio* webhook* ajuste* parametro* cron terraform",
        "safety": "firewall antivirus monitoramento alerta* criptografia validac* verificac* aprovac* protecao protecoes limite* mfa 2fa"
        " autenticacao revisao restric* confirmacao seguranca filtro* waf antifraude alarme* vigilancia supervisao logging salvaguarda* controle*"
        " captcha trava* barreira* intertravamento* sirene* incendio antiincendio detector* moderacao tls ssl cadeado* freio*",
        "resource": "servidor* instancia* maquina* container* conteiner* servico* implantac* pod pods ambiente* aplicac* site sistema*"
        " infraestrutura vm vms host plataforma* api lambda* balanceador* rede redes replica* loja hospedagem nuvem tenant energia",
        "resource cluster": "cluster*",
        "account": "usuario* utilizador* conta* cliente* funcionario* membro* administrador* inquilino* assinante* aluno* paciente* pessoa*"
        " colaborador* trabalhador* fornecedor* terceirizad* prestador* tenant* inscrito* estudante* professor* socio* visitante* contato*"
        " destinatario* grupo leitor* moderador* estagiari* galera gente admins hospede* locatario* jogador* motorista* vendedor* docente*"
        " diretor* familia* beneficiario* participante* operador* convidado* comprador* ex-funcionario* corretor* segurado*",
        "account organization": "organizac* empresa* equipe* equipa*",
        "money": "assinatura* pagamento* fatura* reembolso* dinheiro fundo* saldo boleto* transferencia* divida* licenca* real reais mensalidade*"
        " acao acoes carteira* titulos cripto*",
        "disk": "disco* partic* unidade* hd hds ssd usb pendrive",
        "device": "dispositivo* notebook telefone* computador* celular* tablet* pc roteador* bomba* valvula* caldeira* sensor* camera* turbina*"
        " elevador* guindaste* robo robos motor* compressor* esteira* semaforo* gerador* subestac* portao portoes porta* medidor* termostato*"
        " impressora* autoclave* forno* catraca* refrigerac* ventilac* aquecimento climatizac* geladeira* freezer* congelador* irrigac* cloro"
        " reator* freio* nobreak incubadora* respirador* antena* transformador* radar* oxigenio armario* disjuntor* pressao vacina*",
        "code": "codigo funcao funcoes metodo* importac* comentario* espaco* botao botoes teste* dependencia* secao paragrafo* etiqueta* erro*"
        " variavel formulario* texto* titulo* estilo* import imports aviso* docstring* readme documentac* traduc* classe* modulo* componente*"
        " tela* menu* interface logica issue* codigo-fonte reuniao reunioes build builds job jobs chamado* guia* manual* tutorial* modelo* margem"
        " cabecalho* logo* captura* diagrama* grafico* slide* apresentac* rascunho* icone* cor cores legenda* indentac* card cards mascara*"
        " personagem personagens questionario* pergunta* resposta* string nome nomes procedimento procedimentos virgula* ponto parentese* hifen"
        " espacos acento* capa carrinho checklist",
        "scrap": "cache* temporari* tmp artefato* dist",
        "letter": "link* lembrete* instruc* convite*",
        "program": "script* executavel executaveis binario* instalador* programa* pacote* exe anexo* payload",
        "order": "ticket* apolice* seguro* reserva* contrato* matricula* consulta* voo* passagem passagens encomenda* locacao aluguel pedido*"
        " inscric* plano",
        "list": "lista* listagem listagens planilha* excel csv dump* agenda* cadastro* relacao extrato*",
    },
    scope={
        "all": "todo toda todos todas inteiro inteira tudo completo completa completamente cada qualquer integral integralmente totalmente total"
        " nenhum nenhuma absolutamente geral todinho",
        "bulk": "massa varios varias muitos muitas antigos antigas inativos inativas lote dezenas centenas milhares obsoletos obsoletas externos"
        " ex-funcionarios vez bloco lotes monte ex-*",
        "production": "producao prod produtivo prd",
        "staging": "staging homologacao desenvolvimento",
        "permanent": "permanentemente definitivamente irreversivelmente sempre permanente definitiva definitivo irrevogavel irrecuperavel"
        " irreversivel",
        "admin": "administrador admin root administradora superusuario sudo dono owner superadmin",
        "public": "publico publica publicos publicas publicamente aberto aberta",
    },
    look="list* mostr* ver vendo ler lendo leia revis* consult* contar conte contagem explic* descrev* resum* analis* compar* busc* verific*"
    " valid* estim* investig* examin* simul* inspecion* audit* calcul* visualiz* pergunt* planej* test* obter obtendo document* traduz* abr*"
    " exib* avali* procur* checar checando descobr* olh* entend* diz* diga enumer* identific* localiz* rastre* detect* diagnostic* confer* checa*"
    " esper* aguard* estud* propon* propor suger* recomend* pens* imagin* lembr* aprend* observ* monitor* medir mede mec* saber conhec* debat*"
    " discut* prever acompanh* reproduz* documento confiro vejo leio olho checo investigo convers* falo falar falamos digo digamos comunic*"
    " aprov* decid* avis* anunci* inform* solicit* duvid* conto contam diz dizem disse meco renunci* desist*",
    make="imped* criar crie criando cria criacao escrev* adicion* atualiz* redig* implement* corrig* renome* gerar gere gerando salv* anot* evit* imped*"
    " restaur* recuper* refator* modific* reativ* prepar* ativ* habilit* comentar mud* alter* melhor* esclarec* duplic* configur* otimiz* traduz*"
    " desenh* compil* constr* conserv* manter mant* proteg* consert* respond* cadastr* desbanir orden* ajust* recus* proib* inclu* reorden*"
    " alinh* centraliz* pint* convert* sincroniz* integr* ampli* estend* registr* import* program* agend* reformul* esboc* simplific* migr*"
    " legend* transcrev* grav* monto montar test* tipific* ajeit* gero crio reinstal* sugir* mescl* arrum* divid* separ* redij*",
    never="nao nada sem nunca jamais nem evitar ninguem",
    asked="como qual quando porque se onde quem quantos quantas devo devemos quanto quanta quais suponha supondo",
    joints="e depois entao mas seguida tambem finalmente alem",
    without="sem",
    because="porque pois",
    that="que cujo cuja",
    means="com mediante usando via",
    now="dou vou estou sou",
    links="de do da para pra",
    past=r"(?:[aií]d[oa]s?|ou|aram|eram|eu|iu|uíd[oa]s?)$",
    will="sera serao ser sendo vao vai devem deve sao estao ficam ficarao",
    was="foi foram sido havia tinha",
    unless="backup copia confirm* perguntar avis* previo previa aprovacao copia* pedir permissao autorizacao consult* aviso pergunt* esperar"
    " revis* olhar backup*",
    do="fazer faco faz faca fazendo realiz* efetu* proced* inici* comec* agend* program*",
    launch="execut* rod* lanc* invoc* cham* instal* bash",
    fetch="baix* descarreg* download",
    trial="simulacao simulad* ensaio dry-run hipotetic*",
    past_trial="apos depois",
    outside="internet forum foruns extern* pastebin terceiro* desconhecid* blog twitter facebook slack whatsapp discord concorren* fora canal"
    " github gist baixad* url telegram anonim* pessoal grupo reddit aberto aberta wetransfer drive gmail hotmail qualquer",
    personal="pessoa* medic* privad* sensive* confidencia* bancari* clinic* cpf salario* saude endereco* telefone* iban",
    empty="seguir seguindo sigo seguinte continuar continuando continuo com o a os as proximo proxima passo passos etapa fazer fazendo faco algo"
    " coisa coisas uma um umas uns tarefa tarefas trabalho trabalhando plano prosseguir prosseguindo acao acoes comando operacao executar"
    " executando execucao de do da em que combinado falado pendente isto isso aquilo resto vou estou vamos e ja agora conforme previsto dito"
    " realizar realizando necessario preciso terminar adiante meu processar processando processo no na",
    idioms={
        "also": r"nao (?:so|apenas|somente|so apenas)|alem d[aeo]s?|junto com",
        "skip": r"sem (?:hesitar|demora|falta|mais|do|piedad\w*|excec\w+|parar)|nao (?:hesit\w+) em",
        "verb destroy": r"(?:dar|dou|dando|da|de) (?:um )?sumico (?:em|n[ao]s?)?|(?:fazer|faco|faz) (?:\S+ ){0,5}(?:sumir|desaparecer)\w*|livrar-se d\w+|me livrar d\w+|nos livrar d\w+|jog\w+ (?:\S+ ){0,5}(?:fora|no lixo)|dar fim (?:a|n?[ao]s?|em)|dar cabo d\w+|mandar para o lixo|acabar com|nao deixar (?:nada|nenhum\w*|rastro)|passar a borracha|(?:vai|vao|foi|va) (?:pro|para o|pra) (?:saco|lixo|espaco|beleleu|brejo|ralo)|(?:pass|met)\w* (?:a |o )?(?:regua|rodo|faca|trator) (?:em|n[ao]s?)|(?:dou|da|dar|dando|damos) (?:um )?(?:drop|fim|sumico|cabo) (?:em|n[ao]s?|d[aeo]s?|a|ao)|(?:mand|jog)\w* (?:\S+ ){0,4}(?:pro|para o|no) (?:lixo|espaco|ralo)|tir\w+ (?:\S+ ){0,3}d[oa] (?:mapa|banco)|(?:vai|vao) embora",
        "verb wipe": r"deix\w+ (?:\S+ ){0,4}(?:vazi[oa]s?|em branco|zerad[oa]s?)|comecar do zero|do zero|passar o rodo|limpar (?:tudo|tod[oa]s?|geral)|(?:restaur|reset|volt|devolv|redefin|retorn|coloc)\w* (?:\S+ ){0,7}de fabrica|(?:preench|sobrescrev)\w+ (?:\S+ ){0,4}com zeros|do zero|a zero",
        "verb suspend": r"dar baixa|mandar embora|colocar na rua",
        "verb stop": r"tir\w+ (?:\S+ ){0,4}do ar|(?:escal|reduz)\w+ (?:\S+ ){0,5}(?:a|para) zero|derrubar|por abaixo|fora do ar|cort\w+ (?:o|a|os|as) (?:luz|agua|gas|energia|servico|conexao|internet|fornecimento)|(?:escal|reduz|baix|deix|coloc)\w* (?:\S+ ){0,6}(?:a|para|pra|em|com) (?:0|zero) (?:replicas|instancias|pods)|(?:escal|baix|reduz)\w* (?:pra|para|a) zero",
        "make": r"dar alta|voltar a (?:ativ|habilit)\w+|faz\w* (?:uma |um |o |a )?(?:copia|backup|teste|testes|pull)|desfazer (?:a|o) \w+",
        "verb revoke": r"deix\w+ (?:\S+ ){0,5}sem (?:acesso|permiss\w+|privilegios|direitos)|cort\w+ o acesso",
        "verb invalidate": r"deix\w+ (?:\S+ ){0,5}sem (?:efeito|validade)|encerr\w+ (?:\S+ ){0,2}sess\w+|fazer expirar|tornar (?:\S+ ){0,4}invalid\w+",
        "verb bypass": r"pass\w+ por cima d\w+|deix\w+ de lado|fazer vista grossa|fazer pouco caso d\w+|sem (?:esperar|passar p\w+) (?:\S+ ){0,2}(?:revisao|aprovacao|assinatura|validacao)",
        "verb expose public": r"(?:torn|deix|coloc)\w+ (?:\S+ ){0,4}public[oa]s?|abr\w+ (?:\S+ ){0,5}(?:a|para|pra) (?:todo|todos|internet|qualquer|o mundo|a internet)|(?:em |com |de |pra )?(?:leitura|acesso|modo) public[oa]|(?:torn|deix|coloc|abr|public|subo|subir|jog)\w* (?:\S+ ){0,9}(?:link (?:publico|aberto)|acessivel (?:a|para|pra) (?:todo\w*|qualquer)|visivel (?:a|para|pra) (?:todo\w*|qualquer))|abr\w+ (?:\S+ ){0,6}xworld|(?:mud|pass|coloc|deix|torn|alter|troc|abr)\w* (?:\S+ ){0,3}(?:pra|para|como|em|a) public[oa]s?",
        "verb grant admin": r"(?:torn|faz|promov|transform|nome|elev)\w* (?:\S+ ){0,4}(?:administrador\w*|admin|root|superusuario|don[oa]|owner)|permissao 777|(?:adicion|coloc|inclu|bot|acrescent)\w* (?:\S+ ){0,8}(?:admins|administradores|owners|sudoers|wheel|sudo)|chmod (?:\S+ ){0,2}xopenmode",
        "verb rewrite history": r"(?:force|forc\w+) (?:\w+ ){0,2}push|push (?:\w+ ){0,2}(?:forcad\w+|force|a forca)|force-push|(?:sub|empurr|envi)\w+ (?:\S+ ){0,6}(?:a forca|na marra|forcando)|(?:\w*push\w*|pouss\w*|empuj\w*|empurr\w*|spin\w+|envi\w*|invi\w*|sub\w+|druck\w*|schieb\w*|jag\w*) (?:\S+ ){0,6}xforce|xforce (?:\S+ ){0,6}(?:\w*push\w*|druck\w*|schieb\w*)",
        "noun account all": r"todo mundo|todo o mundo",
        "noun credential": r"codigos? de acesso|arquivos? env",
        "noun safety": r"dois fatores|controles? de seguranca|botao de emergencia|parada de emergencia|dupla (?:checagem|assinatura)|segunda assinatura",
        "noun data database": r"bancos? de dados|bases? de dados",
        "noun data backup": r"copias? de seguranca",
        "scope admin": r"como (?:root|administrador|superusuario)",
        "quiet": r"(?:tenho|tem|temos|ha|ja|para|pra|quero|queremos|preciso|visto|dado|sendo|assim) que|(?:depois|antes) d[aeo]s?|uma vez que|em vez de|por engano|sem querer|por acidente|a mais|a menos",
        "verb block": r"(?:tir|mand|expuls|remov|bot|chut)\w* (?:\S+ ){0,3}(?:fora )?d[oa] (?:grupo|equipe|organizacao|canal|slack|discord|servidor|chat)",
        "verb overwrite": r"sem where|update (?:\S+ ){0,8}sem where",
        "verb leak": r"(?:abr|mont|lanc|instal|deix)\w+ (?:\S+ ){0,3}(?:shell revers\w+|shell remot\w+|reverse shell|porta dos fundos|backdoor)",
        "verb charge": r"(?:fac|faz|fiz)\w* (?:um |uma )?(?:transferencia|pix|pagamento|ted|deposito|compra)",
        "launch": r"(?:jog|mand|pass)\w+ (?:\S+ ){0,3}(?:direto )?(?:no|pro|para o) (?:bash|sh)",
        "look": r"d(?:ar|ou|ando) uma (?:olhada|conferida)|(?:pec|ped|solicit|aguard|esper)\w* (?:\S+ )?(?:permissao|autorizacao|aprovacao|confirmacao)|(?:desist|renunci|abr)\w+ (?:mao )?de (?:\w+[aei]r)",
        "verb disable": r"(?:pon|deix|coloc|bot)\w* (?:\S+ ){0,6}(?:no mudo|em silencio|em pausa)",
    },
    alone={
        "verb destroy": "fora",
    },
    clitic=r"(?<=[aeir])-(?:l[oa]s?|o|a|os|as|lhes?|se|me|nos)$",
    plural=r"[^ui]s$",
)
