// use.mjs DEVTOOLS_PORT URL FOLDER: uses the console's page as a person does, in a Chromium with --remote-debugging-port: logs in
// (wrong password first), turns a switch, logs out. Ends with a failure if the page says something else, or the browser complains of
// anything, such as a script that the policy of the page forbids. Takes `node --experimental-websocket`, or a newer one.
import { writeFileSync } from "node:fs";

const [port, url, folder] = process.argv.slice(2);
const PATIENCE_MS = 15000;
const pause = (ms) => new Promise((done) => setTimeout(done, ms));

async function page() {
  for (let begin = Date.now(); ; await pause(100)) {
    try {
      const pages = await (await fetch(`http://127.0.0.1:${port}/json/list`)).json();
      const found = pages.find((one) => one.type === "page");
      if (found) return found.webSocketDebuggerUrl;
    } catch (error) {
      if (Date.now() - begin > PATIENCE_MS) throw error;
    }
  }
}

const socket = new WebSocket(await page());
await new Promise((done) => socket.addEventListener("open", done));
const waiting = new Map();
const complaints = [];
let last = 0;
socket.addEventListener("message", ({ data }) => {
  const message = JSON.parse(data);
  waiting.get(message.id)?.(message);
  if (message.method === "Runtime.exceptionThrown") complaints.push(message.params.exceptionDetails.exception?.description);
  // What the server refuses, as a wrong password, is no fault of the page.
  const entry = message.method === "Log.entryAdded" ? message.params.entry : null;
  if (entry?.level === "error" && entry.source !== "network") complaints.push(entry.text);
});
const call = (method, params = {}) => new Promise((done) => {
  waiting.set(++last, done);
  socket.send(JSON.stringify({ id: last, method, params }));
});
async function run(expression) {
  const { result } = await call("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true });
  if (result.exceptionDetails) throw new Error(`${expression}: ${JSON.stringify(result.exceptionDetails)}`);
  return result.result.value;
}
async function until(expression) {
  for (let begin = Date.now(); !(await run(expression)); await pause(50)) {
    if (Date.now() - begin > PATIENCE_MS) throw new Error(`never: ${expression}\n${await run("document.body.innerText")}`);
  }
}
async function picture(name) {
  const { result } = await call("Page.captureScreenshot", {});
  writeFileSync(`${folder}/${name}.png`, Buffer.from(result.data, "base64"));
}
const $ = (id) => `document.getElementById("${id}")`;
async function logIn(password) {
  await run(`${$("name")}.value = "chief"; ${$("password")}.value = "${password}"; ${$("login-form")}.requestSubmit()`);
}

for (const domain of ["Runtime", "Log", "Page"]) await call(`${domain}.enable`);
await call("Page.navigate", { url });
await until(`${$("connection")}?.textContent === "Live"`);
await run(`${$("log-in")}.click()`);
await until(`${$("login")}.open`);
await logIn("wrong");
await until(`${$("login-error")}.textContent.includes("1045")`);
await picture("login");
await logIn("right");
await until(`!${$("login")}.open && ${$("user")}.textContent === "chief" && ${$("waits-title")}.checkVisibility()`);
await until(`[...document.querySelectorAll(".knob")].length > 10`);
const row = `[...${$("switches")}.tBodies[0].rows].find((row) => row.cells[0].textContent === "turnstile_hot_row")`;
await run(`${row}.querySelector("select").value = "ON"; ${row}.querySelector("form").requestSubmit()`);
await until(`${$("switches-told")}.textContent === "turnstile_hot_row is set to ON."`);
await until(`${row}.cells[1].textContent === "ON" && ${row}.className === "changed"`);
await picture("switched");
await run(`${$("log-out")}.click()`);
await until(`${$("log-in")}?.checkVisibility() && ${$("connection")}.textContent === "Live"`);
if (complaints.length) throw new Error(complaints.join("\n"));
process.exit(0);
