// The connection to gotchud: calls with the till's token, the stream of events, and pairing.
const TOKEN = "gotchu-till-token";
const PAIRING = "gotchu-till-pairing";
const SILENCE = 20_000;
const PATIENCE = 35_000;
const wait = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

/** A refusal: gotchud's problem document. */
export class Refused extends Error {
  constructor(problem, status) {
    super(problem.detail ?? "gotchud refuses this.");
    this.code = problem.code ?? `HTTP ${status}`;
    this.sentence = [this.message, problem.fix].filter(Boolean).join(" → ");
    /** True if gotchud is certain that it has started nothing. */
    this.isCertain = !["OUTCOME_UNKNOWN", "INTERNAL_ERROR", "BAD_SERVER_ANSWER"].includes(this.code);
  }
}

let version = null;
/** Callbacks. `updated` is called when gotchud's version has changed. */
export const on = { updated: () => {} };

async function answer(path, options) {
  const headers = { Accept: "application/json", ...options.headers };
  const token = localStorage.getItem(TOKEN);
  if (token) headers.Authorization = `Bearer ${token}`;
  if (options.method && options.method !== "GET") headers["Content-Type"] = "application/json";
  const signal = options.signal ?? AbortSignal.timeout(PATIENCE);
  const reply = await fetch(path, { ...options, headers, signal, cache: "no-store" });
  const now = reply.headers.get("Gotchu-Version");
  if (now && version && now !== version) on.updated();
  version ??= now;
  if (reply.ok) return reply;

  // If the reply is not JSON, it decides nothing. `json` then throws, as for a broken connection.
  const problem = await reply.json();
  if (reply.status === 401) localStorage.removeItem(TOKEN);
  throw new Refused(problem, reply.status);
}

/** Calls gotchud. Throws `Refused` for a refusal, and any other error if there is no definite answer. */
export async function call(method, path, body) {
  const options = { method };
  if (method !== "GET" && method !== "DELETE") options.body = JSON.stringify(body ?? {});
  return (await answer(path, options)).json();
}

/** Creates an object, once for each key. Returns it, and true if an earlier call with the key had created it. */
export async function create(path, body, key) {
  const headers = { "Idempotency-Key": key };
  const reply = await answer(path, { method: "POST", body: JSON.stringify(body), headers });
  return { made: await reply.json(), isReplay: reply.headers.has("Idempotent-Replayed") };
}

/** The bytes of a file: a text would lose its byte order mark. */
export async function file(path) {
  return (await answer(path, {})).blob();
}

export const isPaired = () => localStorage.getItem(TOKEN) !== null;

/** Reads the events and connects again after each break, until the till is no longer paired. */
export async function follow(apply, isLinked) {
  let pause = 500;
  while (isPaired()) {
    const stop = new AbortController();
    let silence = setTimeout(() => stop.abort(), SILENCE);
    try {
      const reply = await answer("/v1/events", { signal: stop.signal });
      const reader = reply.body.pipeThrough(new TextDecoderStream()).getReader();
      for (let rest = ""; ; ) {
        const { done, value } = await reader.read();
        if (done) break;
        clearTimeout(silence);
        silence = setTimeout(() => stop.abort(), SILENCE);
        isLinked(true);
        pause = 500;
        const lines = (rest + value).split("\n");
        rest = lines.pop();
        for (const event of lines.filter(Boolean).map((line) => JSON.parse(line))) {
          if (event.event === "lagged") throw new Error("A new snapshot has what was missed.");
          apply(event);
        }
      }
    } catch {
      // After any error, the loop connects again.
    }
    clearTimeout(silence);
    stop.abort();
    if (!isPaired()) return;
    isLinked(false);
    await wait(pause);
    pause = Math.min(pause * 2, 4_000);
  }
}

/** Shows codes until one is approved, here or on another page of this browser, and stores the token. */
export async function pair(show) {
  while (!isPaired()) {
    try {
      const kept = JSON.parse(sessionStorage.getItem(PAIRING) ?? "null");
      // An earlier code, which is used or expired, is not shown while the new one is asked for.
      if (!kept) show(null, "The code comes.");
      const offer = kept ?? (await call("POST", "/v1/pairings"));
      // The offer is stored: a reload of the page shows the same code.
      sessionStorage.setItem(PAIRING, JSON.stringify(offer));
      show(offer.code, "The code is good for two minutes; then a new one comes.");
      for (;;) {
        const outcome = await call("POST", "/v1/pairings/outcome", { ticket: offer.ticket });
        if (outcome.state === "paired") {
          localStorage.setItem(TOKEN, outcome.token);
          sessionStorage.removeItem(PAIRING);
          return;
        }
        if (outcome.state === "expired" || isPaired()) break;
        await wait(1_000);
      }
      sessionStorage.removeItem(PAIRING);
    } catch (error) {
      show(null, error instanceof Refused ? error.sentence : "gotchud does not answer.");
      await wait(5_000);
    }
  }
}
