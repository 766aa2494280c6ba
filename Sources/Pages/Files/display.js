// The customer's display: draws the states that gotchud sends. The page itself decides only that it receives none.
const $ = (id) => document.getElementById(id);
const { dataset } = document.body;
const SIGNS = {
  paid: "M12 2a10 10 0 1 0 0 20 10 10 0 0 0 0-20ZM7.5 12.5l3 3 6-6.5",
  expired: "M12 2a10 10 0 1 0 0 20 10 10 0 0 0 0-20ZM12 7v5l3.5 2",
  cancelled: "M12 2a10 10 0 1 0 0 20 10 10 0 0 0 0-20ZM8.5 8.5l7 7M15.5 8.5l-7 7",
  checking: "M6 2.5h12M6 21.5h12M7.5 2.5v4c0 2.5 9 4 9 7.5v7.5M16.5 2.5v4c0 2.5-9 4-9 7.5v7.5",
  unavailable: "M12 3 1.8 20.5h20.4ZM12 9.5v5M12 17.6v.1",
  released: "M4 12a8 8 0 1 1 2.4 5.7M4 21v-4.4h4.4",
  offline: "M2 2l20 20M8.5 16.4a5 5 0 0 1 5.6-1M5 12.6a10 10 0 0 1 4-2.4M13.5 9.7A10 10 0 0 1 19 12.6M1.5 9A15 15 0 0 1 6 6.2M10.7 5.1A15 15 0 0 1 22.5 9M12 20v.1",
};
const SCENES = new Set(["idle", "preparing", "waiting", "near", "confirming"]);
/** States with an open outcome. If the display goes offline in one of them, the amount stays visible. */
const UNSETTLED = new Set(["preparing", "waiting", "near", "confirming", "released", "checking", "offline"]);
const ARROWS = { below: "↓", above: "↑", left: "←", right: "→" };
/** Milliseconds without data after which the page shows its own texts: first `offline`, then `closed`. */
const OFFLINE = Number(dataset.offline), CLOSED = Number(dataset.closed);
const RETRY = 1_000, DIM = 300_000;
/** The scale below which nothing is made smaller. */
const SMALLEST = .5;
/** The maximum length of an unfinished line, in characters. */
const LINE = 65_536;

let shown = null, endsAt = 0, lastByte = performance.now(), changedAt = lastByte;

function text(id, value) {
  const element = $(id);
  if (element.textContent !== (value ?? "")) element.textContent = value ?? "";
}

/**
 * Draws one state. From the state before, only its name is used: to record the time of a change, and to
 * play the sound of a payment once.
 */
function show(view) {
  const { state } = view, isResting = state === "idle" || state === "closed", before = shown?.state;
  const root = document.documentElement;
  root.lang = view.language; root.dir = view.is_right_to_left ? "rtl" : "ltr";
  dataset.state = state;
  document.body.toggleAttribute("data-scene", SCENES.has(state));
  document.body.toggleAttribute("data-end", state in SIGNS);
  document.body.toggleAttribute("data-qr", !!view.pay_link);
  text("shop", view.shop);
  const amount = isResting ? view.shop ?? "" : view.amount ?? "";
  text("amount", amount);
  $("amount").parentElement.hidden = !amount;
  $("amount").parentElement.dataset.length = isResting ? amount.length > 16 ? 3 : "" : amount.length > 13 ? 4 : amount.length > 10 ? 3 : amount.length > 7 ? 2 : 1;
  for (const id of ["tip", "memo", "line", "note"]) text(id, view[id]);
  text("head", view.headline);
  text("second", view.second?.text);
  $("second").lang = view.second?.language ?? view.language;
  $("sign").toggleAttribute("hidden", !(state in SIGNS));
  $("sign-path").setAttribute("d", SIGNS[state] ?? "");
  text("here", state === "waiting" ? ARROWS[dataset.antenna] : "");
  $("pay").toggleAttribute("hidden", !view.pay_link);
  if (view.pay_link) {
    const { qr, label } = view.pay_link;
    $("qr").setAttribute("viewBox", `-4 -4 ${qr.side + 8} ${qr.side + 8}`);
    $("qr-path").setAttribute("d", qr.path);
    text("scan", label);
  }
  $("code").toggleAttribute("hidden", !view.code);
  text("code-text", view.code?.text); text("code-label", view.code?.label);
  $("left").toggleAttribute("hidden", !view.left);
  text("left-label", view.left?.label);
  endsAt = performance.now() + (view.left?.ms ?? 0);
  if (before !== state) changedAt = performance.now();
  if (before && before !== "paid" && state === "paid" && "sound" in dataset) chime();
  shown = view;
  tick();
  fit();
}

