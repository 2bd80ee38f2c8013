// What the browser tests share: a browser, pages with a session, the shell beside it, and checks.
import { createRequire } from "node:module";
import { execFileSync, spawn } from "node:child_process";
import fs from "node:fs";

const require = createRequire(`${process.env.NPM_DIR}/x.js`);
export const { chromium } = require("playwright-core");
export const axeSource = () => fs.readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

const flags = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"];
export const launch = (more = []) => chromium.launch({ executablePath: "/usr/bin/chromium", args: [...flags, ...more] });

// ---- checks ---------------------------------------------------------------------------------
const lines = (text) => String(text).split("\n").map((l) => `# ${l}`).join("\n");
export function ok(name, good, ...more) {
    if (!good) for (const m of more) console.log(lines(typeof m === "string" ? m : JSON.stringify(m, null, 1)));
    console.log(`${good ? "ok" : "not ok"} - ${name}`);
    return good;
}
export function same(name, got, want) {
    return ok(name, JSON.stringify(got) === JSON.stringify(want), `got:  ${JSON.stringify(got)}`, `want: ${JSON.stringify(want)}`);
}

/** What is waited for comes by itself, so that only a defect lasts this long: more than a loaded machine needs. */
export const patience = 120_000;
const pause = (ms) => new Promise((done) => setTimeout(done, ms));

/** Waits until f answers with something true. */
export async function wait(f) {
    for (const end = Date.now() + patience; Date.now() < end; await pause(30)) if (await f()) return true;
    return false;
}

/** Waits until f answers with something true; then the check passes. */
export async function until(name, f) {
    let last = null;
    for (const end = Date.now() + patience; Date.now() < end; await pause(50)) {
        try {
            last = await f();
            if (last) return ok(name, true);
        } catch (error) {
            last = error.message;
        }
    }
    return ok(name, false, `last: ${JSON.stringify(last)}`);
}

// ---- the shell ------------------------------------------------------------------------------
export const heddle = process.env.HEDDLE;

/** Runs the program in a directory and returns what it prints. */
export function shell(cwd, args, input = "") {
    return execFileSync(heddle, args, { cwd, input, encoding: "utf8", stdio: ["pipe", "pipe", "pipe"], maxBuffer: 1 << 28 });
}
export const id = (text) => text.trim().replace(/[[\]]/g, "");

// ---- the server -----------------------------------------------------------------------------
const children = new Set();
// Whatever ends a test, its servers end with it.
process.on("exit", () => { for (const child of children) child.kill("SIGKILL"); });
for (const signal of ["SIGTERM", "SIGINT"]) process.on(signal, () => process.exit(1));

/** Starts `heddle serve`; answers with its address, key and process. */
export async function serve(cwd) {
    const server = await tryToServe(cwd, "");
    if (!server.url) throw new Error(`no server: ${server.text}`);
    return server;
}

/** The same at a port that a server had before. A connection of another program may have it for a minute. */
export async function serveAgain(cwd, port) {
    let server = {};
    await wait(async () => (server = await tryToServe(cwd, `127.0.0.1:${port}`)).url);
    if (!server.url) throw new Error(`no server: ${server.text}`);
    return server;
}

async function tryToServe(cwd, listen) {
    const child = spawn(heddle, ["serve", ...(listen ? ["--listen", listen] : [])], { cwd, stdio: ["ignore", "pipe", "pipe"] });
    children.add(child);
    child.once("exit", () => children.delete(child));
    let text = "";
    child.stdout.on("data", (d) => (text += d));
    child.stderr.on("data", (d) => (text += d));
    await wait(() => /^ready/m.test(text) || child.exitCode !== null);
    const url = /at (http:\S+)/.exec(text)?.[1], key = /#k=(\S+)/.exec(text)?.[1];
    return { url, key, child, text, port: url && new URL(url).port };
}
export async function stop(server) {
    const over = new Promise((done) => server.child.once("exit", done));
    server.child.kill("SIGTERM");
    await over;
}

// ---- pages ----------------------------------------------------------------------------------
/** A page that has entered with the link, in a context of its own. What goes wrong in it is kept. */
export async function enter(browser, server, options = {}) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
    const page = await watched(context);
    await page.goto(`${server.url}/#k=${server.key}`);
    await page.waitForFunction(() => !location.hash && document.querySelector('.live[data-state="live"]'));
    return { context, page };
}

/** A page whose errors, dialogs and requests to elsewhere are kept in page.wrong. */
export async function watched(context) {
    const page = await context.newPage();
    page.setDefaultTimeout(patience);
    page.wrong = [];
    page.pending = new Set();
    page.asked = 0;
    page.on("request", (r) => { if (!r.url().endsWith("/api/events")) { page.asked++; page.pending.add(r); } });
    for (const end of ["requestfinished", "requestfailed"]) page.on(end, (r) => page.pending.delete(r));
    page.on("pageerror", (e) => page.wrong.push(`error: ${e.message}`));
    page.on("dialog", (d) => { page.wrong.push(`dialog: ${d.message()}`); d.dismiss(); });
    page.on("console", (m) => { if (m.type() === "error" && !/Failed to load resource/.test(m.text())) page.wrong.push(`console: ${m.text()}`); });
    page.on("request", (r) => { if (new URL(r.url()).hostname !== "127.0.0.1") page.wrong.push(`request: ${r.url()}`); });
    return page;
}

/** Resolves when nothing changed in a page, and nothing moved, for some frames. */
const still = (page) => page.evaluate(async () => {
    let calm = 0, changed = false;
    const watch = new MutationObserver(() => { changed = true; });
    watch.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
    for (let i = 0; calm < 8 && i < 1200; i++) {
        await new Promise((done) => requestAnimationFrame(done));
        calm = changed || document.getAnimations().some((a) => a.playState === "running") ? 0 : calm + 1;
        changed = false;
    }
    watch.disconnect();
});

/** Waits until a page shows what it has asked for: nothing it did in that time asked for more. The stream of news has no end, and is not waited for. */
export async function quiet(page) {
    for (let asked = -1, i = 0; (asked !== page.asked || page.pending.size > 0) && i < 200; i++) {
        asked = page.asked;
        await still(page);
    }
}

/** Goes to a state without loading the page anew. */
export async function visit(page, path) {
    await page.evaluate((to) => { const a = document.createElement("a"); a.href = to; document.body.append(a); a.click(); a.remove(); }, path);
}

export const nodesOf = (page) => page.evaluate(() => document.querySelectorAll("*").length);
