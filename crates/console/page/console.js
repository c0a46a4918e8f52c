// The page of the console. It asks who is logged in, listens to /events, where a sample comes once a second, and draws it.
// Whatever the server sends is put into the page as text, never as markup.
"use strict";

const KEPT = 120;
const NAMED = 8;
const HTTP_UNAUTHORIZED = 401;
const PICOSECONDS = 1e12;
const $ = (id) => document.getElementById(id);

/** An element with properties and children. */
function make(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

function drawn(name, attributes) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

// Numbers as people read them.

function short(number) {
  if (number === null || !Number.isFinite(number)) return "–";
  const size = Math.abs(number);
  if (size >= 1e9) return `${(number / 1e9).toFixed(2)} G`;
  if (size >= 1e6) return `${(number / 1e6).toFixed(2)} M`;
  if (size >= 1e4) return `${(number / 1e3).toFixed(1)} k`;
  return size >= 100 || Number.isInteger(number) ? Math.round(number).toString() : number.toFixed(1);
}

function seconds(time) {
  if (time === null || !Number.isFinite(time)) return "–";
  if (time < 1e-3) return `${Math.round(time * 1e6)} µs`;
  if (time < 1) return `${(time * 1e3).toFixed(1)} ms`;
  return time < 120 ? `${time.toFixed(1)} s` : `${Math.floor(time / 60)} min`;
}

const bytes = (number) => number >= 1 << 30 ? `${(number / (1 << 30)).toFixed(1)} GiB` : `${(number / (1 << 20)).toFixed(1)} MiB`;
const percent = (part) => Number.isFinite(part) ? `${(100 * part).toFixed(1)} %` : "–";

function since(uptime) {
  const days = Math.floor(uptime / 86400);
  const hours = Math.floor(uptime % 86400 / 3600);
  const minutes = Math.floor(uptime % 3600 / 60);
  return `up ${days ? `${days} d ` : ""}${days || hours ? `${hours} h ` : ""}${minutes} min`;
}

// Tiles: a number, what goes with it, and its last two minutes.

/** How much a counter has grown a second; null where it began anew. */
function rate(now, before, read) {
  if (!before) return null;
  const grown = read(now) - read(before);
  const time = (now.at_us - before.at_us) / 1e6;
  return grown >= 0 && time > 0 ? grown / time : null;
}

const status = (name) => (sample) => sample.status[name];

function perSync(now, before) {
  const syncs = rate(now, before, status("Innodb_os_log_fsyncs"));
  const commits = rate(now, before, (sample) => sample.commits);
  return syncs > 0 && commits !== null ? commits / syncs : null;
}

const TILES = [
  { title: "Statements a second", of: (now, before) => rate(now, before, status("Queries")), beside: (now, before) => `${short(rate(now, before, status("Slow_queries")))} slow a second` },
  { title: "Time of a statement, p99", of: (now) => now.latency?.p99 ?? null, show: seconds, beside: (now) => `${seconds(now.latency?.p50 ?? null)} p50, ${seconds(now.latency?.p999 ?? null)} p99.9` },
  { title: "Commits a second", of: (now, before) => rate(now, before, (sample) => sample.commits), beside: (now) => `${short(now.active_transactions)} transactions write` },
  { title: "Commits for each sync", of: perSync, beside: (now, before) => `${short(rate(now, before, status("Innodb_os_log_fsyncs")))} syncs a second` },
  { title: "Sessions that run", of: status("Threads_running"), beside: (now) => `${short(now.status.Threads_connected)} connected, ${short(now.pool_queued)} ready` },
  { title: "Waits for row locks now", of: status("Innodb_row_lock_current_waits"), beside: (now, before) => `${short(rate(now, before, status("Innodb_row_lock_waits")))} begin a second` },
  { title: "Deadlocks a second", of: (now, before) => rate(now, before, status("Innodb_deadlocks")), beside: (now) => `${short(now.status.Innodb_deadlocks)} in all` },
  { title: "At the gate", of: (now) => now.admission.queued + now.admission.sleeping, beside: (now) => `${short(now.admission.inside)} inside` },
  { title: "History to purge", of: status("Innodb_history_list_length"), beside: (now) => `${short(now.read_views)} read views` },
  { title: "Dirty pages", of: (now) => now.status.Innodb_buffer_pool_pages_dirty / now.status.Innodb_buffer_pool_pages_total, show: percent, beside: (now) => `${short(now.status.Innodb_buffer_pool_pages_dirty)} pages` },
  { title: "Log behind the checkpoint", of: (now) => now.redo_capacity ? now.status.Innodb_checkpoint_age / now.redo_capacity : null, show: percent, beside: (now) => `${bytes(now.status.Innodb_checkpoint_age)} of ${bytes(now.redo_capacity)}` },
];

for (const tile of TILES) {
  tile.past = [];
  tile.value = make("p", { className: "value", textContent: "–" });
  tile.words = make("p", { className: "beside quiet", textContent: "" });
  tile.picture = drawn("svg", { viewBox: `0 0 ${KEPT - 1} 40`, preserveAspectRatio: "none", "aria-hidden": "true" });
  tile.area = drawn("path", { class: "area" });
  tile.curve = drawn("path", { class: "curve" });
  tile.picture.append(tile.area, tile.curve);
  $("tiles").append(make("div", { className: "tile" }, make("h3", { textContent: tile.title }), tile.value, tile.words, tile.picture));
}

/** The pieces of a curve, with a gap where nothing is known: [[x, y], ...] each. */
function pieces(past) {
  const top = Math.max(...past.filter((one) => one !== null), 1e-9);
  const found = [];
  let open = null;
  past.forEach((one, nth) => {
    if (one === null) {
      open = null;
      return;
    }
    if (!open) found.push(open = []);
    open.push([KEPT - past.length + nth, 38 - 35 * one / top]);
  });
  return found;
}

function drawTile(tile, now, before) {
  const value = tile.of(now, before);
  tile.past.push(Number.isFinite(value) ? value : null);
  if (tile.past.length > KEPT) tile.past.shift();
  tile.value.textContent = (tile.show ?? short)(value);
  tile.words.textContent = tile.beside(now, before);
  const line = (piece) => "M" + piece.map(([x, y]) => `${x} ${y.toFixed(2)}`).join("L");
  const all = pieces(tile.past);
  tile.curve.setAttribute("d", all.map(line).join(""));
  tile.area.setAttribute("d", all.map((piece) => `${line(piece)}L${piece.at(-1)[0]} 40L${piece[0][0]} 40Z`).join(""));
}

// Tables.

/** Puts rows into a table's body; `none` is shown in its place where there are none. */
function fill(table, none, rows) {
  $(table).tBodies[0].replaceChildren(...rows);
  $(table).hidden = rows.length === 0;
  if (none) $(none).hidden = rows.length > 0;
}

const number = (text) => make("td", { className: "number", textContent: text });

/** The queue at a row as a bar, with its length in words for who does not see it. */
function queue(waiting, longest) {
  const picture = drawn("svg", { viewBox: "0 0 100 10", preserveAspectRatio: "none", role: "img", "aria-label": `${waiting} wait` });
  picture.append(drawn("rect", { class: "bar", x: 0, y: 1, height: 8, width: longest ? Math.max(100 * waiting / longest, waiting ? 1 : 0) : 0 }));
  return make("td", { className: "queue" }, make("span", { textContent: `${waiting} wait` }), picture);
}

/** Hot rows, as an account sees them, or indexes with hot rows, as everybody does. */
function drawHot(sample) {
  const known = sample.account?.hot_rows;
  const rows = Array.isArray(known)
    ? known.map((row) => ({
      table: `${row.TABLE_SCHEMA}.${row.TABLE_NAME}`, index: row.INDEX_NAME, key: row.LOCK_DATA, waiting: row.WAITING,
      changes: row.CHANGES_PER_SECOND, waits: row.WAITS_PER_SECOND, p50: row.WAIT_MS_P50, p99: row.WAIT_MS_P99,
      handed: row.HANDED_ON, holder: row.HOLDER_CONNECTION_ID,
    }))
    : sample.hot_indexes.map((row) => ({
      table: `${row.schema}.${row.table}`, index: row.index, key: `${row.rows} ${row.rows === 1 ? "row" : "rows"}`, waiting: row.waiting,
      changes: row.changes, waits: row.waits, p50: null, p99: null, handed: row.handed_on, holder: null,
    }));
  const longest = Math.max(...rows.map((row) => row.waiting), 0);
  const time = (ms) => ms === null ? "–" : seconds(ms / 1000);
  fill("hot-rows", "hot-none", rows.map((row) => make("tr", {},
    make("th", { scope: "row", className: "row-name" }, make("span", { textContent: row.table }),
      make("span", { className: "quiet" }, `${row.index} `, make("code", { textContent: row.key }))),
    queue(row.waiting, longest), number(short(row.changes)), number(short(row.waits)), number(time(row.p50)), number(time(row.p99)),
    number(short(row.handed)), number(row.holder === null ? "–" : `#${row.holder}`))));
  $("hot-hint").textContent = Array.isArray(known) ? "Rows that everybody wants. The bar is the queue: who waits for the row now."
    : known ? known.error : "Where rows are that everybody wants. Which rows, who waits for whom and which statements: log in.";
}

/** Waits of one connection's queue that look alike are one entry: the connections, and what they wait for. */
function alike(waits, below) {
  const groups = new Map();
  for (const wait of waits) {
    const leads = below.has(wait.waiting_pid);
    const what = wait.locked_table ? `${wait.locked_table} (${wait.locked_index ?? "table"}, ${wait.waiting_lock_mode})` : "a lock";
    const key = leads ? wait.waiting_pid : `${what} ${wait.waiting_query ?? ""}`;
    if (!groups.has(key)) groups.set(key, { what, query: wait.waiting_query, pids: [], longest: 0 });
    const group = groups.get(key);
    group.pids.push(wait.waiting_pid);
    group.longest = Math.max(group.longest, wait.wait_age_secs ?? 0);
  }
  return [...groups.values()];
}

/** Connections by number: the first few, and how many more. */
function named(pids) {
  const first = pids.slice(0, NAMED).map((pid) => `#${pid}`).join(", ");
  return pids.length > NAMED ? `${first} and ${pids.length - NAMED} more` : first;
}

/** What is known of a connection's wait; at a busy row the server has the words for some only, and the others keep theirs. */
const words = new Map();

/** Who waits for whom, with words. */
function inWords(pairs, told) {
  for (const wait of told) words.set(wait.waiting_pid, wait);
  const waiting = new Set(pairs.map((pair) => pair.waiting_pid));
  for (const pid of words.keys()) if (!waiting.has(pid)) words.delete(pid);
  const queries = new Map(told.map((wait) => [wait.blocking_pid, wait.blocking_query]));
  return pairs.map((pair) => ({ ...words.get(pair.waiting_pid), ...pair, blocking_query: queries.get(pair.blocking_pid) }));
}

/** Who waits for whom as a tree: below each connection those that it holds up. Whoever is in a cycle, or comes twice, is named
    again without what is below. */
function drawWaits(waits) {
  const below = new Map();
  const queries = new Map();
  for (const wait of waits) {
    if (!below.has(wait.blocking_pid)) below.set(wait.blocking_pid, []);
    below.get(wait.blocking_pid).push(wait);
    queries.set(wait.blocking_pid, wait.blocking_query);
  }
  const waiting = new Set(waits.map((wait) => wait.waiting_pid));
  const roots = [...below.keys()].filter((pid) => !waiting.has(pid));
  const drawn = new Set();
  const entry = (who, words, query) => make("li", {}, make("strong", { textContent: who }),
    make("span", { textContent: ` ${words} ` }), query ? make("code", { textContent: query }) : null);
  const held = (pid) => {
    if (!below.has(pid) || drawn.has(pid)) return null;
    drawn.add(pid);
    return make("ul", { className: "tree" }, ...alike(below.get(pid), below).map((group) => {
      const verb = group.pids.length === 1 ? "waits" : "wait";
      const made = entry(named(group.pids), `${verb} for ${group.what}${group.longest ? `, ${group.longest} s at most` : ""}`, group.query);
      const own = group.pids.length === 1 ? held(group.pids[0]) : null;
      if (own) made.append(own);
      return made;
    }));
  };
  const first = (roots.length ? roots : [...below.keys()].slice(0, 1)).sort((a, b) => below.get(b).length - below.get(a).length);
  const root = (pid) => {
    const made = entry(`#${pid}`, `holds up ${below.get(pid).length}`, queries.get(pid));
    made.append(held(pid));
    return made;
  };
  $("waits").replaceChildren(...(waits.length ? [make("ul", { className: "tree" }, ...first.map(root))] : []));
  $("waits-none").hidden = waits.length > 0;
  $("waits-none").textContent = "Nobody waits for a lock.";
}

function drawDigests(digests) {
  const time = (picoseconds) => picoseconds ? seconds(Number(picoseconds) / PICOSECONDS) : "–";
  fill("digests", "digests-none", digests.map((one) => make("tr", {},
    make("th", { scope: "row" }, make("code", { textContent: one.DIGEST_TEXT ?? "(others)" }), make("span", { className: "quiet", textContent: ` ${one.SCHEMA_NAME ?? ""}` })),
    number(short(Number(one.COUNT_STAR))), number(time(one.SUM_TIMER_WAIT)), number(time(one.AVG_TIMER_WAIT)),
    number(time(one.QUANTILE_99)), number(time(one.QUANTILE_999)))));
  $("digests-none").textContent = "No statement has been counted: the server has just begun, or performance_schema_digests_size is 0.";
}

/** What turns a switch: words to choose from or a number, and a button. */
function knob(one) {
  const label = `New value of ${one.name}`;
  const field = one.choices.length
    ? make("select", {}, ...one.choices.map((word) => make("option", { textContent: word, selected: word === one.value })))
    : make("input", { value: one.value, inputMode: "numeric", pattern: "[0-9]+", required: true, maxLength: 20, autocomplete: "off" });
  field.setAttribute("aria-label", label);
  const form = make("form", { className: "knob" }, field, make("button", { className: "plain", textContent: "Set" }));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const answer = await post("/switch", { name: one.name, value: field.value });
    const words = (await answer.text()).trim();
    $("switches-told").textContent = answer.ok ? `${one.name} is set to ${field.value}.` : words;
    $("switches-told").className = answer.ok ? "quiet" : "error";
  });
  return form;
}

