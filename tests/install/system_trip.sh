# In a mount namespace of its own, as root: `install --system` there, again, looked at, and back. Every line has to end well.
set -eux
"$PYTHON" -c 'import fcntl, socket, struct; fcntl.ioctl(socket.socket(), 0x8914, struct.pack("16sh14x", b"lo", 0x41))'
mount -t tmpfs -o mode=755 none /mnt
cp -a /etc /mnt/etc
mount --bind /mnt/etc /etc
for folder in /opt /home /run /var/lib /usr/local/bin; do mount -t tmpfs -o mode=755 none $folder; done
useradd --create-home alice
interlock() { "$PYTHON" -m interlock "$@"; }
refused() { if "$@"; then echo "not refused: $*"; exit 1; fi; }

# Shown first, and nothing done.
interlock install --system claude-code --for alice --dry-run > /mnt/dry
grep -q "make the user interlock" /mnt/dry
grep -q "managed-settings.json" /mnt/dry
test ! -e /opt/interlock
refused id interlock

# Nobody to guard, root, and somebody who is not there.
refused interlock install --system claude-code --yes
refused interlock install --system claude-code --for root --yes
refused interlock install --system claude-code --for nobody-here --yes

# There, and again: the second time there is nothing left to do.
interlock install --system claude-code --for alice --yes 2> /mnt/said
grep -q "systemd does not run here" /mnt/said
grep -q "serve --system" /mnt/said
before=$(find /opt/interlock /etc/interlock /etc/claude-code -type f | sort | xargs sha256sum | sha256sum)
interlock install --system claude-code --for alice --yes > /mnt/again
grep -q "has a user of its own already" /mnt/again
test "$before" = "$(find /opt/interlock /etc/interlock /etc/claude-code -type f | sort | xargs sha256sum | sha256sum)"
test "$(stat -c '%U %a' /var/lib/interlock)" = "interlock 700"
test -z "$(find /opt/interlock \( ! -user root -o -perm /022 \) ! -type l)"

# The daemon by hand, as its own user; agents of alice are judged, and scripts that only she can read are read.
printf '[hooks]\nwait_seconds = 0\n[undo]\nms = 10000\n' >> /etc/interlock/config.toml
/opt/interlock/bin/python -I -m interlock.install.client_build /etc/interlock/config.toml
"$PYTHON" -c '
from pathlib import Path
from interlock.config import load_config
from interlock.identity.keys.passphrases import Kdf, enrol
from interlock.identity import operators
from interlock.runtime.state import SystemClock
from interlock.startup import open_state, open_store
config = load_config(Path("/etc/interlock/config.toml"), {})
store = open_store(config.store)
state = open_state(config, store, SystemClock())
operators.enrol_first(state, *enrol("olga", "correct horse battery", None, now=state.clock.now(), by="olga", roles=("admin",), kdf=Kdf(1, 8192, 1)))
store.close()
'
chown -R interlock: /var/lib/interlock
/opt/interlock/bin/interlock serve --system < /dev/null > /mnt/log 2>&1 &
daemon=$!
trap 'kill $daemon' EXIT
for i in $(seq 400); do grep -q Ctrl-C /mnt/log && break; sleep 0.05; done
test "$(stat -c %U /proc/$daemon)" = interlock || test "$(ps -o user= -p $daemon)" = interlock
alice() { setpriv --reuid alice --regid alice --init-groups env -i HOME=/home/alice "$@"; }
hook() { printf '{"session_id":"s","cwd":"/home/alice","permission_mode":"default","hook_event_name":"PreToolUse","tool_name":"Bash","tool_use_id":"t","tool_input":{"command":"%s"}}' "$1" | alice /opt/interlock/bin/interlock-hook claude-code PreToolUse; }
test -z "$(hook ls)"
echo 'rm -rf /srv/data' > /home/alice/x.sh
chown alice /home/alice/x.sh
chmod 600 /home/alice/x.sh
hook "bash x.sh" | grep -q '"deny"'
alice /opt/interlock/bin/interlock status | grep -q "separate"
/usr/local/bin/interlock status | grep -q "operator.sock"
/usr/local/bin/interlock doctor > /mnt/doctor
grep -q "only root can change" /mnt/doctor
grep -q "then nothing passes" /mnt/doctor
grep -q "All is well" /mnt/doctor
refused alice /opt/interlock/bin/interlock operator add < /dev/null

# What only alice has is kept as alice before it goes, and comes back; a list that she altered does not.
own=/home/alice/.local/state/interlock/undo
echo "three days of work" > /home/alice/thesis.txt
chown alice: /home/alice/thesis.txt
chmod 640 /home/alice/thesis.txt
let_go() { for i in $(seq 60); do hook "rm thesis.txt" > /mnt/kept; grep -q "interlock undo u_" /mnt/kept && break; done; kept=$(grep -o "u_[a-z2-7]*" /mnt/kept | head -1); alice rm /home/alice/thesis.txt; }
let_go
test "$(stat -c '%U %a' $own)" = "alice 700"
test -z "$(find $own ! -user alice)"
alice /opt/interlock/bin/interlock undo --list | grep -q "$kept  *.*thesis.txt"
alice /opt/interlock/bin/interlock undo --dry-run | grep -q "three days of work"
alice /opt/interlock/bin/interlock undo --yes
test "$(cat /home/alice/thesis.txt)" = "three days of work"
test "$(stat -c '%U %a' /home/alice/thesis.txt)" = "alice 640"
let_go
"$PYTHON" -c '
from pathlib import Path
from interlock.client import DaemonClient
root = DaemonClient(Path("/run/interlock/operator.sock"))
token = root.post("/session", {"operator": "olga", "passphrase": "correct horse battery", "channel": "cli"})["token"]
olga = root.on_behalf(token)
assert "+three days of work" in olga.get("/undo/newest", diff=True)["changes"][0]["diff"]
done = olga.post("/undo/newest", {"force": False})
assert done["undone"] and done["snapshot"]["endedBy"] == "olga", done
'
test "$(cat /home/alice/thesis.txt)" = "three days of work"
let_go
alice sed -i s/thesis/another/ $own/snapshots/$kept.json
refused alice /opt/interlock/bin/interlock undo --yes 2> /mnt/said
grep -q "not the one on record" /mnt/said
alice rm -r $own
refused alice /opt/interlock/bin/interlock undo --yes 2> /mnt/said
grep -q "there is no snapshot" /mnt/said
refused /usr/local/bin/interlock undo --list < /dev/null 2> /mnt/said
grep -q "operator" /mnt/said

# Back is for a person at a terminal; an agent without one is refused.
refused interlock uninstall --system --yes < /dev/null
test -e /opt/interlock
kill $daemon
trap - EXIT
"$PYTHON" -c '
from interlock.install.system import Layout, removal_steps
for step in removal_steps(Layout()):
    step.needed and step.do()
'
test ! -e /opt/interlock
test ! -e /run/interlock
test ! -e /usr/local/bin/interlock
test -e /var/lib/interlock/state.db
test -e /etc/interlock/config.toml
echo "the trip is over"
