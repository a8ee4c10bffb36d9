"""Asking for help excuses a command only where the program takes the word for that, and for nothing else."""

from __future__ import annotations

from cases import each
from interlock.analysis.assess import judge
from interlock.analysis.rules.load import load
from interlock.model import command

BOOK = load()


def level(text: str) -> int:
    return int(judge(command(text, "/home/dev/app"), BOOK).assessment.level)


ASKS = [
    "rm --help", "git push --help", "git reset -h", "terraform destroy -help", "aws s3 rm help", "aws s3 rb --help", "docker run --help",
    "kubectl delete --help", "zorgle delete --help", "zorgle delete x --help", "zorgle delete x --force --help", "mkfs.ext4 --version",
    "dropdb --version", "tar --help", "find --help", "redis-cli --help", "aws-nuke run -c c.yml --help", "helm uninstall -h", "psql -?",
]  # fmt: skip
DOES = [
    # the value of another option
    "tar cf /dev/null --remove-files src --exclude --help", "aws s3 rm s3://x --recursive --exclude help", "gh api -X DELETE repos/x/y -H --help",
    "rsync -a --delete /tmp/e/ ~/docs/ --exclude --help", "zorgle destroy --name --help", "zorgle purge --opt --help", "zorgle -n --help wipe",
    "aws s3 sync /tmp/e s3://prod --delete --exclude help", "curl -X DELETE https://api.acme.io/users/1 -H --help", "helm uninstall api --description --help",
    "mkfs.ext4 -F -L --help /dev/sdb1", "zorgle users delete bob --opt --dry-run", "rclone purge gdrive:Photos --exclude --help",
    # a word that the program hands on, or that belongs to an expression
    "redis-cli del users --help", "find / -name --help -o -delete", "find . -delete -o -name --help", "docker run -v /:/h alpine rm -rf /h --help",
    "echo 'rm -rf /home/dev/docs' > x.sh; chmod +x x.sh; ./x.sh --help",
]  # fmt: skip


@each("text", ASKS)
def test_a_program_that_only_prints_its_help_is_harmless(text: str) -> None:
    assert level(text) <= 1


@each("text", DOES)
def test_a_help_word_that_is_something_else_excuses_nothing(text: str) -> None:
    assert level(text) >= 2


def test_a_local_script_gets_help_as_a_word_like_any_other() -> None:
    assert level("./deploy --help") == level("./deploy")
    assert level("./wipe-all.sh --help") == level("./wipe-all.sh") >= 2


@each("text", ["mkfs.ext4 -n /dev/sdb1", "rsync -n --delete a/ b/", "zorgle delete x --dry-run"])
def test_a_dry_run_changes_nothing(text: str) -> None:
    assert level(text) <= 1
