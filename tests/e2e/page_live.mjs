// News: one stream for all tabs, others' writes, a server that goes and comes back.
import { enter, ok, same, serve, serveAgain, shell, stop, until, watched } from "./page_lib.mjs";

const streams = (list) => list.filter((r) => r.url().endsWith("/api/events")).length;

/** Twelve tabs have one stream; all hear of a write; when the one that reads is closed, another goes on. */
export async function tabs(browser, server, ws, key) {
    const { context, page } = await enter(browser, { ...server, key });
    const open = new Set();
    context.on("request", (r) => { if (r.url().endsWith("/api/events")) open.add(r); });
    for (const e of ["requestfailed", "requestfinished"]) context.on(e, (r) => open.delete(r));
    await page.goto(`${server.url}/t/design`);
    const all = [page];
    for (let i = 1; i < 12; i++) {
        const one = await watched(context);
        await one.goto(`${server.url}/t/design`);
        all.push(one);
    }
    await Promise.all(all.map((p) => p.waitForSelector(".message.last")));
    await Promise.all(all.map((p) => p.waitForFunction(() => document.querySelector(".live")?.textContent.includes("live"))));
    await until("twelve tabs have one stream", () => streams([...open]) === 1);
    const field = all[1].getByLabel("How many continuations"), reads = [];
    await field.focus();
    all[1].on("requestfinished", (r) => reads.push(r.url()));
    shell(ws, ["say", "design", "Heard by all", "--as", "Berta"]);
    const heard = (p) => p.waitForFunction(() => [...document.querySelectorAll(".node .words")].some((e) => e.textContent.includes("Heard by all"))).then(() => true, () => false);
    same("all of them show what another user wrote", (await Promise.all(all.map(heard))).filter(Boolean).length, 12);
    same("and whose it is", await page.locator(".node", { hasText: "Heard by all" }).locator(".who").innerText(), "Berta");
    await until("with news a tab reads the run anew", () => reads.some((url) => url.endsWith("/api/run.status")));
    await all[1].evaluate(() => new Promise((shown) => requestAnimationFrame(() => requestAnimationFrame(shown))));
    ok("and whoever fills in a field of the box goes on where he was", await field.evaluate((e) => e === document.activeElement));
    await all.shift().close();
    await until("when the tab that reads is closed, another reads", () => streams([...open]) === 1);
    shell(ws, ["say", "design", "Still heard"]);
    await all[0].waitForFunction(() => [...document.querySelectorAll(".node .words")].some((e) => e.textContent.includes("Still heard"))).catch(() => {});
    ok("and the others still hear", await all[0].locator(".node", { hasText: "Still heard" }).count() === 1);
    ok("nothing went wrong in any tab", all.every((p) => p.wrong.length === 0), ...all.flatMap((p) => p.wrong));
    await context.close();
}

/** The server ends and is started again: the page says so, keeps the draft, and goes on with a new link. */
export async function restart(browser, ws) {
    let server = await serve(ws);
    const { context, page } = await enter(browser, server);
    await page.goto(`${server.url}/t/design`);
    await page.waitForSelector(".message.last");
    await page.getByLabel("What is said").fill("a draft that stays");
    await stop(server);
    const rev = JSON.parse(shell(ws, ["head", "design", "--json"])).rev;
    await until("without a server the page says since when, and behind which entry", async () => /^Offline since \d\d:\d\d, last #(\d+):/.exec(await page.locator(".offline-line").innerText())?.[1] === String(rev - 1));
    await page.getByRole("button", { name: "Say", exact: true }).click();
    await until("what is written then is refused beside the box", async () => (await page.locator(".say .error").innerText()).includes("OFFLINE"));
    same("and the draft stays", await page.getByLabel("What is said").inputValue(), "a draft that stays");
    shell(ws, ["say", "design", "Written meanwhile"]);
    server = await serveAgain(ws, server.port);
    await until("the session has ended with the server, and the page asks for a new link", async () => (await page.locator("#main").innerText()).includes("heddle open"));
    const other = await watched(context);
    await other.goto(`${server.url}/#k=${server.key}`);
    await until("a link in another tab is a session for this one too", async () => (await page.locator(".node", { hasText: "Written meanwhile" }).count()) === 1);
    same("the draft is there", await page.getByLabel("What is said").inputValue(), "a draft that stays");
    await page.getByRole("button", { name: "Say", exact: true }).click();
    await until("and can be said", () => shell(ws, ["log", "export", "design"]).includes("a draft that stays"));
    await context.close();
    await stop(server);
}
