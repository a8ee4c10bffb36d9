// Somebody learns that something waits: the count in the tab's title and icon, and after one click a notification of the browser.
"use strict";
(() => {
  const one = (selector) => document.querySelector(selector);
  const WANTED = "interlock-notify", TOLD = "interlock-told";
  const title = document.title.replace(/^\(\S+\) /, "");
  const icon = () => one("#icon"), plain = icon().getAttribute("href");

  // The mark of the tab with a number on it; drawn here, so that nothing else has to be fetched.
  function drawn(count) {
    const words = count.length > 2 ? "99" : count;
    const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#c2410c"/>`
      + `<text x="16" y="23" text-anchor="middle" font-family="sans-serif" font-weight="700" font-size="${words.length > 1 ? 18 : 22}" fill="#fff">${words}</text></svg>`;
    return `data:image/svg+xml,${encodeURIComponent(svg)}`;
  }
  function mark(count) {
    document.title = count ? `(${count}) ${title}` : title;
    icon().setAttribute("href", /^\d/.test(count) ? drawn(count) : plain);
  }

  const able = () => "Notification" in window && window.isSecureContext;
  const wanted = () => able() && Notification.permission === "granted" && localStorage.getItem(WANTED) === "yes";
  function label() {
    const button = one("[data-notify]");
    if (!button) return;
    button.hidden = !able();
    button.setAttribute("aria-pressed", String(wanted()));
    button.textContent = wanted() ? "Notifications are on" : "Notify me in this browser";
  }
  async function toggle() {
    if (wanted()) localStorage.setItem(WANTED, "no");
    else if (await Notification.requestPermission() === "granted") localStorage.setItem(WANTED, "yes");
    else window.interlock.say("This browser does not allow notifications of this page.", true);
    label();
  }

  // Once for each ticket, whichever tab is first, and only where nobody looks.
  function tell(found) {
    const news = found.id && localStorage.getItem(TOLD) !== found.id;
    if (found.id) localStorage.setItem(TOLD, found.id);
    if (!news || !wanted() || document.hasFocus()) return;
    try {
      const said = new Notification("Interlock", { body: found.words, tag: found.id, icon: plain });
      said.onclick = () => { window.focus(); location.assign(`/console/tickets/${encodeURIComponent(found.id)}`); said.close(); };
    } catch { /* a phone: only a service worker may */ }
  }
  async function look() {
    const answer = await fetch("/console/queue/newest", { headers: { accept: "application/json" } }).catch(() => null);
    if (!answer?.ok) return;
    const found = await answer.json();
    mark(found.count);
    tell(found);
  }

  document.addEventListener("interlock:changed", (event) => { if (!event.detail || event.detail.includes("tickets")) look(); });
  document.addEventListener("click", (event) => { if (event.target.closest("[data-notify]")) toggle(); });
  document.addEventListener("DOMContentLoaded", () => { mark(one("#waiting")?.textContent.trim() || ""); label(); });
})();
