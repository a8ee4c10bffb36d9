"""A ticket answers to its id and to the short form of it that messages show, to nobody else's agent, and to no ambiguous one."""

from __future__ import annotations

from pathlib import Path

from daemons import in_process_daemon
from interlock.analysis.display_text import short_id


def test_a_ticket_answers_to_the_short_id_that_messages_show(tmp_path: Path) -> None:
    with in_process_daemon(tmp_path) as app:
        ours, theirs, ana = app.agent("one"), app.agent("two"), app.sign_in()
        asked = app.call("POST", "/api/v1/evaluate", {"command": "git push --force origin main"}, ours).json()
        whole = asked["pendingId"]
        short = short_id(whole)
        assert len(short) < len(whole)
        for headers in (ours, ana):
            assert app.call("GET", f"/api/v1/tickets/{short}", None, headers).json()["id"] == whole
            assert app.call("GET", f"/api/v1/tickets/{short}/wait?seconds=0", None, headers).json()["id"] == whole
        assert app.call("GET", f"/api/v1/tickets/{short}", None, theirs).status_code == 404
        assert app.call("GET", f"/api/v1/tickets/{short[:-1]}", None, ana).status_code == 404
        assert app.call("GET", f"/api/v1/tickets/{short}/grant", None, ana).status_code == 200
        rejected = app.call("POST", f"/api/v1/tickets/{short}/reject", {"reason": "no"}, ana).json()
        assert (rejected["id"], rejected["state"]) == (whole, "rejected")


def test_a_beginning_that_two_tickets_share_names_neither(tmp_path: Path) -> None:
    with in_process_daemon(tmp_path) as app:
        agent, ana = app.agent(), app.sign_in()
        for branch in ("main", "next"):
            app.call("POST", "/api/v1/evaluate", {"command": f"git push --force origin {branch}"}, agent)
        ids = [one["id"] for one in app.call("GET", "/api/v1/tickets", None, ana).json()["tickets"]]
        shared = ids[0].partition("_")[0] + "_"
        assert len(ids) == 2 and app.call("GET", f"/api/v1/tickets/{shared}", None, ana).status_code == 404
