// Smooths what works without it: follows changes, keeps what is being typed.
"use strict";
(() => {
  const live = document.getElementById("live");
  const say = (words) => { if (live && live.textContent !== words) live.textContent = words; };
  let waiting = null, busy = false, again = false, stale = false, leaving = false, ended = false;

  // Whether a field holds something else than the page brought: typed, or put back by the browser.
  const isTyped = (field) => {
    if (field.type === "hidden" || !field.form) return false;
    if (field.options) return field.selectedIndex !== Math.max(0, [...field.options].findIndex((it) => it.defaultSelected));
    return /^(checkbox|radio)$/.test(field.type) ? field.checked !== field.defaultChecked : field.value !== field.defaultValue;
  };
  // The answer to a form that was refused holds why, and what was typed; loaded anew both would be gone.
  const hasTyped = () => document.getElementById("refused") !== null
    || [...document.querySelectorAll("input, select, textarea")].some(isTyped);

  const clean = new URL(location.href);
  if (clean.searchParams.has("said")) {
    clean.searchParams.delete("said");
    history.replaceState(null, "", clean);
  }
  document.addEventListener("input", () => { if (stale && !hasTyped()) changed(); });
  document.addEventListener("submit", (event) => {
    leaving = true;
    for (const button of event.target.querySelectorAll("button")) setTimeout(() => { button.disabled = true; });
  });
  // A page out of the browser's memory has forms that may be used up.
  addEventListener("pageshow", (event) => { if (event.persisted && (leaving || !hasTyped())) location.reload(); });

  const plain = (node) => node.innerHTML.replace(/(name="form" value="|[?&;]form=)[^"&]*/g, "$1").replaceAll(' open=""', "");
  // What an element is, before and after it was exchanged.
  const key = (node) => {
    const place = node.parentElement.closest("details[id], li") ?? node.parentElement;
    return node.id || [node.tagName, node.name, node.textContent, place.id || place.textContent].join("\n");
  };

  let lost = false;
  const gone = () => { if (lost) say("Connection to vault-agent lost; this page may be out of date."); };
  const swap = async () => {
    if (busy) { again = true; return; }
    busy = true;
    try {
      const answer = await fetch(location.href, { headers: { Accept: "text/html" }, redirect: "error" });
      if (answer.status === 401) { ended = true; say("This session has ended."); return; }
      if (!answer.ok) { gone(); return; }
      const next = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("main");
      const main = document.getElementById("main");
      if (!next) return;
      const said = main.querySelector(":scope > .said");
      if (said) next.querySelector("h1")?.after(said.cloneNode(true));
      stale = plain(next) !== plain(main);
      if (!stale || leaving) return;
      if (hasTyped()) { say("The notes changed meanwhile; what you typed is kept. Send or clear it to see the change."); return; }
      const open = new Set([...main.querySelectorAll("details[open]")].map(key));
      const active = document.activeElement, focus = active !== main && main.contains(active) ? key(active) : "";
      main.replaceChildren(...next.childNodes);
      for (const it of main.querySelectorAll("details")) if (open.has(key(it))) it.open = true;
      if (focus) [...main.querySelectorAll("a, button, input, select, summary, textarea, [tabindex]")].find((it) => key(it) === focus)?.focus();
      stale = false;
      say("Page updated.");
    } catch { gone(); /* The next event tries again. */ } finally {
      busy = false;
      if (again) { again = false; swap(); }
    }
  };
  const changed = () => {
    clearTimeout(waiting);
    waiting = setTimeout(swap, 80);
  };
  if (document.querySelector("header nav a")) {
    let events = null, away = false;
    // A browser has six connections to a host: a tab that isn't seen holds none, and looks when it is seen again.
    const follow = () => {
      if (document.hidden) { events?.close(); events = null; away = true; ended = false; return; }
      if (events || ended) return;
      events = new EventSource("/events");
      events.addEventListener("open", () => {
        if (lost) say("Connection to vault-agent restored.");
        if (lost || away) changed();
        lost = away = false;
      });
      events.addEventListener("error", () => {
        if (ended) return;
        lost = true;
        // A proxy that answers for it ends the stream for good, as the end of the session and too many open pages do.
        if (events?.readyState !== EventSource.CLOSED) { gone(); return; }
        events = null;
        swap();
        setTimeout(follow, 3000);
      });
      events.addEventListener("notes", changed);
      events.addEventListener("state", changed);
      events.addEventListener("vault", (event) => {
        say(event.data === "true" ? "The vault is back." : "The vault's folder can't be reached.");
        changed();
      });
    };
    document.addEventListener("visibilitychange", follow);
    follow();
  }
})();
