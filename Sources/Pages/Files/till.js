// The till: the sale that is typed, the keys, and the events from gotchud.
import { money } from "./money.js";
import { Refused, call, create, follow, isPaired, on, pair } from "./till-link.js";
import { draw, look, moment, move, store } from "./till-rows.js";
import { limitRefund, openRefund, openReport, setUpRefund, setUpReport, tell } from "./till-dialogs.js";

const $ = (id) => document.getElementById(id);
const SALE = "gotchu-till-sale";
const LARGEST = 100_000_000;
/**
 * Limits that detect a barcode scanner: the maximum pause between its keys in ms, the minimum number of keys,
 * and the maximum pause before its line end in ms.
 */
const RUN = 50;
const SHORTEST_RUN = 4;
const LINE_END = 300;

// The sale. Its idempotency key is created with the first digit. Both are stored across reloads of the page
// until gotchud has accepted the request or the sale is cleared.
const none = { cents: 0, memo: "", key: null, isSent: false };
const sale = JSON.parse(sessionStorage.getItem(SALE) ?? "null") ?? { ...none, page: crypto.randomUUID() };
/** The time in ms in which the page before a reload must have ended. */
const RELOAD = 3_000;
const requests = new Map();
const refunds = new Map();
let till = null, status = null, isLinked = false, isAsking = false;

/** Locks a page's id until this page ends. Returns false if another page has it. */
const lock = (page) => new Promise((done) => {
  const forEver = () => (done(true), new Promise(() => {}));
  navigator.locks.request(`${SALE}-${page}`, { signal: AbortSignal.timeout(RELOAD) }, forEver)
    .catch(() => done(false));
});

/**
 * Drops a stored sale of another page. A browser that duplicates a tab copies the storage, and two pages with one key
 * would request one payment for two sales.
 */
async function claim() {
  if (await lock(sale.page)) return;
  Object.assign(sale, none, { page: crypto.randomUUID() });
  sessionStorage.setItem(SALE, JSON.stringify(sale));
  await lock(sale.page);
}

function keep() {
  if (sale.cents && !sale.key) sale.key = crypto.randomUUID();
  if (!sale.cents && !sale.memo) sale.key = null;
  sessionStorage.setItem(SALE, JSON.stringify(sale));
  show();
}

function show() {
  const amount = money(sale.cents);
  $("figure").value = $("charge-amount").textContent = amount;
  if ($("memo").value !== sale.memo) $("memo").value = sale.memo;
  $("memo").readOnly = sale.isSent;
  $("charge-word").textContent = sale.isSent ? "Requesting" : "Charge";
  for (const key of $("keys").children) key.disabled = sale.isSent;
  $("charge").disabled = !sale.cents || !isLinked || !status?.is_ready || sale.isSent;
  $("open-report").disabled = !isLinked;
  const trouble = status?.health?.find((item) => item.severity === "error");
  const state = !isLinked ? "away" : status?.is_ready ? "ready" : "trouble";
  $("dot").className = `dot ${state}`;
  const words = state === "away" ? "No connection to gotchud"
    : state === "ready" ? "Ready"
      : [trouble?.text ?? status?.summary, trouble?.fix].filter(Boolean).join(" → ");
  // Set only if it changed: a screen reader then reads it once, and not with every event.
  if ($("health").textContent !== words) $("health").textContent = words;
}

function press(key) {
  if (sale.isSent) return;
  const next = key === "⌫" ? Math.floor(sale.cents / 10)
    : key === "00" ? sale.cents * 100 : sale.cents * 10 + Number(key);
  if (next <= LARGEST) sale.cents = next;
  tell($("problem"), null);
  keep();
}

function clear() {
  if (sale.isSent) return;
  Object.assign(sale, none);
  tell($("problem"), null);
  keep();
}

