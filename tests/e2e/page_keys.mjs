// Keyboard alone: every part is reached and used without a pointer.
import { enter, ok, same, shell, until } from "./page_lib.mjs";

const at = (page) => page.evaluate(() => decodeURIComponent(location.pathname.split("/n/")[1] ?? ""));
const press = async (page, ...keys) => { for (const k of keys) await page.keyboard.press(k); };
const active = (page) => page.evaluate(() => { const e = document.activeElement; return `${e.tagName} ${e.getAttribute("aria-label") ?? e.textContent.trim().slice(0, 30)}`; });

export async function keys(browser, server, ws, key) {
    const { context, page } = await enter(browser, { ...server, key });
    await page.waitForSelector(".over-list .row");
    await press(page, "f");
    await page.keyboard.type("keyed");
    await press(page, "Escape", "g", "j");
    await until("the thread is chosen by keys", async () => (await page.locator(".pane-head h2").last().innerText()) === "keyed");
    await press(page, "Enter");
    await page.waitForSelector(".message.last");
    ok("Enter opens it", new URL(page.url()).pathname.startsWith("/t/keyed"));
    await press(page, "g");
    const first = await at(page);
    await press(page, "j");
    await until("j goes on", async () => (await at(page)) !== first);
    await press(page, "k");
    await until("k goes back", async () => (await at(page)) === first);
    await press(page, "]");
    await until("] goes to a fork", async () => (await page.locator(".row.selected .guide").innerText()).includes("┿"));
    const rows = await page.locator(".node:visible").count();
    await press(page, "z");
    await until("z folds", async () => (await page.locator(".node:visible").count()) < rows);
    same("which a screen reader is told", await page.locator(".row.selected").getAttribute("aria-expanded"), "false");
    await press(page, "l");
    await until("l unfolds", async () => (await page.locator(".node:visible").count()) === rows);
    await press(page, "r");
    await page.keyboard.type("Said by keys");
    await press(page, "Control+Enter");
    await until("r answers, Ctrl-Enter sends", () => shell(ws, ["log", "export", "keyed"]).includes("Said by keys"));
    await press(page, "Escape");
    await until("what was said is chosen", async () => (await page.locator(".message.last").innerText()).includes("Said by keys"));
    await press(page, "m");
    await until("m bookmarks", async () => (await page.locator(".row.selected .marks").innerText()).includes("★"));
    await press(page, "u");
    await until("u takes it back", async () => !(await page.locator(".row.selected .marks").innerText()).includes("★"));
    await press(page, "?");
    await until("? lists the keys", async () => (await page.locator("dialog[open]").innerText()).includes("bookmark"));
    await page.locator("dialog[open] input[type=checkbox]").press(" ");
    await press(page, "Escape");
    const still = await at(page);
    await page.locator(".rows").first().focus();
    await press(page, "g");
    await page.waitForTimeout(50);
    same("keys of one letter can be switched off", await at(page), still);
    await page.evaluate(() => localStorage.setItem("heddle-keys", "on"));
    await page.goBack();
    await until("back leads back", () => new URL(page.url()).pathname === "/");
    await page.goForward();
    await until("and forward forward", () => new URL(page.url()).pathname.startsWith("/t/keyed"));
    await page.waitForSelector(".message.last");
    const seen = new Set();
    await page.locator(".skip").focus();
    for (let i = 0; i < 60; i++) {
        await press(page, "Tab");
        seen.add(await active(page));
    }
    for (const part of ["DIV Tree", "DIV Messages", "TEXTAREA What is said", "SELECT Agent", "BUTTON Say"]) ok(`Tab reaches ${part}`, [...seen].some((s) => s.startsWith(part)), [...seen]);
    ok("nothing went wrong", page.wrong.length === 0, ...page.wrong);
    await context.close();
}
