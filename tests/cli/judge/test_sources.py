"""The shell text in files of each kind, with its lines."""

from __future__ import annotations

import pytest

from interlock.cli.judge.scan import source_of
from interlock.cli.judge.scan.ci import scalars

MAKEFILE = """\
DIR := build
OUT = $(DIR)/out
all: dep ; touch x
clean: ## tidy
\t@rm -rf $(OUT) $$HOME $@
\tfor f in a; do \\
\t  echo $$f; \\
\tdone
ifdef X
\t-$(MAKE) -C $(UNSET)
endif
define NOT
\trm -rf /
endef
V != uname -a
W := $(shell git describe)
"""

DOCKERFILE = """\
# syntax=x
FROM debian
ARG D=/srv
WORKDIR /app
RUN --mount=type=cache,target=/x a && \\
    # why
    b
CMD ["sh", "-c", "c d"]
RUN <<EOF
e
f
EOF
RUN cat <<EOF | sh
g
EOF
COPY <<EOF /x
RUN h
EOF
HEALTHCHECK --interval=5s \\
  CMD i
FROM scratch
ONBUILD RUN j
"""

GITHUB = """\
on: [push]
defaults:
  run:
    shell: bash
jobs:
  a:
    steps:
    - uses: x@v1
      with: {run: no}
    - name: "run: not"
      run: |
        a ${{ x }}

        b
    - run: c  # why
    - run: >-
        d
        e
    - run: "f \\"g\\""
    - shell: python
      run: import os
    - {name: x, run: "h, i"}
    - run: j
        k
    - shell: cmd
      run: del x
"""

GITLAB = """\
.base: &base
  before_script: ["a", 'b''c']
job:
  <<: *base
  script:
    - c
    # why
    - >
      d
      e
    - - f
  variables:
    script_name: no
"""


@pytest.mark.parametrize(
    ("path", "text", "pieces"),
    [
        ("x/a.sh", "ls\nrm x", [("ls\nrm x", 1)]),
        (
            "Makefile",
            MAKEFILE,
            [
                ("touch x", 3),
                ("rm -rf build/out $HOME target", 5),
                ("for f in a; do \\\n\t  echo $f; \\\n\tdone", 6),
                ("make -C \ufffcUNSET\ufffc", 10),
                ("uname -a", 15),
                (": $(git describe)", 16),
            ],
        ),
        (
            "Dockerfile",
            DOCKERFILE,
            [
                ("D=/srv\na && \\\n\\\n    b", 3),
                ("D=/srv\nsh -c 'c d'", 3),
                ("D=/srv\ne\nf", 3),
                ("D=/srv\ncat <<EOF | sh\ng\nEOF", 3),
                ("D=/srv\ni", 3),
                ("j", 22),
            ],
        ),
        (
            ".github/workflows/x.yml",
            GITHUB,
            [
                ("a template\n\nb", 12),
                ("c", 15),
                ("d e", 17),
                ('f "g"', 19),
                ("python <<'INTERLOCK_END'\nimport os\nINTERLOCK_END", 21),
                ("h, i", 22),
                ("j k", 23),
                ("cmd <<'INTERLOCK_END'\ndel x\nINTERLOCK_END", 26),
            ],
        ),
        (".gitlab-ci.yml", GITLAB, [("a\nb'c", 2), ("c\nd e\nf", 6)]),
        (
            ".circleci/config.yml",
            "jobs:\n  b:\n    steps:\n      - checkout\n      - run: a << parameters.x >>\n      - run:\n          name: n\n          command: b\n",
            [("a template__________", 5), ("b", 8)],
        ),
        (
            "azure-pipelines.yml",
            "steps:\n- script: a\n- task: Bash@3\n  inputs:\n    script: b\n",
            [("a", 2), ("b", 5)],
        ),
        (
            "bitbucket-pipelines.yml",
            "pipelines:\n  default:\n    - step:\n        script:\n          - a\n          - b\n",
            [("a\nb", 5)],
        ),
        ("package.json", '{"name": "a",\n"scripts": {\n"a": "x \\"y\\"",\n"b": "a"}}', [('x "y"', 3), ("a", 4)]),
        ("package.json", "{", []),
        ("package.json", '{"scripts": []}', []),
        ("etc/cron.d/x", "A=b\n# c\n0 3 * * 1-5 root rm x\n@daily bob ls %in\n", [("rm x", 3), ("ls ", 4)]),
        ("x.cron", "*/5 * * * * date +\\%s\n", [("date +%s", 1)]),
        ("Procfile", "web: a b\n\nworker: c", [("a b", 1), ("c", 3)]),
        (
            "justfile",
            'd := "/x"\n# why\nclean a="1": dep\n    @rm {{d}} {{a}}\n    ls\n\nscript:\n    #!/bin/bash\n    x\n',
            [("rm /x \ufffca\ufffc", 4), ("ls", 5), ("#!/bin/bash\nx", 8)],
        ),
    ],
)
def test_the_text_that_runs_is_found_with_its_line(path: str, text: str, pieces: list[tuple[str, int]]) -> None:
    source = source_of(f"/repo/{path}", b"")
    assert source is not None
    assert [(piece.text, piece.lines[0]) for piece in source.read(text)] == pieces
    assert all(len(piece.lines) == piece.text.count("\n") + 1 for piece in source.read(text))


@pytest.mark.parametrize(
    ("path", "head", "kind"),
    [
        ("/a/run", b"#!/bin/sh\n", "shell"),
        ("/a/run", b"#! /usr/bin/env -S bash -e\n", "shell"),
        ("/a/run", b"#!/usr/bin/python3\n", None),
        ("/a/run", b"#!/usr/bin/fish\n", None),
        ("/a/readme.md", b"rm -rf /\n", None),
        ("/a/GNUmakefile", b"", "makefile"),
        ("/a/x.mk", b"", "makefile"),
        ("/a/Dockerfile.dev", b"", "dockerfile"),
        ("/a/Containerfile", b"", "dockerfile"),
        ("/a/.github/workflows/x.yaml", b"", "github steps"),
        ("/a/.github/dependabot.yml", b"", None),
        ("/a/.pre-commit-config.yaml", b"", None),
        ("/a/crontab", b"", "crontab"),
        ("/a/package.json", b"", "package scripts"),
        ("/a/other.json", b"", None),
    ],
)
def test_a_file_is_known_by_its_name_or_first_line(path: str, head: bytes, kind: str | None) -> None:
    source = source_of(path, head)
    assert (source.kind if source else None) == kind


@pytest.mark.parametrize(
    "text",
    [
        "",
        "-",
        "- - -",
        "a",
        "a:\n- b\n-",
        "'",
        '"',
        "[",
        "{",
        "a: [",
        "a: |",
        ": :",
        "\t- x",
        "? a",
        "a: &x\n  *x",
        "--- |\n x",
    ],
)
def test_odd_yaml_ends(text: str) -> None:
    assert len(list(scalars(text))) < 5


@pytest.mark.parametrize("unit", ["a: ", "- ", "[", "${{", "a:\n", " ", "'", "{a: ", "a" * 10 + " "])
def test_long_yaml_takes_time_in_proportion(unit: str) -> None:
    source = source_of("/a/.github/workflows/x.yml", b"")
    assert source is not None
    assert source.read(unit * (200_000 // len(unit))) == []
