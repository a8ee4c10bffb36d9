"""Program names by which a command is told from a sentence."""

from __future__ import annotations

from functools import cache

# Beside those that a rule names.
_OTHERS = frozenset(
    """
amtool augenrules awk bcp bin/console bin/rails bin/rake bzr cbq chgrp chmod chown cinder-manage cipher.exe clj
cmd cmd.exe corepack couchbase-cli cp createdb curl dd del-cli e2label elasticdump erl esxcli expdp fnm gci ghc
gio git-filter-repo glance-manage govc hbase heimdall icm impala-shell impdp initdb ipython irb irm iwr k3s k9s
kpartx lein ln logcli lua luajit masscan meilisearch mkcert mongodump mv mysqldump mysqlpump mysqlsh nmap node
nodejs nova-manage nox npm-check-updates npx opensearch-cli partprobe partx perl perl5 pg_basebackup pg_dump
php7 php8 powershell powershell.exe presto-cli promtool proxmox pry pvcreate pwsh pytest python python3 rados
rebar3 reindexdb remove-item rimraf rm rman rmdir robocopy rscript rsnapshot rsync ruby saps sc.exe sf shred
simctl skaffold spark-submit sqoop srm sshpass tclsh tcpdump tdsql terraform-docs tox trash-put truncate ts-node
tshark tsx unlink vacuumdb vgcreate vitest volta wget winrs xargs xcodebuild xcopy xfs_admin xfs_growfs
xtrabackup
""".split()
)
# These are words of sentences too: only with a flag or a path behind them, where a command could stand.
PLAIN = frozenset(
    """
ace ack act adyen ag agent alias alternatives amp amplify anaconda apprise aptitude ar arc arch argo arp assoc
at atlas attic attrib banner barman bat bb bc bg bind bless bore braintree brave break brevo brotli cabal cal
caller cancel cast cat cf chamber changeset changesets chargebee cheat chisel chrome chromium cinder cipher claude
clear cmp cockroach code codex coinbase column comm command commander comp complete composer conan confluent
console continue convex copilot copy craft crystal ctr cut dart dash date dc declare defaults del delta dialog
diesel diff dig dir dirs discord discourse doctrine dog drill droid drone dust eb echo elevate elixir elm emerge
emulate emulator enable env erase eval exa exit exo expand expect expo export expose expr factor false fc fd fg
figlet file find finger firefox flask flit flutter flux fly fold forever format fossil free fx gam gem gemini
ghost glance glances glow go gocardless goose gpt grim groups halt handle hash hatch havoc hd head heat help hex
hg hh highlight history hive host hostname hub hydra id identify iex import info init install installer
interlock interlockd ip jar java jenkins jf jira jj jobs john join jot k keeper keylogger keyring keystone kill
kind klaviyo knife knock last less let local locale locate login logoff logout look lt machine magento magnum
mail mailchimp mailgun make mamba man mastodon medusa members migrate mise mix module mollie more most mount
move mutt neon net neutron nix nl nm nova np occ oci od odoo okta onesignal op opera orb packer paddle parallel
pass paste patch payload paypal pct pio plaid pod port postfix postmark pr presto profiles ps pub pup puppet
pushover pv pw q query railway rambler razorpay rd read readonly realm recurly reg rename render replace resend
reset responder return rev ri rocketchat route rr rustic rye sail salt sam sar say sc scoop screen scrub
security sendgrid sensors seq serverless service set sg shift shopify shotgun shutdown sips size sk skill sl
slack slay sleep sliver snow sort spark spectacle sponge square ss sst stack stat step strings stripe sum
suspend sv svc swift tabs tail tart tc tea tee teller tern test time times title toml top tortoise touch tr trap
trash tree trino trove true truss tty twilio twine type typeset typos umount unison units uptime users vale vc
vd ver view vivaldi vol w wait watch west wg where which who wipe wise yes yoyo zulip zzz
ash ed ex fish ftp vi
""".split()
)
# These stand with their subcommand anywhere in a sentence; the others only where a command can begin.
FAMILIAR = frozenset(
    """
alembic ansible ansible-playbook apt apt-get argocd artisan awk aws az badblocks bash blkdiscard borg bq brew
bun bundle cargo cd chattr chgrp chmod choco chown consul cp crontab cryptsetup curl dbt dd deno diskutil dnf
doas docker docker-compose doctl dotnet drizzle-kit dropdb eksctl etcdctl fdisk firebase flyctl flyway gcloud gh
git glab gradle grep groupdel gsutil hdparm helm heroku influx iptables journalctl jq killall knex kubectl
kustomize liquibase ln ls lvremove mc mdadm mkfs mkswap mongo mongosh mv mvn mysql mysqladmin mysqldump netlify
nft node nomad npm npx nuget oc pacman parted passwd perl pg_dump pg_restore php pip pip3 pipx pkill pnpm podman
poetry poweroff powershell prisma psql pulumi pvremove pwsh python python3 rails rake rclone reboot redis-cli
remove-item restic rm rmdir rsync ruby s3cmd scp sed sequelize setfacl sf sgdisk sh shred snap snowsql sqlite3
ssh su sudo supabase sysctl systemctl tar terraform tmux tofu truncate ufw unzip userdel usermod uv vagrant
vault velero vercel vgremove visudo wget winget wipefs wrangler xargs yarn yum zfs zsh
""".split()
)
SUBCOMMANDS = frozenset(
    """
FLUSHALL FLUSHDB add aks alias api apply artisan auth bisect blame branch build check checkout cherry-pick ci
clean clippy clone cloudformation clusters commit compose compute config container cordon cp create db delete
deploy deploy-all describe destroy destroy-all dev diff disable down download drain du dynamodb ec2 ecs eks
enable env exec fetch filter-branch filter-repo flush flushall flushdb fmt format functions gc generate get
group iam images import init install instances issue kill kms lambda lint log login logout logs ls manage.py
mask mb merge migrate mv network now patch plan pr prefect projects prune ps publish pull push rb rds rebase
reflog release reload remote remove repo reset restart restore revert rm rmi rollback rollout route53 run s3
scale secret secrets secretsmanager services show shutdown sql start stash state status stop storage submodule
switch sync system tag taint test uninstall unpublish up update upgrade upgrade-all upload volume webapp
workspace worktree
""".split()
)
# Subcommands that are also the nouns of a sentence (`the docker image`).
NOUN_SUBCOMMANDS = frozenset(
    """
account accounts acl app apps artifact backup backups bucket buckets cache cancel channel cluster collection
connections console context daemon database databases db: deactivate delete-cluster delete-stack deployment
deployments deprovision detach df dfs disconnect domain domains drop dump edit evict expire flush-all force
force-unlock forget fs fsadmin halt hard-reset image index instance job jobs key keys kv lease leave lifecycle
list load lock machine machines member migrate:fresh migrate:reset migration mount namespace namespaces node
nodes ns nuke offline operator org orgs os pause peer pipeline pipelines pod pods policy pool poweroff project
promote purge queue queues quit reboot rebuild reclaim recover reinstall releases remove-all replace replica
replication reset-db resource revoke role roles rotate rs run-tests seal server servers service shell site
snapshot snapshots space spaces stack stacks step-down subvolume suspend tables team teams tenant terminate
token tokens topic topics transfer truncate tunnel undeploy undeploy-all unlink unload unmount unregister unseal
unset user userdel users vault vg vm vms volumes wipe wipe-data zone
""".split()
)
# Programs whose first word is a plain name: `dropdb billing`.
TAKE_NAMES = frozenset(
    """
auditpol bcdedit chkconfig createdb csrutil delgroup deluser dropdb dropuser dscl dsrm fsutil groupdel killall
launchctl lvremove netsh nodetool ntdsutil patronictl pg_ctl pg_ctlcluster pg_dropcluster pkill pvremove
rabbitmqctl rmmod spctl supervisorctl swapoff systemsetup tmutil update-rc.d userdel usermod vgremove vssadmin
wbadmin wevtutil
""".split()
)
# Programs that do their work without any word behind them.
ALONE = frozenset(
    """
clear-recyclebin diskpart dropdb flushall flushdb iisreset mkfs poweroff reboot restart-computer stop-computer
swapoff sysprep systemreset telinit vgremove visudo
""".split()
)


@cache
def programs() -> frozenset[str]:
    """The names that nobody writes in a sentence without meaning the program: all that a rule names, and some more."""
    from interlock.analysis.rules.load import load

    named = {name.lower() for name in load().by_program if not _PATTERN.intersection(name)}
    return (_OTHERS | named) - PLAIN


_PATTERN = frozenset("*[: ")
