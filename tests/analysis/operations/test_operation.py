"""Operations by name, category and parameters: what each would do."""

from __future__ import annotations

from typing import Any

import pytest

from cases import each
from interlock import assess
from interlock.analysis.operations.name_patterns import DANGEROUS, FORBIDDEN, SAFE, NamePatterns
from interlock.analysis.operations.operation import read_operation
from interlock.model import Level, operation, tool
from recording_report import Fact, Recorder


def told(
    name: str, params: dict[Any, Any] | None = None, crude: str = "", patterns: NamePatterns | None = None
) -> list[Fact]:
    out = Recorder()
    read_operation(name, params or {}, crude, out, patterns or NamePatterns())
    return out.told


def verbs(name: str, params: dict[Any, Any] | None = None, crude: str = "") -> set[object]:
    return {one[0] for one in told(name, params, crude)}


def traits(name: str, params: dict[Any, Any] | None = None, crude: str = "") -> set[object]:
    return {trait for one in told(name, params, crude) for trait in one[2:]}


EXAMPLES = {
    "pattern_dangerous": """force_push force_delete remove_permanently bulk_delete_users override_validation bypass_approval
        delete_without_backup purge_logs purge_cache mcp__db__purge_logs forceDelete""",
    "pattern_forbidden": """drop_table drop_database delete_all_users truncate_table reset_database destroy_environment wipe_data
        deploy_production force_delete_all DropTable db.admin.truncateAll""",
}


@each(("trait", "name"), [(t, n) for t, names in EXAMPLES.items() for n in names.split()])
def test_the_specified_patterns_match(trait: str, name: str) -> None:
    assert {"named", trait} <= traits(name)


@each(
    "name",
    """get_deleted_items list_drop_zones check_reset_status get_production create_force_field add_reset_button undelete_table
    count_destroyed search_purge_logs introspect delete_allocation send_reset_email test_drop_table enforce_policy""".split(),
)
def test_near_misses_of_the_patterns(name: str) -> None:
    assert "named" not in traits(name)


def test_a_leading_reader_outranks_only_where_the_category_agrees() -> None:
    assert "named" not in traits("get_drop_table", crude="read")
    assert "pattern_forbidden" in traits("get_drop_table", crude="execute")


def test_what_is_told_of_a_thing_is_read() -> None:
    harmless = {"act_read", "act_change"}
    for name in ("incubator.door_open_events", "auction.current_bid", "door_unlock_history"):
        assert verbs(name, {"id": 1}, "read") <= harmless
    for name in (
        "abort_reason",
        "wipe_eligibility",
        "drop_candidates",
        "KillChainLookup",
        "BulkDeleteJob.describe",
        "purge.list",
    ):
        assert verbs(name, {"run": 1}, "read") <= harmless and "named" not in traits(name, {"run": 1}, "read")
    for name in ("purge_history_report", "process_kill_history", "emacs.kill_ring_list", "nuke_report"):
        assert verbs(name, {"max": 5}, "read") <= harmless
        assert not verbs(name, {"max": 5}, "delete") <= harmless and not verbs(name, {"id": 1}, "delete") <= harmless
    assert not verbs("reset_stats", {"id": 1}, "read") <= harmless
    assert not verbs("wipe_eligibility", {"delete_all": True}, "read") <= harmless
    assert not verbs("drop_stats", {"sql": "DROP TABLE users"}, "read") <= harmless
    for name in ("door_open", "current_session_terminate", "delete_events", "user_bulk_delete"):
        assert not verbs(name, {"id": 1}, "read") <= harmless


def test_patterns_can_be_extended_and_replaced() -> None:
    more = NamePatterns.configured(forbidden=["launch_*"], safe=["peek_*"])
    assert more.forbidden == (*FORBIDDEN, "launch_*") and more.dangerous == DANGEROUS and more.safe == (*SAFE, "peek_*")
    assert "pattern_forbidden" in told("launch_missiles", patterns=more)[0]
    alone = NamePatterns.configured(dangerous=["zap_*"], replace=True)
    assert "named" not in told("drop_table", patterns=alone)[0] and "named" in told("zap_table", patterns=alone)[0]


