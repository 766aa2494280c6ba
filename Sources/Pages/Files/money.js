// Amounts are whole minor units. They are formatted here, in the same way as by `MoneyFormat`, and not by the
// browser. They then look the same in every browser, on the display and on paper.
const SIGNS = { usd: "$", eur: "€", gbp: "£", jpy: "¥" };
const digitsOf = (currency) => (currency === "jpy" ? 0 : 2);

/** The separators and the position of the sign. The page has those of the display's language. */
export const dress = { decimal: ".", group: ",", sign: "first", ...globalThis.document?.documentElement.dataset };

/** Formats minor units: `$1,234.50`, `1.234,50 €` or `CHF 5.00`. The text never breaks over two lines. */
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

/** Formats minor units for an input field: `1234.50`. */
export function plain(cents, currency = "usd", { decimal } = dress) {
  const digits = digitsOf(currency);
  const text = String(cents).padStart(digits + 1, "0");
  return text.slice(0, text.length - digits) + (digits ? decimal + text.slice(-digits) : "");
}

/** Returns the minor units of `12`, `12.5` or `$12.50`; `null` for any other text. Nothing is rounded. */
export function cents(text, currency = "usd", { decimal } = dress) {
  const digits = digitsOf(currency);
  const bare = text.replace(SIGNS[currency] ?? currency.toUpperCase(), "").trim();
  const parts = /^(\d{1,9})(?:\.(\d{1,2}))?$/.exec(decimal === "." ? bare : bare.replace(decimal, "."));
  if (!parts || (parts[2] ?? "").length > digits) return null;
  return Number(parts[1] + (parts[2] ?? "").padEnd(digits, "0"));
}