function drawSwitches(switches) {
  fill("switches", null, switches.map((one) => make("tr", { className: one.value === one.default ? "" : "changed" },
    make("th", { scope: "row", className: "code", textContent: one.name }),
    make("td", { textContent: one.value }), make("td", { className: "quiet", textContent: one.default }),
    make("td", {}, pageToken && one.turns ? knob(one) : null))));
  $("switches").tHead.rows[0].lastElementChild.hidden = !pageToken;
}

/** A list that the account may see; else says why not, where the list would be. */
function seen(list, none, draw) {
  if (Array.isArray(list)) {
    draw(list);
    return;
  }
  draw([]);
  if (list) $(none).textContent = list.error;
}

let before = null;
let switchesDrawn = "";

function draw(sample) {
  for (const tile of TILES) drawTile(tile, sample, before);
  $("uptime").textContent = since(sample.status.Uptime);
  drawHot(sample);
  const account = sample.account ?? {};
  const told = Array.isArray(account.lock_waits) ? account.lock_waits : [];
  seen(account.waits, "waits-none", (pairs) => drawWaits(inWords(pairs, told)));
  seen(account.digests, "digests-none", drawDigests);
  const switches = JSON.stringify([sample.switches, pageToken]);
  if (switches !== switchesDrawn) drawSwitches(sample.switches);
  switchesDrawn = switches;
  const problem = !sample.running ? "The storage engine has stopped: every statement is refused. The server's log says why." : sample.error ?? "";
  $("notice").textContent = problem;
  $("notice").hidden = !problem;
  before = sample;
}

