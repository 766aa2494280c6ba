// The list of requests. A row shows a request with its sign, its state and at most one action.
import { money } from "./money.js";

const CHIPS = {
  advertising: ["◌", "Waiting"], locked: ["◐", "Confirming"], paid: ["✓", "Paid"],
  expired: ["◷", "Time is up"], cancelled: ["✕", "Cancelled"], unknown: ["?", "Checking"],
  refunded: ["↩", "Refunded"],
};
const WARNING = "The payment server cannot be asked. Hand nothing out before this says Paid.";

/** Creates an element from its name, class and content. Strings become text and never markup. */
export function make(name, className, ...content) {
  const element = document.createElement(name);
  if (className) element.className = className;
  element.append(...content);
  return element;
}

/** The maximum number of requests, and of refunds, unless more of them are open. gotchud's snapshots have the same. */
const MOST = 200;
const ENDED = new Set(["paid", "expired", "cancelled", "declined"]);

/** Stores a request or a refund. Above the maximum, the first that arrived and have ended are removed. */
export function store(views, view) {
  views.set(view.id, view);
  if (views.size <= MOST) return;
  for (const [id, { state }] of views) {
    if (ENDED.has(state)) views.delete(id);
    if (views.size <= MOST) return;
  }
}

const isOpen = (request) => ["advertising", "locked"].includes(request.state);
export const total = (request) => request.amount_cents + (request.tip_cents ?? 0);

/** Returns the view of a request: its state, the refunded amount, the amount left, the action, notes and time. */
export function look(request, refunds, mayRefund) {
  const own = refunds.filter((refund) => refund.sid === request.id);
  // The larger of two sums: this machine's refunds, and all refunds as the payment server reported them.
  // Both only grow.
  const back = Math.max(request.refunded_cents ?? 0, own.filter((refund) => refund.state === "paid")
    .reduce((sum, refund) => sum + refund.amount_cents, 0));
  const isPending = own.some((refund) => !["paid", "declined"].includes(refund.state));
  const left = total(request) - back;
  const state = request.state === "paid" && back > 0 ? "refunded" : request.state;
  const canRefund = mayRefund && request.state === "paid" && left > 0 && !isPending;
  const action = isOpen(request) ? "cancel" : canRefund ? "refund" : null;
  const notes = [];
  if (request.tip_cents > 0) notes.push(`with a tip of ${money(request.tip_cents, request.currency)}`);
  if (state === "unknown") notes.push(WARNING);
  if (state === "advertising" && !request.is_on_air) notes.push("Not on the air at this moment.");
  if (isPending) notes.push("Refunding: its outcome is not known yet.");
  else if (own[0]?.state === "declined") notes.push(`Not refunded: ${own[0].detail}`);
  const time = isToday(request.created_at) ? clock(request.created_at) : date(request.created_at);
  return { state, back, left, action, notes, time };
}

export const clock = (time) => new Date(time).toLocaleTimeString("en-GB",
  { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const date = (time) => new Date(time).toLocaleDateString("en-GB", { day: "numeric", month: "short" });
const isToday = (time) => new Date(time).toDateString() === new Date().toDateString();

/** Returns a time for a sentence: `at 17:59`, or `on 24 Nov` if it is not today. */
export const moment = (time) => (isToday(time) ? `at ${clock(time)}` : `on ${date(time)}`);

function row(request, { state, back, left, action, notes, time }, act) {
  const [sign, word] = CHIPS[state];
  const mark = make("span", "", sign);
  mark.setAttribute("aria-hidden", "true");
  const when = make("time", "", time);
  when.dateTime = request.created_at;
  // The memo is isolated (`bdi`): right-to-left text in it does not change the order of other text.
  const shares = request.places
    ? `${request.places.places_paid} of ${request.places.places} paid` : "";
  const memo = make("bdi", "for", [shares, request.memo].filter(Boolean).join(" · "));
  memo.title = request.memo ?? "";
  const chip = make("span", `chip ${state}`, mark,
    state === "refunded" && left > 0 ? `${word} ${money(back, request.currency)}` : word);
  const button = action
    ? make("button", "plain", action === "cancel" ? "Cancel" : "Refund") : make("span", "");
  if (action) button.addEventListener("click", () => act(action, request));
  const item = make("li", isOpen(request) ? "open" : state,
    when, make("b", "", money(total(request), request.currency)), memo, chip, button,
    ...notes.map((note) => make("p", "", note)));
  item.dataset.id = request.id;
  item.tabIndex = -1;
  return item;
}

/** The current rows by request id, each with the data that it was drawn from. */
const drawn = new Map();

/** Draws the rows, newest first. Unchanged rows are not replaced, so a press on one is not lost. */
export function draw(list, requests, see, act) {
  const focused = document.activeElement?.closest("#rows > li")?.dataset.id;
  const isButton = document.activeElement?.tagName === "BUTTON";
  const ids = new Set(requests.map((request) => request.id));
  for (const [id, { item }] of drawn) if (!ids.has(id) && drawn.delete(id)) item.remove();
  requests.forEach((request, index) => {
    const view = see(request);
    const source = JSON.stringify([request, view]);
    const old = drawn.get(request.id);
    if (old?.source === source) return;
    const item = row(request, view, act);
    drawn.set(request.id, { item, source });
    if (old) old.item.replaceWith(item);
    else list.insertBefore(item, list.children[index] ?? null);
  });
  const again = drawn.get(focused)?.item;
  if (again && !again.contains(document.activeElement)) {
    ((isButton && again.querySelector("button")) || again).focus({ preventScroll: true });
  }
}

/** Moves the focus one row up or down. */
export function move(list, step) {
  const items = [...list.children];
  const at = items.indexOf(document.activeElement?.closest?.("#rows > li"));
  const next = at < 0 ? 0 : Math.max(0, Math.min(items.length - 1, at + step));
  items[next]?.focus();
}