@pytest.mark.parametrize("glob", ["", "*", "drop table", "a*b*c*d*e*f", "(x)"])
def test_what_is_no_pattern_is_refused(glob: str) -> None:
    with pytest.raises(ValueError, match="name pattern"):
        NamePatterns.configured(forbidden=[glob])


DEEDS = {
    "act_delete": """obliterate_records expunge_mailbox linear.issueDelete stash_drop eraseCustomerData deleteDriveFile
        find_one_and_delete unpublish_package shred_document database:drop""",
    "act_account": "suspend_user offboard_employee disband_team close_account evict_all_tenants delete_user disable_organization DeleteUserAccountV2",
    "act_terminate": "deprovision_server TerminateInstances decommission_host teardown_stack sunset_service kill_process shut_down_cluster",
    "act_revoke": "revoke_role remove_admin remove_user_from_group detach_policy removeCollaborator demote_user",
    "act_invalidate": "revoke_api_key rotate_secret invalidate_token ScheduleKeyDeletion expire_session delete_certificate",
    "act_unconfigure": "mute_monitor datadog_mute_monitor delete_policy clear_config cloudflare.zone.delete disable_webhook",
    "act_block": "ban_user kick_member mute_user block_sender quarantine_device",
    "act_pay": "process_refund process_refund_request cancel_payment stripe_cancel_payment_intent stripe.refunds.create wire_transfer void_invoice chargeback_payment cancel_subscription issue_payout",
    "act_override": """disableMfa disable_audit_logging skip_approval remove_branch_protection disable_firewall health_check_disable
        contamination_check_override""",
    "act_escalate": "make_admin impersonate_user make_bucket_public add_user_to_admins",
    "act_leak": "export_secrets exfiltrate_data send_credentials",
    "act_rewrite": "rewrite_history force_push",
    "act_disk": "format_disk wipe_device factory_reset",
    "act_send": "submit_to_app_store releaseToPlayStore send_email email_all_customers",
    "act_change": """undelete_file unban_user restore_backup reinstate_account enable_user cancel_deletion stop_timer rotate_image
        invalidate_cache create_invoice close_issue mute_notifications enable_deletion_protection remove_whitespace drag_and_drop""",
    "read": "get_secret read_password fetch_credentials get_private_key access_secret_version",
    "act_read": "list_secrets get_secret_names read_password_policy get_user users.list estimate_refund is_deleted validate_deletion explain_plan",
}  # fmt: skip


@each(("verb", "name"), [(v, n) for v, names in DEEDS.items() for n in names.split()])
def test_what_a_name_announces(verb: str, name: str) -> None:
    assert verbs(name) == {verb}


@pytest.mark.parametrize(
    ("name", "crude", "expected"),
    [
        ("get_user", "read", ("act_read", "user")),
        ("get_user", "", ("act_read", "user", "unlabelled")),  # C-01: one signal is not enough
        ("frobnicate", "read", ("act_change", "frobnicate")),
        ("frobnicate", "delete", ("act_delete", "frobnicate", "one")),  # DL-04
        ("get_user", "delete", ("act_account", "user", "one")),
        ("frobnicate", "", ("act_change", "frobnicate")),  # DL-05
        ("undelete_file", "update", ("act_change", "undelete the file", "open_call", "outermost")),
    ],
)
def test_the_category_counts_where_the_name_is_silent(name: str, crude: str, expected: Fact) -> None:
    assert told(name, crude=crude) == [expected]


@each(
    ("params", "trait"),
    [
        ({"id": "*"}, "all"),
        ({"filter": {}}, "all"),
        ({"where": "1=1"}, "all"),
        ({"all": True}, "all"),
        ({"to": "everyone@acme.com"}, "all"),
        ({"ids": [1, 2]}, "bulk"),
        ({"recursive": "true"}, "bulk"),
        ({"count": 50}, "bulk"),
        ({"id": 1, "force": True}, "forced"),
        ({"id": 1, "hardDelete": 1}, "permanent"),
        ({"id": 1, "enableUndo": False}, "permanent"),
        ({"id": 1, "SkipFinalSnapshot": True}, "no_backup"),
        ({"id": 1, "backup": False}, "no_backup"),
        ({"id": 1, "env": "production"}, "production"),
        ({"id": 1, "options": {"Host": "db.prod.acme.io"}}, "production"),
        ({"id": 1}, "one"),
    ],
)
def test_parameters_say_how_far_it_reaches(params: dict[str, Any], trait: str) -> None:
    assert trait in traits("delete_record", params)


