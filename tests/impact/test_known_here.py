"""What a look knows beyond Git: what is not there, what a search finds, what this session made, where settings send a database."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from cases import each
from interlock.impact.inspector import inspect_targets as in_process
from interlock.impact.survey import file_mark
from interlock.impact.warm_child import WarmInspector
from interlock.model import Loss
from repositories import describe_impact, files, git, inspection_request, repository, request_effect

NOT_KNOWN = "unknown: what would be lost is not known: "


@pytest.fixture
def own(tmp_path: Path) -> Path:
    return repository(tmp_path / "app")


def rm(target: str, **more: Any) -> dict[str, Any]:
    return {"verb": "delete", "target": target, "sure": True, **more}


def search(root: str, name: str, kind: str = "", least: int = 0, most: int = -1, icase: bool = False) -> dict[str, Any]:
    return rm(
        f"{root}/**/{name}", found={"root": root, "name": name, "icase": icase, "type": kind, "depth": [least, most]}
    )


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = repository(tmp_path_factory.mktemp("known") / "app")
    (found / "circle").symlink_to("circle")
    return found


@each("target", ["missing", "missing/deep/*", "*.nothing", "src/[xyz]*.c", "kept.txt/x"])
def test_what_is_not_there_cannot_be_lost(repo: Path, look: WarmInspector, target: str) -> None:
    assert describe_impact(look(inspection_request(repo, rm(target)))) == "none: nothing of it is there"


@each("target", ["^kept.txt", "missing#", "a|b", "<1-9>", "mis~sing", "~nobody-here/x", "+(x)*"])
def test_what_another_shell_takes_for_a_pattern_is_not_known_to_be_absent(
    repo: Path, look: WarmInspector, target: str
) -> None:
    assert look(inspection_request(repo, rm(target))).loss is Loss.UNKNOWN


def test_what_is_there_counts_beside_what_is_not(repo: Path, look: WarmInspector) -> None:
    assert look(inspection_request(repo, rm("missing"), rm("notes.txt"))).loss is Loss.LOST
    assert look(inspection_request(repo, rm("missing"), rm("kept.txt"))).loss is Loss.RECOVERABLE


def test_a_folder_that_cannot_be_looked_into_may_hold_anything(repo: Path, look: WarmInspector) -> None:
    assert look(inspection_request(repo, rm("circle/x"))).loss is Loss.UNKNOWN


def test_what_is_not_here_may_be_where_the_session_went_before(repo: Path, look: WarmInspector) -> None:
    seen = look(inspection_request(repo, rm("a.py"), strayed=[str(repo / "src")]))
    assert describe_impact(seen) == f"{NOT_KNOWN}it is not here, but in a folder that this session went to"
    assert look(inspection_request(repo, rm("a.py"), strayed=[str(repo / "data")])).loss is Loss.NONE


@each(
    "deed, words",
    [
        (search("src", "*.py"), "recoverable: would delete 2 files, 5 bytes; all of it can be had back"),
        (search(".", "*.csv"), "lost: would delete 1 file, 2 bytes; it exists nowhere else: data/run7.csv"),
        (search(".", "*.CSV"), "none: nothing of it is there"),
        (search(".", "*.CSV", icase=True), "lost: would delete 1 file, 2 bytes; it exists nowhere else: data/run7.csv"),
        (search(".", "*.csv", most=1), "none: nothing of it is there"),
        (search(".", "notes*", least=2), "none: nothing of it is there"),
        (search(".", "data", "f"), "none: nothing of it is there"),
        (search("notes.txt", "notes*"), "lost: would delete 1 file, 6 bytes; it exists nowhere else: notes.txt"),
        (search("missing", "*"), "none: nothing of it is there"),
        (search("link", "*.csv"), "none: nothing of it is there"),
        (search(".", "[[:alpha:]]otes*"), "lost: would delete 1 file, 6 bytes; it exists nowhere else: notes.txt"),
    ],
)
def test_a_search_finds_what_find_finds(repo: Path, look: WarmInspector, deed: dict[str, Any], words: str) -> None:
    if not (repo / "link").is_symlink():
        (repo / "link").symlink_to("data")
    assert describe_impact(look(inspection_request(repo, deed))) == words


def thing(path: Path, source: str = "", name: str = "") -> dict[str, str]:
    """A file that the session made, as it is now."""
    found = {"kind": "file", "name": name or path.name, "base": str(path.parent), "mark": file_mark(path.lstat())}
    return found | ({"source": source} if source else {})


def test_a_file_of_this_session_can_go_and_nobody_elses_can(own: Path, look: WarmInspector) -> None:
    new = own / "new.py"
    new.write_text("of this session\n")
    made = [thing(new)]
    assert (
        describe_impact(look(inspection_request(own, rm("new.py"), made=made)))
        == "recoverable: would delete 1 file, 16 bytes; all of it can be had back; made by this session"
    )
    assert look(inspection_request(own, rm("new.py"))).loss is Loss.LOST
    assert look(inspection_request(own, rm("notes.txt"), made=made)).loss is Loss.LOST
    assert look(inspection_request(own, rm("new.py"), rm("notes.txt"), made=made)).names == ("notes.txt",)


@each(
    "how",
    ["moved over it", "changed by somebody", "replaced by a link to it", "linked under its name", "copied over it"],
)
def test_another_file_under_a_name_of_this_session_is_not_its_own(own: Path, look: WarmInspector, how: str) -> None:
    new, precious = own / "new.py", own / "precious.txt"
    new.unlink(missing_ok=True)
    new.write_text("of this session\n")
    precious.write_text("of years of work\n")
    made = [thing(new)]
    if how == "moved over it":
        precious.rename(new)
    elif how == "changed by somebody":
        new.write_text("of this session, and a thought of mine\n")
    elif how == "copied over it":
        shutil.copy2(precious, new)
    else:
        new.unlink()
        new.hardlink_to(precious) if how.startswith("linked") else new.symlink_to(precious)
    assert look(inspection_request(own, rm("new.py"), made=made)).loss is Loss.LOST


def test_a_tree_is_of_this_session_only_with_everything_in_it(own: Path, look: WarmInspector) -> None:
    files(own, {"out/a": "1\n", "out/b/c": "2\n"})
    made = [thing(own / "out/a"), thing(own / "out/b/c")]
    assert look(inspection_request(own, rm("out"), made=made)).loss is Loss.RECOVERABLE
    files(own, {"out/mine": "3\n"})
    assert look(inspection_request(own, rm("out"), made=made)).names == ("out/mine",)


def test_a_copy_can_go_as_long_as_what_it_is_a_copy_of_is_there(own: Path, look: WarmInspector) -> None:
    shutil.copy2(own / "notes.txt", own / "copy.txt")
    made = [thing(own / "copy.txt", "notes.txt")]
    assert look(inspection_request(own, rm("copy.txt"), made=made)).loss is Loss.RECOVERABLE
    both = look(inspection_request(own, rm("copy.txt"), rm("notes.txt"), made=made))
    assert both.loss is Loss.LOST
    (own / "notes.txt").write_text("NOTES\n")
    assert look(inspection_request(own, rm("copy.txt"), made=made)).loss is Loss.LOST
    (own / "notes.txt").unlink()
    assert look(inspection_request(own, rm("copy.txt"), made=made)).loss is Loss.LOST


def test_two_copies_of_each_other_do_not_go_together(own: Path, look: WarmInspector) -> None:
    files(own, {"a.txt": "years\n", "b.txt": "years\n"})
    made = [thing(own / "a.txt", "b.txt"), thing(own / "b.txt", "a.txt")]
    assert look(inspection_request(own, rm("a.txt"), made=made)).loss is Loss.RECOVERABLE
    assert look(inspection_request(own, rm("a.txt"), rm("b.txt"), made=made)).loss is Loss.UNKNOWN


def pushed(own: Path, branch: str = "topic") -> list[dict[str, str]]:
    """A branch of this session that was pushed and then rewritten."""
    git(own, "checkout", "-qb", branch)
    git(own, "commit", "-q", "--allow-empty", "-m", "one")
    git(own, "update-ref", f"refs/remotes/origin/{branch}", "HEAD")
    git(own, "commit", "-q", "--amend", "--allow-empty", "-m", "better")
    return [{"kind": "branch", "name": branch, "base": str(own)}]


@each("words", ["push --force-with-lease origin topic", "push --force-with-lease", "push -u --force-with-lease origin HEAD", "push --force-with-lease=topic origin topic"])  # fmt: skip
def test_a_leased_push_to_a_branch_of_this_session_loses_nothing(
    tmp_path_factory: pytest.TempPathFactory, look: WarmInspector, words: str
) -> None:
    own = repository(tmp_path_factory.mktemp("push") / "app")
    seen = look(inspection_request(own, request_effect(f"git {words}"), made=pushed(own)))
    assert seen.loss is Loss.RECOVERABLE and "the remote had 1 commit that this drops" in seen.words


@each(
    "words",
    [
        "push --force origin topic", "push --force-with-lease origin +topic", "push --force-with-lease origin :topic", "push --force-with-lease --all",
        "push --force-with-lease origin topic main", "push --force-with-lease=other origin topic", "push --force-with-lease=topic:main origin topic",
        "push --force-with-lease origin topic:main", "push --force-with-lease elsewhere topic", "push --force-with-lease --mirror origin",
        "push --force-with-lease origin feature",
    ],
)  # fmt: skip
def test_no_other_forced_push_is_answered_for(
    tmp_path_factory: pytest.TempPathFactory, look: WarmInspector, words: str
) -> None:
    own = repository(tmp_path_factory.mktemp("push") / "app")
    made = pushed(own)
    for branch in ("main", "feature"):
        git(own, "update-ref", f"refs/remotes/origin/{branch}", branch)
    assert look(inspection_request(own, request_effect(f"git {words}"), made=made)).loss is Loss.UNKNOWN


def test_a_branch_that_others_work_on_is_nobodys_own(own: Path, look: WarmInspector) -> None:
    made = pushed(own, "release/2.0")
    assert (
        look(inspection_request(own, request_effect("git push --force-with-lease origin release/2.0"), made=made)).loss
        is Loss.UNKNOWN
    )
    made = pushed(own, "mine")
    assert (
        look(inspection_request(own, request_effect("git push --force-with-lease origin mine"))).loss is Loss.UNKNOWN
    )  # not of this session
    git(own, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/mine")
    assert (
        look(inspection_request(own, request_effect("git push --force-with-lease origin mine"), made=made)).loss
        is Loss.UNKNOWN
    )
    git(own, "symbolic-ref", "--delete", "refs/remotes/origin/HEAD")
    assert (
        look(inspection_request(own, request_effect("git push --force-with-lease origin mine"), made=made)).loss
        is Loss.RECOVERABLE
    )
    git(own, "config", "push.default", "matching")
    assert look(inspection_request(own, request_effect("git push --force-with-lease"), made=made)).loss is Loss.UNKNOWN


def test_a_tag_at_the_remote_goes_where_this_session_made_it_here_and_pushed_it_there(
    own: Path, look: WarmInspector
) -> None:
    made = [
        {"kind": "tag", "name": "v2", "base": str(own)},
        {"kind": "pushed", "name": "v2", "base": str(own), "source": "origin"},
    ]
    off = request_effect("git push --delete origin refs/tags/v2")
    assert look(inspection_request(own, off, made=made)).loss is Loss.RECOVERABLE
    elsewhere = [one | {"base": str(own.parent)} for one in made]
    for things in ([], made[:1], made[1:], elsewhere, [made[0], made[1] | {"source": "fork"}]):
        assert look(inspection_request(own, off, made=things)).loss is Loss.UNKNOWN
    assert (
        look(inspection_request(own, request_effect("git push --delete origin refs/tags/v1"), made=made)).loss
        is Loss.UNKNOWN
    )
    assert (
        look(inspection_request(own, request_effect("git push --delete origin refs/tags/v2 main"), made=made)).loss
        is Loss.UNKNOWN
    )


def test_a_branch_at_the_remote_goes_where_this_session_made_and_pushed_it_and_its_commit_is_here(
    own: Path, look: WarmInspector
) -> None:
    made = [*pushed(own, "mine"), {"kind": "pushed", "name": "mine", "base": str(own), "source": "origin"}]
    off = request_effect("git push --delete origin refs/heads/mine")
    seen = look(inspection_request(own, off, made=made))
    assert seen.loss is Loss.RECOVERABLE and "the old commit is here" in seen.words
    for things in (made[:1], made[1:], [made[0], made[1] | {"source": "fork"}]):
        assert look(inspection_request(own, off, made=things)).loss is Loss.UNKNOWN
    git(own, "update-ref", "-d", "refs/remotes/origin/mine")
    assert look(inspection_request(own, off, made=made)).loss is Loss.UNKNOWN
    shared = [*pushed(own, "release/3"), {"kind": "pushed", "name": "release/3", "base": str(own), "source": "origin"}]
    assert (
        look(inspection_request(own, request_effect("git push --delete origin refs/heads/release/3"), made=shared)).loss
        is Loss.UNKNOWN
    )


def test_a_compose_file_for_tests_may_go_where_its_volumes_are_its_own(own: Path, look: WarmInspector) -> None:
    def loss(text: str) -> Loss:
        (own / "compose.test.yml").write_text(text)
        return look(inspection_request(own, {"verb": "compose", "targets": ["compose.test.yml"]})).loss

    assert loss("services:\n  db:\n    image: postgres\n    volumes: [./x:/x]\n") is Loss.RECOVERABLE
    assert loss("name: shop-test\nservices: {}\nvolumes:\n  pg: {}\n") is Loss.RECOVERABLE
    for text in (
        "volumes:\n  pg: {}\n",
        "name: shop\nvolumes:\n  pg: {}\n",
        '{"volumes": {"pg": {}}}',
        "include: [compose.yml]\n",
    ):
        assert loss(text) is Loss.UNKNOWN
    assert look(inspection_request(own, {"verb": "compose", "targets": ["absent.yml"]})).loss is Loss.UNKNOWN
    mine = {"verb": "compose", "targets": ["compose.test.yml"], "own": True}
    assert look(inspection_request(own, mine)).loss is Loss.UNKNOWN
    made = [thing(own / "compose.test.yml", "")]
    assert look(inspection_request(own, mine, made=made)).loss is Loss.RECOVERABLE
    (own / "compose.test.yml").write_text("changed by somebody else\n")
    assert look(inspection_request(own, mine, made=made)).loss is Loss.UNKNOWN


def after(words: str, *before: str) -> dict[str, Any]:
    return {"verb": "git", "words": words.split(), "after": list(before)}


def test_a_reset_to_what_is_fetched_first_may_replace_whatever_is_not_in_git(own: Path, look: WarmInspector) -> None:
    reset = after("reset --hard origin/main", "fetch")
    seen = look(inspection_request(own, reset))
    assert seen.loss is Loss.UNKNOWN and "what is fetched may take its place" in seen.problem
    for name in ("notes.txt", "data/run7.csv", "x.log"):
        (own / name).unlink()
    assert look(inspection_request(own, reset)).loss is Loss.RECOVERABLE  # the log of this work tree has the commits
    (own / "src/a.py").write_text("three days of work\n")
    assert look(inspection_request(own, reset)).names == ("src/a.py",)


def test_a_branch_is_looked_at_as_it_is_when_the_line_gets_there(own: Path, look: WarmInspector) -> None:
    assert (
        describe_impact(look(inspection_request(own, after("branch -D new", "branch"))))
        == "none: there is no such branch"
    )
    git(own, "checkout", "-q", "feature")
    (own / ".git/logs/HEAD").unlink()
    assert look(inspection_request(own, after("branch -D feature", "move"))).loss is Loss.LOST
    git(own, "update-ref", "refs/remotes/origin/feature", "feature")
    assert (
        describe_impact(look(inspection_request(own, after("branch -D feature", "move"))))
        == "none: other branches hold all of it"
    )
    assert (
        look(inspection_request(own, after("branch -D feature", "move", "fetch"))).loss is Loss.LOST
    )  # it may be pruned
    assert look(inspection_request(own, after("branch -D feature", "pull"))).loss is Loss.LOST


def test_what_clean_is_told_to_spare_is_spared_and_nothing_else(own: Path, look: WarmInspector) -> None:
    def cleaned(*words: str) -> tuple[str, ...]:
        return look(inspection_request(own, {"verb": "git", "words": ["clean", *words]})).names

    assert set(cleaned("-xdf", "-e", "notes.txt")) == {"data/run7.csv", "x.log"}
    assert set(cleaned("-xdf", "-e", "*.csv", "--exclude=*.log")) == {"notes.txt"}
    assert "x.log" not in cleaned("-fdX", "-e", "!*.log") and "x.log" in cleaned("-fdX", "-e", "*.log")
    assert (
        look(inspection_request(own, {"verb": "git", "words": ["clean", "-fd", "-e", "!x.log"]})).loss is Loss.UNKNOWN
    )


def test_a_work_tree_goes_with_commits_that_no_branch_names(own: Path, look: WarmInspector, tmp_path: Path) -> None:
    git(own, "worktree", "add", "-q", "--detach", str(tmp_path / "side"))
    remove = {"verb": "git", "words": ["worktree", "remove", "--force", str(tmp_path / "side")]}
    assert look(inspection_request(own, remove)).loss is Loss.RECOVERABLE
    git(tmp_path / "side", "commit", "-q", "--allow-empty", "-m", "only here")
    assert look(inspection_request(own, remove)).loss is Loss.LOST


def test_output_of_dotnet_can_be_made_again_beside_its_project_only(own: Path, look: WarmInspector) -> None:
    files(
        own,
        {
            ".gitignore": "bin/\nobj/\n",
            "App/App.csproj": "<P/>\n",
            "App/bin/a.dll": "1\n",
            "App/obj/a": "1\n",
            "tools/bin/mine.sh": "1\n",
        },
    )
    assert look(inspection_request(own, rm("App/bin"), rm("App/obj"))).loss is Loss.RECOVERABLE
    assert look(inspection_request(own, rm("tools/bin"))).names == ("tools/bin/mine.sh",)


SETTINGS = {"verb": "settings", "environment": "development"}


@each(
    "name, text",
    [
        ("config/database.yml", "development:\n  adapter: postgresql\n  database: app_development\nproduction:\n  host: db.example.com\n  url: postgres://db.example.com/app\n"),
        ("config/database.yml", "default:\n  host: localhost # mine\ndevelopment:\n  database: x\n"),
        (".env", "DATABASE_URL=postgres://u:p@localhost/app_dev\nAPI=https://api.example.com\n"),
        ("README.md", "host: db.example.com\n"),
    ],
)  # fmt: skip
def test_settings_that_stay_on_this_machine_say_nothing_against_it(
    tmp_path: Path, look: WarmInspector, name: str, text: str
) -> None:
    shutil.rmtree(tmp_path / "p", ignore_errors=True)
    files(tmp_path / "p", {name: text})
    assert look(inspection_request(tmp_path / "p", SETTINGS)).loss is Loss.RECOVERABLE


@each(
    "name, text",
    [
        ("config/database.yml", "development:\n  host: db.example.com\n"),
        ("config/database.yml", "development:\n  host: <%= ENV['DB_HOST'] %>\n"),
        ("config/database.yml", "development:\n  url: postgres://db.example.com/app_development\n"),
        (".env", "DATABASE_URL=postgres://db.example.com/app_dev\n"),
        (".env", "export DATABASE_URL=postgres://localhost/app\n"),
        (".env", "DATABASE_URL=$OTHER\n"),
        (".env.development", "PGHOST=db.example.com\n"),
        (".env.local", "DB_HOST=10.0.0.7\n"),
    ],
)  # fmt: skip
def test_settings_that_name_another_machine_or_a_real_database_leave_it_open(
    tmp_path: Path, look: WarmInspector, name: str, text: str
) -> None:
    shutil.rmtree(tmp_path / "p", ignore_errors=True)
    files(tmp_path / "p", {name: text})
    assert look(inspection_request(tmp_path / "p", SETTINGS)).loss is Loss.UNKNOWN


def test_a_database_in_a_file_is_the_only_copy_unless_git_has_it_as_it_is(own: Path, look: WarmInspector) -> None:
    change = {"verb": "database", "target": "kept.txt", "sure": True}
    assert look(inspection_request(own, change)).loss is Loss.RECOVERABLE
    files(own, {"kept.txt-wal": "not yet in it\n"})
    assert look(inspection_request(own, change)).names == ("kept.txt-wal",)
    assert look(inspection_request(own, {**change, "target": "notes.txt"})).loss is Loss.LOST
    assert look(inspection_request(own, {**change, "target": "new.db"})).loss is Loss.NONE


@each(
    "text, stays",
    [
        ("create table a (b int);\nCOPY a FROM stdin;\n\\N\n\\.\n", True),
        ("\\c shop\ndrop table users;\n", False),
        ("select 1; \\connect shop\n", False),
        ("\\! rm -rf ~\n", False),
        ("\\i other.sql\n", False),
        ("drop  database shop;\n", False),
        ("copy a to program 'sh';\n", False),
    ],
)  # fmt: skip
def test_a_file_of_statements_is_one_that_says_nothing_else(
    tmp_path: Path, look: WarmInspector, text: str, stays: bool
) -> None:
    files(tmp_path, {"a.sql": text})
    seen = look(inspection_request(tmp_path, {"verb": "statements", "targets": ["a.sql"]}))
    assert seen.loss is (Loss.RECOVERABLE if stays else Loss.UNKNOWN)


@each("target", ["/srv/nothing-here", "../nothing-here", "~/nothing-here"])
def test_what_is_missing_outside_of_the_project_may_mean_another_place(
    look: WarmInspector, repo: Path, target: str
) -> None:
    assert look(inspection_request(repo, rm(target))).loss is Loss.UNKNOWN


def test_a_search_that_finds_nothing_and_a_missing_file_that_programs_keep_at_home_are_no_surprise(
    tmp_path: Path,
) -> None:
    for one in (search("~", "*.nothing"), search(str(tmp_path), "*.nothing"), rm("~/.cache/nvim"), rm("~/.tmux.conf")):
        assert in_process({**inspection_request(tmp_path, one), "temp": []}, str(tmp_path)).loss is Loss.NONE, one
    for one in (rm("~/Documents"), rm("~/.."), search("~/Documents", "*")):
        assert in_process({**inspection_request(tmp_path, one), "temp": []}, str(tmp_path)).loss is not Loss.NONE, one


def test_what_is_missing_where_there_is_no_project_is_not_known(look: WarmInspector, tmp_path: Path) -> None:
    assert look(inspection_request(tmp_path, rm("missing"))).loss is Loss.UNKNOWN
    assert look(inspection_request(tmp_path / "gone", rm("missing"))).loss is Loss.UNKNOWN