/** Sends the request, always with the sale's key, until there is a definite answer. */
async function charge() {
  if (isAsking || !sale.cents || !sale.key) return;
  isAsking = true;
  let isFirst = !sale.isSent;
  // True if an earlier try may have requested it: a later refusal then does not mean that nothing was.
  let mayExist = sale.isSent;
  sale.isSent = true;
  keep();
  // The next digits belong to the amount and not to the memo.
  $("figure").focus();
  const body = { amount_cents: sale.cents };
  if (sale.memo.trim()) body.memo = sale.memo.trim();
  for (let pause = 1_000; sale.isSent; pause = Math.min(pause * 2, 8_000)) {
    try {
      const { made, isReplay } = await create("/v1/requests", body, sale.key);
      tell($("problem"), null);
      if (isReplay && isFirst) refuseReplay(made);
      else Object.assign(sale, none);
      // If an event has already reported the request, its data is newer than this answer.
      if (!requests.has(made.id)) store(requests, made);
    } catch (error) {
      tell($("problem"), error, "No answer yet: asking again. It is requested once only.",
        mayExist ? "It may have been requested: look at its row. " : "Nothing was charged, and the amount stays. ");
      // After a refusal there is no request. The amount stays and can be charged again or changed.
      if (error.code === "IDEMPOTENCY_KEY_REUSED") refuseReplay();
      else if (error instanceof Refused && error.isCertain) {
        if (mayExist) break;
        sale.isSent = false;
      } else {
        mayExist = true;
        await new Promise((done) => setTimeout(done, pause));
      }
    }
    isFirst = false;
  }
  isAsking = false;
  keep();
  list();
}

/**
 * Keeps the amount for a new key. This page's first request with the old key was answered with a request that the page
 * did not make, such as one from before the browser restored its tabs. That is no payment of this customer.
 */
function refuseReplay(made) {
  Object.assign(sale, { key: crypto.randomUUID(), isSent: false });
  const before = !made ? "Another amount was requested for this sale before"
    : made.state === "paid" ? `This sale was paid ${moment(made.paid_at ?? made.created_at)}`
      : `This sale was requested ${moment(made.created_at)}, see its row`;
  tell($("problem"), null, `${before}. Nothing more was requested. `
    + `To request ${money(sale.cents)} once more, press Charge.`);
}

const newest = (views) => [...views.values()]
  .sort((one, other) => (one.created_at < other.created_at ? 1 : -1));
const see = (request, own = newest(refunds)) => look(request, own, till?.refunds_per_day_cents != null);
function list() {
  const own = newest(refunds);
  draw($("rows"), newest(requests), (request) => see(request, own), act);
  $("none").hidden = !isLinked || requests.size > 0;
}

async function act(action, request) {
  if (action === "refund") {
    openRefund(request, see(request).left, till);
    return refresh(request);
  }
  try {
    const now = await call("DELETE", `/v1/requests/${request.id}`);
    store(requests, now);
    tell($("problem"), null);
    list();
  } catch (error) {
    tell($("problem"), error, "No answer yet: it may still be paid. Look at its row.");
  }
}

/** Reads a request again: it may have been refunded elsewhere, such as on the merchant's pages. */
async function refresh(request) {
  try {
    const now = await call("POST", `/v1/requests/${request.id}/refresh`);
    store(requests, now);
    list();
    limitRefund(now, see(now).left);
  } catch {
    // An error does no harm: the server refuses a refund that is too large.
  }
}

/** Reads this till's name and its limit for refunds. */
async function readTill() {
  try {
    till = await call("GET", "/v1/till");
  } catch {
    // Read again with the next snapshot.
    return;
  }
  $("till-name").textContent = till.name;
  document.title = `Till · ${till.name}`;
  list();
}

function apply(event) {
  if (event.event === "snapshot") {
    requests.clear();
    refunds.clear();
    // They come newest first, and are stored in the order of their arrival.
    for (const request of event.snapshot.requests.reverse()) store(requests, request);
    for (const refund of event.snapshot.payments.reverse()) store(refunds, refund);
    status = event.snapshot.status;
    readTill();
  } else if (event.event === "request") store(requests, event.request);
  else if (event.event === "payment") {
    store(refunds, event.payment);
    readTill();
  } else if (event.event === "status") status = event.status;
  show();
  if (event.event !== "status") list();
}

/** Runs the command of a key. */
function command(key) {
  const row = document.activeElement?.closest?.("#rows > li");
  const chosen = row && requests.get(row.dataset.id);
  if (/^\d$/.test(key)) press(key);
  else if (key === "m" || key === "M") $("memo").focus();
  else if (key === "c" || key === "C") {
    const open = (chosen ? [chosen] : newest(requests)).find((one) => see(one).action === "cancel");
    if (open) act("cancel", open);
  } else if ((key === "r" || key === "R") && chosen && see(chosen).action === "refund") {
    act("refund", chosen);
  } else if (key === "?") $("help").showModal();
}