@pytest.mark.parametrize(
    "params",
    [
        {"id": 1, "fields": ["a", "b"]},
        {"id": 1, "filter": {"id": 1}},
        {"id": 1, "env": "pre-prod"},
        {"id": 1, "name": "product"},
        {"id": 1, "force": False},
    ],
)
def test_parameters_that_say_nothing_of_scope(params: dict[str, Any]) -> None:
    assert traits("delete_record", params) == {"one"}


@pytest.mark.parametrize(
    "params",
    [
        {"dry_run": True},
        {"dryRun": "true"},
        {"preview": 1},
        {"options": {"whatIf": True}},
        {"dryRun": ["All"]},
    ],
)
def test_a_dry_run_only_reads(params: dict[str, Any]) -> None:
    assert told("drop_table", params) == [("act_read", "table", "dry_run")]


@pytest.mark.parametrize(
    "params",
    [
        {"dry_run": False},
        {"dry_run": True, "execute": True},
        {"dry_run": "maybe"},
        {"dry_run": 5},
        {"live": False},
        {"dryRun": []},
    ],
)
def test_what_is_no_dry_run_does_not_lower(params: dict[str, Any]) -> None:
    assert verbs("drop_table", params) == {"act_delete"}


@each(
    ("name", "params", "expected"),
    [
        ("run_command", {"command": "rm -rf /"}, ("shell", "rm -rf /")),
        ("run_command", {"cmd": "terraform", "args": ["destroy"]}, ("run", "terraform", "destroy")),
        ("docker_exec", {"command": ["sh", "-c", "x"]}, ("run", "sh", "-c", "x")),
        ("kubectl", {"args": "delete ns prod"}, ("run", "kubectl", "delete", "ns", "prod")),
        ("git_clean", {"force": True}, ("run", "git", "clean", "--force")),
        ("powershell", {"script": "Remove-Item x"}, ("code", "powershell", "Remove-Item x")),
        ("redis_command", {"command": "FLUSHALL"}, ("code", "redis", "FLUSHALL")),
        ("mongo_shell", {"script": "db.a.drop()"}, ("code", "mongo", "db.a.drop()")),
        ("execute_sql", {"query": "DROP TABLE a"}, ("code", "sql", "DROP TABLE a")),
        ("fetch_rows", {"sql": "DELETE FROM a"}, ("code", "sql", "DELETE FROM a")),
        ("run_code", {"language": "python", "code": "x()"}, ("code", "python", "x()")),
        ("evaluate", {"code": "const a = 1;"}, ("code", "javascript", "const a = 1;")),
        ("http_request", {"method": "DELETE", "url": "https://a.io/b"}, ("http", "https://a.io/b", "delete")),
        ("write_file", {"path": "/etc/passwd", "content": "x"}, ("write", "/etc/passwd")),
        ("fs.rmdir", {"path": "/", "recursive": True}, ("delete", "/", "recursive")),
        ("remove_directory", {"path": "src"}, ("delete", "src", "recursive")),
        ("manage_user", {"action": "delete", "id": 1}, ("act_account", "user", "one")),
        (
            "call_tool",
            {"name": "delete_repo", "arguments": '{"repo": "a"}'},
            ("act_delete", "repo", "one", "repository"),
        ),
        ("run_batch", {"operations": [{"operation": "ban_user"}]}, ("act_block", "user", "one")),
        ("graphql", {"query": 'mutation { x: deleteIssue(id: "1") { ok } }'}, ("act_delete", "issue", "one")),
        (
            "kusto",
            {"query": ".drop table Users"},
            ("act_delete", "table", "named", "one", "pattern_forbidden", "table"),
        ),
        ("grant_role", {"user": "ci", "role": "cluster-admin"}, ("act_escalate", "role", "one")),
        ("set_acl", {"bucket": "b", "acl": "public-read"}, ("act_escalate", "acl", "one")),
        ("git_push", {"force": True}, ("act_rewrite", "git", "forced", "one")),
        ("git_reset", {"mode": "hard"}, ("act_delete", "git", "one")),
        ("scale_deployment", {"replicas": 0}, ("act_terminate", "deployment", "one", "undoable")),
        ("kubectl_delete", {"kind": "deployment", "name": "a"}, ("act_terminate", "deployment", "one")),
    ],
)
def test_parameters_decide_for_generic_operations(name: str, params: dict[str, Any], expected: Fact) -> None:
    assert expected in told(name, params)


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("search_docs", {"query": "how to truncate a table"}),
        ("explain_query", {"sql": "DELETE FROM a"}),
        ("format_sql", {"sql": "DROP TABLE a"}),
        ("create_reminder", {"text": "delete all users"}),
        ("send_message", {"text": "DROP TABLE a; rm -rf /"}),
        ("create_issue", {"title": "rm -rf /", "body": "delete_all_users"}),
        ("graphql", {"query": "query { repository { deleteBranchOnMerge } }"}),
        ("add_permission", {"user": "a", "permission": "read"}),
        ("scale_deployment", {"replicas": 3}),
    ],
)
def test_text_that_nothing_runs_is_only_data(name: str, params: dict[str, Any]) -> None:
    assert verbs(name, params) <= {"act_read", "act_change", "act_send"}


