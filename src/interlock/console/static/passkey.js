// Passkeys in the browser: signing in, registering, and the touch that approves exactly one action. No inline script anywhere.
"use strict";
(() => {
  const one = (selector, root = document) => root.querySelector(selector);
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const MARK = "interlock-mark";  // as in console.js
  const csrf = () => localStorage.getItem(MARK) || "";

  async function ask(path, body = {}) {
    let answer;
    try {
      answer = await fetch(path, {
        method: "POST", credentials: "same-origin", redirect: "error",
        headers: { "content-type": "application/json", accept: "application/json", "x-csrf-token": csrf() }, body: JSON.stringify(body),
      });
    } catch { throw new Error("The daemon does not answer."); }
    const found = await answer.json().catch(() => ({}));
    if (!answer.ok) throw new Error(found.error || "That did not work. Load the page again.");
    return found;
  }

  // Bytes <-> base64url, by hand where a browser has no toJSON yet.
  const bytes = (text) => Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (char) => char.charCodeAt(0));
  const text = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer))).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
  const ids = (list) => (list || []).map((item) => ({ ...item, id: bytes(item.id) }));

  function json(credential) {
    const from = credential.response, response = { clientDataJSON: text(from.clientDataJSON) };
    if (from.attestationObject) {
      response.attestationObject = text(from.attestationObject);
      response.transports = from.getTransports ? from.getTransports() : [];
    } else {
      response.authenticatorData = text(from.authenticatorData);
      response.signature = text(from.signature);
    }
    return { id: credential.id, rawId: text(credential.rawId), type: credential.type, response, clientExtensionResults: {} };
  }

  const refused = (error) => new Error(error?.name === "NotAllowedError" ? "The passkey was not touched, or you said no." : error?.message || "The passkey did not answer.");

  async function touch(options) {
    if (!window.PublicKeyCredential) throw new Error("This browser has no passkeys.");
    const publicKey = { ...options, challenge: bytes(options.challenge), allowCredentials: ids(options.allowCredentials) };
    try { return json(await navigator.credentials.get({ publicKey })); } catch (error) { throw refused(error); }
  }

  async function make(options) {
    if (!window.PublicKeyCredential) throw new Error("This browser has no passkeys.");
    const publicKey = { ...options, challenge: bytes(options.challenge), user: { ...options.user, id: bytes(options.user.id) }, excludeCredentials: ids(options.excludeCredentials) };
    try { return json(await navigator.credentials.create({ publicKey })); } catch (error) { throw refused(error); }
  }

  // Passphrase and code, asked for in a dialog that is made when it is needed.
  function field(label, name, attributes) {
    const box = document.createElement("div"), words = document.createElement("label"), input = document.createElement("input");
    box.className = "field"; words.textContent = label; words.htmlFor = input.id = `again-${name}`; input.name = name; input.required = true;
    for (const [key, value] of Object.entries(attributes)) input.setAttribute(key, value);
    box.append(words, input);
    return box;
  }
  function askAgain() {
    return new Promise((resolve, reject) => {
      const dialog = document.createElement("dialog"), form = document.createElement("form"), title = document.createElement("h2");
      dialog.className = "card"; dialog.setAttribute("aria-labelledby", "again-title");
      title.id = "again-title"; title.textContent = "Confirm that it is you";
      const go = document.createElement("button"), no = document.createElement("button");
      go.className = "button primary"; go.type = "submit"; go.textContent = "Confirm";
      no.className = "button quiet"; no.type = "button"; no.textContent = "Cancel";
      const row = document.createElement("div"); row.className = "row"; row.append(go, no);
      form.className = "stack";
      form.append(title, field("Passphrase", "passphrase", { type: "password", autocomplete: "current-password", maxlength: "1024" }), field("Code of your authenticator", "code", { inputmode: "numeric", autocomplete: "one-time-code", maxlength: "8" }), row);
      dialog.append(form); document.body.append(dialog);
      let given = null;
      form.addEventListener("submit", (event) => { event.preventDefault(); given = Object.fromEntries(new FormData(form)); dialog.close(); });
      no.addEventListener("click", () => dialog.close());
      dialog.addEventListener("close", () => { dialog.remove(); given ? resolve(given) : reject(new Error("Nothing was confirmed.")); });
      dialog.showModal();
    });
  }

  // Asked anew: begin says what is wanted, finish gets it with whatever else the caller sends.
  const proof = async (asked) => (asked.passphrase ? askAgain() : { ceremony: asked.ceremony, response: await touch(asked.publicKey) });
  async function stepUp(begin, finish, more = {}) {
    const asked = await ask(begin);
    return asked.fresh ? asked : ask(finish, { ...more, ...(await proof(asked)) });
  }
  // Asked anew for exactly what a form says; the fields that prove it, for whoever sends it.
  async function signed(begin, fields) {
    const asked = await ask(begin, fields);
    if (asked.fresh) return {};
    const found = await proof(asked);
    return found.response ? { ...found, response: JSON.stringify(found.response) } : found;
  }
  async function sign(form) {
    for (const old of all("[data-proof]", form)) old.remove();
    const found = await signed(form.dataset.sign, Object.fromEntries(new FormData(form)));
    for (const [name, value] of Object.entries(found)) {
      const field = document.createElement("input");
      field.type = "hidden"; field.name = name; field.value = value; field.dataset.proof = "1";
      form.append(field);
    }
    form.submit();
  }
  const fresh = () => stepUp("/console/fresh/begin", "/console/fresh/finish");
  window.interlock = { ...(window.interlock || {}), stepUp, signed, fresh, touch };

  const tell = (words, bad) => (window.interlock.say ? window.interlock.say(words, bad) : undefined);
  async function guarded(element, work) {
    const buttons = all("button", element).concat(element.matches("button") ? [element] : []);
    const free = buttons.filter((button) => !button.disabled);
    free.forEach((button) => { button.disabled = true; });
    try { await work(); } catch (error) { problem(element, error.message); } finally { free.forEach((button) => { button.disabled = false; }); }
  }
  function problem(element, words) {
    const said = one("[data-said]", element), shown = said && !said.closest("[hidden]");
    const place = shown ? said : one("[data-problem]", element.closest("section") || document);
    if (place) { place.hidden = false; place.textContent = words; } else tell(words, true);
  }

  async function signIn(section) {
    const asked = await ask("/console/sign-in/passkey/begin");
    const answer = await ask("/console/sign-in/passkey/finish", { ceremony: asked.ceremony, response: await touch(asked.publicKey), next: section.dataset.next || "" });
    localStorage.setItem(MARK, answer.csrf);
    location.assign(answer.next);
  }

  const waits = (made) => (made.waits ? " It works after 24 hours, because no existing passkey confirmed it." : " It works at once.");
  async function vouch() { if (!one("[data-set-up]")) { try { await fresh(); } catch (error) { if (one("[data-keys] [data-key]")) throw error; } } }
  function registered(form, words) {
    one("[data-said]", form).textContent = words;
    const done = one("[data-done]");
    if (done) done.hidden = false; else setTimeout(() => location.reload(), 1500);
  }
  async function registerPasskey(form) {
    await vouch();
    const asked = await ask("/console/keys/passkey/begin");
    const made = await ask("/console/keys/passkey/finish", { ceremony: asked.ceremony, response: await make(asked.publicKey), name: new FormData(form).get("name") });
    registered(form, `${made.name} is registered.${waits(made)}`);
  }
  async function showSecret(form) {
    await vouch();
    const asked = await ask("/console/keys/totp/begin");
    form.dataset.ceremony = asked.ceremony;
    one("[data-totp-secret]", form).textContent = asked.secret.match(/.{1,4}/g).join(" ");
    one("[data-totp-link]", form).href = asked.uri;
    one("[data-totp]", form).hidden = false;
    one("[name=code]", form).focus();
  }
  async function registerTotp(form) {
    const made = await ask("/console/keys/totp/finish", { ceremony: form.dataset.ceremony || "", code: new FormData(form).get("code") });
    one("[data-totp]", form).hidden = true;
    one("[data-totp-secret]", form).textContent = "";
    registered(form, `The authenticator is set up.${waits(made)}`);
  }

  async function approve(form) {
    const id = encodeURIComponent(form.dataset.stepUp);
    await stepUp(`/console/step-up/${id}/begin`, `/console/step-up/${id}/approve`, Object.fromEntries(new FormData(form)));
    tell("Approved: it may run once.");
    if (window.htmx && one("[data-live~=tickets]")) all("[data-live]").forEach((element) => window.htmx.trigger(element, "live", { asked: true })); else location.reload();
  }
  async function reveal(form) {
    const id = encodeURIComponent(form.dataset.revealCode);
    const shown = await stepUp(`/console/codes/${id}/begin`, `/console/codes/${id}/reveal`);
    const place = one("[data-code]", form) || form.appendChild(document.createElement("output"));
    const box = place.closest("[data-hold]") || place;
    place.className = "secret"; place.textContent = shown.code; box.hidden = false;
    setTimeout(() => { place.textContent = ""; box.hidden = true; }, 60_000);
  }

  document.addEventListener("submit", (event) => {
    const form = event.target;
    const work = form.matches("[data-step-up]") ? approve : form.matches("[data-reveal-code]") ? reveal : form.matches("[data-register-passkey]") ? registerPasskey : form.matches("[data-register-totp]") ? registerTotp : form.matches("[data-sign]") ? sign : null;
    if (work) { event.preventDefault(); guarded(form, () => work(form)); }
    else if (form.matches("[data-fresh]") && !form.dataset.asked) {
      event.preventDefault();
      guarded(form, async () => { await fresh(); form.dataset.asked = "1"; form.submit(); });
    }
  });
  document.addEventListener("click", (event) => {
    const enter = event.target.closest("[data-passkey-sign-in]"), secret = event.target.closest("[data-totp-begin]");
    if (enter) guarded(enter, () => signIn(enter.closest("[data-sign-in]")));
    if (secret) guarded(secret.form, () => showSecret(secret.form));
  });

  // A set-up link carries its secret behind the #, which no server and no log gets; it is taken off the address at once.
  async function setUp(section) {
    const token = location.hash.slice(1);
    if (!token) { if (one("[data-ways]", section).hidden) throw new Error("Open the link that `interlock operator link` prints at your terminal."); return; }
    history.replaceState(null, "", location.pathname);
    const entered = await ask("/console/set-up", { token });
    localStorage.setItem(MARK, entered.csrf);
    one("h1", section).textContent = `Set up your sign-in, ${entered.operator}`;
    one("[data-problem]", section).hidden = true;
    one("[data-ways]", section).hidden = false;
  }
  // A link from elsewhere comes without the cookie (SameSite); this page asks again with it.
  async function alreadyIn(section) {
    const answer = await fetch("/console/sign-in/who", { credentials: "same-origin", headers: { accept: "application/json" } });
    if (answer.ok && (await answer.json()).signedIn) location.replace(section.dataset.next || "/console");
  }
  document.addEventListener("DOMContentLoaded", () => {
    const start = one("[data-set-up]"), enter = one("[data-sign-in]");
    const begin = () => setUp(start).catch((error) => problem(start, error.message));
    if (start) { begin(); window.addEventListener("hashchange", begin); }  // the link may be pasted where the page is open
    if (enter && csrf() && !location.search.includes("again=") && !one("[role=alert]:not([hidden])", enter)) alreadyIn(enter).catch(() => {});
  });
})();
