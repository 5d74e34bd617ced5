// The studio's one script. Pages work without it, as plain forms; with it there are keys, tasks follow each other without
// loading a page, an answer is sent until it is acknowledged, and the time that somebody worked is measured.
"use strict";

const IDLE = 60; // seconds: who does nothing for longer is not working
const PAUSE = 150; // ms: a key that is pressed twice does not answer what has just appeared
const element = (id) => document.getElementById(id);
const task = () => document.querySelector("form.task");

// ---- the time that somebody worked: while the page is seen, and something was done in the last minute

const watch = { worked: 0, last: performance.now() };

function look() {
  const now = performance.now();
  if (watch.seen) watch.worked += Math.min((now - watch.last) / 1000, IDLE);
  watch.last = now;
  watch.seen = document.visibilityState === "visible";
}

function begin() {
  look();
  watch.worked = 0;
  watch.shown = performance.now();
}

// ---- telling

function tell(words, trouble = false) {
  const place = element("telling");
  place.textContent = words;
  place.classList.toggle("trouble", trouble);
}

// ---- sending: the same form, under the same key, until the studio has said that it has it

const wait = (ms) => new Promise((done) => setTimeout(done, ms));
let sending = false;

async function post(action, body) {
  for (let tries = 0; ; tries += 1) {
    try {
      const answer = await fetch(action, {
        method: "POST", body, credentials: "same-origin", headers: { "X-Requested-With": "labelworth" },
      });
      if (answer.status !== 429 && answer.status < 500) return answer;
    } catch { /* nobody there: again */ }
    tell("Not sent yet: the studio does not answer. Trying again; leave this page open.", true);
    await wait(Math.min(300 * 2 ** tries, 5000));
  }
}

async function send(form, button) {
  if (sending) return;
  sending = true;
  look();
  const seconds = form.querySelector("input[name=seconds]");
  if (seconds) seconds.value = watch.worked.toFixed(1);
  const body = new URLSearchParams(new FormData(form));
  if (button && button.name) body.set(button.name, button.value);
  form.classList.add("sending");
  const answer = await post(form.getAttribute("action"), body);
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const next = page.getElementById("main");
  sending = false;
  if (answer.status === 401 || !next) { location.assign("/"); return; }
  element("main").replaceWith(next);
  tell(answer.ok ? "Kept." : "");
  shown();
}

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.hasAttribute("data-swap")) {
    event.preventDefault();
    send(form, event.submitter);
  } else if (form.hasAttribute("data-once")) {
    if (sending) event.preventDefault();
    sending = true;
  }
});
window.addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
window.addEventListener("beforeunload", (event) => { if (sending && task()) event.preventDefault(); });

// ---- a task has appeared

function shown() {
  begin();
  const form = task();
  if (form) {
    const first = form.querySelector(".asked select") || element("text");
    first.focus({ preventScroll: true });
    window.scrollTo(0, 0);
  }
  settle();
  mark();
}

// ---- tokens: one is current; keys and buttons choose its class, and go on to the next

const tokens = () => [...document.querySelectorAll(".asked select")];

function current() {
  const all = tokens();
  return all.includes(document.activeElement) ? document.activeElement : all.find((one) => !one.value) || all[0];
}

function mark() {
  const one = tokens().length ? current() : null;
  for (const button of document.querySelectorAll(".choices button[type=button]")) {
    button.classList.toggle("chosen", Boolean(one) && one.value === button.value);
  }
}

function choose(value) {
  const one = current();
  one.value = value;
  const all = tokens();
  const next = all.slice(all.indexOf(one) + 1).find((other) => !other.value) || all.find((other) => !other.value);
  (next || document.querySelector(".send button")).focus();
  mark();
}

function step(by) {
  const all = tokens();
  all[Math.min(Math.max(all.indexOf(current()) + by, 0), all.length - 1)].focus();
  mark();
}

// ---- keys

const keys = { on: localStorage.getItem("keys") !== "off" };

function settle() {
  const button = element("keys");
  if (!button) return;
  button.setAttribute("aria-pressed", String(keys.on));
  button.textContent = keys.on ? "Keys are on" : "Keys are off";
}