def test_content_is_read_where_a_shell_will_run_it() -> None:
    assert ("shell", "rm -rf /") in told("write_file", {"path": "/home/a/.bashrc", "content": "rm -rf /"})
    assert told("write_file", {"path": "docs/a.md", "content": "rm -rf /"}) == [("write", "docs/a.md")]


def _loop() -> dict[str, Any]:
    loop: dict[str, Any] = {}
    loop["params"] = loop
    return loop


def _deep() -> dict[str, Any]:
    outer: dict[str, Any] = {}
    inner = outer
    for _ in range(5000):
        inner["operation"], inner["params"] = "delete_user", {}
        inner = inner["params"]
    return outer


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("x" * 1_000_000, {}),
        ("delete_" * 50_000, {"a": 1}),
        ("\ud800", {"\ud800": "\ud800"}),
        ("delete", _loop()),
        ("delete", _deep()),
        ("delete", {1: 2, None: 3, ("a",): "x", b"k": b"v"}),
        ("delete", {str(number): number for number in range(100_000)}),
        ("x", {"query": "/*" * 50_000}),
        ("x", {"query": "mutation {" + "a{" * 50_000}),
        ("x", {"method": "DELETE", "url": "http://[" + "a" * 100_000}),
        ("delete", {"n": float("nan"), "big": 10**400}),
    ],
    ids=lambda value: str(value)[:12] if isinstance(value, str) else "",
)
def test_hostile_names_and_parameters_are_read_in_bounds(name: str, params: dict[Any, Any]) -> None:
    assert told(name, params)


def test_more_than_is_read_is_said_to_be_so() -> None:
    assert "unreadable" in verbs("delete", {str(number): number for number in range(3000)})
    assert "unreadable" in verbs("delete", _deep())


@each(
    ("name", "params", "expected"),
    [
        ("mongo_command", {"command": {"dropDatabase": 1}}, ("code", "mongo", 'db.runCommand({"dropDatabase": 1})')),
        ("neo4j.run", {"cypher": "MATCH (n) DELETE n"}, ("code", "cypher", "MATCH (n) DELETE n")),
        ("redis.call", {"args": ["FLUSHDB"]}, ("run", "redis-cli", "FLUSHDB")),
        ("git_clean", {"force": True, "directories": True}, ("run", "git", "clean", "--force", "-d")),
        ("prisma_migrate_reset", {}, ("run", "prisma", "migrate", "reset")),
        ("mcp__terraform__destroy", {"auto_approve": True}, ("run", "terraform", "destroy", "--auto-approve")),
        ("heroku.pg.reset", {"app": "a"}, ("run", "heroku", "pg:reset", "a")),
        ("npm_run", {"script": "db:reset"}, ("shell", "npm run db:reset")),
        ("rsync", {"source": "a/", "destination": "b/", "delete": True}, ("run", "rsync", "--delete", "a/", "b/")),
        ("multi_tool", {"calls": [{"tool": "Bash", "params": {"command": "rm -rf /"}}]}, ("shell", "rm -rf /")),
        ("chown", {"path": "/srv", "owner": "a", "recursive": True}, ("run", "chown", "-R", "a", "/srv")),
        ("Write", {"file_path": "/etc/hosts", "content": "x"}, ("write", "/etc/hosts")),
    ],
)
def test_what_stands_for_a_command_or_a_tool_is_read_as_one(name: str, params: dict[str, Any], expected: Fact) -> None:
    assert expected in told(name, params, "execute")


