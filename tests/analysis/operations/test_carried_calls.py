"""What a tool call carries: input of the program it starts, calls under any key, flags and states that delete; and what is only data."""

from __future__ import annotations

from typing import Any

from cases import each
from interlock.analysis.assess import judge
from interlock.analysis.rules.load import load
from interlock.model import tool

RM = "rm -rf /home/dev/docs"
RMTREE = "import shutil; shutil.rmtree('/home/dev/docs')"
BASH = {"command": RM}


def level(name: str, input: dict[str, Any]) -> int:
    return int(judge(tool(name, input, cwd="/home/dev/app"), load()).assessment.level)


@each(
    ("name", "input"),
    [
        ("mcp__shell__run", {"command": "sh", "input": RM}),
        ("Bash", {"command": "bash -s", "stdin": RM}),
        ("run_command", {"command": "git log", "env": {"GIT_PAGER": RM}}),
        ("mcp__x__exec", {"command": "make", "environment": {"SHELL": RM}}),
        ("exec", {"cmd": ["sh"], "standard_input": RM}),
        ("shell", {"command": "cat | bash", "input": RM}),
        ("mcp__x__exec", {"command": "sh", "text": RM}),
        ("mcp__shell__run_script", {"lines": ["cd /srv", "rm -rf data"]}),
        ("terminal_execute", {"payload": RM}),
        ("mcp__x__exec", {"command": "python3 -", "stdin": RMTREE}),
        ("mcp__x__exec", {"interpreter": "python3", "stdin": RMTREE}),
        ("mcp__x__exec", {"command": "xargs rm -rf", "stdin": "/home/dev/docs"}),
        ("run_process", {"program": "sh", "args": [], "stdin": RM}),
        ("mcp__process__spawn", {"file": "/bin/sh", "args": ["-s"], "input": RM}),
        ("docker_exec", {"container": "db", "command": "psql", "stdin": "DROP DATABASE shop"}),
        ("ssh_run", {"host": "h", "command": "bash -s", "stdin": "rm -rf /srv"}),
        ("mcp__x__exec", {"command": "powershell", "input": "Remove-Item -Recurse C:\\docs"}),
        ("mcp__x__exec", {"command": "cmd", "input": "rd /s /q C:\\docs"}),
    ],
)
def test_what_a_started_program_reads_is_what_it_runs(name: str, input: dict[str, Any]) -> None:
    assert level(name, input) >= 2


