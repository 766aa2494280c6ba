// The two dialogs that send calls to gotchud: refund, and end of day.
import { cents, money, plain } from "./money.js";
import { Refused, call, file } from "./till-link.js";
import { clock, make } from "./till-rows.js";

const $ = (id) => document.getElementById(id);

/**
 * Shows an error or a message in `place`. For a refusal: `meaning` (its effect on the money, if that is certain), then
 * the sentence and the code. For any other error, or for none: `words`. Without an error and words, `place` is hidden.
 */
export function tell(place, error, words, meaning = "") {
  place.hidden = !error && !words;
  if (error instanceof Refused) {
    const effect = error.isCertain ? meaning : "";
    place.replaceChildren(`${effect}${error.sentence} `, make("code", "", error.code));
  } else place.textContent = words ?? "";
}

let refunding = null;

/** Opens the dialog for a refund of a request. The button that closes it without a refund has the focus. */
export function openRefund(request, left, till) {
  refunding = { request, currency: request.currency, left };
  $("refund-title").textContent = `Refund ${money(left, request.currency)}?`;
  $("refund-what").textContent = `To the payer of ${clock(request.paid_at ?? request.created_at)}. A refund is final.`;
  $("refund-amount").value = plain(left, request.currency);
  $("refund-why").value = "";
  const limit = till.refunds_per_day_cents;
  $("refund-limit").textContent = `This till may refund ${money(limit)} a day; `
    + `${money(limit - till.refunded_today_cents)} is left today.`;
  tell($("refund-problem"), null);
  showSum();
  $("refund").showModal();
  $("keep").focus();
}

/** Lowers the amount that can be refunded, and shows the reason, if the dialog is open for this request. */
export function limitRefund(request, left) {
  if (refunding?.request.id !== request.id || !$("refund").open || left >= refunding.left) return;
  const { currency } = refunding;
  if ($("refund-amount").value === plain(refunding.left, currency)) $("refund-amount").value = plain(left, currency);
  refunding.left = left;
  $("refund-title").textContent = left ? `Refund ${money(left, currency)}?` : "Refunded";
  tell($("refund-problem"), null, left ? `The rest was refunded elsewhere: ${money(left, currency)} is left.`
    : "All of it was refunded already, on another till or the merchant's pages.");
  showSum();
}

function showSum() {
  const amount = cents($("refund-amount").value, refunding?.currency);
  $("refund-do").disabled = !amount || !refunding?.left;
  $("refund-sum").textContent = amount ? money(amount, refunding?.currency) : "";
}

async function refund() {
  const asked = refunding;
  const { request } = asked;
  // By the time of the answer, the dialog may be closed, or open for another request.
  const isShown = () => refunding === asked && $("refund").open;
  const body = { sid: request.id, amount_cents: cents($("refund-amount").value, request.currency) };
  const why = $("refund-why").value.trim();
  if (why) body.reference = why;
  $("refund-do").disabled = true;
  try {
    // A repeat with the same request, amount and reason is the same refund and pays nothing more.
    const made = await call("POST", "/v1/refunds", body);
    if (!isShown()) return;
    if (made.made_before) {
      tell($("refund-problem"), null, `It was refunded before, at ${clock(made.created_at)}; nothing `
        + "more was refunded. To refund the same amount once more, say why.");
    } else $("refund").close();
  } catch (error) {
    if (isShown()) {
      tell($("refund-problem"), error,
        "No answer yet. Press again: the same refund is made once only.", "Nothing was refunded. ");
    }
  } finally {
    showSum();
  }
}

export function setUpRefund() {
  $("refund-amount").addEventListener("input", showSum);
  $("keep").addEventListener("click", () => $("refund").close());
  // The row may have been replaced since the dialog was opened, so it is looked up by id.
  $("refund").addEventListener("close", () =>
    document.querySelector(`#rows > [data-id="${CSS.escape(refunding.request.id)}"]`)?.focus());
  $("refund-form").addEventListener("submit", (event) => {
    event.preventDefault();
    if (!$("refund-do").disabled) refund();
  });
}

const query = () => ($("report-day").value ? `?day=${$("report-day").value}` : "");

/** Opens the end of day. It shows sums only from the payment server's books. */
export async function openReport() {
  if (!$("report").open) $("report").showModal();
  const asked = query();
  tell($("report-problem"), null);
  $("save").disabled = $("print").disabled = true;
  try {
    const report = await call("GET", `/v1/report${asked}`);
    if (asked !== query()) return;
    show(report);
    $("save").disabled = $("print").disabled = false;
  } catch (error) {
    if (asked !== query()) return;
    $("report-title").textContent = "End of day";
    $("report-body").hidden = true;
    tell($("report-problem"), error, "gotchud does not answer. Press F8 to try again.",
      "No sums without the payment server's books. Press F8 to try again. ");
  }
}

const negative = (sum, currency) => money(-sum, currency);
const sumOf = (title, value, name = "") =>
  make("div", name, make("dt", "", title), make("dd", "", value));

function show(report) {
  const { counts, currency } = report;
  $("report-day").value = report.day;
  const day = new Date(`${report.day}T00:00:00Z`).toLocaleDateString("en-GB",
    { weekday: "short", day: "numeric", month: "short", year: "numeric", timeZone: "UTC" });
  $("report-title").textContent = `End of day · ${day}`;
  $("sums").replaceChildren(
    sumOf("Taken", money(counts.taken_cents, currency)), sumOf("Payments", counts.payment_count),
    sumOf("Refunded", negative(counts.refunded_cents, currency)),
    sumOf("Kept", money(report.kept_cents, currency), "all"));
  const busy = report.hours.filter((hour) => hour.counts.payment_count + hour.counts.refund_count);
  $("hours").replaceChildren(...busy.map(({ local_time, counts: own }) => make("tr", "",
    make("td", "", local_time.slice(11, 16)), make("td", "n", own.payment_count),
    make("td", "n", money(own.taken_cents, currency)),
    make("td", "n", negative(own.refunded_cents, currency)),
    make("td", "n", money(own.taken_cents - own.refunded_cents, currency)))));
  $("as-of").textContent = `From the payment server's books at ${clock(report.as_of)}, all tills of `
    + `this wallet. Hours of ${report.zone}.`;
  $("unknown").hidden = report.unknown.length === 0;
  $("unknown").textContent = `Still being checked, and perhaps not in the sums yet: ${report.unknown
    .map((item) => `${item.kind} of ${money(item.amount_cents, item.currency)}`).join(", ")}.`;
  $("report-body").hidden = false;
}

async function save() {
  try {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(await file(`/v1/report.csv${query()}`));
    link.download = `gotchu-${$("report-day").value}.csv`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  } catch (error) {
    tell($("report-problem"), error, "gotchud does not answer. Try again.");
  }
}

export function setUpReport() {
  $("open-report").addEventListener("click", () => { $("report-day").value = ""; openReport(); });
  $("report-day").addEventListener("change", openReport);
  $("print").addEventListener("click", () => print());
  $("save").addEventListener("click", save);
}