@each(
    ("name", "params", "verb"),
    [
        ("call_api", {"path": "POST /orgs/1/suspend"}, "act_account"),
        ("rest_call", {"endpoint": "/accounts/9/close"}, "act_account"),
        ("browser_click", {"element": "Delete repository button"}, "act_delete"),
        ("browser_click", {"element": "Place order"}, "act_pay"),
        ("browser_evaluate", {"function": "() => document.querySelector('#delete-account').click()"}, "act_account"),
        ("home.call_service", {"domain": "lock", "service": "unlock"}, "act_terminate"),
        ("send_email", {"to": "a@b.c", "body": "AKIAIOSFODNN7EXAMPLE"}, "act_leak"),
        ("send_email", {"to": "a@b.c", "attachments": ["/home/a/.ssh/id_rsa"]}, "act_leak"),
        ("export_customers", {"to": "https://a.example"}, "act_leak"),
        ("update_user", {"id": 1, "status": "suspended"}, "act_account"),
        ("set_mfa", {"user": "a", "enabled": False}, "act_override"),
        ("modify_db_instance", {"id": "a", "deletion_protection": False}, "act_override"),
        ("update_setting", {"key": "retention_days", "value": 0}, "act_unconfigure"),
        ("import_data", {"table": "a", "mode": "replace"}, "act_delete"),
        ("db_push", {"acceptDataLoss": True}, "act_delete"),
        ("merge_contacts", {"keep": 1, "discard": 2}, "act_delete"),
        ("sync_folders", {"source": "a", "delete": True}, "act_delete"),
        ("run_migration", {"direction": "down"}, "act_delete"),
        ("set_policy", {"policy": {"Effect": "Allow", "Principal": "*"}}, "act_escalate"),
        ("create_order", {"symbol": "A", "side": "buy"}, "act_pay"),
        ("confirm_payment_intent", {"id": 1}, "act_pay"),
        ("book_flight", {"id": 1}, "act_pay"),
        ("unlock_door", {"door": "a"}, "act_terminate"),
        ("flash_firmware", {"device": "a"}, "act_terminate"),
        ("timeout_user", {"user": "a"}, "act_block"),
        ("release_phone_number", {"sid": "a"}, "act_terminate"),
        ("unsubscribe_all", {}, "act_block"),
        ("render_delete_service", {"id": "a"}, "act_terminate"),
        ("Filesystem.removeTree", {"path": "/home/lea"}, "delete"),
        ("fs.rmTree", {"path": "/home/lea"}, "delete"),
        ("storage.delete_dir", {"path": "/srv/data"}, "delete"),
        ("payroll/finalize_run", {"period": "2025-10"}, "act_pay"),
        ("payroll.submitRun", {"period": "2025-10"}, "act_pay"),
        ("payment_run.release", {"run": "2025-10"}, "act_pay"),
        ("enrolment_withdraw_all", {"course": "MATH101"}, "act_revoke"),
        ("enrollments.withdrawAll", {"course": "MATH101"}, "act_revoke"),
        ("ldap.modify", {"dn": "CN=Domain Admins,DC=a", "add": {"member": "CN=b,DC=a"}}, "act_escalate"),
        ("directory.modifyEntry", {"dn": "cn=administrators,dc=a", "add": {"uniqueMember": "uid=b"}}, "act_escalate"),
        ("meter.disconnectSupply", {"premise": "P-7"}, "act_terminate"),
        ("gas_supply.cutOff", {"premise": "P-7"}, "act_terminate"),
        ("telco.sim.deactivateRange", {"from": "894902000", "to": "894902999"}, "act_terminate"),
        ("cards.block_range", {"start": "40000001", "end": "40009000"}, "act_block"),
        ("iot.jobs.create", {"target": "fleet/*", "document": {"action": "factoryReset"}}, "act_disk"),
        ("create_job", {"targets": ["all"], "document": {"operation": "wipe"}}, "act_delete"),
        ("batch", {"ops": [{"op": "delete", "path": "/customers/*"}]}, "delete"),
        ("vault_kv_read", {"path": "secret/prod/stripe"}, "read"),
    ],
)
def test_what_labels_paths_and_parameters_announce(name: str, params: dict[str, Any], verb: str) -> None:
    assert verb in verbs(name, params, "execute")


