// Light or dark: as the system says, or as it was switched.
import { signal } from "./h.js";

const key = "heddle-theme", order = ["auto", "light", "dark"];
const stored = localStorage.getItem(key);

export const theme = signal(order.includes(stored ?? "") ? stored : "auto");

function apply() {
    if (theme() === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme();
}

export function nextTheme() {
    theme.set(order[(order.indexOf(theme()) + 1) % order.length]);
    localStorage.setItem(key, theme());
    apply();
}

apply();
