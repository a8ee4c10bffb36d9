"""Names of well-known places: system directories, build output, caches, secrets, settings."""

from __future__ import annotations

import re

from interlock.analysis.lazy_regex import lazy_regex

# Every place a path can be. A rule that names another one is refused.
PLACES = frozenset({
    "root",            # / or a drive's root
    "home",            # a whole home directory, or the folder of all homes
    "system",          # a top-level system directory, or everything in it
    "system_part",     # something below a system directory
    "other_home",      # something below another user's home
    "home_part",       # something below one's own home
    "user_data",       # Documents, Pictures and the like; a dot folder that holds settings or keys
    "secret",          # keys, credentials, .env
    "shell_config",    # ~/.bashrc and the like
    "guard",           # Interlock's own files
    "agent_config",    # where coding agents keep settings and hooks
    "project",         # the working directory itself, or everything in it
    "above",           # a directory that contains the working directory
    "git",             # .git, or something in it
    "git_hook",        # .git/hooks/…
    "source",          # something in the project that nothing regenerates
    "build",           # what a build regenerates
    "cache",
    "log",
    "temp",
    "backup",
    "volume",          # a mounted volume
    "device",          # a block device
    "sink",            # /dev/null and other harmless devices
    "remote",          # s3://…, host:path
    "other",           # an absolute path elsewhere
    "unknown",         # cannot be known
    "unknown_root",    # unknown, and the root if the unknown part is empty: "$X"/*
})  # fmt: skip

