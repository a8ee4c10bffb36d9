"""Spanish words for acts, objects and scope."""

from __future__ import annotations

from interlock.analysis.prose.foreign.languages import Language

LANGUAGE = Language(
    code="es",
    common="el la los las de del que y en un una para por con sin todos todas al se su es lo antes luego despues este esta nuestra nuestro voy"
    " estoy vamos toda todo tambien mis nuestros nuestras les unos unas ya ahora esto eso muy mas hay tiene hace asi aqui hasta desde sobre entre"
    " porque pero sus fue son mi te me le nos hoy mañana manana",
    verbs={
        "destroy": "borr* elimin* suprim* destruy* destruir destruc* desech* descart* tirar tira tirando deshac* elimina dropear dropea trunc*"
        " deshazte deshacerse deshacernos erradic* borrado borrada supresion eliminacion destruccion bote botar cargarse cargarme deshago suprimo"
        " liquid* extermin* despach* pulirse truncado descarto desaparec* desaparezc* tritur* dropeo dropeamos dropeando droppe* volatiliz* barro"
        " barrer barremos extingu* desintegr* destroz* elimino tiro tiramos tire sobro fulminamos carguemonos ventilarme cepill* trunqu*",
        "wipe": "purg* arras* aniquil* vaci* fulmin* demol* pulveriz* vaciado purga arrasar ceros barrido purgu*",
        "remove": "quitar quita quitando quito limpi* remov* remuev* despej* desinstal* quit* retirada limpieza desmont* despublic* desvincul*"
        " extirp* depur* podar podo podamos poda purgado retir*",
        "stop": "apag* deten* detien* termin* parar parando paro detener matar mata matando tumb* derrib* desmantel* desaprovision* parada"
        " apagado detencion mates mato tumbo desconect* desplom* finaliz* desmont* clausur* apaguen bajamos matamos paramos tumbar descuelg*"
        " desenchuf* inutiliz*",
        "disable": "desactiv* deshabilit* inhabilit* silenci* inutiliz* desactivacion inactiv* desconex* anestesi* desarm* descheque*",
        "suspend": "suspend* congel* expuls* suspension inhabilit* despid* despedir despido despedimos",
        "revoke": "revoc* retir* despoj* desasign* revocacion priv* desposee* desautoriz* arrebat* quitarle quitarles revoqu*",
        "invalidate": "invalid* rotar rota rotando caduc* regener* invalidacion rotacion rote roto expir* renov* deslogue* inutiliz* inservible*",
        "block": "bloque* bane* vetar banear proscrib* bloqueo expuls* echar echo eche ech* veto baneo vet* banea* bloqueamos vetamos",
        "refund": "reembols* devolver devuelv* devolvi* reembolso devolucion reintegr* abonar abono devuelvo devolvemos retroce* retrotra*",
        "charge": "cobr* pagar pago paga pagando pague transfer* factur* cobro gir* ingresar ingreso desembols* compr* ingrese abon* deposit*"
        " transfier* adquier* adquir* domicili* apuest* inviert* invert* liquido vend* liquid*",
        "cancel": "cancel* anul* cancelacion rescind* rescis* finiquit* desapunt* desdic*",
        "bypass": "saltar salta saltarse saltando omit* omis* eludi* elud* ignor* evad* forzar forzando fuerza salt* esquiv* burl* sorte*"
        " prescind* fuerzo forz* forc* omision ignorando puente* trampe* falsific* sobrepas*",
        "grant": "otorg* conced* dar dando asign* eleva* escal* doy dale darle darles dame concesion promov* promuev* nombrar nombro ascend*"
        " asciend* facult* habilitarle liber*",
        "expose": "expon* desvel* destap* destapo airear aireo",
        "leak": "filtra* exfiltr* filtrar filtro filtre filtrando fuga revel* divulg* sustra* desvel*",
        "send": "envi* manda* subir subo sube subiendo public* compart* reenvi* copi* export* notific* envio mandar mando mande mandando difund*"
        " remit* vuelc* volcar postear postea tuite* transmit* suba pasar paso pasamos subimos cuelgo vierto verter vend* cedo ceder difundo",
        "format": "format*",
        "overwrite": "sobrescrib* sobreescrib* reemplaz* machac* sobrescritura sustitu* pisar pise pisamos aplast* flashe*",
        "reset": "restablec* reinici* resete* reinicializ* recre* empez* comenz* reconstru* restablecimiento reinicializacion rehacer rehago",
        "archive": "cerr* cierr*",
        "put": "poner pongo pon ponga poniendo coloc* colgar cuelg* dej* peg* deposit* meto mete metemos meter metiendo metelo",
        "rewrite": "reescrib* reescrit*",
        "lift": "levant* desbloque* desban*",
    },
    nouns={
        "message": "correo* mensaje* email* e-mail* sms boletin* newsletter circular comunicado* notificacion*",
        "private": "dni pasaporte* tarjeta* nominas salario* sueldo*",
        "data": "dato* datos registro* fila* archivo* fichero* carpeta* directorio* documento* historial* foto* contenido* elemento* rama*"
        " objeto* informacion cola* indice* papelera informe* imagen* video* entrada* backlog carga* venta* transaccion* expediente* buzon*"
        " bandeja historia* grabacion* pagina* catalogo* producto* articulo* referencia* ficha* partida* puntuacion* inventario* ranking* receta*"
        " medicion* lectura* publicacion* grabaciones buzones evento* lead* calendario* migracion* apunte* asiento* nota notas calificacion*"
        " topico* voto* expedientes",
        "data database": "base bases bd bbdd postgres mysql mongo redis database basedatos",
        "data table": "tabla* coleccion* columna*",
        "data schema": "esquema*",
        "data volume": "volumen*",
        "data bucket": "bucket* cubo* almacenamiento s3",
        "data repository": "repositorio* repo",
        "data project": "proyecto*",
        "data backup": "respaldo* copia copias backup* snapshot* instantanea*",
        "log audit_log": "auditoria bitacora* auditoria* trazas logs log",
        "access": "acceso* permiso* privilegio* rol roles derecho* autorizacion* pase pases llavero*",
        "credential": "clave* token* secreto* certificado* contrasena* credencial* sesion* llave* contrasenya* api-key* apikey* pin env password*"
        " passwd codigos api-keys ssh semilla",
        "config": "configuracion* ajuste* politica* regla* dns dominio* webhook* zona* ajustes parametro* cron terraform",
        "safety": "firewall cortafuegos antivirus monitoreo monitorizacion alerta* cifrado validacion* verificacion* comprobacion* aprobacion*"
        " proteccion* limite* control controles mfa 2fa autenticacion revision* restriccion* confirmacion seguridad filtro* waf guardarrail*"
        " salvaguarda* alarma* logging control* captcha vigilancia supervision firma* enclavamiento* interbloqueo* sirena* antiincendio*"
        " incendio* detector* antifraude moderacion selinux candado* tls ssl",
        "resource": "servidor* instancia* maquina* contenedor* servicio* despliegue* nodo* pod pods entorno* aplicacion* sitio* sistema"
        " infraestructura vm vms host hosts plataforma* web webs api lambda* balanceador* red redes replica* hosting tienda nube tenant clusteres"
        " suministro",
        "resource cluster": "cluster* agrupacion",
        "account": "usuario* cuenta* cliente* empleado* miembro* administrador* inquilino* suscriptor* alumno* paciente* persona* colaborador*"
        " trabajador* proveedor* contratista* tenant* gente estudiante* profesor* socio* visitante* contacto* destinatario* grupo lector*"
        " moderador* becari* admin admins huesped* arrendatario* abonado* jugador* conductor* vendedor* docente* alumn* director* menores"
        " familia* asociado* participante* operador* invitado* comprador* externo externos exempleado* cuenta cuentas",
        "account organization": "organizacion* empresa* equipo*",
        "money": "suscripcion* pago* factura* reembolso* dinero fondo* cargo* saldo recibo* transferencia* deuda* cobro* licencia* euro euros"
        " dolar dolares importe* cuota* comision* accion* cartera* bono* cripto* valores",
        "disk": "disco* particion* unidad* ssd usb pendrive",
        "device": "dispositivo* portatil* telefono* ordenador* movil* tableta* tablet* pc router* bomba* valvula* caldera* sensor* camara*"
        " turbina* ascensor* grua* robot* motor* compresor* cinta* semaforo* generador* subestacion* puerta* barrera* contador* termostato*"
        " impresora* centralita* box autoclave* horno* robotizad* tractor* refrigeracion ventilacion calefaccion climatizacion nevera*"
        " congelador* frigorific* riego cloro reactor* freno* sai generadores incubadora* respirador* monitor* antena* transformador* radar*"
        " oxigeno termo* enfriamiento disyuntor* rele reles cuadro* vacuna* presion",
        "code": "codigo funcion* metodo* importacion* comentario* linea* espacio* boton* prueba* dependencia* seccion* parrafo* etiqueta* error*"
        " variable* test tests advertencia* formulario* texto* titulo* estilo* import imports warning* docstring* readme docu* traduccion* clase*"
        " modulo* componente* pantalla* menu* interfaz logica issue* reunion* build builds job jobs recordatorio* guia* manual* tutorial*"
        " plantilla* margen* encabezado* logo* cabecera* captura* diagrama* grafic* diapositiva* presentacion* borrador* icono* color* fuente*"
        " maqueta* plan encuesta* pregunta* respuesta* post procedimiento procedimientos coma comas parentesis guion guiones salto tilde errata*"
        " punto sangria portada carrito checklist",
        "scrap": "cache* temporal* tmp compilacion artefacto* dist",
        "letter": "enlace* link recordatorio* instruccion* invitacion* saludo*",
        "program": "script* ejecutable* binario* instalador* programa* paquete* exe adjunto* payload guion",
        "order": "ticket* billete* reserva* poliza* seguro* cita* vuelo* contrato* matricula* inscripcion* alquiler* encargo* pedido* membresia*",
        "list": "lista* listado* censo* hoja* planilla* volcado* agenda*",
    },
    scope={
        "all": "todo toda todos todas entera entero enteras enteros completo completa completamente cada cualquier totalidad total totalmente"
        " integra integro integramente absolutamente ninguno ningun ninguna toditos todito enterito",
        "bulk": "masivo masiva masivamente varios varias muchos muchas antiguos antiguas inactivos inactivas viejos viejas lote masa tanda"
        " decenas cientos miles centenares docenas obsoletos obsoletas caducados exempleados externos montones decena centenar millar golpe"
        " plumazo bloque",
        "production": "produccion prod productivo productiva vivo productivos explotacion real",
        "staging": "staging preproduccion desarrollo",
        "permanent": "permanentemente definitivamente irreversible irreversiblemente siempre permanente irrevocable irrevocablemente"
        " irrecuperable definitiva definitivo recuperacion",
        "admin": "administrador admin root superusuario administradora superadmin sudo propietario owner",
        "public": "publico publica publicos publicas publicamente",
    },
    look="list* mostr* muestr* ver veo leer leyendo lee revis* consult* contar cuenta contando conteo explic* describ* resum* analiz* compar*"
    " busc* verific* comprob* valid* estim* investig* examin* simul* inspeccion* audit* calcul* visualiz* observ* pregunt* planific* obten*"
    " document* traduc* evalu* monitor* abr* abriendo averigu* mir* ensen* lei* leo entend* comprend* deci* dime cuent* enumer* identific*"
    " localiz* detect* diagnostic* repas* cotej* chec* chequ* esper* estudi* propon* suger* recomend* pens* imagin* record* aprend* supervis*"
    " medir mid* ojear vigil* conoc* debat* discut* preve* reproduc* documento comprueb* probar pruebo probando probamos repaso pregunto veamos"
    " vemos leemos listo miro vistazo diagnostico comparo sabe saber habl* digo diga digamos coment* aprueb* decid* avis* anunci* inform*"
    " recuerd* solicit* ruego rueg* advert* adviert* charl* dud* dice dicen dijo renunci*",
    make="crear crea creando escrib* anad* agreg* actualiz* redact* implement* corrig* corregir renombr* generar genera generando guard* arregl*"
    " anota* comenta* evit* impedi* impid* restaur* recuper* refactoriz* modific* reactiv* coment* document* prepar* activ* habilit* prevenir prevenc*"
    " cambi* mejor* aclar* duplic* respald* desbane* inscrib* despleg* desplieg* configur* optimiz* traduc* maquet* dise* compil* constru*"
    " conserv* mantener manten* mantien* proteg* repar* respond* contest* desplegar refactor* borrador orden* ajust* rechaz* proh* niego negarse"
    " correg* correcc* grab* inclu* reorden* aline* centr* pint* dibuj* converti* conviert* refresc* etiquet* sincroniz* mont* integr* ampli*"
    " extiend* extend* teste* compilo pruebo pruebas ensay* registr* import* planif* apunt* program* agend* reformul* tipific* bosquej* esboz*"
    " simplific* migr* mejoro localizo subtitul* transcrib* enlaz* reintent* reinstal* reubic* corrij* anot*",
    never="no nada sin nunca jamas ni evitar evitando tampoco nadie",
    asked="que como cual cuando porque si donde quien cuantos cuantas deberia deberiamos debo cuanto cuanta cuales quienes supongamos suponiendo"
    " hipotetic*",
    joints="y luego despues entonces e pero ademas tambien finalmente seguidamente",
    without="sin",
    because="porque pues",
    that="que cuyo cuya",
    means="con mediante usando via",
    now="despido",
    links="de del para",
    past=r"(?:[aií]d[oa]s?|ó|aron|ieron|ió|uid[oa]s?)$",
    will="sera seran ser siendo van va deben debe queda quedan quedaran quedara estan acaban acabaran",
    was="fue fueron sido ha han habia fuera",
    unless="respaldo* copia copias backup confirm* preguntar avis* previo aprobacion copia* pregunt* permiso consult* aviso autorizacion pedir"
    " revis* esperar mirar contemplaciones piedad",
    do="hacer hago haz haga hace haciendo realiz* efectu* proced* llevar llevo inici* comenz* empez* practic* program* agend*",
    launch="ejecut* lanz* corr* arranc* invoc* llam* instal* bash",
    fetch="descarg* baj*",
    also="aparte",
    trial="simulacro dry-run ensayo simulad* hipotetic*",
    past_trial="tras despues",
    outside="internet foro* extern* pastebin tercero* desconocid* blog twitter facebook slack whatsapp discord competencia fuera canal github gist"
    " descargad* url telegram rival competidor* anonim* personal wifi reddit abierto abierta wetransfer drive publico ajeno* gmail hotmail"
    " dropbox",
    personal="personal* medic* privad* sensible* confidencial* bancari* clinic* dni nomina* salud domicilio* telefono* iban*",
    empty="seguir sigo siguiendo sigue continuar continuo continuando con lo la el los las siguiente proximo paso pasos hacer hago haciendo algo"
    " cosa cosas una un unas unos tarea tareas trabajo plan proceder procedo procediendo accion acciones comando orden operacion ejecutar ejecuto"
    " ejecutando ejecucion de del en a que toca tocaba acordado acordamos hablado hablamos pendiente esto eso ello resto voy estoy vamos y ya"
    " ahora segun previsto comentado dicho trabajando realizar realizando necesario haga falta terminar adelante mi mis procesar procesando"
    " proceso",
    idioms={
        "also": r"no (?:solo|solamente|unicamente)|ademas de(?:l)?|aparte de(?:l)?|junto con|amen de",
        "skip": r"sin (?:dudar\w*|vacilar|demora|falta|tardar|mas|contemplaciones|piedad|excepcion(?:es)?|parar)|no (?:dud\w+|vacil\w+) en|por que no",
        "verb destroy": r"se van(?: a ir)?|hacer desaparecer|hago desaparecer|hac\w+ que desaparezca\w*|que desaparezca\w*|deshac\w+ de|deshaz\w* de|deshago de|librar\w* de|librarse de|tirar (?:\w+ )?(?:a la )?basura|a la basura|mand\w+ a la papelera|pasar por la trituradora|dar matarile a|eliminacion de|carg\w+rse|no dejar (?:ni )?(?:rastro|ningun\w*|nada)|sin dejar rastro de|(?:me|nos|se|te) carg(?:o|a|amos|an|ue|aremos|are)|carg(?:arme|arnos|arse)(?: a)?|(?:me|nos) (?:quit|libr|desha[gz])\w+ de(?: encima)?|va(?:n|mos)? (?:a la )?(?:fuera|basura)|(?:borrado|vaciado|truncado|purga|eliminacion|supresion) (?:de(?:l)?|masiv\w+|complet\w+|definitiv\w+|total|permanente)|adios a|(?:me|nos) (?:cepill|puliend?|ventil|fundi)\w*",
        "verb wipe": r"dej\w+ (?:\S+ ){0,4}(?:vaci[oa]s?|en blanco|limpi[oa]s?|a cero)|pon\w+ a cero|arrasar con|borron y cuenta nueva|hacer tabla rasa|empezar de cero|desde cero|(?:restaur|restablec|devuelv|devolv|pon|dej|vuelv|volv|hag|hac|reset|reinici)\w* (?:\S+ ){0,7}de fabrica|(?:rellen|sobrescrib|llen)\w+ (?:\S+ ){0,4}con ceros|a cero|borr\w+ y (?:empez|reinstal)\w+ de cero",
        "verb suspend": r"d\w+ de baja(?: a)?|poner en la calle|(?:se )?da(?:n|mos|r|ndo)? de baja|doy de baja",
        "verb stop": r"(?:ech|tir)\w+ abajo|(?:escal|reduc)\w+ (?:\S+ ){0,5}a cero|dej\w+ (?:\S+ ){0,4}fuera de servicio|fuera de linea|sacar de produccion|dej\w+ caer|cort\w+ (?:el|la|los|las) (?:suministro|luz|agua|gas|corriente|servicio|conexion|internet)|(?:baj|escal|reduc|pon|dej)\w* (?:\S+ ){0,6}(?:a|en) (?:0|cero) (?:replicas|instancias|nodos|pods)|(?:escal|baj|reduc)\w* a cero",
        "make": r"d\w+ de alta|pon\w+ en marcha|volver a (?:activ|habilit|pon)\w+|dej\w+ constancia|pon\w+ (?:al dia|a punto)|hac\w+ (?:una |la )?(?:copia|copias|prueba|pruebas|pull)\b|desh\w+ (?:el|la) (?:borrado|eliminacion)|volv\w+ a (?:montar|instalar|subir|levantar)|vuelv\w+ a (?:montar|instalar|subir|levantar)",
        "verb revoke": r"dej\w+ (?:a )?(?:\S+ ){0,5}sin (?:acceso|permisos?|privilegios|derechos)|cerrar\w* el paso|cort\w+ el (?:acceso|paso)",
        "verb invalidate": r"dej\w+ (?:\S+ ){0,5}sin (?:efecto|validez)|cerr\w+ (?:la |las |todas las )?sesion(?:es)?|dar por (?:perdid|caducad)\w+|hacer caducar",
        "verb bypass": r"pas\w+ por alto|pas\w+ por encima de|hac\w+ caso omiso de(?:l)?|hac\w+ la vista gorda|prescindir de|pas\w+ por (?:encima|alto) del?|(?:me|nos|se) salt\w+|sin (?:pasar por|esperar) (?:\S+ ){0,2}(?:revision|aprobacion|firma|visto|validacion)",
        "verb expose public": r"(?:hac|volv|pon|dej)\w+ (?:\S+ ){0,4}public[oa]s?|abr\w+ (?:\S+ ){0,5}(?:a|hacia) (?:todo|todos|internet|cualquier\w*|el mundo|todo el mundo)|acceso publico|(?:en |con |a |de )?(?:lectura|acceso|modo) public[oa]|(?:hac|hag|volv|pon|pong|dej)\w* (?:\S+ ){0,5}(?:accesible|visible|abiert[oa])s? (?:\S+ ){0,2}(?:a|para) (?:todo|todos|cualquier\w*|internet)|abr\w+ (?:\S+ ){0,6}xworld|(?:cambi|pas|pong|pon|dej|convert|convier|abr)\w* (?:\S+ ){0,3}(?:a|en|como) public[oa]s?",
        "verb grant admin": r"(?:hac|convert|convier|nombr|promov|promuev|ascend|asciend)\w* (?:\S+ ){0,4}(?:administrador\w*|admin|root|superusuario|propietari[oa]|owner)|permisos 777|(?:anad|agreg|met|inclu|sum)\w* (?:\S+ ){0,7}(?:admins|administradores|owners|sudoers|wheel|sudo)|chmod (?:\S+ ){0,2}xopenmode",
        "verb rewrite history": r"(?:force|forz\w+|fuerz\w+|forc\w+) (?:\w+ ){0,2}push|push (?:\w+ ){0,2}(?:forz\w+|force|a la fuerza)|force-push|(?:sub|empuj|pushe)\w+ (?:\S+ ){0,6}(?:a la fuerza|por la fuerza|forzando|con force)|(?:\w*push\w*|pouss\w*|empuj\w*|empurr\w*|spin\w+|envi\w*|invi\w*|sub\w+|druck\w*|schieb\w*|jag\w*) (?:\S+ ){0,6}xforce|xforce (?:\S+ ){0,6}(?:\w*push\w*|druck\w*|schieb\w*)",
        "noun account all": r"todo el mundo|todo quisque",
        "noun credential": r"codigos? de acceso|ficheros? env|archivos? env",
        "noun safety": r"doble factor|dos factores|copia de seguridad obligatoria|controles? de seguridad|registros? de seguridad_|parada de emergencia|doble (?:firma|verificacion)|segunda firma",
        "noun data database": r"bases? de datos",
        "noun data backup": r"copias? de (?:seguridad|respaldo)",
        "scope admin": r"como (?:root|administrador|superusuario)",
        "quiet": r"(?:tengo|tiene|tenemos|tienen|hay|habra|asi|ya|para|quiero|queremos|necesito|puesto|dado|visto|sino|mas|hace|antes|con tal de|es) que|(?:despues|antes) de(?:l)?|una vez|a ver si|a la vez|en vez de|en lugar de|da errores?|por error|sin querer|por accidente",
        "verb block": r"(?:sac|ech|expuls|tir)\w+ (?:\S+ ){0,4}de(?:l)? (?:grupo|equipo|organizacion|canal|slack|proyecto|discord|servidor|foro|chat)",
        "verb overwrite": r"update (?:\S+ ){0,8}sin where|sin where",
        "verb leak": r"(?:abr|mont|lanz|instal|dej)\w+ (?:\S+ ){0,3}(?:shell (?:invers\w+|remot\w+)|reverse shell|puerta trasera|backdoor)",
        "launch": r"(?:paso|tub\w+|mand\w+|pip\w+) (?:\S+ )?(?:directamente )?(?:a|por) (?:bash|sh)",
        "look": r"ech\w+ un (?:vistazo|ojo)|(?:pid|ped|solicit|esper)\w* (?:\S+ )?(?:permiso|autorizacion|aprobacion|confirmacion|visto)|(?:se )?(?:descart|renunci|desist)\w+ (?:a |de )?(?:\w+[aei]r(?:l[oa]s?)?)",
        "verb disable": r"(?:pon|dej|pong)\w* (?:\S+ ){0,6}en (?:silencio|pausa|mudo)",
    },
    alone={
        "verb destroy": "fuera",
    },
    clitic=r"(?<=[aeir])(?:se|me|te|nos)?(?:l[aoe]s?)?$",
    plural=r"[^ui]s$",
)
