// Amounts are whole minor units. They are formatted here as `MoneyFormat` formats them for the display,
// and not by the browser: the same digits in every engine, on the display and on paper.
const SIGNS = { usd: "$", eur: "€", gbp: "£", jpy: "¥" };
const digitsOf = (currency) => (currency === "jpy" ? 0 : 2);

/** Separators and the sign's place: those of the page, which has the display's language. */
export const dress = { decimal: ".", group: ",", sign: "first", ...globalThis.document?.documentElement.dataset };

/** `$1,234.50`, `1.234,50 €`, `CHF 5.00`, of an integer of minor units; nothing in it breaks a line. */
export function money(cents, currency = "usd", { decimal, group, sign } = dress) {
  const digits = digitsOf(currency);
  const text = String(Math.abs(cents)).padStart(digits + 1, "0");
  const whole = text.slice(0, text.length - digits).replace(/\B(?=(\d{3})+$)/g, group);
  const amount = digits ? whole + decimal + text.slice(-digits) : whole;
  const symbol = SIGNS[currency] ?? currency.toUpperCase();
  const minus = cents < 0 ? "\u2212" : "";
  if (sign !== "first") return `${minus}${amount}\u00a0${symbol}`;
  return minus + symbol + (SIGNS[currency] ? "" : "\u00a0") + amount;
}

/** `1234.50`, for a field that a person changes. */
export function plain(cents, currency = "usd", { decimal } = dress) {
  const digits = digitsOf(currency);
  const text = String(cents).padStart(digits + 1, "0");
  return text.slice(0, text.length - digits) + (digits ? decimal + text.slice(-digits) : "");
}

/** The minor units of `12`, `12.5` or `$12.50`; `null` of anything else. Nothing is rounded. */
export function cents(text, currency = "usd", { decimal } = dress) {
  const digits = digitsOf(currency);
  const bare = text.replace(SIGNS[currency] ?? currency.toUpperCase(), "").trim();
  const parts = /^(\d{1,9})(?:\.(\d{1,2}))?$/.exec(decimal === "." ? bare : bare.replace(decimal, "."));
  if (!parts || (parts[2] ?? "").length > digits) return null;
  return Number(parts[1] + (parts[2] ?? "").padEnd(digits, "0"));
}
