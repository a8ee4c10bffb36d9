// What somebody writes, opened or stands on in a list stays theirs when a fresh copy of the list comes. No inline script anywhere.
"use strict";
(() => {
  const one = (selector, root = document) => root.querySelector(selector);
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const PLACES = "[data-item], [data-item] :is(details, summary, input, textarea, button, a, pre)";
  const written = (field) => field.value !== field.defaultValue;
  const fields = (root) => all("input:not([type=hidden], [type=checkbox], [type=radio]), textarea", root).filter(written);

  // Whether somebody writes or reads something in it that a fresh copy would take away.
  const held = (element) => Boolean(one("details[open] form, [data-hold]:not([hidden]), dialog[open]", element)) || fields(element).length > 0;
  window.interlock = { held };

  // The same place in another copy: by the item that it is in, what it is and what it is called; never by its number.
  const called = (element) => element.name || (element.matches("details") ? one("summary", element) : element)?.textContent.trim();
  function place(element) {
    const item = element.closest("[data-item]");
    return item && JSON.stringify([item.dataset.item, element.tagName, element === item ? "" : called(element)]);
  }

  // Where somebody reads stays under their eyes and their pointer: what comes in above it moves nothing away.
  function steady(target) {
    const box = (item) => item.getBoundingClientRect();
    const shown = all("[data-item]", target).filter((item) => box(item).bottom > 0 && box(item).top < innerHeight);
    const item = shown.find((one) => one.matches(":hover")) || shown.find((one) => one.contains(document.activeElement)) || (scrollY > 0 && shown[0]);
    if (!item) return () => {};
    const before = box(item).top, id = item.dataset.item;
    return () => {
      const now = all("[data-item]", target).find((one) => one.dataset.item === id);
      if (now) scrollBy({ top: box(now).top - before, behavior: "instant" });
    };
  }

  function keep(target) {
    const stay = steady(target), read = new Map(all("[data-item] pre", target).filter((pre) => pre.scrollTop > 0).map((pre) => [place(pre), pre.scrollTop]));
    const opened = all("[data-item] details[open]", target).map(place);
    const words = new Map(fields(target).map((field) => [place(field), field.value]));
    const active = target.contains(document.activeElement) && document.activeElement, at = active && place(active);
    const cursor = active && "selectionStart" in active ? [active.selectionStart, active.selectionEnd] : null;
    return () => {
      for (const element of all(PLACES, target)) {
        const here = place(element);
        if (element.matches("details") && opened.includes(here)) element.open = true;
        if (words.has(here)) element.value = words.get(here);
        if (read.has(here)) element.scrollTop = read.get(here);
        if (here !== at) continue;
        element.focus({ preventScroll: true });
        if (cursor) element.setSelectionRange(...cursor);
      }
      stay();
    };
  }

  // A copy that nobody asked for waits while somebody writes, however long ago it was sent for; any other brings along what was there.
  let restore = () => {};
  document.addEventListener("htmx:beforeSwap", (event) => {
    const { target, requestConfig } = event.detail, why = requestConfig?.triggeringEvent, stale = one("#stale");
    restore = () => {};
    if (!target.matches("[data-live]")) return;
    if (stale && why?.type === "live" && !why.detail?.asked && held(target)) {
      event.detail.shouldSwap = false;
      stale.hidden = false;
      return;
    }
    if (stale && event.detail.shouldSwap && held(target)) stale.hidden = true;
    restore = keep(target);
  });
  document.addEventListener("htmx:afterSwap", () => { restore(); restore = () => {}; });
})();
