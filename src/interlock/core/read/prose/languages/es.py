"""Spanish words for acts, objects and scope."""

from __future__ import annotations

from interlock.core.read.prose.language import Language

LANGUAGE = Language(
    code="es",
    common="el la los las de del que y en un una para por con sin todos todas al se su es lo antes luego despues este esta nuestra nuestro voy estoy"
    " vamos toda todo tambien mis nuestros nuestras les unos unas ya ahora",
    verbs={
        "destroy": "borr* elimin* suprim* destruy* destruir destruc* desech* descart* tirar tira tirando deshac* elimina dropear dropea trunc* deshazte"
        " deshacerse deshacernos erradic* borrado borrada supresion eliminacion destruccion bote botar cargarse cargarme deshago suprimo"
        " liquid* extermin* despach* pulirse truncado descarto",
        "wipe": "purg* arras* aniquil* vaci* fulmin* demol* pulveriz* vaciado purga arrasar",
        "remove": "quitar quita quitando quito limpi* remov* remuev* despej* desinstal* quit* retirada limpieza desmont* despublic* desvincul* extirp*",
        "stop": "apag* deten* detien* termin* parar parando paro detener matar mata matando tumb* derrib* desmantel* desaprovision* parada apagado"
        " detencion mates mato tumbo desconect* desplom* finaliz* desmont* clausur*",
        "disable": "desactiv* deshabilit* inhabilit* silenci* inutiliz* desactivacion inactiv* desconex*",
        "suspend": "suspend* congel* expuls* suspension inhabilit* despid* despedir despido",
        "revoke": "revoc* retir* despoj* desasign* revocacion priv* desposee*",
        "invalidate": "invalid* rotar rota rotando caduc* regener* invalidacion rotacion rote roto expir* renov* deslogue*",
        "block": "bloque* bane* vetar banear proscrib* bloqueo expuls* echar echo eche ech* veto baneo vet*",
        "refund": "reembols* devolver devuelv* devolvi* reembolso devolucion reintegr* abonar abono",
        "charge": "cobr* pagar pago paga pagando pague transfer* factur* cobro gir* ingresar ingreso desembols* compr* ingrese abon* deposit*",
        "cancel": "cancel* anul* cancelacion rescind* rescis*",
        "bypass": "saltar salta saltarse saltando omit* omis* eludi* elud* ignor* evad* forzar forzando fuerza salt* esquiv* burl* sorte* prescind*"
        " fuerzo forz* forc* omision ignorando",
        "grant": "otorg* conced* dar dando asign* eleva* escal* doy dale darle darles dame concesion promov* promuev* nombrar nombro ascend* asciend*"
        " facult*",
        "expose": "expon* desvel* destap*",
        "leak": "filtra* exfiltr* filtrar filtro filtre filtrando fuga revel* divulg* sustra* desvel*",
        "send": "envi* manda* subir subo sube subiendo public* compart* reenvi* copi* export* notific* envio mandar mando mande mandando difund*"
        " remit* vuelc* volcar postear postea tuite* transmit* suba pasar",
        "format": "format*",
        "overwrite": "sobrescrib* sobreescrib* reemplaz* machac* sobrescritura sustitu* pisar piso pise pisa",
        "reset": "restablec* reinici* resete* reinicializ* recre* empez* comenz* reconstru* restablecimiento reinicializacion rehacer rehago",
        "archive": "cerr* cierr*",
        "put": "poner pongo pon ponga poniendo coloc* colgar cuelg* dej* peg* met* deposit*",
        "rewrite": "reescrib* reescrit*",
        "lift": "levant* desbloque* desban*",
    },
    nouns={
        "message": "correo* mensaje* email* e-mail* sms boletin* newsletter circular comunicado* notificacion*",
        "private": "dni pasaporte* tarjeta* nominas salario* sueldo*",
        "data": "dato* datos registro* fila* archivo* fichero* carpeta* directorio* documento* historial* foto* contenido* pedido* elemento* rama*"
        " objeto* informacion cola* indice* papelera informe* imagen* video* ticket* entrada* backlog carga* reserva* compra* venta*"
        " transaccion* expediente* buzon* bandeja nomina* historia* grabacion* pagina*",
        "data database": "base bases bd bbdd postgres mysql mongo redis database basedatos",
        "data table": "tabla* coleccion* columna*",
        "data schema": "esquema*",
        "data volume": "volumen*",
        "data bucket": "bucket* cubo* almacenamiento s3",
        "data repository": "repositorio* repo",
        "data project": "proyecto*",
        "data backup": "respaldo* copia copias backup* snapshot* instantanea*",
        "log audit_log": "auditoria bitacora* auditoria* trazas logs log",
        "access": "acceso* permiso* privilegio* rol roles derecho* autorizacion*",
        "credential": "clave* token* secreto* certificado* contrasena* credencial* sesion* llave* contrasenya* api-key* apikey* pin env password* passwd",
        "config": "configuracion* ajuste* politica* regla* dns dominio* webhook* zona* ajustes parametro* cron terraform",
        "safety": "firewall cortafuegos antivirus monitoreo monitorizacion alerta* cifrado validacion* verificacion* comprobacion* aprobacion*"
        " proteccion* limite* control controles mfa 2fa autenticacion revision* restriccion* confirmacion seguridad filtro* waf guardarrail*"
        " salvaguarda* alarma* logging control* captcha vigilancia supervision firma*",
        "resource": "servidor* instancia* maquina* contenedor* servicio* despliegue* nodo* pod pods entorno* aplicacion* sitio* sistema infraestructura"
        " vm vms host hosts plataforma* web webs api lambda* balanceador* red redes replica*",
        "resource cluster": "cluster* agrupacion",
        "account": "usuario* cuenta* cliente* empleado* miembro* administrador* inquilino* suscriptor* alumno* paciente* persona* colaborador*"
        " trabajador* proveedor* contratista* tenant* gente estudiante* profesor* socio* visitante* contacto* destinatario* grupo lector*"
        " moderador* becari* admin admins",
        "account organization": "organizacion* empresa* equipo*",
        "money": "suscripcion* pago* factura* reembolso* dinero fondo* cargo* saldo recibo* transferencia* deuda* cobro* licencia* euro euros dolar"
        " dolares",
        "disk": "disco* particion* unidad* ssd usb pendrive",
        "device": "dispositivo* portatil* telefono* ordenador* movil* tableta* tablet* pc router*",
        "code": "codigo funcion* metodo* importacion* comentario* linea* espacio* boton* prueba* dependencia* seccion* parrafo* etiqueta* error*"
        " variable* test tests advertencia* formulario* texto* titulo* estilo* import imports warning* docstring* readme docu* traduccion*"
        " clase* modulo* componente* pantalla* menu* interfaz logica issue*",
        "scrap": "cache* temporal* tmp compilacion artefacto* dist",
        "letter": "enlace* link recordatorio* instruccion* invitacion* saludo*",
        "program": "script* ejecutable* binario* instalador* programa* paquete* exe adjunto* payload guion",
    },
    scope={
        "all": "todo toda todos todas entera entero enteras enteros completo completa completamente cada cualquier totalidad total totalmente"
        " integra integro integramente absolutamente ninguno ningun ninguna",
        "bulk": "masivo masiva masivamente varios varias muchos muchas antiguos antiguas inactivos inactivas viejos viejas lote masa tanda decenas"
        " cientos miles centenares docenas obsoletos obsoletas caducados exempleados externos",
        "production": "produccion prod productivo productiva vivo",
        "staging": "staging preproduccion desarrollo",
        "permanent": "permanentemente definitivamente irreversible irreversiblemente siempre permanente irrevocable irrevocablemente irrecuperable"
        " definitiva definitivo",
        "admin": "administrador admin root superusuario administradora superadmin sudo propietario owner",
        "public": "publico publica publicos publicas publicamente",
    },
    look="list* mostr* muestr* ver veo leer leyendo lee revis* consult* contar cuenta contando conteo explic* describ* resum* analiz* compar*"
    " busc* verific* comprob* valid* estim* investig* examin* simul* inspeccion* audit* calcul* visualiz* observ* pregunt* planific* prob*"
    " obten* document* traduc* evalu* monitor* abr* abriendo averigu* mir* ensen* lei* leo entend* comprend* deci* dime cuent* enumer*"
    " identific* localiz* detect* diagnostic* repas* cotej* chec* chequ* esper* estudi* propon* suger* recomend* pens* imagin* record* aprend*"
    " supervis* medir mid* ojear vigil* conoc* debat* discut* preve* reproduc*",
    make="crear crea creando escrib* anad* agreg* actualiz* redact* implement* corrig* corregir renombr* generar genera generando guard* arregl*"
    " anota* comenta* evit* impedi* restaur* recuper* refactoriz* modific* reactiv* coment* document* prepar* activ* habilit* prevenir"
    " prevenc* cambi* mejor* aclar* duplic* respald* desbane* inscrib* despleg* desplieg* configur* optimiz* traduc* maquet* dise* compil*"
    " constru* conserv* mantener manten* mantien* proteg* repar* respond* contest* desplegar refactor* borrador orden* ajust* rechaz* proh*"
    " niego negarse correg* correcc*",
    never="no nada sin nunca jamas ni evitar evitando tampoco",
    asked="que como cual cuando porque si donde quien cuantos cuantas deberia deberiamos debo cuanto cuanta cuales quienes supongamos suponiendo",
    joints="y luego despues entonces e pero ademas tambien finalmente seguidamente",
    past=r"(?:[aií]d[oa]s?|ó|aron|ieron|ió|uid[oa]s?)$",
    will="sera seran ser siendo van va deben debe queda quedan quedaran quedara estan acaban acabaran",
    was="fue fueron sido ha han habia fuera",
    unless="respaldo* copia copias backup confirm* preguntar avis* previo aprobacion copia* pregunt* permiso consult* aviso autorizacion pedir"
    " revis* esperar mirar contemplaciones piedad",
    do="hacer hago haz haga hace haciendo realiz* efectu* proced* llevar llevo inici* comenz* empez* practic*",
    launch="ejecut* lanz* corr* arranc* invoc* llam* instal* bash",
    fetch="descarg* baj*",
    also="aparte",
    trial="simulacro dry-run ensayo simulad* hipotetic*",
    past_trial="tras despues",
    outside="internet foro* extern* pastebin tercero* desconocid* blog twitter facebook slack whatsapp discord competencia fuera canal github gist"
    " descargad* url telegram rival competidor* anonim* personal wifi reddit",
    personal="personal* medic* privad* sensible* confidencial* bancari* clinic*",
    empty="seguir sigo siguiendo sigue continuar continuo continuando con lo la el los las siguiente proximo paso pasos hacer hago haciendo algo"
    " cosa cosas una un unas unos tarea tareas trabajo plan proceder procedo procediendo accion acciones comando orden operacion ejecutar"
    " ejecuto ejecutando ejecucion de del en a que toca tocaba acordado acordamos hablado hablamos pendiente esto eso ello resto voy estoy"
    " vamos y ya ahora segun previsto comentado dicho trabajando realizar realizando necesario haga falta terminar adelante mi mis procesar"
    " procesando proceso",
    idioms={
        "also": r"no (?:solo|solamente|unicamente)|ademas de(?:l)?|aparte de(?:l)?|junto con|amen de",
        "skip": r"sin (?:dudar\w*|vacilar|demora|falta|tardar|mas|contemplaciones|piedad|excepcion(?:es)?|parar)|no (?:dud\w+|vacil\w+) en|por que no",
        "verb destroy": r"se van(?: a ir)?|hacer desaparecer|hago desaparecer|hac\w+ que desaparezca\w*|que desaparezca\w*|deshac\w+ de|deshaz\w* de|deshago de|librar\w* de|librarse de|tirar (?:\w+ )?(?:a la )?basura|a la basura|mand\w+ a la papelera|pasar por la trituradora|dar matarile a|eliminacion de|carg\w+rse|no dejar (?:ni )?(?:rastro|ningun\w*|nada)|sin dejar rastro de",
        "verb wipe": r"dej\w+ (?:\S+ ){0,4}(?:vaci[oa]s?|en blanco|limpi[oa]s?|a cero)|pon\w+ a cero|arrasar con|borron y cuenta nueva|hacer tabla rasa|empezar de cero|desde cero",
        "verb suspend": r"d\w+ de baja(?: a)?|poner en la calle",
        "verb stop": r"(?:ech|tir)\w+ abajo|(?:escal|reduc)\w+ (?:\S+ ){0,5}a cero|dej\w+ (?:\S+ ){0,4}fuera de servicio|fuera de linea|sacar de produccion|dej\w+ caer",
        "make": r"d\w+ de alta|pon\w+ en marcha|volver a (?:activ|habilit|pon)\w+|dej\w+ constancia|pon\w+ (?:al dia|a punto)|hac\w+ (?:una |la )?(?:copia|copias|prueba|pruebas|pull)\b|desh\w+ (?:el|la) (?:borrado|eliminacion)",
        "verb revoke": r"dej\w+ (?:a )?(?:\S+ ){0,5}sin (?:acceso|permisos?|privilegios|derechos)|cerrar\w* el paso|cort\w+ el (?:acceso|paso)",
        "verb invalidate": r"dej\w+ (?:\S+ ){0,5}sin (?:efecto|validez)|cerr\w+ (?:la |las |todas las )?sesion(?:es)?|dar por (?:perdid|caducad)\w+|hacer caducar",
        "verb bypass": r"pas\w+ por alto|pas\w+ por encima de|hac\w+ caso omiso de(?:l)?|hac\w+ la vista gorda|prescindir de",
        "verb expose public": r"(?:hac|volv|pon|dej)\w+ (?:\S+ ){0,4}public[oa]s?|abr\w+ (?:\S+ ){0,5}(?:a|hacia) (?:todo|todos|internet|cualquier\w*|el mundo|todo el mundo)|acceso publico",
        "verb grant admin": r"(?:hac|convert|convier|nombr|promov|promuev|ascend|asciend)\w* (?:\S+ ){0,4}(?:administrador\w*|admin|root|superusuario|propietari[oa]|owner)|permisos 777",
        "verb rewrite history": r"(?:force|forz\w+|fuerz\w+|forc\w+) (?:\w+ ){0,2}push|push (?:\w+ ){0,2}(?:forz\w+|force|a la fuerza)|force-push|(?:sub|empuj|pushe)\w+ (?:\S+ ){0,6}(?:a la fuerza|por la fuerza|forzando|con force)",
        "noun account all": r"todo el mundo|todo quisque",
        "noun credential": r"codigos? de acceso|ficheros? env|archivos? env",
        "noun safety": r"doble factor|dos factores|copia de seguridad obligatoria|controles? de seguridad|registros? de seguridad_",
        "noun data database": r"bases? de datos",
        "noun data backup": r"copias? de (?:seguridad|respaldo)",
    },
    clitic=r"(?<=[aeir])(?:se|me|te|nos)?(?:l[aoe]s?)?$",
    plural=r"[^ui]s$",
)
