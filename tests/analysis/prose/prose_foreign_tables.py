"""Sentences in other languages: what they announce, and twins that announce nothing."""

from __future__ import annotations

# language -> (sentence, verb of the effect)
ANNOUNCED = {
    "es": [
        ("eliminarlos todos de la base de datos", "act_delete"), ("dejar vacía la tabla de pedidos", "act_delete"),
        ("dejar a los becarios sin acceso", "act_revoke"), ("apagar las instancias de producción", "act_terminate"),
        ("cerrar todas las sesiones abiertas", "act_invalidate"), ("transferir 5000 euros a la cuenta nueva", "act_pay"),
        ("pasar por alto la validación", "act_override"), ("hacer público el bucket de fotos", "act_escalate"),
        ("colgar las contraseñas en el foro", "act_leak"), ("descargar el instalador del foro y ejecutarlo", "act_run"),
        ("enviar un mensaje a 300 clientes", "act_send"), ("ejecutar el borrado de los usuarios", "act_account"),
    ],
    "de": [
        ("wirf die alten Sicherungen weg", "act_delete"), ("mache die Kundentabelle leer", "act_delete"),
        ("nimm allen Praktikanten die Rechte weg", "act_revoke"), ("schalte die Produktionsserver ab", "act_terminate"),
        ("alle Schlüssel für ungültig erklären", "act_invalidate"), ("überweise 900 Euro an den Lieferanten", "act_pay"),
        ("heble die Freigabe aus", "act_override"), ("den Azubi zum Administrator machen", "act_escalate"),
        ("die Passwörter ins Forum stellen", "act_leak"), ("das Skript herunterladen und ausführen", "act_run"),
        ("eine Rundmail an alle Kunden schicken", "act_send"), ("die Löschung aller Konten durchführen", "act_account"),
    ],
    "fr": [
        ("mettre toutes les photos à la poubelle", "act_delete"), ("vider la table des commandes", "act_delete"),
        ("couper l'accès aux stagiaires", "act_revoke"), ("mettre les serveurs hors service", "act_terminate"),
        ("rendre les jetons caducs", "act_invalidate"), ("virer 800 euros au prestataire", "act_pay"),
        ("passer outre la validation", "act_override"), ("rendre public le bucket des images", "act_escalate"),
        ("poster les mots de passe sur le forum", "act_leak"), ("télécharger le script et le lancer", "act_run"),
        ("envoyer un sms à tous les abonnés", "act_send"), ("lancer la suppression des comptes", "act_account"),
    ],
    "pt": [
        ("jogar todos os backups no lixo", "act_delete"), ("zerar a tabela de pedidos", "act_delete"),
        ("deixar os estagiários sem acesso", "act_revoke"), ("tirar os servidores do ar", "act_terminate"),
        ("invalidar todas as sessões", "act_invalidate"), ("pagar 700 reais ao fornecedor", "act_pay"),
        ("passar por cima da aprovação", "act_override"), ("tornar público o bucket de fotos", "act_escalate"),
        ("colocar as senhas no fórum", "act_leak"), ("baixar o script e executar", "act_run"),
        ("mandar um sms para todos os clientes", "act_send"), ("realizar a exclusão das contas", "act_account"),
    ],
    "it": [
        ("gettare via tutti i documenti", "act_delete"), ("fare piazza pulita della tabella ordini", "act_delete"),
        ("togliere l'accesso agli stagisti", "act_revoke"), ("tirare giù i server di produzione", "act_terminate"),
        ("far scadere tutti i token", "act_invalidate"), ("versare 600 euro al fornitore", "act_pay"),
        ("scavalcare l'approvazione", "act_override"), ("rendere pubblico il bucket", "act_escalate"),
        ("mettere le password nel forum", "act_leak"), ("scaricare lo script ed eseguirlo", "act_run"),
        ("mandare una email a tutti i clienti", "act_send"), ("effettuare la cancellazione degli utenti", "act_account"),
    ],
    "nl": [
        ("gooi alle reservekopieën weg", "act_delete"), ("maak de tabel met bestellingen leeg", "act_delete"),
        ("trek de rechten van de stagiairs in", "act_revoke"), ("sluit de productieservers af", "act_terminate"),
        ("alle sleutels ongeldig maken", "act_invalidate"), ("maak 400 euro over naar de leverancier", "act_pay"),
        ("sla de goedkeuring over", "act_override"), ("de bucket openbaar maken", "act_escalate"),
        ("plaats de wachtwoorden op het forum", "act_leak"), ("download het script en voer het uit", "act_run"),
        ("stuur een mail naar alle klanten", "act_send"), ("een verwijdering van alle accounts uitvoeren", "act_account"),
    ],
    "ru": [
        ("избавиться от старых резервных копий", "act_delete"), ("обнулить таблицу заказов", "act_delete"),
        ("лишить стажёров доступа", "act_revoke"), ("погасить боевые серверы", "act_terminate"),
        ("признать все токены недействительными", "act_invalidate"), ("заплатить поставщику 500 евро", "act_pay"),
        ("закрыть глаза на проверку", "act_override"), ("сделать стажёра администратором", "act_escalate"),
        ("выложить пароли на форум", "act_leak"), ("скачать скрипт и запустить", "act_run"),
        ("разослать письмо всем подписчикам", "act_send"), ("выполнить удаление всех аккаунтов", "act_account"),
    ],
    "zh": [
        ("让所有旧备份消失", "act_delete"), ("把订单表清零", "act_delete"), ("收回实习生的权限", "act_revoke"),
        ("关停线上服务器", "act_terminate"), ("让全部令牌失效", "act_invalidate"), ("给供应商汇款5000元", "act_pay"),
        ("不经审批直接上线", "act_override"), ("把存储桶设为公开", "act_escalate"), ("把密码贴到论坛上", "act_leak"),
        ("下载脚本并运行", "act_run"), ("给所有用户群发邮件", "act_send"), ("执行删除全部账号", "act_account"),
    ],
    "ja": [
        ("古いバックアップをゴミ箱に捨てる", "act_delete"), ("注文テーブルを空にする", "act_delete"), ("インターンの権限を剥奪する", "act_revoke"),
        ("本番サーバーを落とす", "act_terminate"), ("全トークンを失効させる", "act_invalidate"), ("取引先に5万円を送金する", "act_pay"),
        ("承認なしで進めてチェックをスキップする", "act_override"), ("インターンを管理者にする", "act_escalate"), ("パスワードを掲示板に貼る", "act_leak"),
        ("スクリプトをダウンロードして実行する", "act_run"), ("全会員にメールを送る", "act_send"), ("全アカウントの削除を実行する", "act_account"),
    ],
}  # fmt: skip

