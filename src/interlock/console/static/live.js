// A list that is fetched again every few seconds while somebody looks at it; Pause, where there is one, holds it still.
"use strict";
(() => {
  const one = (selector) => document.querySelector(selector);
  document.addEventListener("DOMContentLoaded", () => {
    const feed = one("[data-poll]"), button = one("[data-poll-pause]"), state = one("[data-poll-state]");
    const words = feed.dataset.live;
    const again = () => htmx.trigger(feed, "live");
    let paused = false;
    button?.addEventListener("click", () => {
      paused = !paused;
      button.setAttribute("aria-pressed", String(paused));
      button.textContent = paused ? "Go on" : "Pause";
      state.textContent = paused ? "Paused" : "Updates automatically";
      if (paused) feed.removeAttribute("data-live");  // nor by what the daemon tells
      else { feed.dataset.live = words; again(); }
    });
    setInterval(() => {
      if (!paused && document.visibilityState === "visible" && one("#offline").hidden) again();
    }, Number(feed.dataset.poll) * 1000);
  });
})();