// A barcode scanner types like a keyboard, but faster than a person. Its keys go into the memo and are no commands.
let run = "", last = 0, timer = 0, wasScan = false;
function endRun() {
  clearTimeout(timer);
  if (!run) return;
  const keys = run;
  run = "";
  wasScan = keys.length >= SHORTEST_RUN;
  if (!wasScan) for (const key of keys) command(key);
  else if (!sale.isSent) {
    sale.memo = `${sale.memo} ${keys}`.trim().slice(0, 140);
    keep();
  }
}

addEventListener("keydown", (event) => {
  const { key, target } = event;
  if (event.ctrlKey || event.metaKey || event.altKey || $("sale").hidden) return;
  // Ignored, because a scanner sends Shift before each capital letter.
  if (key === "Shift") return;
  if (document.querySelector("dialog[open]")) {
    if (key === "F8") { event.preventDefault(); if ($("report").open) openReport(); }
    return;
  }
  // Ignored, because a key that is held down repeats as fast as a scanner.
  if (event.repeat && key.length === 1 && target.id !== "memo") return event.preventDefault();
  const pause = event.timeStamp - last;
  const isFast = pause < RUN;
  last = event.timeStamp;
  if (target.id === "memo") {
    // A scanner's line end must not charge.
    if (key === "Enter" && isFast) event.preventDefault();
    if (key === "Escape") { event.preventDefault(); $("figure").focus(); }
    if (key !== "F8") return;
  }
  if (key.length === 1 && (key !== " " || isFast)) {
    event.preventDefault();
    if (!isFast) endRun();
    run += key;
    clearTimeout(timer);
    timer = setTimeout(endRun, RUN);
    return;
  }
  endRun();
  const isLineEnd = wasScan && pause < LINE_END;
  wasScan = false;
  if (key === "Enter" && isLineEnd) event.preventDefault();
  else if (key === "Enter" && target.tagName !== "BUTTON") {
    event.preventDefault();
    if (!$("charge").disabled) charge();
  } else if (key === "Backspace") { event.preventDefault(); press("⌫"); }
  else if (key === "Escape") { clear(); $("figure").focus(); }
  else if (key === "ArrowDown" || key === "ArrowUp") {
    event.preventDefault();
    move($("rows"), key === "ArrowDown" ? 1 : -1);
  } else if (key === "F8") {
    event.preventDefault();
    $("open-report").click();
  }
});

for (const key of ["7", "8", "9", "4", "5", "6", "1", "2", "3", "00", "0", "⌫"]) {
  const button = Object.assign(document.createElement("button"), { type: "button", textContent: key });
  if (key === "⌫") button.setAttribute("aria-label", "Delete the last digit");
  button.addEventListener("click", () => press(key));
  $("keys").append(button);
}
// A click does not move the focus to a button. Otherwise Enter would press that button again instead of charging.
addEventListener("mousedown", (event) => {
  if (event.target.closest("button")) event.preventDefault();
});
$("memo").addEventListener("input", () => { sale.memo = $("memo").value; keep(); });
$("pad").addEventListener("submit", (event) => { event.preventDefault(); charge(); });
$("open-help").addEventListener("click", () => $("help").showModal());
on.updated = () => { if (!sale.cents && !document.querySelector("dialog[open]")) location.reload(); };
setUpRefund();
setUpReport();

async function work() {
  await claim();
  for (;;) {
    const isWorking = isPaired();
    $("sale").hidden = !isWorking;
    $("pairing").hidden = isWorking;
    if (!isWorking) {
      for (const dialog of document.querySelectorAll("dialog[open]")) dialog.close();
      $("health").textContent = "Not paired";
      await pair((code, note) => {
        $("code").textContent = code ? `${code.slice(0, 3)} ${code.slice(3)}` : "…";
        $("pair-command").textContent = `gotchu-ctl till pair ${code ?? "CODE"} --name Front`;
        $("pair-note").textContent = note;
      });
      continue;
    }
    show();
    $("figure").focus();
    if (sale.isSent) charge();
    await follow(apply, (is) => { if (isLinked !== is) { isLinked = is; show(); list(); } });
  }
}
work();
