// The addresses of the page. Every state has one, which contains all that a screen needs.
//
//     parse(new URL("http://x/t/design/n/c4m2"))   {screen: "thread", thread: "design", node: "c4m2", query: {}}
//     address({screen: "log", thread: "design", query: {at: "12"}})   "/t/design/log?at=12"

/** @typedef {{screen: string, thread?: string, node?: string, name?: string, query: Record<string, string>}} Place */

/** Each screen: its name in the bar, its module, and whether it belongs to a thread. */
export const screens = {
    overview: { label: "Overview", module: "./screen_overview.js", of: "all" },
    thread: { label: "Thread", module: "./screen_thread.js", of: "thread", key: "t" },
    log: { label: "Timeline", module: "./screen_timeline.js", of: "thread", key: "w" },
    context: { label: "Context", module: "./screen_context.js", of: "thread", key: "v" },
    files: { label: "Files", module: "./screen_files.js", of: "thread" },
    payload: { label: "Payload", module: "./screen_payload.js", of: "all" },
    import: { label: "Import", module: "./screen_import.js", of: "all" },
    search: { label: "Search", module: "./screen_search.js", of: "all", hidden: true },
    data: { label: "Data", module: "./screen_data.js", of: "all", hidden: true },
};

// A file may itself be called x.json. So for the address of a file, `.json` is the suffix only after another extension: x.json.json.
const isData = (path) => path.endsWith(".json") && (!/^\/t\/[^/]+\/files\//.test(path) || /\.[a-z]+\.json$/.test(path));

/** The address of the document behind an address. */
export const dataOf = (url) => `${url.pathname}.json${url.search}`;

const decode = (part) => {
    try {
        return decodeURIComponent(part);
    } catch {
        return part;
    }
};

function ofThread(parts, query) {
    const [, thread, what, ...rest] = parts;
    if (what === undefined) return { screen: "thread", thread, query };
    if (what === "n" && rest.length === 1) return { screen: "thread", thread, node: rest[0], query };
    if (what === "files") return { screen: "files", thread, name: rest.join("/") || undefined, query };
    if ((what === "log" || what === "context") && rest.length === 0) return { screen: what, thread, query };
    return { screen: "nowhere", query };
}

/** @param {{pathname: string, search: string}} url @returns {Place} */
export function parse(url) {
    if (isData(url.pathname)) return { screen: "data", name: url.pathname.slice(0, -".json".length) || "/", query: Object.fromEntries(new URLSearchParams(url.search)) };
    const parts = url.pathname.split("/").filter((p) => p !== "").map(decode);
    const query = Object.fromEntries(new URLSearchParams(url.search));
    if (parts.length === 0) return { screen: "overview", query };
    if (parts[0] === "t" && parts.length > 1) return ofThread(parts, query);
    if (parts.length === 1 && screens[parts[0]]?.of === "all" && parts[0] !== "overview" && parts[0] !== "data") return { screen: parts[0], query };
    return { screen: "nowhere", query };
}

const encode = encodeURIComponent;

/** @param {Partial<Place> & {screen: string}} place */
export function address(place) {
    const t = place.thread === undefined ? "" : `/t/${encode(place.thread)}`;
    const paths = {
        overview: "/", thread: t + (place.node ? `/n/${encode(place.node)}` : ""), log: `${t}/log`, context: `${t}/context`,
        data: `${place.name ?? "/"}.json`,
        files: `${t}/files` + (place.name ? "/" + place.name.split("/").map(encodeURIComponent).join("/") : ""),
    };
    const given = Object.entries(place.query ?? {}).filter(([, v]) => v !== undefined && v !== null && v !== "");
    const query = new URLSearchParams(given.map(([k, v]) => [k, String(v)])).toString();
    return (paths[place.screen] ?? `/${place.screen}`) + (query ? `?${query}` : "");
}
