// Brings a page up to date while somebody looks at it. A page with `.stale` stays while the server does not answer,
// and says how old it is; any other is loaded anew.
const LATE = 3_000, LIMIT = 10_000;
const main = () => document.getElementById("main");
const period = () => Number(main().dataset.seconds) * 1_000;
const say = (isStale) => { document.querySelector(".stale").hidden = !isStale; };
let due = Date.now() + period(), failures = 0, isAsking = false;

/** Whoever reads a table, fills in a form or goes through the links is not interrupted. */
const isBusy = () => main().contains(document.activeElement) && document.activeElement !== main();

function adopt(page) {
  const open = [...main().querySelectorAll("details")].map((each) => each.open);
  main().replaceWith(page.getElementById("main"));
  main().querySelectorAll("details").forEach((each, index) => { each.open = open[index] ?? false; });
}

function retry() {
  isAsking = false;
  failures += 1;
  due = Date.now() + Math.min(2 ** failures * 1_000, period());
}

function ask() {
  isAsking = true;
  if (!document.querySelector(".stale")) {
    // While the server does not answer, a new load would be a page of the browser's.
    return fetch(import.meta.url, { cache: "no-store" }).then(() => location.reload(), retry);
  }
  const request = new XMLHttpRequest();
  const late = setTimeout(say, LATE, true);
  request.open("GET", location.href);
  request.responseType = "document";
  request.timeout = LIMIT;
  request.onloadend = () => {
    clearTimeout(late);
    isAsking = false;
    const page = request.status === 200 ? request.responseXML : null;
    if (page?.querySelector(".stale")) {
      failures = 0;
      due = Date.now() + period();
      return adopt(page);
    }
    // A login, for instance, that is over.
    if (page) return location.reload();
    say(true);
    retry();
  };
  request.send();
}

setInterval(() => {
  if (!isAsking && document.visibilityState === "visible" && Date.now() >= due && !isBusy()) ask();
}, 250);
