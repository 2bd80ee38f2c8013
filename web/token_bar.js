// Tokens by section as a bar: an image with a text alternative, shown beside a table with the same numbers.
import { h } from "./h.js";
import { number } from "./words.js";

/**
 * @param {{label: string, tokens: number}[]} list @param {number} budget @param {string} words
 */
export function tokenBar(list, budget, words) {
    const whole = Math.max(budget, list.reduce((sum, s) => sum + s.tokens, 0), 1);
    const label = `${words}: ${list.map((s) => `${s.label} ${number(s.tokens)}`).join(", ")}`;
    return h("div", { class: "token-bar", role: "img", "aria-label": label }, list.map((s, k) =>
        h("span", { class: `s${(k % 8) + 1}`, title: `${s.label}: ${number(s.tokens)}`, vars: { "--w": `${Math.max(0.4, (s.tokens / whole) * 100)}%` } })));
}
