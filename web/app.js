// State that all screens share: the current address and thread, and functions that change the address.
import { signal } from "./h.js";
import { address, parse } from "./routes.js";

/** The current address, parsed. */
export const place = signal(parse(location));
/** The thread that was shown last; links in the bar lead to it. */
export const thread = signal(place().thread ?? sessionStorage.getItem("heddle-thread"));
/** The text of the live region, which screen readers announce: "3 new messages". */
export const aloud = signal("");

function arrive() {
    const next = parse(location);
    if (next.thread !== undefined && next.thread !== thread()) {
        thread.set(next.thread);
        sessionStorage.setItem("heddle-thread", next.thread);
    }
    place.set(next);
}

/**
 * Changes the address. `replace`: without a new step in the browser's history.
 * @param {Partial<import("./routes.js").Place> & {screen: string}} to
 */
export function go(to, { replace = false, state = null } = {}) {
    const url = address(to);
    if (url === location.pathname + location.search && state === null) return;
    history[replace ? "replaceState" : "pushState"](state, "", url);
    arrive();
}

/** Stores something (folds, a scroll position) in the current step of the browser's history. */
export function remember(state) {
    history.replaceState({ ...history.state, ...state }, "");
}

/** What remember() stored. */
export const remembered = () => history.state ?? {};

/** The address for a link. A click on it changes the screen without loading the page. */
export const link = address;

export function startPlace() {
    addEventListener("popstate", arrive);
    addEventListener("click", (event) => {
        if (event.defaultPrevented || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
        const a = event.target instanceof Element ? event.target.closest("a[href]") : null;
        if (!(a instanceof HTMLAnchorElement) || a.target || a.origin !== location.origin || a.hasAttribute("download")) return;
        if (a.getAttribute("href")?.startsWith("#")) return;
        event.preventDefault();
        history.pushState(null, "", a.href);
        arrive();
    });
}
