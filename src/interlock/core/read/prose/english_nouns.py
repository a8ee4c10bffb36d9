"""The English objects: what kind of thing each of them is, and what it says about how much is at stake."""

from __future__ import annotations

from functools import cache

from interlock.core.read.prose.english_nouns_trades import TRADES
from interlock.core.read.prose.forms import plural

# (kind, traits) -> the nouns, in the singular; a phrase counts by its last words.
_NOUNS: dict[tuple[str, str], str] = {
    (
        "data",
        "",
    ): "data row record document entry object item file folder directory message mail email attachment photo picture"
    " image video history dataset mailbox inbox comment post issue wiki thread conversation order ticket log event metric"
    " transaction lead contact report upload asset index contents content queue topic stream reading measurement"
    " spreadsheet sheet calendar note playlist recording article story blob archive information info email_address trash"
    " stash branch tag release commit changes work drafts library catalog catalogue inventory shard tuple payload registry"
    " diskspace storage gallery album memory knowledge embedding vector workspace_content chat voicemail submission"
    " feedback listing product booking reservation card board page dump vault ledger tablespace checkpoint"
    " kv key-value_store worktree submodule dashboard notebook form_response answer survey result sample filesystem share drive_content"
    " deal opportunity case confluence_space wiki_space team_space version_history revision tree pipeline_record prescription chart scan x-ray invoice_record timesheet payslip model",
    (
        "data",
        "database",
    ): "database db postgres postgresql mysql mariadb mongodb mongo redis dynamodb sqlite cassandra elasticsearch"
    " warehouse bigquery snowflake keyspace datastore firestore rds aurora cosmosdb neo4j clickhouse opensearch datalake data_lake"
    " schema_database",
    ("data", "table"): "table collection column",
    ("data", "schema"): "schema",
    ("data", "volume"): "volume pvc filestore nas ebs",
    ("data", "bucket"): "bucket s3 gcs blobstore blob_container",
    ("data", "repository"): "repository repo codebase monorepo",
    ("data", "project"): "project workspace resource_group",
    ("data", "project all"): "gcp_project google_cloud_project cloud_project azure_resource_group",
    ("account", "project all"): "aws_account azure_subscription cloud_account gcp_account azure_account",
    ("data", "backup"): "backup snapshot recovery_point restore_point recovery_vault backup_vault",
    (
        "log",
        "audit_log",
    ): "audit_log audit_trail audit_record security_log access_log event_log cloudtrail audit_logging audit_history"
    " syslog auth_log journal security_event audit_event security_record audit_data login_history shell_history bash_history"
    " compliance_log sign-in_log signin_log login_log activity_trail admin_log evidence",
    (
        "access",
        "",
    ): "access permission privilege role rights grant membership acl entitlement collaborator invitation maintainer"
    " authorization authorisation read_access write_access sharing group_membership access_right login_right",
    (
        "credential",
        "",
    ): "key token secret certificate cert password credential session cookie passkey keypair login passphrase"
    " api_key ssh_key apikey access_key jwt oauth_token webhook_secret kubeconfig pat license_key refresh_token pgp_key invitation_link invite_link magic_link reset_link share_link sharing_link download_link login_link",
    (
        "config",
        "",
    ): "config configuration setting policy rule dns zone domain webhook route alarm schedule cron crontab hook"
    " security_group iptables retention quota integration preference registry_key dns_record parameter redirect certificate_pin"
    " lifecycle_rule subdomain nameserver hosts_file routing_table environment_variable env_var feature_flag sso saml oidc"
    " default filter_rule network_policy nacl branch_rule ruleset mx_record cname vpn ddos_rule service_account_binding"
    " record_set hosted_zone cron_job scheduled_task workflow_rule alerting_rule",
    (
        "guard",
        "",
    ): "backup_job monitoring alert alerting logging monitor alarm replication versioning failover telemetry watchdog health_check"
    " auto-backup automated_backup nightly_backup backup_schedule soft_delete point-in-time_recovery pitr dr disaster_recovery",
    (
        "safety",
        "",
    ): "firewall waf antivirus selinux apparmor defender edr ids encryption tls ssl fail2ban intrusion_detection uac gatekeeper sip"
    " secure_boot retention_lock object_lock ci ci/cd ssl_verification certificate_verification quality_gate check validation approval protection guardrail rate_limit limit restriction safeguard confirmation prompt"
    " verification pre-commit 2fa mfa two-factor two_factor authentication auth sandbox gate branch_protection"
    " deletion_protection code_review security_scan signature safety safety_check lockout captcha csrf cors constraint guard"
    " control precaution safety_net permission_check permission_prompt review test_gate ci_check status_check interlock"
    " sanity_check policy_check admission_controller quota_limit spending_limit access_control multi-factor factor"
    " decision denial refusal veto verdict rejection deny_decision block_decision limiter rate_limiter throttle throttling rls row-level_security csp hsts content_filter moderation spam_filter password_policy policy_engine permission_system circuit_breaker seccomp pod_security anti-virus dlp malware_scanner scanner dual_control four-eyes sign-off signoff integrity_check hook_check",
    (
        "resource",
        "",
    ): "instance vm machine server host node container pod deployment service stack namespace environment env lambda"
    " load_balancer worker fleet app application site website system infrastructure infra droplet dyno replica nodepool gateway"
    " pipeline job daemon process vpc network subnet broker loadbalancer compute hypervisor balancer controller router ec2 eks ecs"
    " gke aks autoscaler virtual_machine kubernetes k8s replica_set statefulset microservice api backend frontend portal"
    " platform proxy cdn crawler agent bot scheduler ingress helm_release release_train web_server datacenter data_center region"
    " mainframe appliance device_fleet farm rack switch grid swarm cloud environment_stack build_server build_machine build_host build_agent build_node build_cluster kiosk phone_line nodegroup",
    ("resource", "cluster"): "cluster",
    ("resource", "production"): "prod production live_site",
    (
        "account",
        "",
    ): "user account member customer employee subscriber client student patient admin administrator owner person"
    " people staff everyone contractor guest login_account moderator operator seller vendor merchant colleague teammate identity"
    " users_account profile_account driver player tester_account human supplier partner guy developer intern principal"
    " profile user_profile jira_profile seat login_profile service_account iam_user login_name participant attendee",
    (
        "account",
        "organization",
    ): "organization organisation org tenant company enterprise team department tenancy division",
    (
        "money",
        "",
    ): "subscription payment invoice refund charge payout plan license licence contract purchase fee money bill balance"
    " salary payroll wage fund credit bonus wire premium deposit installment gift_card withdrawal dispute claim order_payment"
    " bitcoin crypto coin usdc eth dollar euro usd eur purchase_order reimbursement payment_method insurance warranty pension mortgage rent donation pledge standing_order direct_debit",
    (
        "disk",
        "",
    ): "disk drive partition ssd hdd usb nvme hard_drive hard_disk block_device sd_card boot_sector mbr lun raid"
    " volume_group logical_volume flash_drive partition_table filesystem_disk usb_stick sda sdb bootloader",
    (
        "device",
        "",
    ): "device laptop phone macbook workstation computer pc tablet iphone smartphone desktop router_device ipad mac chromebook freezer fridge refrigerator heater heating boiler furnace incubator ventilator sprinkler smart_plug security_camera smoke_detector hvac chiller life_support insulin_pump",
    (
        "history",
        "",
    ): "git_history commit_history branch_history published_history shared_history remote_history main_history",
    (
        "source",
        "one",
    ): "local_change uncommitted_change unstaged_change working_tree untracked_file uncommitted_work local_commit"
    " working_copy unpushed_commit reflog local_work local_modification working_directory",
    (
        "code",
        "",
    ): "code lint_rule eslint_rule linter_rule compiler_warning function method class import variable whitespace dependency package test endpoint feature todo typo docs"
    " readme section paragraph button component style css label warning statement interface module argument parameter_name"
    " documentation chapter sentence word comma newline semicolon bracket indentation lint linter typing annotation"
    " type import_statement decorator helper util utility snippet constant enum struct trait mixin prop attribute field banner"
    " logo icon menu tooltip modal dialog footer header sidebar link div html jsx tsx selector placeholder debug_log"
    " print_statement log_statement console.log duplication duplicate boilerplate license_header changelog markdown bullet heading"
    " spacing typos prefix suffix character string space object_url blank_line empty_line first_line last_line second_line line_break ambiguity confusion noise requirement emoji reference mention"
    " usage support_for deprecation polyfill shim flag_argument line_of_code code_path branch_coverage assertion docstring regex"
    " translation caption animation layout widget shadow margin padding background color colour font column_header navbar tab"
    " screen terminal console clipboard form filter selection cell_output output cell breakpoint checkbox unused_code"
    " dead_code legacy_code ui view template error_message error bug race_condition memory_leak leak flakiness bottleneck blocker"
    " step assignee reviewer milestone due_date conflict merge_conflict row_highlight redundancy hardcoded_value magic_number"
    " callback diagram cancellation_token slash hyphen dash quote accent indentation_error test_case test_suite fixture mock stub spec outlier nan null"
    " null_value missing_value stopword punctuation unused_import trailing_whitespace subtitle tone jargon ui_thread main_thread event_loop render_loop worker_thread loop layer stroke shape sketch drawing canvas preview doodle frame render viewport grid_line badge avatar mockup wireframe prototype decision_tree parse_tree syntax_tree dom_tree search_tree game_tree random_forest hyperparameter gradient optimizer optimiser neuron epoch dataframe data_frame tensor matrix axis legend subplot figure event_handler event_listener service_worker web_worker merge pull_request force-push direct_push merge_request reset_button toast popover accordion carousel breadcrumb dropdown combobox slider stylesheet keyframe sprite shader git_hook_output log_line print_line trailing_space headline title_case citation footnote bibliography adjective adverb filler_word cliche buzzword wording draft_text type_hint docblock generic closure iterator getter setter memo side_effect rerender re-render hover_state tab_order focus_ring scrollbar gutter ligature glyph watermark",
    (
        "scrap",
        "",
    ): "cache temp tmp artifact artefact dist node_modules target_directory target_folder lockfile scratch pyc build_directory build_output"
    " build_folder coverage temp_file temporary_file tmp_file scratch_file build_artifact pycache __pycache__ venv virtualenv .venv"
    " build_cache npm_cache browser_cache test_database test_db test_container dev_server development_server node_process test_process background_process dev_process local_process stuck_process hanging_process python_process local_server"
    " port watcher test_runner storybook dev_container throwaway_container preview_environment sandbox_database sandbox_data"
    " test_data seed_data dummy_data mock_data sample_data scratch_branch local_cache .next .turbo .pytest_cache"
    " tmp_folder tmp_directory temp_directory temp_folder lock_file pid_file dist_folder dist_directory build"
    " build_artefact cdn_cache query_cache dns_cache docker_cache timer stopwatch debugger test_user test_account test_record"
    " simulator emulator swap_file .ds_store thumbnail_cache ci_cache pip_cache gradle_cache query_result search_history"
    " test_instance test_environment local_container local_database session_recording_cache test_row test_table test_bucket"
    " unit_test_database in-memory_database browser_tab window alarm_clock spinner notification_badge scratchpad todo_item reminder",
}

# Adjectives and owners in front of a noun that make it a thing nobody would miss.
THROWAWAY = frozenset(
    "temporary temp tmp scratch throwaway dummy cache mock sample cached stale_cache build generated compiled intermediate test".split()
)


@cache
def nouns() -> dict[str, tuple[str, tuple[str, ...], bool]]:
    """Every noun, singular and plural -> its kind, its traits, and whether it is many."""
    table: dict[str, tuple[str, tuple[str, ...], bool]] = {}
    for (kind, trait), words in (*TRADES.items(), *_NOUNS.items()):
        traits = tuple(trait.split())
        for word in words.split():
            noun = word.replace("_", " ") if not word.startswith(("__", ".")) and word != "node_modules" else word
            table[noun] = (kind, traits, noun in _MANY)
            table.setdefault(plural(noun), (kind, traits, True))
    return table


@cache
def last_words() -> frozenset[str]:
    """The words with which the nouns end that have several."""
    return frozenset(noun.rpartition(" ")[2] for noun in nouns() if " " in noun)


_MANY = frozenset("data contents content changes people staff everyone history information drafts work".split())
