// The session of this browser: the link's key becomes a cookie, which scripts cannot read, and a
// secret, which every call sends in a header. The server wants both.
import { signal } from "./h.js";
import { fetchWithin } from "./within.js";

const key = `heddle-secret-${location.port}`;
const actorKey = `heddle-actor-${location.port}`;

/** Whether there is a session, as far as is known: a refusal ends it, a link in any tab begins it. */
export const entered = signal(false);

/** Who writes from this browser. */
export const actor = () => localStorage.getItem(actorKey) ?? "user";
/** The parameter `agent` for a name. It is left out for yourself: without it, operations act as the caller. */
export const asAgent = (name) => (name && name !== actor() ? { agent: name } : {});
export const secret = () => localStorage.getItem(key) ?? "";

// ---- the link -------------------------------------------------------------------------------------
// The page draws its secret, and stores it with the key of the link until the server has answered. If the exchange is
// interrupted (a reload, a lost answer), it is repeated at the next start, although the link was already used.

const linkKey = `heddle-link-${location.port}`;
const linkTime = 20_000;

/** Why the last link did not open a session; null: it did, or there was none. */
export const refusal = signal(/** @type {null | {code: string, message: string, hint: string}} */ (null));

function drawSecret() {
    const bytes = crypto.getRandomValues(new Uint8Array(32));
    return btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** Takes the key out of the address, so that it neither stays there nor gets into the history. */
function takeLink() {
    const found = /^#k=([A-Za-z0-9_-]+)$/.exec(location.hash);
    if (!found) return;
    sessionStorage.setItem(linkKey, JSON.stringify({ k: found[1], secret: drawSecret() }));
    history.replaceState(history.state, "", location.pathname + location.search);
}

async function useLink(text) {
    let answer;
    try {
        // keepalive: the request is completed, and the cookie is set, even if the page is closed meanwhile.
        answer = await fetchWithin(linkTime, "/api/session", { method: "POST", headers: { "Content-Type": "application/json" }, body: text, keepalive: true });
    } catch {
        return refusal.set({ code: "OFFLINE", message: "the server did not answer when the link was used", hint: "load the page again; is `heddle serve` running?" });
    }
    const document = await answer.json().catch(() => null);
    if (answer.ok && document) {
        localStorage.setItem(actorKey, document.actor ?? "user");
        localStorage.setItem(key, document.secret);
    }
    refusal.set(answer.ok ? null : document?.error ?? { code: "ERROR", message: `the server answered ${answer.status}`, hint: "" });
    if (answer.status < 500 && answer.status !== 429) sessionStorage.removeItem(linkKey);
}

/** Enters with the link, if there is one. Returns whether there is a session to try. */
export async function enter() {
    takeLink();
    const link = sessionStorage.getItem(linkKey);
    if (link) await useLink(link);
    entered.set(secret() !== "");
    return entered();
}

/** The server refused the session. If another tab has stored a newer secret, that one is kept. */
export function refused(with_secret) {
    if (secret() === with_secret) localStorage.removeItem(key);
    entered.set(secret() !== "");
}

// When another tab has opened a session, this one uses it too.
addEventListener("storage", (event) => {
    if (event.key === key) entered.set(event.newValue !== null);
});