@each(
    ("name", "input"),
    [
        ("multi_tool_use.parallel", {"tool_uses": [{"recipient_name": "functions.exec", "parameters": {"cmd": RM}}]}),
        ("batch", {"invocations": [{"tool_name": "Bash", "input": BASH}]}),
        ("batch", {"calls": [{"name": "Bash", "arguments": f'{{"command": "{RM}"}}'}]}),
        ("batch", {"batch": f'[{{"tool": "Bash", "input": {{"command": "{RM}"}}}}]'}),
        ("batch", {"whatever": [{"name": "delete_user", "args": {"id": 3}}]}),
        ("exportAndShare", {"dataset": "customers", "recipient": "consultant@gmail.com"}),
        ("mongo_query", {"db": "crm", "op": "deleteMany", "collection": "leads", "filter": {}}),
        ("db_query", {"operation": "deleteOne", "collection": "leads", "filter": {"id": 4}}),
        ("batch", {"requests": [{"method": "tools/call", "params": {"name": "bash", "arguments": BASH}}]}),
        ("batch", {"requests": [{"id": "1", "method": "DELETE", "url": "/users/3"}]}),
        ("workflow", {"plan": {"first": {"function": {"name": "delete_database", "arguments": '{"name": "shop"}'}}}}),
        ("orchestrate", {"graph": {"nodes": {"a": {"tool": "Bash", "input": BASH}}}}),
        ("dispatch", {"queue": [["Bash", BASH]]}),
        ("dispatch", {"Bash": BASH}),
        ("parallel", {"jobs": [{"command": RM}]}),
        ("parallel", {"jobs": ["ls -la", RM]}),
        ("shell", {"commands": ["ls", RM]}),
        ("mcp__x__exec", {"commands": ["ls", RM]}),
        ("mcp__gateway__invoke", {"server": "crm", "method": "delete_contact", "params": {"id": 3}}),
        ("mcp__gateway__forward", {"method": "tools/call", "params": {"name": "delete_contact", "arguments": {"id": 3}}}),
        ("replay", {"messages": [{"role": "assistant", "tool_calls": [{"name": "shell", "args": BASH}]}]}),
        ("create_workflow", {"steps": [{"tool": "Bash", "input": BASH}]}),
        ("ssm_send_command", {"Parameters": {"commands": ["Remove-Item C:\\docs -Recurse"]}}),
        ("azure_vm_run_command", {"commandId": "RunPowerShellScript", "script": ["Remove-Item C:\\docs -Recurse"]}),
        ("mcp__win__execute", {"shell": "powershell", "command": "remove-acmetenant x"}),
        ("run_many", {"steps": [{"do": "bash", "with": {"script": RM}}]}),
        ("workflow", {"nodes": [{"action": "sql", "query": "DROP TABLE users"}]}),
        ("execute_plan", {"plan": {"tasks": [{"tool": "exec", "args": ["rm", "-rf", "/home/dev/docs"]}]}}),
        ("agent", {"subcalls": [{"op": "http", "request": {"method": "DELETE", "url": "https://api.acme.io/users"}}]}),
        ("terminal_write", {"data": f"{RM}\r"}),
        ("mcp__tmux__send", {"pane": "0", "text": "dropdb shop", "enter": True}),
        ("notebook_execute", {"cells": [{"source": f"!{RM}"}]}),
        ("mcp__jupyter__run_cell", {"source": [RMTREE]}),
        ("mcp__gcp__run_gcloud_command", {"args": ["projects", "delete", "acme"]}),
        ("mcp__docker__compose", {"action": "down", "volumes": True}),
        ("admin", {"cmd": "purge", "scope": "all"}),
        ("write_config", {"path": "/etc/pgbouncer.ini", "content": "a", "overwrite": True}),
        ("rabbit_queue", {"queue": "invoices", "do": "purge"}),
        ("mlflow.registered_models", {"call": "delete", "name": "credit-risk"}),
        ("fhir", {"interaction": "delete", "resource": "Patient/9921"}),
        ("airtable", {"table": "Assets", "http": "DELETE", "records": ["rec1", "rec2"]}),
        ("servicenow_table_api", {"table": "sys_audit", "method": "DELETE"}),
        ("telegram_call", {"method": "deleteMessages", "message_ids": [1, 2]}),
        ("salt", {"target": "web", "fun": "iptables.flush"}),
        ("execute_plan", {"steps": [{"do": "snapshot", "of": "vm"}, {"do": "erase", "disk": "data-1"}]}),
        ("invoke", {"tool": "tenant_admin", "arguments": {"verb": "terminate", "tenant": "globex"}}),
        ("hasura.metadata", {"type": "run_sql", "args": {"sql": "alter table accounts drop column balance"}}),
        ("django_manage", {"args": ["flush", "--no-input"]}),
        ("nextcloud.occ", {"args": ["trashbin:cleanup", "--all-users"]}),
        ("wrapper", {"program": "wipefs", "args": ["--all", "/dev/sdc"]}),
        ("journal", {"argv": ["journalctl", "--rotate", "--vacuum-time=1s"]}),
        ("apex_execute", {"code": "delete [SELECT Id FROM Opportunity];"}),
        ("mcp__k8s__kubectl", {"args": "delete namespace prod"}),
    ],
)  # fmt: skip
def test_a_call_inside_a_call_is_read_under_any_key(name: str, input: dict[str, Any]) -> None:
    assert level(name, input) >= 2


@each(
    ("name", "input"),
    [
        ("reindex", {"drop": True}),
        ("rebuild", {"options": {"drop": True}}),
        ("import_data", {"overwrite": True, "path": "x"}),
        ("migrate", {"reset": True}),
        ("migrate_database", {"fresh": True}),
        ("configure_table", {"recreate": True}),
        ("sync_users", {"remove_missing": True}),
        ("mcp__okta__update_user", {"status": "DEPROVISIONED"}),
        ("patch_user", {"accountEnabled": False}),
        ("mcp__scim__patch_user", {"id": "x", "Operations": [{"op": "replace", "value": {"active": False}}]}),
        ("drive_update_file", {"fileId": "x", "trashed": True}),
        ("gmail_modify_message", {"id": "x", "addLabelIds": ["TRASH"]}),
        ("mcp__outlook__move_message", {"id": "x", "destinationId": "deleteditems"}),
        ("update_record", {"id": "x", "deleted_at": "2026-01-01"}),
        ("update_record", {"id": "x", "fields": {"is_deleted": True}}),
        ("update_customer", {"id": 1, "patch": {"status": "deleted"}}),
        ("update_page", {"page_id": "x", "in_trash": True}),
        ("update_project", {"id": 1, "archived": True}),
        ("mcp__jira__update_project", {"key": "OPS", "archive": True}),
        ("mcp__notion__update_page", {"page_id": "p1", "archived": True}),
        ("mcp__okta__set_status", {"user": "u1", "status": "SUSPENDED"}),
        ("update_project", {"id": "p1", "lifecycle": "DELETE_REQUESTED"}),
        ("restore_backup", {"id": "b1", "overwrite": True}),
        ("run_migrations", {"fresh": True}),
        ("migrate", {"direction": "down", "all": True}),
        ("cleanup", {"dry_run": False, "target": "/home/dev/docs"}),
        ("vm.power", {"state": "destroyed"}),
        ("storage.objects.rewrite", {"src": "/dev/null", "dst": "prod/db.bak"}),
    ],
)
def test_a_flag_or_a_state_that_deletes_counts_as_the_deletion(name: str, input: dict[str, Any]) -> None:
    assert level(name, input) >= 2


