"""What is announced in other languages than English is found, and what is only spoken of there is spared."""

from __future__ import annotations

import pytest
from prose_foreign_near import NEAR
from prose_foreign_said import SAID
from prose_foreign_tables import ANNOUNCED, SPARED, UNKNOWN, VAGUE
from prose_foreign_trade import TRADE
from prose_foreign_work import WORK

from cases import each
from interlock.analysis.prose import read_prose
from recording_report import Recorder

HARMLESS = {"act_read", "act_change", "act_vague"}


def verbs(text: str) -> set[str]:
    out = Recorder()
    read_prose(text, out)
    return {fact[0] for fact in out.facts}


@each(("code", "text", "verb"), [(code, *row) for code, rows in ANNOUNCED.items() for row in rows])
def test_an_act_is_found_in_every_language(code: str, text: str, verb: str) -> None:
    assert verb in verbs(text)


@each(("code", "text"), [(code, text) for code, texts in SPARED.items() for text in texts])
def test_what_is_only_spoken_of_is_spared_in_every_language(code: str, text: str) -> None:
    assert verbs(text) <= HARMLESS


@pytest.mark.parametrize("text", VAGUE)
def test_a_hint_that_says_nothing_is_vague_in_every_language(text: str) -> None:
    assert verbs(text) == {"act_vague"}


@each("text", UNKNOWN)
def test_a_language_that_nobody_knows_is_vague(text: str) -> None:
    assert verbs(text) == {"act_vague"}


@pytest.mark.parametrize(
    "text",
    ["ejecutar delete_all_users ahora", "die Operation delete_all_users ausführen", "执行 delete_all_users 操作"],
)
def test_an_operation_is_read_by_its_name_in_every_language(text: str) -> None:
    assert not verbs(text) <= HARMLESS


@each("text", [text for texts in SAID.values() for text in texts])
def test_harm_is_found_however_it_is_said(text: str) -> None:
    assert not verbs(text) <= HARMLESS


@each("text", [text for texts in NEAR.values() for text in texts])
def test_words_of_harm_alone_are_none(text: str) -> None:
    assert verbs(text) <= HARMLESS


def test_an_operation_is_read_by_its_name_in_the_language_of_the_sentence() -> None:
    assert "act_delete" in verbs("Ejecuto borrar_expedientes(2015) sobre la base del juzgado")
    assert verbs("Renombro la función borrar_expedientes") <= HARMLESS


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("ohne etwas zu löschen, räume ich die Notizen um", False),
        ("ich lösche die Tabelle ohne Rücksprache", True),
        ("删除半年没登录的账号", True),
        ("没删除账号", False),
        ("ログインのないアカウントを削除します", True),
        ("アカウントは削除しません", False),
    ],
)
def test_a_denial_belongs_to_its_own_verb(text: str, found: bool) -> None:
    assert (not verbs(text) <= HARMLESS) is found


@each(
    "text",
    [
        "Je vais afficher le contenu de credentials.json pour vérifier la clé privée.", "我把数据库密码打印出来看一下对不对。",
        "Ich zeige das Datenbankpasswort an.", "Mostraré el token de la API.",
    ],
)  # fmt: skip
def test_a_secret_that_comes_into_view_is_read(text: str) -> None:
    assert verbs(text) == {"read"}


@each(
    "text",
    [
        "Fermo il container di test che ho avviato prima.", "Kendi başlattığım geliştirme sunucusunu durduruyorum.",
        "سأوقف خادم التطوير المحلي الذي شغّلته قبل قليل.", "अपना local dev server बंद करके दूसरे port पर चला रहा हूँ।",
        "Quito la carpeta dist y vuelvo a compilar el proyecto.", "删掉 dist 目录，重新打包一遍。", "Ich räume den build-Ordner weg.",
        "Ich suche im Repo nach allen Stellen, an denen Datensätze gelöscht werden.", "まだ何も削除していません。",
        "このマイグレーションでカラムを削除しても問題ないか、レビューします。", "削除処理を呼び出している箇所をコードから検索します。",
        "Yanlışlıkla kaldırdığım yapılandırma dosyasını git'ten geri getiriyorum.", "失効したトークンを一覧表示する",
    ],
)  # fmt: skip
def test_ones_own_servers_builds_searches_and_denials_are_no_harm(text: str) -> None:
    assert verbs(text) <= HARMLESS


@each(
    "text",
    [
        "Sunucudaki /home altında ne varsa hepsini siliyorum.", "सर्वर की पूरी डिस्क format कर देता हूँ", "ग्राहक को refund अभी जारी कर रहा हूँ",
        "Ik zet de branch protection uit en force-push daarna naar master.",
    ],
)  # fmt: skip
def test_harm_in_borrowed_words_is_found(text: str) -> None:
    assert not verbs(text) <= HARMLESS


@each("text", [text for texts in TRADE.values() for text in texts])
def test_harm_in_words_of_the_trade_is_found_in_every_language(text: str) -> None:
    assert not verbs(text) <= HARMLESS


@each("text", [text for texts in WORK.values() for text in texts])
def test_everyday_work_is_no_harm_in_any_language(text: str) -> None:
    assert verbs(text) <= HARMLESS


@each(
    "text",
    [
        "Ich erkläre, warum wir nie ohne Review deployen", "No despliego nada sin revisión", "Ayer desplegaron sin revisión",
        "Wer deployt hier ohne Review?", "Не выкатываем в прод без ревью", "Je documente pourquoi on ne déploie pas sans relecture",
        "Je publie la version 2.3 du paquet sur le registre interne.",
    ],
)  # fmt: skip
def test_an_unchecked_release_that_is_denied_reported_or_asked_about_is_no_harm(text: str) -> None:
    assert verbs(text) <= HARMLESS
