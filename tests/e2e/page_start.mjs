// How the page comes up when something on the way fails: it is never empty without a word, and needs no second link.
import { enter, ok, same, until, watched } from "./page_lib.mjs";

const text = async (page, selector) => (await page.locator(selector).first().innerText()).trim();

/** A page in a context of its own that has no session yet. */
async function fresh(browser) {
    const context = await browser.newContext();
    return { context, page: await watched(context) };
}

/** The page is left while the link is being used: its answer is lost, and the next load asks again. */
async function lostAnswer(browser, server, key) {
    const { context, page } = await fresh(browser);
    let lost = 0;
    await context.route("**/api/session", async (route) => {
        if (lost++ > 0) return route.continue();
        await route.fetch(); // the server has used the link; the answer never arrives
        await page.goto(`${server.url}/t/design`).catch(() => {});
        await route.abort().catch(() => {});
    });
    await page.goto(`${server.url}/#k=${key}`).catch(() => {});
    await until("a page that is loaded again while its link is used has its session", async () => (await page.locator(".message.last").count()) === 1);
    ok("the answer was lost once, and asked for again", lost === 2, lost);
    await context.close();
}

async function usedLink(browser, server, key) {
    const { context } = await enter(browser, { ...server, key });
    await context.close();
    const other = await fresh(browser);
    await other.page.goto(`${server.url}/#k=${key}`);
    await until("a link that was used is told of", async () => (await text(other.page, "#main")).includes("the link was used"));
    ok("with what to do", (await text(other.page, "#main")).includes("heddle open"));
    same("and is not in the address", new URL(other.page.url()).hash, "");
    await other.context.close();
}

/** Parts that do not arrive. */
async function parts(browser, server, key) {
    const { context, page } = await enter(browser, { ...server, key });
    for (const [name, path] of [["the first module", "**/main.js"], ["a module that others need", "**/h.js"]]) {
        await context.route(path, (route) => route.abort());
        await page.goto(`${server.url}/t/design`);
        await until(`without ${name} the page says so`, async () => (await text(page, "#starting")).includes("could not be started"));
        await context.unroute(path);
        await page.getByRole("button", { name: "Load it again" }).click();
        await until("a button loads it again", async () => (await page.locator(".message.last").count()) === 1);
    }
    let times = 0;
    await context.route(/screen_search\.js/, (route) => (times++ === 0 ? route.abort() : route.continue()));
    await page.goto(`${server.url}/search?q=table`);
    await until("a screen that did not arrive is asked for again", async () => (await page.locator(".found, .results").count()) > 0);
    await context.unroute(/screen_search\.js/);
    await context.route(/screen_files\.js/, (route) => route.abort());
    await page.goto(`${server.url}/t/form/files`);
    await until("one that does not come at all is told of", async () => (await text(page, "#main")).includes("could not be opened"));
    ok("with a way on", await page.getByRole("button", { name: "Load it again" }).isVisible());
    await context.close();
}

/** Requests that fail, and requests that hang. */
async function requests(browser, server, key) {
    const { context, page } = await enter(browser, { ...server, key });
    let failures = 0;
    await context.route("**/api/thread.graph", (route) => (failures++ === 0 ? route.abort() : route.continue()));
    await page.goto(server.url);
    await until("a read that failed is asked for again", async () => (await page.locator(".over-thread").count()) > 0);
    await context.unroute("**/api/thread.graph");
    const held = [];
    await context.route("**/api/thread.graph", (route) => { held.push(route); });
    await page.goto(server.url);
    await until("a read that takes long is told of", async () => (await text(page, ".offline-line")).includes("takes long"));
    for (const route of held) await route.continue();
    await until("until it has come", async () => (await page.locator(".over-thread").count()) > 0 && !(await page.locator(".offline-line").isVisible()));
    await context.unroute("**/api/thread.graph");
    let writes = 0;
    await context.route("**/api/loom.say", (route) => { writes++; return route.abort(); });
    await page.goto(`${server.url}/t/design`);
    await page.waitForSelector(".message.last");
    await page.getByLabel("What is said").fill("sent once");
    await page.getByRole("button", { name: "Say", exact: true }).click();
    await until("a write without an answer is told of", async () => (await text(page, ".say .error")).includes("OFFLINE"));
    same("and was sent once", writes, 1);
    await context.close();
}

export async function starts(browser, server, newKey) {
    await lostAnswer(browser, server, newKey());
    await usedLink(browser, server, newKey());
    await parts(browser, server, newKey());
    await requests(browser, server, newKey());
}