@each(
    ("name", "params"),
    [
        ("browser_click", {"element": "Cancel button"}),
        ("browser_click", {"element": "Refund policy link"}),
        ("browser_click", {"element": "Order history tab"}),
        ("send_keys", {"text": "hello"}),
        ("delete_users", {"ids": [1, 2], "dryRun": "All"}),
        ("delete_users", {"ids": [1, 2], "mode": "plan"}),
        ("killTestServer", {"port": 1}),
        ("turn_off_light", {"room": "a"}),
        ("send_password_reset_email", {"user": "a"}),
        ("set_retention", {"days": 30}),
        ("import_data", {"table": "a", "mode": "append"}),
        ("update_issue", {"id": 1, "state": "closed"}),
        ("upload_image", {"path": "a.png", "overwrite": True}),
        ("send_email", {"to": "a@b.c", "attachments": ["report.pdf"]}),
        ("set_timeout", {"ms": 5}),
        ("release_lock", {"id": 1}),
        ("book_meeting_room", {"room": "a"}),
        ("create_policy", {"policy": {"Effect": "Deny", "Principal": "*"}}),
        ("payroll.get_run", {"period": "2025-10"}),
        ("payroll.create_draft", {"period": "2025-10"}),
        ("ldap.modify", {"dn": "CN=Book Club,DC=a", "add": {"member": "CN=b,DC=a"}}),
        ("ldap.modify", {"dn": "CN=lea,OU=Admins,DC=a", "replace": {"telephoneNumber": "1"}}),
        ("meter.getSupplyStatus", {"premise": "P-7"}),
        ("websocket.disconnect", {"id": "7"}),
        ("sim.list_range", {"from": "1", "to": "9"}),
        ("iot.jobs.create", {"target": "fleet/*", "document": {"action": "reportStatus"}}),
        ("documents.create", {"document": {"action": "delete", "title": "x"}}),
        ("patch_document", {"id": "7", "ops": [{"op": "remove", "path": "/title"}]}),
        ("batch", {"ops": [{"op": "get", "path": "/customers/7"}]}),
        ("math.truncate", {"value": 3.79}),
        ("decimal.truncate", {"value": 3.79, "digits": 1}),
        ("cloudflare_kv_get", {"key": "theme"}),
    ],
)
def test_what_only_sounds_like_harm_is_none(name: str, params: dict[str, Any]) -> None:
    assert verbs(name, params, "execute") <= {"act_read", "act_change", "act_send", "write"}


UNUSUAL = {
    "act_pay": "nullify_loan waive_fee accept_dispute concede_chargeback defund_payroll release_escrow captureOrder issue_credit_note",
    "act_account": "rescind_employment end_employment furlough_employee reject_account",
    "act_revoke": "rescind_offer seize_domain strip_permissions disassociate_role",
    "act_override": "release_legal_hold dismiss_legal_holds relax_protection",
    "act_terminate": "pause_project pause_database takedown_listing",
    "act_invalidate": "rotate_all signOutEverywhere",
    "act_delete": "reimage_server rebuild_droplet reinstall_os",
    "act_disk": "revert_to_factory factory-restore restore_factory_defaults",
    "act_block": "blackhole_ip disenroll_patient debar_vendor",
}