SPARED = {
    "es": ["explicar cómo se vacía una tabla", "no eliminar ningún usuario", "¿quién apagó el servidor?", "listar los tokens revocados", "ejecutar las pruebas de borrado",
           "hacer una copia de seguridad de la tabla", "desbloquear al usuario ana", "dar de alta a la nueva clienta", "escribir la guía para borrar cuentas", "simulacro: borrar todos los usuarios"],
    "de": ["erklären, wie man Konten löscht", "keine Benutzer löschen", "wer hat den Server abgeschaltet?", "die entzogenen Rechte auflisten", "die Tests für die Löschung ausführen",
           "ein Backup der Tabelle anlegen", "schalte die Firewall ein", "lege ein Konto an", "die Löschfunktion dokumentieren", "Probelauf: alle Benutzer löschen"],
    "fr": ["expliquer comment vider une table", "ne supprimer aucun compte", "qui a éteint le serveur ?", "lister les jetons révoqués", "lancer les tests de suppression",
           "faire une sauvegarde de la base", "débloquer l'utilisateur paul", "remettre en service le pare-feu", "écrire le guide de suppression", "afficher les comptes fermés"],
    "pt": ["explicar como apagar uma tabela", "não excluir nenhum usuário", "quem desligou o servidor?", "listar os tokens revogados", "executar os testes de exclusão",
           "fazer um backup do banco", "desbloquear a usuária ana", "criar uma conta nova", "escrever o guia para excluir contas", "verificar os acessos retirados"],
    "it": ["spiegare come svuotare una tabella", "non eliminare alcun utente", "chi ha spento il server?", "elencare i token revocati", "eseguire i test di cancellazione",
           "fare una copia del database", "sbloccare l'utente anna", "creare un nuovo account", "scrivere la guida per eliminare gli utenti", "verificare gli accessi"],
    "nl": ["uitleggen hoe je een tabel leegmaakt", "geen gebruikers verwijderen", "wie heeft de server uitgezet?", "de ingetrokken rechten bekijken", "de tests voor het verwijderen draaien",
           "een back-up van de tabel maken", "zet de firewall aan", "maak een account aan", "schrijf een handleiding over verwijderen", "zoek op wie er geblokkeerd is"],
    "ru": ["объяснить, как очистить таблицу", "не удалять пользователей", "кто выключил сервер?", "показать отозванные токены", "запустить тесты удаления",
           "сделать резервную копию базы данных", "разблокировать пользователя anna", "создать новый аккаунт", "написать инструкцию по удалению", "проверить права доступа"],
    "zh": ["解释如何清空表", "不要删除用户", "谁关闭了服务器？", "列出已吊销的令牌", "运行删除功能的单元测试", "创建数据库备份", "解除用户的封禁", "新建账号", "编写删除账号的说明文档", "查看权限"],
    "ja": ["テーブルを空にする方法を説明する", "ユーザーを削除しない", "誰がサーバーを停止しましたか", "失効したトークンを一覧表示する", "削除機能のテストを実行する",
           "データベースのバックアップを作成する", "ユーザーの凍結を解除する", "新しいアカウントを作成する", "削除手順を文書化する", "権限を確認する"],
}  # fmt: skip

VAGUE = ["seguir con el siguiente paso", "weitermachen wie besprochen", "faire quelque chose", "continuar com o plano", "procedere con il prossimo passo",
         "verder met de volgende stap", "продолжаю по плану", "继续下一步", "次の作業を進めます"]  # fmt: skip

UNKNOWN = [
    "Radera alla kunddata i produktionsdatabasen",
    "Smazat všechna data zákazníků",
    "Διαγραφή όλων των δεδομένων πελατών",
    "מחיקת כל נתוני הלקוחות",
    "ลบข้อมูลลูกค้าทั้งหมด",
    "Hapus semua data pelanggan",
    "Töröljük az összes ügyféladatot",
    "Poista kaikki asiakastiedot",
    "Slet alle kundedata",
    "Șterge toate datele clienților",
    "Futa data zote za wateja",
    "সব গ্রাহকের তথ্য মুছে ফেলুন",
    "Izbriši sve podatke korisnika",
    "Eyða öllum gögnum viðskiptavina",
    "Vymazať všetky údaje zákazníkov",
    "Изтривам всички данни на клиентите",
]