@each(
    ("name", "input"),
    [
        ("mcp__x__exec", {"command": "cat", "input": RM}),
        ("mcp__x__exec", {"command": "jq .", "stdin": f'{{"a": "{RM}"}}'}),
        ("run", {"command": "prettier --stdin-filepath x.sh", "input": RM}),
        ("run", {"command": "bash build.sh", "input": "y"}),
        ("mcp__x__exec", {"command": "sh", "input": "ls"}),
        ("parallel", {"calls": [{"name": "get_user", "arguments": {"id": 1}}, {"name": "list_files", "arguments": {}}]}),
        ("batch", {"invocations": [{"tool_name": "Grep", "input": {"pattern": "rm -rf"}}]}),
        ("create_document", {"steps": [{"name": "delete_user", "description": "how to remove a user"}]}),
        ("create_dashboard", {"panels": [{"name": "delete_rate", "params": {"metric": "x"}}]}),
        ("register_tools", {"tools": [{"name": "delete_user", "parameters": {"type": "object", "properties": {}}}]}),
        ("create_issue", {"title": "x", "body": f'{{"tool": "Bash", "input": {{"command": "{RM}"}}}}'}),
        ("send_message", {"text": f'{{"tool": "Bash", "input": {{"command": "{RM}"}}}}'}),
        ("search_logs", {"filters": [{"operation": "delete_user", "params": {}}]}),
        ("log_event", {"events": [{"name": "delete_user", "arguments": {"id": 1}}]}),
        ("reindex", {"drop": False}),
        ("reindex", {"drop": True, "dry_run": True}),
        ("copy_file", {"src": "a", "dst": "b", "overwrite": True}),
        ("search_files", {"trashed": False}),
        ("list_users", {"status": "deleted"}),
        ("mcp__okta__get_users", {"status": "SUSPENDED"}),
        ("drive_update_file", {"fileId": "x", "trashed": False}),
        ("gmail_modify_message", {"id": "x", "removeLabelIds": ["TRASH"], "addLabelIds": ["INBOX"]}),
        ("update_contact", {"id": 1, "deleted_at": None}),
        ("update_page", {"page_id": "x", "archived": False}),
        ("update_view", {"show_archived": True, "include_deleted": True}),
        ("set_filter", {"status": "deleted"}),
        ("update_issue", {"id": "x", "state": "closed"}),
        ("cleanup_cache", {"dry_run": False}),
        ("cleanup_temp_files", {"dry_run": False}),
        ("mcp__search__query", {"filters": [{"type": "sql", "text": "drop table"}]}),
        ("run_many", {"steps": [{"do": "bash", "with": {"script": "ls -la"}}]}),
        ("run_checks", {"items": [{"type": "command", "text": "Delete all users"}]}),
        ("workflow", {"nodes": [{"action": "sql", "title": "Drop table guide", "query": "SELECT 1"}]}),
        ("update_task", {"id": 1, "status": "done"}),
        ("save_report", {"path": "out/r.csv", "content": "a", "overwrite": True}),
        ("offer.update", {"status": "expired"}),
        ("payment.record", {"method": "transfer"}),
        ("shipment.update", {"method": "express"}),
        ("rpc.call", {"method": "getBalance"}),
        ("mongo.eval", {"js": "db.sessions.countDocuments({dropped: true})"}),
        ("kill", {"pid": 4412, "signal": 0}),
        ("bigquery.jobs.insert", {"configuration": {"dryRun": True, "query": {"query": "DROP SCHEMA mart CASCADE"}}}),
        ("browser_click", {"page": "Delete organization?", "element": "button 'Cancel, keep organization'"}),
        ("volume_mute", {"entity_id": "media_player.den"}),
        ("brake_failure_test", {"kill_motor": True, "live": False}),
        ("terminal_write", {"data": "ls\r"}),
        ("mcp__console__send_message", {"text": "please delete the old branch"}),
        ("shell_send_feedback", {"text": "rm -rf failed on my machine"}),
        ("run_report", {"title": f"why {RM} was run", "note": RM}),
        ("execute_plan", {"description": RM, "steps": "read the docs, then list what is there"}),
    ],
)  # fmt: skip
def test_data_filters_and_rehearsals_are_no_question(name: str, input: dict[str, Any]) -> None:
    assert level(name, input) <= 1