@each(("verb", "name"), [(v, n) for v, names in UNUSUAL.items() for n in names.split()])
def test_unusual_verbs(verb: str, name: str) -> None:
    assert verb in verbs(name)


@each(
    "name",
    """relax_layout loosen_constraints annul_filter seize_focus dissolve_effect surrender_game scrape_page reject_suggestion reject_call
    pause_video pause_deployment accept_invitation close_pull_request unlink_issue dismiss_banner end_call rebuild_index
    reinstall_package release_lock publish_event publish_metrics publish_draft""".split(),
)
def test_near_misses_of_unusual_verbs(name: str) -> None:
    assert verbs(name) <= {"act_change", "act_read"}


def test_what_is_said_in_public_goes_to_many() -> None:
    for name in ("publish_post", "post_to_linkedin", "create_tweet"):
        assert verbs(name) == {"act_send"} and "bulk" in traits(name)
    assert "bulk" not in traits("post_message")


def test_a_reference_that_is_forced_rewrites_history() -> None:
    assert verbs("github_update_ref", {"ref": "heads/main", "force": True}) == {"act_rewrite"}
    assert verbs("github_update_ref", {"ref": "heads/x", "force": False}) == {"act_change"}


def test_a_path_that_is_deleted_may_be_a_whole_tree() -> None:
    assert ("delete", "/home/ana", "recursive") in told("delete_path", {"path": "/home/ana"})
    assert ("delete", "/home/ana") in told("delete_file", {"path": "/home/ana"})


def test_a_service_of_a_home_is_called_whatever_the_tool_is_named() -> None:
    assert "act_terminate" in verbs("home_assistant_call", {"domain": "lock", "service": "unlock"})
    assert verbs("home_assistant_call", {"domain": "light", "service": "turn_on"}) <= {"act_change"}


def test_a_list_of_places_means_what_one_place_does() -> None:
    for params in ({"bucket_name": "prod-assets"}, {"bucket_names": ["prod-assets"]}, {"bucketIds": ["assets-prod"]}):
        out = Recorder()
        read_operation("delete_bucket", params, "", out)
        assert any("production" in fact for fact in out.facts), params


@pytest.mark.parametrize("harmful", ["body", "data", "payload", "json", "requestBody"])
def test_every_body_of_a_request_is_read(harmful: str) -> None:
    bodies = dict.fromkeys(["body", "data", "payload", "json", "requestBody"], '{"query": "{ viewer { id } }"}')
    bodies[harmful] = '{"query": "mutation { deleteRepository(id: 1) { id } }"}'
    out = Recorder()
    read_operation("http_request", {"url": "https://a.io/graphql", "method": "POST", **bodies}, "", out)
    assert ("http", "https://a.io/graphql", "delete") in out.facts


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("drop", {"db": "crm", "args": ["--help"]}),
        ("truncate", {"args": ["--version"]}),
        ("wipe", {"device": "x", "flags": {"help": True}}),
        ("format", {"disk": "sda", "args": "list"}),
        ("drop_table", {"table": "users", "describe_only": True}),
        ("delete_user", {"id": 4, "sim": True}),
        ("bucket_policy", {"public": True, "method": "GET"}),
        ("user_settings", {"isAdmin": True, "action": "list"}),
        ("kubectl", {"args": ["delete", "ns", "prod"], "verb": "get"}),
        ("git", {"args": ["clean", "-fdx"], "c": "ls"}),
        ("redis_command", {"args": ["FLUSHALL"], "verb": "get"}),
        ("wire_transfer", {"iban": "DE1", "amount": 9, "status": "draft"}),
        ("send_email", {"to": "all@x.io", "body": "our root token is hvs.abc", "environment": "sandbox"}),
        ("drop_table", {"table": "users", "command": "plan"}),
        ("execute_sql", {"sql": "DROP TABLE x", "mode": "comment-only"}),
    ],
)
def test_a_parameter_that_the_server_need_not_know_excuses_no_harm(name: str, params: dict[str, Any]) -> None:
    for action in (operation(name, params), tool(f"mcp__server__{name}", params)):
        assert assess(action).level >= Level.DESTRUCTIVE
