// What all screens share: where the page is, how to go elsewhere, and what is around a screen.
import { signal } from "./h.js";
import { address, parse } from "./routes.js";

/** Where the page is. */
export const place = signal(parse(location));
/** The thread that was looked at last: the bar leads back to it. */
export const thread = signal(place().thread ?? sessionStorage.getItem("heddle-thread"));
/** What is read aloud: "3 new messages". */
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
 * Goes to a place. `replace`: without a step in the history, for what only narrows what is shown.
 * @param {Partial<import("./routes.js").Place> & {screen: string}} to
 */
export function go(to, { replace = false, state = null } = {}) {
    const url = address(to);
    if (url === location.pathname + location.search && state === null) return;
    history[replace ? "replaceState" : "pushState"](state, "", url);
    arrive();
}

/** Keeps something (folds, a scroll position) with this step of the history. */
export function remember(state) {
    history.replaceState({ ...history.state, ...state }, "");
}

/** What remember() kept. */
export const remembered = () => history.state ?? {};

/** An address for a link; the page follows it without loading. */
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
