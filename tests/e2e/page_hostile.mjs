// Strangers' texts never become markup: messages, names, titles, results of tools. The policy of the
// page holds here; nothing is put in from outside.
import { enter, id, ok, quiet, same, shell, until } from "./page_lib.mjs";

export const nasty = [
    "<img src=x onerror=\"window.hacked=1\">", "<script>window.hacked=1</script>", "<svg onload=window.hacked=1>", "</textarea><iframe src=javascript:window.hacked=1>",
    "[x](javascript:window.hacked=1) [y](JaVaScRiPt:window.hacked=1) [z](data:text/html,<script>window.hacked=1</script>)", "![p](https://evil.example/p.png) <https://evil.example/>",
    "<a href=\"javascript:window.hacked=1\">a</a> &lt;b&gt; <style>*{display:none}</style>", "| a | b |\n|---|---|\n| <img src=x onerror=window.hacked=1> | `<b>` |",
    "\u202e\u0000".replace("\0", "") + "→ prune root\n\u001b[31mred", "{{constructor.constructor('window.hacked=1')()}} ${window.hacked=1} __proto__",
];

/** Fills a workspace with hostile names and texts. */
export function hostileWorkspace(ws) {
    const h = (args, input) => shell(ws, args, input);
    h(["agent", "add", "Eve&lt;b&gt;", "--kind", "model", "--model", "offline:echo", "--permissions", "loom_aware,loom_write", "--system-prompt", nasty[0]]);
    h(["objective", "create", nasty[1]]);
    const objective = JSON.parse(h(["objective", "list", "--json"])).items.at(-1).id;
    h(["spawn", "--no-run", "--intent", nasty[2], "--objective", objective, "--id", "evil"]);
    // A name that `agent add` refuses, in a log that was brought in.
    const eve = { role: "assistant", content: nasty[0], context_ref: "default", node: { id: "n".repeat(26), local_id: "evee", author: "<b onclick=x>Eve", parent: null, via: "say" } };
    h(["log", "append", "<i>hostile"], `${JSON.stringify({ kind: "ai_message", lane: "default", actor: "<b onclick=x>Eve", payload: eve })}\n`);
    let at = null;
    for (const text of nasty) at = id(h(["say", "<i>hostile", text, ...(at ? ["--at", at] : [])]));
    h(["do", "<i>hostile"], `→ bookmark ${at} "<u onclick=1>label"\n→ annotate ${at} "<img src=x onerror=window.hacked=1>"\n→ stash "<s>" "<s>"`);
    return at;
}

const elements = (page) => page.evaluate(() => [...document.querySelectorAll("script, img, iframe, svg, style, object, embed, form[action], link, base, meta[http-equiv], [onclick], [onerror], [onload], a[href^='javascript' i], a[href^='data' i]")]
    .map((e) => e.outerHTML.slice(0, 120)));

export async function hostile(browser, server, ws, key) {
    const { context, page } = await enter(browser, { ...server, key });
    await page.evaluate(() => { window.addEventListener("securitypolicyviolation", (e) => { (window.broken ??= []).push(e.violatedDirective); }); });
    const visitAll = ["/", `/t/${encodeURIComponent("<i>hostile")}`, `/t/${encodeURIComponent("<i>hostile")}?plain=1`, `/t/${encodeURIComponent("<svg onload=window.hacked=1>")}`, "/t/evil",
        `/t/${encodeURIComponent("<i>hostile")}/log`, `/t/${encodeURIComponent("<i>hostile")}/context`, "/search?q=%3Cimg%20src%3Dx%20onerror%3Dwindow.hacked%3D1%3E", "/t/%3Cscript%3Ewindow.hacked=1%3C%2Fscript%3E"];
    const base = await elements(page);
    for (const path of visitAll) {
        await page.goto(server.url + path);
        await page.waitForSelector("#main[data-screen]");
        await quiet(page);
        const more = (await elements(page)).filter((e) => !base.includes(e));
        ok(`nothing hostile is an element at ${path}`, more.length === 0, ...more);
    }
    await page.goto(`${server.url}/t/${encodeURIComponent("<i>hostile")}`);
    await page.waitForSelector(".message.last");
    const shown = await page.locator(".reading").innerText();
    ok("what was said is shown as it stands", shown.includes("<script>window.hacked=1</script>") && shown.includes("<svg onload=window.hacked=1>"), shown);
    // a result of a tool, in the command box
    await page.locator(".rows").first().focus();
    await page.keyboard.press(":");
    await page.getByLabel("Command", { exact: true }).fill("view root full");
    await page.keyboard.press("Enter");
    await until("a result of a tool is text", async () => (await page.locator(".command-output").innerText()).includes("<img src=x onerror"));
    await page.keyboard.press("Escape");
    same("no script of a stranger ran", await page.evaluate(() => window.hacked ?? null), null);
    same("the policy was not even needed", await page.evaluate(() => window.broken ?? []), []);
    const refused = await page.evaluate(() => { try { document.createElement("div").innerHTML = "<b>x</b>"; return "taken"; } catch { return "refused"; } });
    same("and would refuse HTML from a text", refused, "refused");
    ok("no dialog, no error, no request to elsewhere", page.wrong.filter((w) => !w.includes("TrustedHTML") && !w.includes("Trusted Type")).length === 0, ...page.wrong);
    await context.close();
}
