// Runs before the page, and is no module: it says so when the page does not come up. A module that could not be
// loaded, or an error before the first screen, would otherwise leave an empty window.
(() => {
    const starting = () => document.getElementById("starting");

    function say(why) {
        const place = starting();
        if (!place) return; // the page is up, and says by itself what goes wrong
        const again = document.createElement("button");
        again.type = "button";
        again.className = "primary";
        again.textContent = "Load it again";
        again.addEventListener("click", () => location.reload());
        const title = document.createElement("h1"), text = document.createElement("p"), help = document.createElement("p");
        title.textContent = "The page could not be started";
        text.textContent = why;
        help.textContent = "Is the server running? In the workspace, heddle open starts it and makes a new link.";
        place.classList.add("failed");
        place.setAttribute("role", "alert");
        place.replaceChildren(title, text, help, again);
    }

    // An element that could not be loaded tells its error only to whoever listens on the way down to it.
    addEventListener("error", (event) => {
        const from = event.target;
        if (from instanceof HTMLScriptElement || from instanceof HTMLLinkElement) say(`A part of it did not arrive: ${new URL(from.getAttribute("src") ?? from.getAttribute("href") ?? "", location.href).pathname}`);
        else say(event.message || "A part of it did not arrive.");
    }, true);
    addEventListener("unhandledrejection", (event) => say(String(event.reason?.message ?? event.reason)));
})();
