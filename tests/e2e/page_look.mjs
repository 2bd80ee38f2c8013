// Every screen, light and dark, wide and narrow: axe finds nothing, nothing overflows, and a picture
// is kept for whoever wants to look.
import fs from "node:fs";
import { axeSource, enter, ok, quiet } from "./page_lib.mjs";

/** The screens that are there: their name, address, and what shows that they are filled. */
export const screens = [
    { name: "overview", path: "/", ready: ".over-list .row", before: (page) => page.locator(".over-thread", { hasText: "Build the form" }).click() },
    { name: "thread", path: "/t/design", ready: ".message.last" },
    { name: "thread-path", path: "/t/design?plain=1", ready: ".plain-path .message" },
    { name: "log", path: "/t/backend/log", ready: ".compare[data-ready]", always: true, before: async (page) => {
        const from = await page.locator(".compare").getAttribute("data-ready");
        await page.locator(".log-body .rows").focus();
        await page.keyboard.press("<");
        await page.waitForSelector(`.compare[data-ready]:not([data-ready="${from}"])`, { state: "attached" });
    } },
    { name: "context", path: "/t/backend/context?agent=Ana", ready: "#main table, #main [data-ready]" },
    { name: "files", path: "/t/form/files", ready: "#main [data-ready], #main li, #main .row" },
    { name: "payload", path: "/payload", ready: "#main [data-ready], #main .row, #main table" },
    { name: "search", path: "/search?q=table", ready: "#main [data-ready], #main li, #main .row" },
    { name: "import", path: "/import", ready: "#main h1, #main h2" },
    { name: "operations", path: "/t/design", ready: ".message.last", always: true, before: async (page) => {
        await page.keyboard.press("O");
        await page.locator("select[aria-label=Operation]").selectOption("thread.transfer");
    } },
    { name: "keys", path: "/t/design", ready: ".message.last", always: true, before: (page) => page.keyboard.press("?") },
    { name: "objective", path: "/", ready: ".over-list .row", always: true, before: (page) => page.locator(".over-objective").first().click() },
    { name: "nowhere", path: "/x", ready: "#main h1" },
];

const shots = process.env.HEDDLE_PAGE_SHOTS ?? "";

async function violations(page, axe) {
    await page.evaluate(axe);
    const { violations: list } = await page.evaluate(() => /** @type {any} */ (window).axe.run(document, { resultTypes: ["violations"] }));
    return list.map((v) => `${v.id}: ${v.nodes.slice(0, 3).map((n) => `${n.target.join(" ")} ${n.failureSummary.split("\n").slice(1, 3).join(" ")}`).join(" | ")}`);
}

async function overflow(page) {
    return page.evaluate(() => document.documentElement.scrollWidth > innerWidth ? `${document.documentElement.scrollWidth} > ${innerWidth}` : "");
}

const exists = (source, name) => !{ log: "timeline", context: "context", files: "files", payload: "payload", search: "search", import: "import" }[name]
    || fs.existsSync(`${source}/web/screen_${{ log: "timeline" }[name] ?? name}.js`);

export async function looks(browser, server, newKey) {
    const axe = axeSource(), here = screens.filter((s) => exists(process.env.HEDDLE_SOURCE, s.name));
    for (const [width, height] of [[1280, 800], [390, 800]]) {
        for (const colorScheme of ["light", "dark"]) {
            // axe is put in from outside, which the page's own policy forbids: other tests hold the policy.
            const { context, page } = await enter(browser, { ...server, key: newKey() }, { viewport: { width, height }, colorScheme, bypassCSP: true, reducedMotion: "reduce" });
            for (const s of here) {
                await page.goto(server.url + s.path);
                await page.waitForSelector(s.ready, { state: "attached" }).catch(() => page.wrong.push(`${s.name} was not filled`));
                if (s.before && (s.always || width > 760)) await s.before(page);
                await quiet(page);
                const found = await violations(page, axe), wide = await overflow(page);
                ok(`${s.name}, ${colorScheme}, ${width}: axe finds nothing, nothing overflows`, found.length === 0 && !wide, ...found, wide);
                if (shots) await page.screenshot({ path: `${shots}/${s.name}-${colorScheme}-${width}.png` });
            }
            ok(`${colorScheme}, ${width}: nothing went wrong`, page.wrong.length === 0, ...page.wrong);
            await context.close();
        }
    }
}
