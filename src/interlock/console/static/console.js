// What the pages do beside htmx: live updates, countdowns, keys, gates before Approve. No inline script anywhere.
"use strict";
(() => {
  const one = (selector, root = document) => root.querySelector(selector);
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];

  // The mark of this session is kept where only pages of this very address read it. The cookie goes to every port of this device: alone it
  // changes nothing. A sign-in hands the mark over behind the #, which no server gets.
  const MARK = "interlock-mark";
  if (location.hash.startsWith("#mark=")) {
    localStorage.setItem(MARK, location.hash.slice(6));
    history.replaceState(null, "", location.pathname + location.search);
  }
  const csrf = () => localStorage.getItem(MARK) || "";
  const stamp = () => { one("meta[name=csrf]").content = csrf(); };
  stamp();
  addEventListener("storage", stamp);
  document.addEventListener("submit", (event) => { for (const field of all("input[name=csrf]", event.target)) field.value = csrf(); }, true);

  function say(words, bad = false) {
    const line = document.createElement("p");
    line.textContent = words;
    if (bad) line.className = "bad";
    one("#said").append(line);
    setTimeout(() => line.remove(), bad ? 9000 : 5000);
  }
  const { held } = window.interlock;
  window.interlock = { held, say, csrf };

  document.addEventListener("htmx:configRequest", (event) => { event.detail.headers["x-csrf-token"] = csrf(); });
  document.addEventListener("htmx:responseError", (event) => {
    const page = new DOMParser().parseFromString(event.detail.xhr.responseText, "text/html");
    say(one("h1", page)?.textContent || "That did not work.", true);
  });
  document.addEventListener("htmx:sendError", () => say("The daemon does not answer.", true));
  document.addEventListener("htmx:beforeSwap", () => { order = cards().map((card) => card.dataset.item); });
  document.addEventListener("htmx:afterSwap", (event) => {
    tick(); arm(); keepSelected();
    const done = event.detail.requestConfig?.elt?.dataset.done;  // what the form that was sent says when it worked
    if (done) say(done);
  });

  // Live: one stream; whatever says data-live is fetched again when its word comes.
  const signIn = (more = "") => location.assign(`/console/sign-in?${more}next=${encodeURIComponent(location.pathname)}`);
  // After a restart nobody is signed in any more; whoever still is gets another stream.
  async function again() {
    try {
      const answer = await fetch("/console/sign-in/who", { headers: { accept: "application/json" } });
      if (answer.ok && !(await answer.json()).signedIn) return signIn();
      if (answer.ok) return live(true);
    } catch { /* the daemon does not answer yet */ }
    setTimeout(again, 2000);
  }
  function live(lost = false) {
    if (!document.body.hasAttribute("data-signed-in") || location.pathname === "/console/sign-in") return;
    if (!csrf()) { signIn("again=1&"); return; }
    const source = new EventSource("/console/events");
    const refresh = (words) => {
      document.dispatchEvent(new CustomEvent("interlock:changed", { detail: words }));
      for (const element of all("[data-live]")) {
        if (words && !element.dataset.live.split(" ").some((word) => words.includes(word))) continue;
        if (one("#stale") && held(element)) one("#stale").hidden = false;
        else htmx.trigger(element, "live");
      }
    };
    source.addEventListener("hello", (event) => {
      one("#offline").hidden = true;
      if (lost || event.data !== document.body.dataset.seen) refresh(null);  // something changed before anybody listened
      lost = false;
    });
    source.addEventListener("changed", (event) => refresh(event.data.split(" ")));
    source.addEventListener("signed-out", () => { source.close(); signIn(); });
    source.addEventListener("error", () => {
      lost = true; one("#offline").hidden = false;
      if (source.readyState === EventSource.CLOSED) setTimeout(again, 2000);  // refused: a browser does not try again by itself
    });
    addEventListener("pagehide", () => source.close());
  }

  // Countdowns: <time data-until="seconds since 1970">.
  function left(seconds) {
    if (seconds <= 0) return "now";
    if (seconds < 90) return `${Math.ceil(seconds)} s`;
    if (seconds < 3600) return `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")} min`;
    if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
    if (seconds < 129600) return `${Math.round(seconds / 3600)} h`;
    return `${Math.round(seconds / 86400)} days`;
  }
  const ago = (seconds) => seconds < 90 ? `${Math.max(0, Math.round(seconds))} s` : seconds < 5400 ? `${Math.round(seconds / 60)} min` : left(seconds);
  function tick() {
    const now = Date.now() / 1000;
    for (const element of all("[data-until]")) {
      const seconds = Number(element.dataset.until) - now;
      element.textContent = left(seconds);
      element.classList.toggle("soon", seconds < 60);
    }
    for (const element of all("[data-since]")) element.textContent = `${ago(now - Number(element.dataset.since))} ago`;
  }

  // Gates: a button with data-arm works only after its card was in view for two seconds and its text scrolled to the end.
  // Kept by the ticket's id, so that a queue that is drawn anew does not begin again.
  const since = new Map(), armed = new Set(), read = new Set();
  const inView = (card) => {
    const box = card.getBoundingClientRect();
    return document.visibilityState === "visible" && box.top < innerHeight * 0.9 && box.bottom > innerHeight * 0.1;
  };
  const boxes = (card) => all(".code", card).map((box, at) => [box, `${card.dataset.gate}/${at}`]);
  const scrolled = (card) => boxes(card).every(([box, key]) => read.has(key) || box.scrollHeight - box.clientHeight < 4);
  document.addEventListener("scroll", (event) => {
    const card = event.target instanceof Element && event.target.closest("[data-gate]");
    if (!card) return;
    for (const [box, key] of boxes(card)) if (box.scrollTop + box.clientHeight >= box.scrollHeight - 4) read.add(key);
  }, true);
  function arm() {
    for (const card of all("[data-gate]")) {
      const id = card.dataset.gate;
      if (!inView(card)) since.delete(id);
      else if (!since.has(id)) since.set(id, performance.now());
      if (since.has(id) && performance.now() - since.get(id) >= 2000 && scrolled(card)) armed.add(id);
      for (const button of all("[data-arm]", card)) button.disabled = !armed.has(id);
      const words = one("[data-why]", card);
      if (words) words.textContent = armed.has(id) ? "" : scrolled(card) ? "Read it first: the button unlocks in a moment." : "Scroll the command to its end first.";
    }
  }

  // Keys.
  const cards = () => all("[data-item]");
  let selected = "", order = [];
  function select(card) {
    for (const other of cards()) other.classList.toggle("selected", other === card);
    selected = card ? card.dataset.item : "";
    if (card) { card.focus({ preventScroll: true }); card.scrollIntoView({ block: "nearest" }); }
  }
  // What was answered is gone: whoever works through a list by keys goes on with the next.
  function keepSelected() {
    const list = cards(), found = (id) => list.find((item) => item.dataset.item === id);
    if (!selected || found(selected)) { found(selected)?.classList.add("selected"); return; }
    const next = order.slice(order.indexOf(selected) + 1).map(found).find(Boolean) || list.at(-1) || null;
    if (document.activeElement === document.body) select(next);
    else { selected = next?.dataset.item || ""; next?.classList.add("selected"); }
  }
  function unfold(summary, event) {
    if (!summary) return;
    summary.parentElement.open = true;
    one("[data-focus]", summary.parentElement)?.focus();  // at once: what is typed next belongs there
    event.preventDefault();
  }
  let going = 0;
  const places = { q: "/console/queue", l: "/console/live", u: "/console/undo", a: "/console/audit", f: "/console/figures", s: "/console/settings" };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest("input, textarea, select, [contenteditable]") || one("dialog[open]")) return;
    const list = cards(), at = list.findIndex((card) => card.dataset.item === selected);
    const act = (selector) => { const found = at >= 0 && one(selector, list[at]); if (found) { found.click(); event.preventDefault(); } };
    if (going && performance.now() - going < 1500 && places[event.key]) { location.assign(places[event.key]); return; }
    going = 0;
    if (event.key === "j" && list.length) select(list[Math.min(at + 1, list.length - 1)]);
    else if (event.key === "k" && list.length) select(list[Math.max(at - 1, 0)]);
    else if (event.key === "Enter" && event.target === list[at]) act("[data-open]");
    else if (event.key === "r") unfold(at >= 0 && one("[data-reject]", list[at]), event);
    else if (event.key === "g") going = performance.now();
    else if (event.key === "?") one("#keys").showModal();
    else if (event.key === "Escape") select(null);
  });

  // Small parts: the menu of a phone, dialogs, fields that fold out, copying.
  document.addEventListener("click", (event) => {
    const menu = event.target.closest("[data-menu]");
    if (menu) menu.setAttribute("aria-expanded", String(one("#nav").classList.toggle("open")));
    const opener = event.target.closest("[data-dialog]");
    if (opener) { const box = document.getElementById(opener.dataset.dialog); box?.showModal(); one("[autofocus]", box)?.focus(); }
    if (event.target.closest("[data-close]")) event.target.closest("dialog")?.close();
    const again = event.target.closest("[data-refresh]");
    if (again) { one("#stale").hidden = true; htmx.trigger(one(again.dataset.refresh), "live", { asked: true }); }
    const summary = event.target.closest("summary");
    if (summary && !summary.parentElement.open && one("[data-focus]", summary.parentElement)) unfold(summary, event);
    const copy = event.target.closest("[data-copy]");
    if (copy) navigator.clipboard.writeText(document.getElementById(copy.dataset.copy).textContent).then(() => say("Copied."));
  });

  // A code leaves the page again.
  document.addEventListener("htmx:afterSettle", () => {
    for (const box of all("[data-expire]:not([data-leaving])")) {
      box.dataset.leaving = "1";
      setTimeout(() => box.remove(), Number(box.dataset.expire) * 1000);
    }
  });

  document.addEventListener("DOMContentLoaded", () => {
    live(); tick(); arm();
    setInterval(tick, 1000);
    setInterval(arm, 250);
    const words = new URLSearchParams(location.search).get("said");
    if (words && one(`[data-said="${CSS.escape(words)}"]`)) say(one(`[data-said="${CSS.escape(words)}"]`).textContent);
  });
})();
