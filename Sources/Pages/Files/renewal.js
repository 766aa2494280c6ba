// Refreshes a page while it is visible. If the page has a `.stale` banner, its content is replaced. While the
// server does not answer, the content stays and the banner shows its age. Any other page is reloaded.
const LATE = 3_000, LIMIT = 10_000;
const main = () => document.getElementById("main");
const period = () => Number(main().dataset.seconds) * 1_000;
const say = (isStale) => { document.querySelector(".stale").hidden = !isStale; };
let due = Date.now() + period(), failures = 0, isAsking = false;

/** True while the focus is in the content, as in a table, a form or a link: the page is then not refreshed. */
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
    // The server is tested first: without an answer, a reload would show the browser's error page.
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
    // Another page was returned, for instance because the login has expired.
    if (page) return location.reload();
    say(true);
    retry();
  };
  request.send();
}

setInterval(() => {
  if (!isAsking && document.visibilityState === "visible" && Date.now() >= due && !isBusy()) ask();
}, 250);
