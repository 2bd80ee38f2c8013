// Run by page.sh: measures the page in one workspace and prints a line for each number.
import { enter, launch, nodesOf, serve, stop } from "../tests/e2e/page_lib.mjs";

const [ws, nodes] = process.argv.slice(2);
const line = (name, value) => console.log(`${String(nodes).padStart(9)} nodes  ${name.padEnd(44)} ${value}`);
const at = (list, share) => [...list].sort((a, b) => a - b)[Math.min(list.length - 1, Math.floor(list.length * share))];

/** Milliseconds from navigation until rows have words. */
async function firstRows(page, url) {
    await page.goto(`${url}/t/big`);
    return page.evaluate(() => new Promise((done) => {
        const look = () => {
            const words = [...document.querySelectorAll(".node .words")].filter((e) => e.textContent.length > 1);
            if (words.length > 5) done(performance.now());
            else requestAnimationFrame(look);
        };
        look();
    }));
}

/** Milliseconds from navigation until a screen without data stands there: what the machine and the browser take by themselves. */
async function emptyScreen(page, url) {
    await page.goto(`${url}/nowhere`);
    return page.evaluate(() => new Promise((done) => {
        const look = () => (document.querySelector("#main h1") ? done(performance.now()) : requestAnimationFrame(look));
        look();
    }));
}

/** Times between frames while scrolling 60,000 px a second for four seconds; where there are no rows, of a page that does nothing. */
function frames(page) {
    return page.evaluate(() => new Promise((done) => {
        const rows = document.querySelector(".rows") ?? { scrollTop: 0 }, list = [], from = performance.now();
        let last = from;
        const step = (now) => {
            list.push(now - last);
            rows.scrollTop += ((now - last) / 1000) * 60_000;
            last = now;
            if (now - from < 4000) requestAnimationFrame(step);
            else done(list.slice(2));
        };
        requestAnimationFrame(step);
    }));
}

/** Seconds of processor time that the pages of the browser took so far: unlike frames it does not grow when others work, too. */
async function processorTime(browser) {
    const session = await browser.newBrowserCDPSession(), { processInfo } = await session.send("SystemInfo.getProcessInfo");
    await session.detach();
    return processInfo.filter((p) => p.type === "renderer").reduce((sum, p) => sum + p.cpuTime, 0);
}

const server = await serve(ws), browser = await launch(["--enable-precise-memory-info"]);
const { page } = await enter(browser, server);
const times = [], floors = [], whole = (list) => list.map((t) => Math.round(t)).join(" ");
for (let i = 0; i < 3; i++) {
    floors.push(await emptyScreen(page, server.url));
    times.push(await firstRows(page, server.url));
}
await emptyScreen(page, server.url);
const idle = await frames(page);
await firstRows(page, server.url);
line("first rows with words, ms (three times)", whole(times));
line("a screen without data, in turns with it, ms", whole(floors));
await page.waitForSelector(".message.last");
await page.evaluate(() => { document.querySelector(".rows").scrollTop = 0; });
const before = await processorTime(browser), list = await frames(page), after = await processorTime(browser);
line("frames while scrolling, ms: p50 p95 longest", [0.5, 0.95, 1].map((s) => at(list, s).toFixed(1)).join(" "));
line("processor time of a frame while scrolling, ms", (((after - before) * 1000) / list.length).toFixed(1));
line("frames of a page that does nothing", [0.5, 0.95, 1].map((s) => at(idle, s).toFixed(1)).join(" "));
line("elements", await nodesOf(page));
line("heap of the page, MB", await page.evaluate(() => (/** @type {any} */ (performance).memory?.usedJSHeapSize / 1e6).toFixed(1)));
await browser.close();
await stop(server);