document.addEventListener("keydown", (event) => {
  look();
  if (!document.querySelector(".work") || event.ctrlKey || event.metaKey || event.altKey) return;
  if (!keys.on || event.repeat || sending || performance.now() - watch.shown < PAUSE) return;
  const many = tokens().length > 0;
  if (many && (event.key === "ArrowLeft" || event.key === "ArrowRight")) {
    event.preventDefault();
    const ahead = getComputedStyle(element("text")).direction === "rtl" ? "ArrowLeft" : "ArrowRight";
    step(event.key === ahead ? 1 : -1);
    return;
  }
  if (event.key === "Enter" && (!many || document.activeElement.tagName === "BUTTON")) return;
  const pressed = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if (pressed === "g") { const guess = document.querySelector("details.guess"); if (guess) guess.open = !guess.open; return; }
  const button = [...document.querySelectorAll(".work [data-key]")].find((one) => one.dataset.key === pressed);
  if (!button) return;
  event.preventDefault();
  button.click();
});

document.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  if (button.id === "keys") {
    keys.on = !keys.on;
    localStorage.setItem("keys", keys.on ? "on" : "off");
    settle();
  } else if (button.type === "button" && button.name === "said") {
    choose(button.value);
  } else if (button.dataset.copy) {
    const field = element(button.dataset.copy);
    field.select();
    document.execCommand("copy");
    tell("Copied.");
  }
});
document.addEventListener("focusin", mark);
document.addEventListener("change", mark);
for (const name of ["pointerdown", "pointermove", "wheel", "scroll", "visibilitychange"]) {
  document.addEventListener(name, look, { passive: true });
}

// ---- who still works on a task keeps it

setInterval(() => {
  const form = task();
  if (!form || document.visibilityState !== "visible" || performance.now() - watch.last > 5 * 60000) return;
  const body = new URLSearchParams(new FormData(form));
  fetch("/going-on", { method: "POST", body, credentials: "same-origin", headers: { "X-Requested-With": "labelworth" } }).catch(() => {});
}, 60000 * Math.max(Number(task()?.dataset.minutes || 30) / 3, 0.2));

// ---- pages that follow: the manager's figures, and whoever waits for a task

let before = null;
let ticks = 0;

async function fetched(address) {
  const answer = await fetch(address, { credentials: "same-origin", headers: { "X-Requested-With": "labelworth" } });
  if (answer.status === 401 || answer.status === 403) { location.reload(); return null; }
  return answer.ok ? new DOMParser().parseFromString(await answer.text(), "text/html") : null;
}

function replace(live, page) {
  if (page.body.innerHTML === before) return;
  before = page.body.innerHTML;
  const named = (one) => one.id || one.getAttribute("href") || one.getAttribute("aria-labelledby");
  const at = live.contains(document.activeElement) ? named(document.activeElement) : null;
  live.replaceChildren(...page.body.childNodes);
  if (at) [...live.querySelectorAll("a, button, [tabindex]")].find((one) => named(one) === at)?.focus({ preventScroll: true });
}

async function follow() {
  ticks += 1;
  const live = document.querySelector("[data-live]");
  const waits = document.querySelector("[data-again]") && ticks % 3 === 0;
  if (document.visibilityState !== "visible" || sending || !(live || waits)) return;
  try {
    const page = await fetched(live ? live.dataset.live : "/");
    if (!page) return;
    if (live) {
      replace(live, page);
      tell("");
    } else if (page.querySelector("form.task") && !sending) {
      element("main").replaceWith(page.getElementById("main"));
      tell("There is something to label.");
      shown();
    }
  } catch { tell("The studio does not answer; what you see is from before.", true); }
}
setInterval(follow, 2000);

// ---- coming in: the token stands behind #, which no browser sends by itself

function comeIn() {
  const form = element("enter");
  if (!form || location.hash.length <= 20) return;
  form.querySelector("input").value = location.hash.slice(1);
  history.replaceState(null, "", "/enter");
  form.submit();
}
// Who is there already and opens their link loads no page.
window.addEventListener("hashchange", comeIn);
comeIn();
document.documentElement.classList.add("script");
if (document.querySelector(".work")) shown();