/** The parts that must lie within the window and fit their boxes. The memo is left out: CSS shortens it. */
const PARTS = ".bar, .words, .words > :not(.memo), .foot > *, .scene, .scene > *, .pay > *";

function isCut() {
  return [...document.querySelectorAll(PARTS)].some((part) => {
    const box = part.getBoundingClientRect();
    return box.width && (box.left < -1 || box.top < -1 || box.right > innerWidth + 1 || box.bottom > innerHeight + 1
      || part.scrollWidth > part.clientWidth + 1);
  });
}

/** Sets the configured scale, or a smaller one if parts would be cut. Measures with the drift at zero. */
function fit() {
  drift(0, 0);
  for (let scale = Number(dataset.scale); ; scale -= .05) {
    document.documentElement.style.setProperty("--scale", scale.toFixed(2));
    if (scale < SMALLEST || !isCut()) break;
  }
  drift();
}

/** Moves the bright parts by one unit a minute, against burn-in. */
function drift(x, y) {
  const minute = new Date().getMinutes(), style = document.documentElement.style;
  style.setProperty("--drift-x", x ?? [0, 1, 1, 0, -1, -1, -1, 0][minute % 8]);
  style.setProperty("--drift-y", y ?? [0, 0, 1, 1, 1, 0, -1, -1][minute % 8]);
}

/** Updates the countdown, the clock and the dimming. Called once a second. */
function tick() {
  const now = performance.now();
  if (shown?.left) {
    const left = Math.max(0, endsAt - now), seconds = Math.ceil(left / 1000);
    text("left-text", `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`);
    $("fill").style.transform = `scaleX(${(left / (shown.left.total_ms || 1)).toFixed(3)})`;
  }
  const time = new Date();
  text("clock", time.toLocaleTimeString(`${document.documentElement.lang}-u-nu-latn`, { hour: "numeric", minute: "2-digit" }));
  drift();
  const isResting = dataset.state === "idle" || dataset.state === "closed";
  document.body.toggleAttribute("data-dim", isResting && now - changedAt > DIM);
}

/** Shows the page's own texts if nothing has arrived from gotchud for too long. */
function watch() {
  const silence = performance.now() - lastByte, before = shown?.state;
  if (silence <= OFFLINE) return;
  const state = silence > CLOSED || before === "closed" ? "closed" : "offline";
  if (state === before) return;
  const words = $(`words-${state}`).dataset;
  show({
    state, shop: dataset.shop, headline: words.headline, line: words.line,
    second: words.second && { text: words.second, language: words.secondLanguage },
    amount: state === "offline" && UNSETTLED.has(before) ? shown.amount : undefined,
    language: words.language, is_right_to_left: words.direction === "rtl",
  });
}

/** Reads states, one a line, until the connection ends or is silent for too long. */
async function read() {
  const end = new AbortController();
  let silence;
  const hear = () => {
    clearTimeout(silence);
    silence = setTimeout(() => end.abort(), OFFLINE);
  };
  try {
    hear();
    const reply = await fetch("/v1/display/events", { signal: end.signal, cache: "no-store" });
    if (!reply.ok) return;
    const stream = reply.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let rest = ""; rest.length < LINE;) {
      const { value, done } = await stream.read();
      if (done) return;
      lastByte = performance.now();
      hear();
      const lines = (rest + value).split("\n");
      rest = lines.pop();
      const newest = lines.findLast((line) => line);
      if (newest) receive(JSON.parse(newest));
    }
  } catch {
    // The caller connects again. If nothing arrives for too long, `watch` shows that.
  } finally {
    clearTimeout(silence);
    end.abort();
  }
}

function receive(view) {
  // After an upgrade or a change of the configuration, gotchud serves another page.
  if (view.build !== dataset.build) return location.reload();
  show(view);
}

/** Plays two rising tones of 0.25 s each. They are computed, so no sound file is needed. */
function chime() {
  const audio = new AudioContext();
  for (const [hertz, at] of [[660, 0], [990, .12]]) {
    const tone = audio.createOscillator(), volume = audio.createGain();
    tone.frequency.value = hertz; volume.gain.value = .2;
    volume.gain.exponentialRampToValueAtTime(.001, audio.currentTime + at + .22);
    tone.connect(volume).connect(audio.destination);
    tone.start(audio.currentTime + at); tone.stop(audio.currentTime + at + .25);
  }
  setTimeout(() => audio.close(), 600);
}

addEventListener("resize", fit);
fit();
setInterval(() => { tick(); watch(); }, 1000);
tick();
for (;;) {
  await read();
  await new Promise((next) => setTimeout(next, RETRY));
}
