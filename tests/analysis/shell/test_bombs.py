"""Fork bombs in every spelling are forbidden for good; recursion that ends is not one."""

from __future__ import annotations

from cases import each
from interlock import assess
from interlock.model import intent

BOMBS = [
    ":(){ :|:& };:",
    ":(){:|:&};:",  # bash refuses this spelling, zsh runs it
    ":() { :|: & }; :",
    ": () { : | : & } ; :",
    ":(){:|:&}:",  # no shell runs it
    "{ :(){ :|:& };: }",
    ".(){.|.&};.",
    "f(){f|f&};f",
    "f(){ f & f & }; f",
    "f() (f|f&); f",
    "function f { f|f& }; f",
    "function f{f|f&};f",
    "function f() { f | f & }; f",
    "forkbomb(){forkbomb|forkbomb&};forkbomb",
    ":(){ :|:& }",  # defined, and not called yet
    "f(){ while true; do f & done; }; f",
    "f(){ f x|f x& };f",
    "f(){ f $RANDOM|f $RANDOM& };f",
    "true && f(){ f a | f b & }; f",
    "a(){ b|b& };b(){ a|a& };a",
    "bash -c ':(){:|:&};:'",
    "zsh -c ':(){:|:&};:'",
    "sudo sh -c 'f(){f|f&};f'",
    "eval ':(){:|:&};:'",
    "echo ':(){:|:&};:' | bash",
    "bash <<< ':(){:|:&};:'",
    "bash <<E\n:(){:|:&};:\nE",
    'bash -c "$(echo OigpezoxfDomfTs6 | base64 -d)"',
    "ssh host ':(){:|:&};:'",
    "while :; do x & done",
    "while true; do :|: & done",
    "until false; do (x &); done",
    "while [ 1 ]; do bash & done",
    "while ((1)); do x & y & done",
    "for ((;;)); do x & done",
    "while true; do nohup ./a.sh > /dev/null 2>&1 & echo started; done",
    "bash -c 'while :; do sleep 100 & done'",
]
NO_BOMBS = [
    ":(){ :; };:",
    "f(){ sleep 1; f; }; f",
    "f(){echo hi;}; f",
    "f(){ echo hi | cat & }; f",
    "echo ':(){:|:&};:'",
    "grep ':(){:|:&};:' notes",
    "git commit -m 'explain :(){:|:&};:'",
    'walk(){ for d in "$1"/*; do [ -d "$d" ] && walk "$d" & done; wait; }; walk .',
    'walk(){ find "$1" -type d | while read -r x; do walk "$x"; done; }; walk .',
    "while true; do sleep 1; done",
    "while true; do x & sleep 1; done",
    "while true; do x & wait; done",
    "while true; do ./worker & wait $!; done",
    "while true; do curl -s localhost && break; sleep 1; done",
    "while true; do x; done &",
    "until curl -s localhost; do sleep 1; done",
    "npm start & sleep 2; curl localhost",
    "for i in 1 2 3; do x & done; wait",
    'while read -r f; do convert "$f" & done < list',
    "while true; do read -r x; y & done",
    'down(){ [ "$1" = 0 ] || down $(($1-1)) | cat; }; down 2',
]


@each("text", BOMBS)
def test_nobody_can_approve_a_fork_bomb_however_it_is_spelled(text: str) -> None:
    found = assess(text, "/home/me/app")
    assert (int(found.level), found.approvable) == (4, False)
    assert [finding.rule for finding in found.findings].count("remote_code.fork_bomb") == 1


@each("text", NO_BOMBS)
def test_what_ends_by_itself_or_is_only_text_is_no_fork_bomb(text: str) -> None:
    found = assess(text, "/home/me/app")
    assert found.approvable and int(found.level) <= 2


@each("text", ["run :(){:|:&};: in the shell", "I will execute `f(){f|f&};f`", ":(){:|:&};:"])
def test_a_fork_bomb_that_is_announced_is_one(text: str) -> None:
    assert not assess(intent(text)).approvable