// The stream.

let stream = null;

function state(words, kind) {
  if ($("connection").textContent === words) return;
  $("connection").textContent = words;
  $("connection").className = `state ${kind}`;
}

function listen() {
  stream?.close();
  stream = new EventSource("/events");
  stream.onmessage = (event) => {
    state("Live", "live");
    draw(JSON.parse(event.data));
  };
  stream.onerror = async () => {
    state("Connection lost, trying again", "lost");
    // A stream that was refused does not try again by itself.
    if (stream.readyState === EventSource.CLOSED) setTimeout(begin, 3000);
    else await lookWhoIsIn();
  };
}

// Who is logged in.

let pageToken = null;

function show(session) {
  pageToken = session.page_token;
  $("version").textContent = session.version;
  $("user").textContent = session.user ?? "";
  $("user").hidden = session.user === null;
  $("log-out").hidden = session.user === null;
  $("log-in").hidden = session.user !== null;
  for (const section of document.querySelectorAll(".with-account")) section.hidden = session.user === null;
  return session.may_watch;
}

async function lookWhoIsIn() {
  try {
    const answer = await fetch("/session");
    return answer.ok ? show(await answer.json()) : false;
  } catch {
    return false;
  }
}

async function post(path, body) {
  const headers = { "Content-Type": "application/json" };
  if (pageToken) headers["X-Page-Token"] = pageToken;
  return fetch(path, { method: "POST", headers, body: JSON.stringify(body) });
}

async function begin() {
  if (await lookWhoIsIn()) listen();
  else {
    state("Log in to see the server", "");
    if (!$("log-in").hidden && !$("login").open) $("login").showModal();
    else if ($("log-in").hidden) setTimeout(begin, 3000);
  }
}

$("log-in").addEventListener("click", () => $("login").showModal());
$("login-cancel").addEventListener("click", () => $("login").close());
$("login-form").addEventListener("submit", async (event) => {
  event.preventDefault();
  $("login-error").textContent = "";
  const answer = await post("/login", { user: $("name").value, password: $("password").value });
  $("password").value = "";
  if (!answer.ok) {
    $("login-error").textContent = (await answer.text()).trim();
    return;
  }
  show(await answer.json());
  $("login").close();
  listen();
});
$("log-out").addEventListener("click", async () => {
  const answer = await post("/logout", {});
  if (answer.ok || answer.status === HTTP_UNAUTHORIZED) location.reload();
});

begin();
