// Plans: read again while you type, run what was shown, follow the output. The server checks every yes by itself.
"use strict";
(() => {
  const one = (selector, root = document) => root.querySelector(selector);
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const say = (words, bad) => window.interlock?.say(words, bad);
  const QUIET = 350, SOON = 100, POLL = 400, SLOW = 1500;

  async function send(path, fields) {
    let answer;
    try {
      answer = await fetch(path, {
        method: fields ? "POST" : "GET", credentials: "same-origin", redirect: "manual",
        headers: { accept: "application/json", "hx-request": "true", "x-csrf-token": one("meta[name=csrf]")?.content || "", ...(fields ? { "content-type": "application/x-www-form-urlencoded" } : {}) },
        body: fields ? new URLSearchParams(fields) : undefined,
      });
    } catch { throw new Error("The daemon does not answer."); }
    if (answer.ok) return answer;
    const text = await answer.text();
    let words = "";
    try { words = JSON.parse(text).error; } catch { words = one("h1", new DOMParser().parseFromString(text, "text/html"))?.textContent; }
    throw new Error(words || "That did not work. Load the page again.");
  }
  window.interlock = { ...(window.interlock || {}), send };

  // Boxes: Run works only while every box beside it is ticked.
  function boxes(form) {
    const open = form.dataset.busy !== "1" && all("[data-understood]", form).every((box) => box.checked);
    for (const go of all("[data-go], [data-freeze]", form)) go.disabled = !open || go.hasAttribute("data-never");
  }
  document.addEventListener("change", (event) => { const form = event.target.closest("[data-run], [data-flow]"); if (form) boxes(form); });

  function plan(card) {
    const id = encodeURIComponent(card.dataset.plan), review = one("[data-review]", card), place = one("[data-part=answer]", card);
    const command = one("[data-command]", card), cwd = one("[data-cwd]", card);
    let asked = 0, timer = 0;

    // Whatever is typed takes every yes back at once; Run comes back with the review of exactly that text.
    function typed() {
      const form = one("[data-run]", place);
      if (form) {
        form.dataset.busy = "1";
        for (const box of all("[data-understood]", form)) { box.checked = false; box.disabled = true; }
        boxes(form);
      }
      for (const part of all("[data-part]", card)) part.classList.add("busy");
      review.setAttribute("aria-busy", "true");
      asked += 1;
      clearTimeout(timer);
      timer = setTimeout(read, QUIET);
    }
    async function read() {
      const mine = asked;
      try {
        const answer = await send(`/console/ask/${id}/edit`, { command: command.value, cwd: cwd.value });
        const text = await answer.text();
        if (mine === asked) show(text);
      } catch (error) { if (mine === asked) problem(error.message); }
    }
    function show(text) {
      const page = new DOMParser().parseFromString(text, "text/html");
      for (const part of all("[data-part]", card)) {
        const after = one(`[data-part=${part.dataset.part}]`, page);
        part.innerHTML = after.innerHTML; part.classList.remove("busy");
        if (after.dataset.level) card.className = card.className.replace(/level-\d/, `level-${after.dataset.level}`);
      }
      review.removeAttribute("aria-busy");
      window.htmx?.process(place);
    }
    function problem(words) {
      const box = one("[data-problem]", place);
      if (box) { box.hidden = false; box.textContent = words; } else say(words, true);
    }
    command.addEventListener("input", typed);
    cwd.addEventListener("input", typed);
    command.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      one("[data-go]", place)?.click();  // a disabled button does nothing: the same gate as the mouse
    });

    card.addEventListener("submit", async (event) => {
      const form = event.target;
      if (!form.matches("[data-run]")) return;
      event.preventDefault();
      if (form.dataset.busy === "1" || one("[data-go]", form).disabled) return;
      form.dataset.busy = "1"; boxes(form);
      try {
        const yes = Object.fromEntries(new FormData(form));
        let found = await run(yes), why = "";
        if (found.ticket) try { await touched(found.ticket); found = await run(yes); } catch (error) { why = error.message; }
        if (found.status === "held") {
          await reviewed();
          if (why || !one("[data-gate]", place)) problem(why || found.reason);
        } else follow();
      } catch (error) { form.dataset.busy = ""; boxes(form); problem(error.message); }
    });

    const run = async (yes) => (await send(`/console/ask/${id}/run`, yes)).json();
    const reviewed = async () => show(await (await send(`/console/ask/${id}/review`)).text());
    // One touch for what is dangerous: it signs the ticket of exactly this text, and the same yes runs it.
    async function touched(ticket) {
      const path = `/console/step-up/${encodeURIComponent(ticket)}`;
      await window.interlock.stepUp(`${path}/begin`, `${path}/approve`);
    }

    function follow() {
      command.disabled = cwd.disabled = true;
      for (const form of all("form, #command-hint", review)) form.hidden = true;
      one("[data-run-box]", card).hidden = false;
      one("[data-cancel]", card).addEventListener("click", (event) => {
        event.target.disabled = true;
        send(`/console/ask/${id}/cancel`, {}).catch((error) => say(error.message, true));
      });
      const line = one("[data-type]", card);
      line.addEventListener("submit", (event) => {
        event.preventDefault();
        const field = one("input", line);
        send(`/console/ask/${id}/type`, { line: field.value }).then(() => { field.value = ""; }).catch((error) => say(error.message, true));
      });
      watch(`/console/ask/${id}/output`, card, () => { line.hidden = true; one("[data-cancel]", card).hidden = true; one("[data-again]", card).hidden = false; silent(); reviewed().catch(() => {}); });
    }
    function silent() {
      const nothing = !one("[data-output]", card).textContent;
      one("[data-silent]", card).hidden = !nothing; one("[data-output]", card).closest("pre").hidden = nothing;
    }
    if (card.dataset.status !== "planned" && card.dataset.status !== "rejected") follow();
    else all("[data-run]", place).forEach(boxes);
  }

  const length = (seconds) => (seconds < 90 ? `${seconds} s` : `${Math.round(seconds / 60)} min`);
  const ended = (found) => `${found.status}${found.exitCode === null ? "" : `, exit code ${found.exitCode}`}, ${length(found.seconds)}${found.cut ? ", output was cut" : ""}`;
  async function watch(path, root, over) {
    const output = one("[data-output]", root), progress = one("[data-progress]", root), box = output.closest("pre");
    let at = 0, wait = SOON;  // most commands end at once
    for (;;) {
      try {
        const found = await (await send(`${path}?start=${at}`)).json();
        const low = box.scrollTop + box.clientHeight >= box.scrollHeight - 20;
        output.append(found.text);
        if (low) box.scrollTop = box.scrollHeight;
        wait = Math.min(wait * 1.4, found.text ? POLL : SLOW);
        at = found.next;
        progress.textContent = found.status === "running" ? `running for ${length(found.seconds)}` : ended(found);
        if (found.status !== "running") { over(found); return; }
      } catch (error) { progress.textContent = error.message; wait = SLOW; }
      await new Promise((resolve) => setTimeout(resolve, wait));
    }
  }

  // A workflow: every step with its own box, one Run for all of them, or Freeze.
  function flow(form) {
    const path = form.dataset.flow, said = one("[data-problem]", form);
    boxes(form);
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const freeze = event.submitter?.hasAttribute("data-freeze");
      if (event.submitter?.disabled) return;
      const steps = all("[data-step]", form).map((step) => ({
        id: step.dataset.step, command: one("[name=command]", step).value, mark: one("[name=mark]", step).value, understood: Boolean(one("[data-understood]", step)?.checked),
      }));
      for (const button of all("button", form)) button.disabled = true;
      try {
        const fields = { steps: JSON.stringify(steps), frozen: form.dataset.frozen || "", runs: one("[name=runs]", form)?.value || "10", days: one("[name=days]", form)?.value || "1" };
        if (freeze) Object.assign(fields, await window.interlock.signed(`${path}/freeze/begin`, fields));
        const found = await (await send(`${path}/${freeze ? "freeze" : "run"}`, fields)).json();
        if (found.status === "running") { one("[data-flow-progress]").hidden = false; progress(path); return; }
        if (found.status === "frozen") { location.reload(); return; }
        throw new Error(found.reason);
      } catch (error) {
        said.hidden = false; said.textContent = error.message;
        for (const button of all("button", form)) button.disabled = false;
        boxes(form);
      }
    });
    if (form.dataset.status === "running") { one("[data-flow-progress]").hidden = false; progress(path); }
  }
  async function progress(path) {
    const box = one("[data-flow-progress]");
    one("[data-flow-cancel]", box).addEventListener("click", () => send(`${path}/cancel`, {}).catch((error) => say(error.message, true)), { once: true });
    for (;;) {
      let found;
      try { found = await (await send(`${path}/progress`)).json(); } catch (error) { say(error.message, true); return; }
      const list = one("[data-flow-steps]", box);
      list.replaceChildren(...found.steps.map((step, at) => {
        const line = document.createElement("li"), link = document.createElement("a");
        link.href = `/console/ask/runs/${encodeURIComponent(step.plan)}`; link.textContent = `Step ${at + 1}: ${step.status}`;
        line.append(step.status === "planned" ? `Step ${at + 1}: not yet` : link);
        return line;
      }));
      one("[data-flow-status]", box).textContent = `${found.status}${found.reason ? `: ${found.reason}` : ""}`;
      if (found.status !== "running") { one("[data-flow-cancel]", box).hidden = true; return; }
      await new Promise((resolve) => setTimeout(resolve, POLL));
    }
  }

  document.addEventListener("submit", (event) => {
    if (!event.target.matches("[data-ask]")) return;
    one("[data-thinking]", event.target).hidden = false;
    setTimeout(() => { one("button[type=submit]", event.target).disabled = true; }, 0);
  });
  document.addEventListener("DOMContentLoaded", () => {
    const card = one("[data-plan]");
    if (card) plan(card);
    all("[data-flow]").forEach(flow);
  });
})();
