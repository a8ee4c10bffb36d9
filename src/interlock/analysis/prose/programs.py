"""Program names by which a command is told from a sentence."""

from __future__ import annotations

# Nobody writes these in a sentence without meaning the program: all that a rule speaks of, and more.
PROGRAMS = frozenset(
    """
7z aa-complain aa-disable aa-remove-unknown aa-status aa-teardown accton acli acme.sh acpi actionlint adb adcli
add-adgroupmember add-adprincipalgroupmembership add-localgroupmember add-mppreference addgroup addr2line
adduser aerich afinfo agrep aider aircrack-ng aireplay-ng airflow akeyless alembic aliyun altool amtool
anacron-list ansible ansible-config ansible-doc ansible-galaxy ansible-inventory ansible-lint ansible-playbook
apache2ctl apachectl apk apparmor_parser apparmor_status appcmd apropos apt apt-cache apt-file apt-get
arch-chroot argocd arping arptables artisan asdf asr ast-grep atop atq atrm atuin auditctl auditpol augenrules
aureport ausearch auth0 authconfig authselect autokey-run autoload automationmodetool autorestic autossh avml
avrdude awk aws aws-nuke aws-vault az azcopy azd b2sum b3sum bacula-console badblocks bao base32 base64 basename
basenc bash batcat bcachefs bcdboot bcdedit bconsole bcp beef-xss beeline berglas bettercap bfg bin/console
bin/rails bin/rake bitcoin-cli bitsadmin blkdiscard blkid bloodhound-python bmon bootctl bootrec bootsect borg
borgmatic bossac bputil bq brave-browser brctl brew bsdtar bsondump btop btrbk btrfs buildah bun bundle bunzip2
bup busctl bw bzcat bzip2 bzr c++filt cacls calife campaignmonitor capsh cargo cargo-embed cargo-flash cbq cd
cdk cdktf ceph ceph-volume certbot certutil cfdisk cfgutil cgdb cgdisk cgminer chage charmcraft chattr chcon
chcp chdir checkmake chef-server-ctl chflags chfn chgpasswd chgrp chkconfig chmod choco chown chpasswd chpst
chrome-webstore chrome-webstore-upload chrome-webstore-upload-cli chromium-browser chroot chsh cilium
cinder-manage cipher.exe circleci circusctl civo cksum claude-code clear-bitlockerautounlock clear-disk
clear-dnsclientcache clear-eventlog clear-history clear-host clear-itemproperty clear-mobiledevice clear-recyclebin clear-tpm
clear-variable clear-winevent click-odoo-dropdb clickhouse clickhouse-backup clickhouse-client clickhouse-keeper-client
clickhouse-local cliclick clj cloc cloud-nuke cloudflared cls clusterctl cmd cmd.exe cmdkey cmstp code-insiders
codespell colima colordiff colrm compare-object compgen conda consul consul-k8s convert-disk convert-path
convertfrom-csv convertfrom-json convertto-csv convertto-html convertto-json convertto-xml corepack
couchbase-cli cowsay cp cpio cppcheck cqlsh crackmapexec crc32 createdb createhomedir credstash crictl crontab
crossplane cryptsetup cscli cscript csf csrutil csvcut csvgrep csvlook csvsort csvstat curator_cli curl
cursor-agent customerio cypher-shell dapr dasel datadog-ci db-migrate dban dbmate dbt dbus-send dc3dd dcfldd dd
dd_rescue ddev ddexec ddrescue debugfs del-cli delgroup deluser demote-domaincontroller deno desktopimgdownldr
devtunnel df dfu-util dhclient dhcpcd diff3 difft dircolors dirname disable-adaccount
disable-azrecoveryservicesbackupprotection disable-azsubscription disable-bitlocker disable-computerrestore
disable-localuser disable-mailbox disable-netadapter disable-netfirewallrule disable-pnpdevice
disable-psbreakpoint disable-psremoting disable-scheduledtask disable-windowsdefender disable-windowsoptionalfeature discord-cli
discordctl diskpart diskshadow diskutil dism dismount-diskimage disown django-admin dmesg dmidecode dmsetup dnf dnscmd do-release-upgrade
doas docker docker-compose docker-machine doctl doggo dokku doppler dotnet dotnet-ef dotool dotoolc dpkg
dpkg-query drbdadm driverquery drizzle-kit dropdb dropuser drush dsadd dscl dsconfigad dseditgroup dsenableroot
dsmod dsrm dtruss du duckdb duf dumpe2fs dumpminitool duplicacy duplicity dvc dwarfdump dysk dzdo e2fsck e2label eas easy-rsa
easyrsa ebtables eclair-cli editorconfig-checker efibootmgr egrep eksctl elasticdump elasticsearch-keystore
elasticsearch-node elasticsearch-reset-password elasticsearch-shard elasticsearch-translog elasticsearch-users
emulator-headless enable-localuser enable-netfirewallrule enable-psremoting enable-wsmancredssp entr envchain
eopkg erl esentutl espefuse espefuse.py esptool esptool.py esxcli etcdctl ethtool ettercap evemu-event
evemu-play evil-winrm evtest exiftool exim exim4 expdp extlinux extrac32 eza fail2ban-client faillock fastboot
fastboot-reboot fastfetch fastlane fbcat fbgrab fc-list fc-match fdesetup fdfind fdisk ffmpeg ffuf-bomb fgrep
find-module find-package find-script findmnt findstr fips-mode-setup firebase firefox-esr firehol firewall-cmd
firewall-offline-cmd firmwarepasswd fixfiles flameshot flarectl flash_erase flash_eraseall flashcp flashrom
flatpak fltmc flush-dnsclientcache flyctl flyway fmt fnm foreach-object format-custom format-hex format-list format-table format-volume
format-wide fping frida frida-trace frpc fsarchiver fsck fsck_apfs fsck_exfat fsck_hfs fsck_msdos fsutil ftype
fuser fzf gam7 gci gcloud gcloud-secrets gcore gdate gdb gdbserver gdbus gdisk gdu gecho geoiplookup get-acl
get-adcomputer get-addomain get-adgroup get-adgroupmember get-adobject get-adprincipalgroupmembership get-aduser
get-alias get-appxpackage get-authenticodesignature get-azcontext get-azresource get-azresourcegroup
get-azstorageaccount get-azsubscription get-azvm get-bitlockervolume get-childitem get-cimclass get-ciminstance
get-clipboard get-command get-computerinfo get-content get-counter get-credential get-culture get-date
get-dhcpserverv4scope get-disk get-dnsclientcache get-dnsclientserveraddress get-dnsserverzone get-ec2instance
get-error get-eventlog get-executionpolicy get-filehash get-gpo get-help get-history get-host get-hotfix
get-installedmodule get-item get-itemproperty get-itempropertyvalue get-job get-localgroup get-localgroupmember
get-localuser get-location get-mailbox get-member get-mguser get-module get-mpcomputerstatus get-mppreference
get-netadapter get-netfirewallprofile get-netfirewallrule get-netipaddress get-netipconfiguration
get-netneighbor get-netroute get-nettcpconnection get-netudpendpoint get-package get-packageprovider
get-packagesource get-partition get-physicaldisk get-printer get-process get-psdrive get-psprovider
get-psrepository get-pssession get-random get-s3bucket get-s3object get-scheduledtask get-scheduledtaskinfo
get-service get-smbshare get-storagepool get-timezone get-tpm get-uiculture get-unique get-uptime get-variable
get-verb get-vm get-vmsnapshot get-volume get-windowsfeature get-windowsoptionalfeature get-winevent
get-wmiobject getcap getconf getenforce getent getfacl getmac getopt getopts getsebool gfind ggrep gh ghc gio
git git-filter-repo gitlab-ctl gitlab-rake gitleaks gksu gksudo glab glance-manage gls gluster
gnome-keyring-dump gnome-screenshot gojq golang-migrate google-chrome google-chrome-beta google-chrome-stable
gopass gosu govc gpasswd gpg gpg-connect-agent gpg2 gping gpresult gpupdate gradle gradlew grant-smbshareaccess
grep gron group-object groupdel groupmems groupmod growpart grpunconv grub-install grub2-install gs-netcat gsed
gsort gstat gsudo gsutil gtar guix gunzip gzcat gzip hadolint hadoop hashcat hasura hbase hcloud hdfs hdiutil
hdparm heimdall helm helmfile heroku hexdump hexyl hostid hostnamectl hping3 hpssacli htmlq htop htpasswd httpd
hwclock ibmcloud icacls icdiff icm iconv idevicerestore idf.py ieexec ifconfig ifdown ifdown-ng iflow ifstat
iftop ifup iisreset impala-shell impdp import-clixml import-csv import-module incus infisical influx infocmp
initctl initdb initialize-disk injcode injectso inlets insmod installutil integritysetup invoke-mimikatz invoke-rc.d inxi ioreg
iostat iotop ip6tables ip6tables-restore ip6tables-save ipa ipcalc ipconfig ipfw ipkg ipmi-power ipmipower
ipmitool ipset iptables iptables-legacy iptables-nft iptables-restore iptables-save ipython irb irm isql
istioctl itmstransporter iwconfig iwlist iwr jaq jenkins-cli jfrog jless join-path join-string journalctl jps jq
jsonlint jsr k0s k3d k3s k3s-agent-uninstall.sh k3s-killall.sh k3s-uninstall.sh k9s kadmin kadmin.local
kafka-acls kafka-acls.sh kafka-configs kafka-configs.sh kafka-consumer-groups kafka-consumer-groups.sh
kafka-delete-records kafka-delete-records.sh kafka-features kafka-features.sh kafka-leader-election
kafka-leader-election.sh kafka-reassign-partitions kafka-reassign-partitions.sh kafka-server-stop
kafka-server-stop.sh kafka-storage kafka-storage.sh kafka-streams-application-reset
kafka-streams-application-reset.sh kafka-topics kafka-topics.sh kafkacat kcadm kcadm.sh kcat kdb5_util kdesu
kdesudo kerbrute kexec kextload kextstat kextunload keydb-cli keyctl keytool kibana-keystore killall klist kmod kmutil
knex knoxite kopia kops kpartx ksh ksm ksnip ktrace kubeadm kubectl kustomize kwallet-query lando lastb lastlog
launchctl lazagne ld_preload ldapdelete ldapmodify ldapmodrdn ldappasswd ldapsearch ldapwhoami ldcli ldd
ledger-live lein lemonsqueezy lerna lgroupdel lightning-cli lilo limactl limit-eventlog linkerd linode-cli
linpeas.sh linux-inject lipo liquibase litecli lldb lldpctl ln lncli localectl localtunnel logcli loginctl
logkeys logname logrotate logstash-keystore lolcat losetup lpass lpc21isp ls lsadump lsar lsattr lsb_release
lsblk lscpu lsd lshw lsipc lslocks lslogins lsmem lsmod lsns lsof lspci lsraid lsscsi lsusb ltrace lua luacheck
luajit luarocks luseradd luserdel lvchange lvconvert lvdisplay lvm lvreduce lvremove lvresize lvs lvscan lxc
lxc-attach lxsudo lz4 lz4cat machinectl mailx maim makecab manage-bde manage.py mapfile mariadb mariadb-admin
mariadb-import markdownlint markdownlint-cli2 masscan matchpathcon matrix-commander maturin mc mcli mcookie
mcumgr md5 md5sum mdadm mdcat mdfind mdls mdutil measure-command measure-object mediainfo megacli megacli64
meilisearch memdump memfd-run mesg microdnf microk8s micromamba microsoft-edge microsoft-edge-stable
migrate-mongo mikro-orm mimikatz mimipenguin minerd minikube mkcert mkdosfs mke2fs mkexfatfs mkfs mkntfs
mkreiserfs mkswap mkudffs mlocate mlr mmctl modinfo modprobe mongo mongod mongodump mongoimport mongorestore
mongosh mongostat mongotop monit mountpoint mountvol move-adobject mpcmdrun mpstat msedge msfconsole msfdb
msfrpcd msfvenom mshta msiexec msinfo32 msmtp mssqldef mtd mtr multipass mv mvn mvnw mycli myloader mysql
mysqladmin mysqldef mysqldump mysqldumpslow mysqlimport mysqlpump mysqlsh mysqlshow nala namei nandwrite nanodump nats
nbtstat nc nc.openbsd nc.traditional ncal ncat ncdu neo4j-admin neofetch neonctl nerdctl net1 netcat netdom netexec
netlify netplan netsh netstat networkctl networksetup new-aduser new-ciminstance new-compliancesearchaction
new-guid new-itemproperty new-localgroup new-localuser new-netfirewallrule new-partition new-scheduledtask
new-service new-smbshare new-timespan newfs newfs_apfs newfs_exfat newfs_hfs newfs_msdos newgrp newusers
nfs4_setfacl nft nginx ngrok nircmd nix-collect-garbage nix-env nix-store nload nmap nmcli node node-pg-migrate
nodejs nodetool nomad notify-send nova-manage novu nox npfctl npm npm-check-updates nproc npx nrfjprog nrfutil
nsenter nslookup nsudo ntdsutil ntfsfix ntfsresize ntl ntpdate nuget numfmt nvidia-smi nvm nvme nvram nwipe nxc
objdump oc odbcconf odoo-bin odutil opam opencode openfiles openfpgaloader openocd opensearch-cli
opensearch-shard openssl openstack opkg optimize-vhd osascript ossutil ossutil64 otool out-default out-gridview
out-host out-minidump out-null out-string ovhcloud ovs-vsctl ovsx p4 pacman paexec pagekite pahole paket pam-auth-update
parted partprobe partx paru passwd pathchk pathping patronictl pbpaste pcre2grep pcregrep pdbedit pdftotext pdm
perccli perccli64 perl perl5 pfctl pg_amcheck pg_archivecleanup pg_basebackup pg_config pg_controldata pg_ctl
pg_ctlcluster pg_dropcluster pg_dump pg_isready pg_lsclusters pg_resetwal pg_resetxlog pg_restore pg_rewind
pg_test_timing pg_verifybackup pg_waldump pgbackrest pgcli pgrep phinx php php7 php8 picotool pidof pidstat
pinfo ping ping6 pip pip3 pipx pkexec pkg pkg-config pkg_delete pkg_remove pkgconf pkgin pkgutil pkill
platformio playit plocate plutil pm-hibernate pm-suspend pm-suspend-hybrid pm2 pmap pmset pnpm pnputil podman
podman-compose poetry pop-location popd postsuper powercat powercfg poweroff powershell powershell.exe
presto-cli printenv printf prisma probe-rs procdump procdump64 promtool proxmox proxmox-backup-client
proxmox-backup-manager pry pscale psexec psexec.py psexec64 psql psqldef psshutdown pstree pulsar-admin pulumi
puppetserver push-location pushd pvcreate pvdisplay pveceph pvecm pvesh pvesm pvmove pvremove pvs pvscan pwconv
pwd pwdx pwgen pwncat pwncat-cs pwpolicy pwsh pwunconv pyenv pygmentize pyocd pypykatz pyrasite pyrasite-shell
pytest python python3 qalc qdbus qemu-img qm qmrestore qsv quser qwen qwinsta r2 rabbitmq-server-stop rabbitmqadmin
rabbitmqctl racadm radare2 rados rails rake rathole rbash rbd rbenv rc-service rc-update rcat rclone rdate
rdiff-backup rdrleakdiag read-host readarray readelf readlink reagentc realpath rebar3 reboot receive-job redis-cli regasm
regedit register-scheduledjob register-scheduledtask register-wmievent regsvcs regsvr32 reindexdb reiserfsck
release-it remove-adcomputer remove-addomain remove-adforest remove-adgroup remove-adgroupmember remove-adobject
remove-adorganizationalunit remove-adprincipalgroupmembership remove-adserviceaccount remove-adtrust
remove-aduser remove-alias remove-appxpackage remove-appxprovisionedpackage remove-asautoscalinggroup remove-azadapplication
remove-azadgroup remove-azadserviceprincipal remove-azaduser remove-azaks remove-azakscluster
remove-azapplicationgateway remove-azappserviceplan remove-azautomationaccount remove-azcontainergroup
remove-azcontainerregistry remove-azcosmosdbaccount remove-azdatafactoryv2 remove-azdatalakegen2item
remove-azdeployment remove-azdisk remove-azdnsrecordset remove-azdnszone remove-azeventhubnamespace
remove-azfirewall remove-azfunctionapp remove-azimage remove-azkeyvault remove-azkeyvaultcertificate
remove-azkeyvaultkey remove-azkeyvaultsecret remove-azloadbalancer remove-azmanagementgroup
remove-azmysqlflexibleserver remove-aznetworkinterface remove-aznetworksecuritygroup remove-azpolicyassignment
remove-azpostgresqlflexibleserver remove-azpublicipaddress remove-azrecoveryservicesbackupprotection
remove-azrecoveryservicesvault remove-azrediscache remove-azresource remove-azresourcegroup
remove-azresourcegroupdeploymentstack remove-azresourcelock remove-azroleassignment remove-azroledefinition
remove-azservicebusnamespace remove-azsnapshot remove-azsqldatabase remove-azsqlinstance remove-azsqlserver
remove-azstorageaccount remove-azstorageblob remove-azstoragecontainer remove-azstoragefile
remove-azstoragequeue remove-azstorageshare remove-azstoragetable remove-azsubscription
remove-azsubscriptiondeploymentstack remove-azsynapseworkspace remove-azureadgroup remove-azureaduser
remove-azurermresourcegroup remove-azuresubscription remove-azvirtualnetwork remove-azvm remove-azvmss
remove-azwebapp remove-bitlockerkeyprotector remove-certificate remove-cfnstack remove-ciminstance
remove-cimsession remove-cluster remove-clustergroup remove-clusterresource remove-computer remove-cwlloggroup remove-dbabackup
remove-dbadatabase remove-dbalogin remove-ddbtable remove-dhcpserverv4reservation remove-dhcpserverv4scope
remove-distributiongroup remove-distributiongroupmember remove-dnsserverresourcerecord remove-dnsserverzone
remove-ec2instance remove-ec2keypair remove-ec2securitygroup remove-ec2snapshot remove-ec2volume remove-ec2vpc
remove-ecrrepository remove-ecscluster remove-ecsservice remove-efsfilesystem remove-ekscluster
remove-elb2loadbalancer remove-event remove-eventlog remove-gcegstoragebucket remove-gcegstorageobject remove-gceinstance
remove-gcpproject remove-gplink remove-gpo remove-iamaccesskey remove-iamrole remove-iamuser remove-item
remove-itemproperty remove-job remove-lmfunction remove-localgroup remove-localgroupmember remove-localuser remove-mailbox
remove-mailboxdatabase remove-mailboxfolderpermission remove-mailboxpermission remove-mailcontact
remove-mgapplication remove-mgdomain remove-mggroup remove-mggroupmemberbyref remove-mgorganization
remove-mgserviceprincipal remove-mguser remove-mobiledevice remove-module remove-mppreference remove-mpthreat remove-msoluser
remove-netfirewallrule remove-netipaddress remove-netroute remove-orgaccount remove-partition remove-pnplist
remove-pnplistitem remove-pnpsite remove-printer remove-psbreakpoint remove-psdrive remove-pssession remove-r53hostedzone remove-rdsdbcluster remove-rdsdbinstance
remove-rdsdbsnapshot remove-s3bucket remove-s3object remove-secsecret remove-service remove-smbmapping remove-smbshare
remove-snstopic remove-spodeletedsite remove-sposite remove-sqldatabase remove-sqllogin remove-sqsqueue
remove-storagepool remove-team remove-teamuser remove-tenantallowblocklistitems remove-transportrule
remove-typedata remove-unifiedgroup remove-variable remove-vhd remove-virtualdisk remove-vm remove-vmcheckpoint remove-vmharddiskdrive
remove-vmsnapshot remove-vmswitch remove-volume remove-vpnconnection remove-wbbackupset remove-wbpolicy
remove-webapplication remove-webapppool remove-website remove-windowscapability remove-windowsfeature
remove-wmiobject removepkg rename-computer rename-itemproperty rename-localuser repmgr repoquery reptyr
reset-addomainpassword reset-computer reset-computermachinepassword reset-netadapteradvancedproperty
reset-physicaldisk resize-partition resize.f2fs resize2fs resolve-dnsname resolve-path resolvectl resolveip
restart-computer restart-netadapter restic resticprofile restore-vmcheckpoint restore-vmsnapshot restorecon
revoke-azureaduserallrefreshtoken revoke-mgusersigninsession revoke-smbshareaccess revsocks rfkill rfp-cli rg
rgrep rimraf rke rke2-uninstall.sh rm rman rmdir rmmod robocopy rockcraft rocm-smi rpk rpm rpm-ostree rscript
rsnapshot rsync rtcwake rubeus ruby run0 runas rundll32 runlevel runrestic runuser rustcat rustup rwinsta s2disk
s2ram s3cmd s4cmd s5cmd s6-svc salt-call salt-cloud salt-key samba-tool sanoid saps sbt sc.exe scc schroot
schtasks scp screencapture screenfetch scrot scutil scw sdelete sdelete64 sdiff sea-orm-cli search-adaccount
search-mailbox secret-tool secretsdump secretsdump.py sed seinfo select-object select-string select-xml semanage
semantic-release semodule sendmail sentry-cli sequelize sequelize-cli sesearch sestatus set-acl
set-adaccountexpiration set-adaccountpassword set-aduser set-date set-disk set-dnsclientserveraddress set-executionpolicy
set-itemproperty set-localuser set-location set-mailbox set-mppreference set-msoluserpassword
set-netconnectionprofile set-netfirewallprofile set-netfirewallrule set-netipaddress set-partition
set-processmitigation set-psdebug set-scheduledtask set-service set-smbpathacl set-smbserverconfiguration
set-strictmode set-vmhost set-volume set-wmiinstance set-wsmaninstance setacl setcap setenforce setfacl setfiles
setopt setpriv setsebool setuidgid setup.py sf sfdisk sg_dd sg_format sg_sanitize sg_unmap sg_write_same sgdisk
sgp_dd sgrep sh sha1sum sha224sum sha256sum sha384sum sha512sum sharphound shasum shellcheck shopt shorewall
show-command showkey shred shuf sigcheck simctl sipcalc skaffold skeema slabtop slack-cli slackpkg sliver-server
sloccount slowloris sls smartctl smbpasswd snap snapcraft snapper snowsql sntp socat socketfilterfw
softwareupdate solana sops sort-object spark-sql spark-submit spctl speedtest spl-token split-path sqlcmd sqldumper sqlite
sqlite3 sqlite3def sqlmap sqlpackage sqlplus sqlx sqoop srm ssacli ssed ssh ssh-add ssh-copy-id ssh-keygen
sshpass sshx sstablelevelreset sstablerepairedset sstablescrub st-flash st-link_cli start-process start-sleep
stm32_programmer_cli stoml stop-azaks stop-azvm stop-azwebapp stop-cluster stop-computer stop-ec2instance
stop-job stop-process stop-scheduledtask stop-service stop-transcript stop-vm stop-webapppool stop-website storcli storcli64 strace
strapi stty su su-exec subinacl sudo sudo-rs sudoedit supabase supervisorctl suspend-bitlocker suspend-job suspend-service
suspend-vm svn svnadmin sw_vers swaks swaplabel swapoff swapon swupd symfony synadm sysadminctl sysctl sysdig
sysmon sysmon64 system_profiler systemctl systemd-analyze systemd-cgls systemd-cgtop systemd-nspawn systemd-resolve systemd-run
systemextensionsctl systeminfo systemreset systemsetup tac tailscale takeown talosctl taplo tar tarsnap taskkill
tasklist tccutil tclsh tcpdump tctl tdnf tdsql telebit teleconsole telinit terraform terraform-docs terragrunt
test-computersecurechannel test-connection test-json test-modulemanifest test-netconnection test-path test-wsman
tflint timedatectl timeshift tldr tmate tmutil tmux tofu tokei tootctl tox tpm2_clear tput tracepath traceroute
traceroute6 tracert trash-put trufflehog truncate ts-node tsdiscon tsh tshark tskill tsort tsp tsshutdn tsx
tune2fs turso typeorm typeorm-ts-node-commonjs typeorm-ts-node-esm ubiformat ufw ugrep uinput ulimit umask
unalias uname unexpand uninstall-addsdomaincontroller uninstall-module uninstall-package uninstall-pnpdevice
uninstall-psresource uninstall-script uninstall-windowsdefender uninstall-windowsfeature uniq unlink unlock-adaccount unrar unregister-event unregister-packagesource unregister-psrepository unregister-scheduledjob
unregister-scheduledtask unset unsetopt unshare unxz unzip unzstd update-alternatives update-crypto-policies
update-mguser update-rc.d upower upstash upterm urpme useradd userdel usermod usermod.sh usql utmpdump uuidgen
uv vacuumdb vagrant valkey-cli vault vboxmanage vdir velero vercel veritysetup vgcfgrestore vgchange vgcreate
vgdisplay vgexport vgmerge vgreduce vgremove vgs vgscan vgsplit vigr vipw virsh visidata visudo vitest vm_stat
vmrun vmstat vnstat volta vsce vsql vssadmin vultr-cli vzdump w32tm wait-job wait-process wal-e wal-g wasm-pack
wbadmin wc wdiff web-ext weevely wevtutil wf-recorder wg-quick wget whatis whence where-object whereis whiptail
whoami whois winget winpeas winrm winrs wipefs wmic wmiexec.py wp wrangler write-debug write-error write-host
write-information write-output write-progress write-verbose write-warning wscript wsl wslpath wtype xargs xata
xattr xbps-remove xcacls xcode-select xcodebuild xcopy xcrun xdotool xfs_admin xfs_growfs xfs_info xfs_repair
xinput xmllint xmlstarlet xmrig xspy xsv xte xtrabackup xvkbd xwd xwininfo-dump xxd xxhsum xz xzcat xzgrep
yamllint yarn yay ydotool ykman yq ysqlsh yum zbackup zcat zdiff zegrep zerotier-cli zfs zfs-auto-snapshot-prune
zfs-prune-snapshots zgrep zipinfo zkcli zkcli.sh zless zmore zookeeper-server-stop zookeeper-server-stop.sh
zookeeper-shell zookeeper-shell.sh zpool zrok zsh zstd zstdcat zstyle zypper
""".split()
)
# These are words of sentences too: only with a flag or a path behind them, where a command could stand.
PLAIN = frozenset(
    """
ace ack act adyen ag agent alias alternatives amp amplify anaconda apprise aptitude ar arc arch argo arp assoc
at atlas attic attrib banner barman bat bb bc bg bind bless bore braintree brave break brevo brotli cabal cal
caller cast cat cf chamber changeset changesets chargebee cheat chisel chrome chromium cinder cipher claude
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
