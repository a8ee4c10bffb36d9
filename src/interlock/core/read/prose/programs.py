"""The names by which a command can be told from a sentence."""

from __future__ import annotations

# Nobody writes these in a sentence without meaning the program.
PROGRAMS = frozenset(
    "rm rmdir git kubectl oc docker podman terraform tofu pulumi helm aws gcloud az psql mysql mongosh mongo redis-cli sqlite3 dropdb"
    " npm npx yarn pnpm pip pip3 pipx uv poetry cargo rails rake bundle php artisan python python3 perl ruby deno bun bash sh zsh"
    " sudo doas su chmod chown chgrp dd shred wipefs fdisk parted sgdisk systemctl journalctl iptables ufw nft crontab rsync scp"
    " ssh curl wget heroku vercel netlify flyctl supabase prisma sequelize knex alembic flyway liquibase gh glab eksctl gsutil"
    " az doctl kustomize argocd ansible ansible-playbook vagrant pkill killall userdel groupdel passwd usermod visudo diskutil mkswap"
    " truncate xargs sed awk tar unzip apt apt-get yum dnf brew pacman snap winget choco powershell pwsh remove-item nuget"
    " dotnet mvn gradle docker-compose restic borg velero etcdctl consul vault nomad wrangler firebase drizzle-kit dbt zfs lvremove blkdiscard badblocks"
    " vgremove pvremove mdadm cryptsetup hdparm sysctl mkfs tmux setfacl chattr rclone mc s3cmd bq sf snowsql influx mysqladmin"
    " mysqldump pg_dump pg_restore grep ls cd mv cp ln poweroff reboot node jq".split()
)
# These are English words too: only with a flag or a path behind them, where a command could stand.
PLAIN = frozenset(
    "find kill make cat echo tee touch format del mount umount go service head tail env eval cut sort test time at man install rename shutdown".split()
)
SUBCOMMANDS = frozenset(
    "push reset clean checkout rebase branch stash commit rm filter-branch filter-repo reflog gc tag merge pull fetch log status"
    " add clone worktree restore switch revert cherry-pick config delete get apply drain scale cordon rollout exec patch create"
    " describe logs rmi system volume compose run stop kill build images prune ps network destroy plan init import state taint uninstall"
    " install upgrade upgrade-all publish unpublish ci test start dev db s3 ec2 rds iam eks ecs lambda dynamodb route53 cloudformation"
    " kms secretsmanager sql compute projects storage container group webapp aks functions migrate flushall flushdb FLUSHALL FLUSHDB"
    " shutdown repo release issue pr secret api disable enable restart mask reload flush manage.py artisan now update remove sync"
    " upload download cp mv ls mb rb du login logout deploy rollback alias env secrets auth down up prefect generate format lint fmt"
    " check clippy diff show blame bisect submodule remote workspace destroy-all services instances clusters deploy-all".split()
)