SYSTEM = frozenset(
    "bin boot dev etc lib lib32 lib64 opt proc run sbin srv sys usr var lost+found library system applications private "
    "nix snap cores mnt media volumes data".split()
)
SYSTEM_CORE = frozenset("bin boot dev etc lib lib32 lib64 proc sbin sys usr".split())
WINDOWS_SYSTEM = frozenset({"windows", "program files", "program files (x86)", "programdata", "recovery", "system32"})
USR_PARTS = frozenset("bin lib lib64 sbin local share include libexec".split())
VAR_PARTS = frozenset("lib log mail spool www backups db opt".split())
BUILD = lazy_regex(
    r"node_modules|bower_components|dist|build|out|output|target|bin|obj|debug|release|\.next|\.nuxt|\.svelte-kit|\.output|"
    r"\.venv|venv|\.?env\d*|\.tox|\.nox|\.eggs|.*\.egg-info|__pycache__|.*\.py[codx]|\.terraform|\.gradle|\.parcel-cache|\.turbo|\.vite|"
    r"\.angular|\.expo|\.docusaurus|\.vercel|\.serverless|\.aws-sam|cdk\.out|coverage|htmlcov|\.nyc_output|\.coverage.*|"
    r"cmake-build-.*|build-.*|.*[-_.]build|_build|deps|pods|deriveddata|vendor|_site|public/build|storybook-static|site|"
    r"test-results?|playwright-report|.*\.(o|obj|a|so|class|pyc|pyo|gch|d|tsbuildinfo|whl|aux|toc|lof|lot|fls|fdb_latexmk|synctex(\.gz)?|bbl|blg|snm|vrb)|zig-out|zig-cache|elm-stuff|"
    r"\.dart_tool|\.bundle|\.stack-work|dist-newstyle|result|generated|gen|\.generated|typings|artifacts?|wheels?|\*\.egg-info|"
    r"bazel-.*|\.mypy_cache|\.ruff_cache|\.pytest_cache|\.eslintcache|\.cache|\.sass-cache|\.rpt2_cache.*|tmp|temp|\.tmp|"
    r"package-lock\.json|yarn\.lock|pnpm-lock\.yaml|poetry\.lock|cargo\.lock|gemfile\.lock|composer\.lock|uv\.lock|"
    r"reports?|lcov\.info|junit\.xml|\.ipynb_checkpoints|\.ds_store|thumbs\.db|.*\.min\.(js|css)|.*\.map|__snapshots__|\.pnpm-store|\.yarn",
    re.IGNORECASE,
)
# Names that mean build output anywhere; the others above only do inside a project.
BUILD_ANYWHERE = lazy_regex(
    r"node_modules|dist|build|target|\.next|\.nuxt|\.venv|venv|\.tox|\.nox|__pycache__|.*\.py[cod]|\.terraform|\.gradle|\.turbo|\.vite|"
    r"coverage|htmlcov|cmake-build-.*|deriveddata|\.mypy_cache|\.ruff_cache|\.pytest_cache|.*\.(o|obj|class|pyc)",
    re.IGNORECASE,
)
CACHE = lazy_regex(
    r".*cache.*|\.npm|\.nuget|\.m2|\.ivy2|\.cargo/registry|\.gradle|\.yarn|\.pnpm-store|\.bundle", re.IGNORECASE
)
LOG = lazy_regex(r".*\.(log|logs|out|err)(\.\d+|\.gz)?|logs?|nohup\.out|npm-debug\.log.*", re.IGNORECASE)
SCRATCH = lazy_regex(
    r".*\.(tmp|temp|swp|swo|bak|orig|rej|pid|lock|old)|.*~|scratch.*|tmp[-_.].*|.*[-_.]tmp|temp[-_.].*|.*[-_.]temp|core(\.(\d+|\*))?",
    re.IGNORECASE,
)
BACKUP = lazy_regex(r".*(backup|bak|snapshot|dumps?|archive)s?.*", re.IGNORECASE)
# Names of keys and credentials, wherever they are; then folders and files below a home, or below a copy of one.
SECRET = lazy_regex(
    r"(.*/)?(\.ssh(/(id_[a-z0-9_*?.-]+|.*\.pem|authorized_keys|identity|.*_key|\*))?|\.aws(/(credentials|config|(sso|cli)/cache(/.*)?))?|\.netrc|_netrc|\.pgpass|"
    r"\.gnupg(/.*)?|\.git-credentials|\.docker/config\.json|\.kube(/config)?|\.npmrc|\.pypirc|\.config/gcloud(/.*)?|\.azure(/.*)?|\.vault-token|"
    r"\.config/(gh|hub|github-copilot)/(hosts|apps)\.(yml|json)|\.config/hub|\.password-store(/.*)?|\.mozilla(/.*)?|"
    r"\.config/(google-chrome|chromium|bravesoftware|microsoft-edge)(/.*)?|library/application support/(google/chrome|firefox)(/.*)?|library/keychains(/.*)?|"
    r".*/(login data|cookies|login keychain.*|login\.keychain-db)|logins\.json|key[34]\.db|\.local/share/keyrings(/.*)?|\.local/share/kwalletd(/.*)?|"
    r"\.terraform\.d/credentials.*|\.cargo/credentials(\.toml)?|\.gem/credentials|\.config/(rclone/rclone\.conf|doctl/config\.yaml|op(/.*)?|glab-cli/config\.yml|"
    r"containers/auth\.json|sops/age/keys\.txt|ngrok/ngrok\.yml|netlify/config\.json|stripe/config\.toml|solana/[^/]*\.json|gitlab-runner(/.*)?)|"
    r"\.s3cfg|\.boto|\.my\.cnf|\.mylogin\.cnf|\.fly/config\.yml|\.databrickscfg|\.snowsql/config|\.snowflake/(config|connections)\.toml|\.ngrok2/ngrok\.yml|"
    r"\.kaggle/kaggle\.json|\.(cache/)?huggingface/token|\.composer/auth\.json|\.claude/\.credentials\.json|\.codex/auth\.json|\.modal\.toml|\.oci(/.*\.pem)?|"
    r"wallet\.dat|\.electrum/wallets(/.*)?|\.ethereum/keystore(/.*)?|utc--[^/]+|"
    r"\.env([.-][^/]*)?|[^/]*\.(pem|p12|pfx|jks|keystore|kdbx?|ppk|keytab|agekey)|id_(rsa|ed25519|ecdsa|dsa)([-_][a-z0-9_-]+)?|[^/]*_(rsa|ed25519|ecdsa)|"
    r"credentials(\.json)?|[^/]*[-_.]credentials?\.json|client[-_]secrets?[^/]*\.json|[^/]*firebase[-_]adminsdk[^/]*\.json|"
    r"[^/]*service[-_]?account[^/]*\.json|secrets?\.(ya?ml|json|toml|env|txt)|\.secrets?|htpasswd|\.htpasswd|\.?vault[-_]pass(word)?(\.txt)?|"
    r"((private|priv(ate)?[-_]?key|server|tls|ssl|ca|signing|encryption|master|jwt|rsa)([-_.][^/]*)?|[^/]*[-_.](private|priv|server|tls|ssl))\.key)",
    re.IGNORECASE,
)
SECRET_COPY = lazy_regex(
    r"(.+?)(?:[.-](?:bak|old|orig|backup|save|copy|\d+)|~|\.(?:gz|bz2|xz|zst|zip|tar|tgz|7z|b64))+", re.IGNORECASE
)
SYSTEM_SECRET = lazy_regex(
    r"/etc/(shadow|gshadow|sudoers|sudoers\.d/.*|ssl/private(/.*)?|krb5\.keytab|ssh/ssh_host_[^/]*_key|kubernetes/(admin|super-admin)\.conf)-?|/proc/[^/]+/(environ|mem)|/var/run/secrets/.*|/run/secrets/.*"
)
NOT_SECRET = lazy_regex(
    r".*\.pub\..*|(?!.*\.mozilla/).*[.-](pub|example|sample|template|tmpl|tpl|dist|defaults?|schema|md|[cm]?[jt]sx?|py|rb|go|vault|j2|erb)"
    r"|.*\.env[.-](test|testing|ci)|.*\.d\.ts",
    re.IGNORECASE,
)
# Files that a program reads when it starts, wherever one works; and folders of them, which may be a project of their own.
START_FILE = lazy_regex(
    r"\.(bashrc|bash_profile|bash_login|bash_logout|profile|zshrc|zprofile|zshenv|zlogin|kshrc|cshrc|tcshrc|login|inputrc|bash_aliases|"
    r"bash_history|zsh_history|vimrc|tmux\.conf|gitconfig|xinitrc|xprofile|xsession|xresources|screenrc|emacs|emacs\.d/init\.el|hgrc|"
    r"curlrc|wgetrc|condarc|yarnrc(\.yml)?|gemrc|irbrc|gdbinit|psqlrc|sqliterc|my\.cnf|terraformrc|ansible\.cfg|bunfig\.toml|"
    r"ssh/(config|known_hosts|rc|environment)|pip/pip\.conf|cargo/config(\.toml)?|m2/settings(-security)?\.xml|bundle/config|"
    r"gradle/(gradle\.properties|init\.gradle(\.kts)?)|subversion/(config|servers)|docker/daemon\.json|"
    r"config/(git/(config|attributes)|pip/pip\.conf|uv/uv\.toml|gh/config\.yml|containers/[^/]+\.conf|starship\.toml|"
    r"(code|cursor|vscodium)/user/settings\.json))",
    re.IGNORECASE,
)
SHELL_CONFIG = lazy_regex(r"\.config/(fish|nvim|git|systemd|autostart)(/.*)?", re.IGNORECASE)
GUARD = lazy_regex(
    r"(.*/)?(\.?interlockd?(/.*|\.toml|\.db|\.sock)?|interlock\.(toml|db|sock)(-wal|-shm)?)", re.IGNORECASE
)
AGENT_CONFIG = lazy_regex(
    r"(.*/)?(\.claude(/(settings(\.local)?\.json|hooks(/.*)?|plugins(/.*)?|managed-settings\.json|CLAUDE\.md)?)?|\.claude\.json|\.codex(/(config\.toml|hooks\.json|rules(/.*)?|requirements\.toml)?)?|"
    r"\.gemini(/(settings\.json|policies(/.*)?|config/hooks\.json)?)?|\.cursor(/(hooks\.json|mcp\.json|cli\.json)?)?|\.copilot(/(settings\.json|hooks(/.*)?)?)?|"
    r"\.github/hooks(/.*)?|\.github/copilot(/.*)?|\.config/opencode(/.*)?|\.opencode(/.*)?|opencode\.jsonc?|\.codeium(/.*)?|\.windsurf(/.*)?|"
    r"\.cline(/.*)?|\.kiro(/.*)?|\.factory(/.*)?|\.config/devin(/.*)?|\.devin(/.*)?|\.mcp\.json|\.hermes(/(profiles/[^/]+/)?(config\.yaml|\.env|shell-hooks-allowlist\.json|plugins(/.*)?))?|"
    r"\.(rampart|shellfirm|shieldcortex|vibeguard|cc-safety-net|dcg)(/.*)?|\.dcg\.toml|\.config/(nah|dcg|tirith|rampart|shellfirm|cc-safety-net)(/.*)?|"
    r"\.grok(/(hooks(/.*)?|trusted_folders\.toml)?)?|\.kimi(-code)?(/config\.toml)?|\.agents/hooks\.json|\.pi(/agent)?(/extensions(/.*)?)?|"
    r"\.amp/plugins(/.*)?|\.config/amp(/.*)?|\.clinerules/hooks(/.*)?|documents/cline/hooks(/.*)?|"
    r"etc/(github-copilot|cursor|windsurf|claude-code|codex|gemini-cli)(/.*)?)",
    re.IGNORECASE,
)
USER_DATA = frozenset(
    "documents desktop pictures photos music videos movies downloads public library mail work projects code src dev repos "
    ".ssh .aws .gnupg .config .kube .local .thunderbird .mozilla .password-store onedrive dropbox".split()
)
SINKS = frozenset("null stdout stderr stdin tty zero random urandom full fd console ptmx pts shm".split())
TEMP = lazy_regex(
    r"/(tmp|var/tmp|dev/shm|private/tmp|private/var/tmp|private/var/folders|var/folders|run/user/\d+)(?![^/])",
    re.IGNORECASE,
)
DEVICE = lazy_regex(
    r"/dev/((sd|hd|vd|xvd)[a-z*?\[\]]+\d*|nvme\d*.*|mmcblk\d*.*|r?disk\d*.*|mapper/.*|md\d+|dm-\d+|loop\d+|sr\d+|nbd\d+|zvol/.*|disk/.*|mem|kmem|port|mtd.*|[^/]+/(root|home|data|swap)[^/]*)",
    re.IGNORECASE,
)
WINDOWS_DEVICE = lazy_regex(r"\\\\[.?]\\(physicaldrive\d+|[a-z]:).*|//[.?]/(physicaldrive\d+|[a-z]:).*", re.IGNORECASE)
REMOTE = lazy_regex(r"[a-z][a-z0-9+.-]*://.*|[\w.@-]+:(?!\\).*")
DRIVE = lazy_regex(r"([a-zA-Z]):(?=$|[\\/])")
HOMES = lazy_regex(r"/(home|users|root|export/home|var/home)(/([^/]+))?(/.*)?$", re.IGNORECASE)
ALL_BUT = lazy_regex(r"[!@*+?]\(.*\)\*?")
WSL_DRIVE = lazy_regex(r"/(?:mnt|cygdrive)/([a-z])(?=/|$)")
GLOB_PART = lazy_regex(r"\[[^\]/]*\]|[*?]")
GLOB_ALL = frozenset({"*", ".*", "{*,.*}", ".[!.]*", "..?*", "**", "*.*", ".??*", "**/*", "?*", "{,.}*", "[!.]*"})


def is_secret(path: str) -> bool:
    """Whether a path is, by its name, a file or folder of keys and credentials."""
    if SYSTEM_SECRET.fullmatch(path) is not None:
        return True
    if SECRET.fullmatch(path) is not None:
        return NOT_SECRET.fullmatch(path) is None
    copied = SECRET_COPY.fullmatch(path)
    return copied is not None and SECRET.fullmatch(copied[1]) is not None and NOT_SECRET.fullmatch(copied[1]) is None
