// A tree of 100,000 nodes: few elements, at every place; and the far end is reached.
import { enter, nodesOf, ok, same, shell, until } from "./page_lib.mjs";

export async function scale(browser, server, ws, key, most = 3000) {
    const { context, page } = await enter(browser, { ...server, key });
    await page.goto(`${server.url}/t/big`);
    await page.waitForSelector(".message.last");
    ok(`100,000 nodes are ${await nodesOf(page)} elements`, (await nodesOf(page)) < most);
    const head = await page.locator(".pane-head").first().innerText(), leaves = Number(/([\d,]+) leaves/.exec(head)?.[1].replaceAll(",", ""));
    ok("and all of them are there", head.includes("100,000 nodes"), head);
    ok("they are a tree: most nodes have others below them, and side branches are folded", leaves > 1000 && leaves < 50_000 && (await page.locator(".node .guide", { hasText: "⊞" }).count()) > 0, head);
    await page.locator(".rows").first().focus();
    await page.keyboard.press("g");
    await until("the first row has its words", async () => (await page.locator(".row.selected .words").innerText()).length > 3);
    await page.evaluate(async () => {
        const rows = document.querySelector(".rows");
        for (let i = 0; i < 40; i++) {
            rows.scrollTop += 4000;
            await new Promise((done) => requestAnimationFrame(done));
        }
    });
    await until("rows in the middle get theirs", async () => !(await page.locator(".node:visible .words").allInnerTexts()).includes("…"));
    const top = () => page.evaluate(() => document.querySelector(".rows").scrollTop);
    const before = await top(), total = await page.locator(".pane-head").first().innerText();
    shell(ws, ["say", "big", "news from elsewhere"]);
    await until("a new node is counted", async () => (await page.locator(".pane-head").first().innerText()) !== total);
    same("and what is looked at stays where it is", await top(), before);
    ok(`after scrolling there are ${await nodesOf(page)} elements`, (await nodesOf(page)) < most);
    ok("rows say their place to a screen reader", await page.locator(".row.selected").getAttribute("aria-setsize") !== null);
    ok("nothing went wrong", page.wrong.length === 0, ...page.wrong);
    await context.close();
}
