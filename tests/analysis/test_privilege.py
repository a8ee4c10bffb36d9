"""Other rights raise what they are used for by one level: reading stays unasked, changing is asked, harm is dangerous (R-20)."""

from __future__ import annotations

from cases import each
from interlock import assess
from interlock.model import Category

CWD = "/home/me/app"
LEVELS = [
    *((text, 1) for text in (
        "sudo ls", "sudo cat /var/log/syslog", "sudo systemctl status x", "sudo docker ps", "sudo lsof -i", "sudo apt list --installed",
        "sudo apt-get update", "sudo journalctl -u nginx", "sudo -n iptables -L", "sudo nginx -t", "sudo -u postgres psql -c 'select 1'",
        "su -c 'ls /root'", "sudo su -c 'ls'", "doas dmesg", "pkexec ls", "run0 ls", "gosu app ls", "dzdo ls", "ssh web1 sudo ls", "sudo env",
        "sudo sh -c 'ls; cat /etc/hosts'", "systemd-run --uid=0 ls", "wsl -u root ls", "sudo python3 -c 'print(1)'",
        "sudo find /etc -name '*.conf' -newer /etc/hostname", "sudo ls -le /srv",
    )),
    *((text, 2) for text in (
        "sudo apt-get install x", "sudo make install", "sudo systemctl restart nginx", "sudo ./install.sh", "doas npm i -g x", "su -c 'make install'",
        "sudo sh -c 'apt-get update && apt-get install -y x'", "run0 mkdir /opt/x", "sudo chown me:me notes.txt",
    )),
    *((text, 3) for text in (
        "sudo rm notes.txt", "sudo cat /etc/shadow", "sudo -i", "sudo -s", "sudo su", "sudo su - bob", "sudo bash", "sudo -E /bin/zsh -l", "doas sh",
        "pkexec bash", "pkexec", "run0", "su", "su -", "sudo env bash", "sudo chmod u+s /bin/bash", "sudo usermod -aG docker bob", "sudo setcap cap_net_raw+ep x",
        "sudo visudo", "sudo $TOOL", "sudo find . -exec sh \\;", "sudo rm -rf src", "sudo git push --force",
    )),
    *((text, 4) for text in ("sudo rm -rf /", "sudo dd if=/dev/zero of=/dev/sda", "su -c 'rm -rf ~'", "sudo -u postgres psql -c 'drop database shop'")),
    *((text, 0) for text in ("sudo -l", "sudo -v", "sudo --version", "man sudo", "grep -c sudo install.sh")),
]  # fmt: skip


@each(("text", "level"), LEVELS)
def test_other_rights_raise_a_command_by_one_level(text: str, level: int) -> None:
    assert int(assess(text, CWD).level) == level


@each("text", [text for text, level in LEVELS if level])
def test_the_flag_and_the_category_name_the_rights_at_every_level(text: str) -> None:
    found = assess(text, CWD)
    assert found.flags.escalates_privileges
    assert Category.PRIVILEGE_ESCALATION in {finding.category for finding in found.findings}


def test_what_is_run_keeps_its_own_finding_beside_that_of_the_rights() -> None:
    found = {finding.rule: int(finding.level) for finding in assess("sudo rm notes.txt", CWD).findings}
    assert found == {"filesystem.delete_file": 2, "privilege.harm_as_other": 3}


def test_a_wrapper_with_other_rights_does_not_speak_for_the_command_in_it() -> None:
    rules = {finding.rule for finding in assess("sudo bash -c 'rm notes.txt'", CWD).findings}
    assert "privilege.read_as_other" not in rules


@each("text", ["chmod u+s x", "usermod -aG sudo bob", "setcap cap_net_raw+ep x", "setcap cap_net_bind_service=+ep x"])
def test_rights_that_are_given_away_are_dangerous_without_other_rights_as_well(text: str) -> None:
    assert int(assess(text, CWD).level) == 3
