// Starts the page: the token, the projects, which view is shown. What is in the views is theirs.

import { ApiError, access, forgetToken, keepToken, token } from "./api.js";
import { approvals } from "./approvals.js";
import { connect, daemon } from "./daemon.js";
import { dismiss } from "./dialog.js";
import { element, failure, loading, replace } from "./dom.js";
import { history } from "./history.js";
import { followApprovals, inbox, waiting } from "./inbox.js";
import { showHelp, startKeys } from "./keys.js";
import { showLogin } from "./login.js";
import { policy } from "./policy.js";
import { areSeveral, choose, loadProjects, nameOf, project, projects } from "./projects.js";
import { stopAll } from "./runs.js";
import { processes, sessions } from "./sessions.js";
import { status } from "./status.js";
import { tasks } from "./tasks.js";
import { inline } from "./text.js";
import { undo } from "./undo.js";

const VIEWS = { approvals, tasks, sessions, processes, history, undo, policy, status };
const main = document.getElementById("main");

/** What belongs to whoever is signed in, and to the view that is shown. */
let stay = new AbortController();
let visit = new AbortController();

/** `#token=…` comes with the printed address. It must not stay in the address bar, nor in the history of the browser. */
function takeToken() {
    const given = location.hash.match(/^#token=(.+)$/);
    if (!given) return false;
    keepToken(decoded(given[1]));
    window.history.replaceState(null, "", "#/approvals");
    return true;
}

async function enter() {
    stay.abort();
    stay = new AbortController();
    const { signal } = stay;
    if (!token()) return leave();
    replace(main, loading("exacta"));
    try {
        await loadProjects(signal);
    } catch (error) {
        if (signal.aborted || error.status === 401) return undefined;
        return replace(main, failure(error, enter));
    }
    document.body.classList.remove("signed-out");
    showChooser();
    connect(signal);
    followApprovals(signal);
    return show(false);
}

/** Back to the field for the token. */
function leave(error) {
    stay.abort();
    visit.abort();
    stopAll();
    dismiss();
    forgetToken();
    document.body.classList.add("signed-out");
    document.title = "exacta";
    showLogin(main, error, (given) => {
        keepToken(given);
        enter();
    });
}

/** `#/history/12?grep=x`: the view, one thing in it, what is asked for. */
function place() {
    const [where, query = ""] = location.hash.replace(/^#\/?/, "").split(/\?(.*)/s);
    const [name, id] = where.split("/");
    return { name: name in VIEWS ? name : "approvals", id: id ? decoded(id) : null, query: new URLSearchParams(query) };
}

function decoded(text) {
    try {
        return decodeURIComponent(text);
    } catch {
        return text;
    }
}

async function show(isMove = true) {
    if (document.body.classList.contains("signed-out")) return;
    visit.abort();
    visit = new AbortController();
    const { signal } = visit;
    dismiss();
    const { name, id, query } = place();
    const root = element("div", { class: `view view-${name}` });
    replace(main, root);
    markCurrent(name);
    showCount();
    scrollTo(0, 0);
    try {
        const shown = VIEWS[name].show({ root, id, query, signal });
        // Whoever listens to the page hears where they are; a view may have put the focus elsewhere.
        if (isMove && !root.contains(document.activeElement)) root.querySelector("h1")?.focus();
        await shown;
        if (isMove && document.activeElement === document.body) root.querySelector("h1")?.focus();
    } catch (error) {
        if (signal.aborted) return;
        if (!(error instanceof ApiError)) console.error(error);
        root.querySelector(".loading")?.remove();
        root.append(failure(error, () => show()));
    }
}

function markCurrent(name) {
    for (const link of document.querySelectorAll(".views a")) {
        const isCurrent = link.hash === `#/${name === "processes" ? "sessions" : name}`;
        if (isCurrent) link.setAttribute("aria-current", "page");
        else link.removeAttribute("aria-current");
    }
}

/** In the title too: the tab is rarely the one in front. */
function showCount() {
    const count = waiting().length;
    const badge = document.getElementById("count");
    badge.textContent = String(count);
    badge.hidden = count === 0;
    badge.setAttribute("aria-label", `${count} waiting`);
    document.title = `${count > 0 ? `(${count}) ` : ""}${VIEWS[place().name].title} · exacta`;
}

function showChooser() {
    const chooser = document.getElementById("chooser");
    const field = document.getElementById("project");
    chooser.hidden = !areSeveral();
    replace(
        field,
        projects.all.map((one) =>
            element(
                "option",
                { value: one.path, title: inline(one.path, 300), selected: one.path === project() },
                inline(one.name, 60),
            ),
        ),
    );
    const name = document.getElementById("project-name");
    name.textContent = areSeveral() || !project() ? "" : inline(nameOf(project()), 60);
    name.title = inline(project() ?? "", 300);
}

function showConnection({ detail: { state, error } }) {
    const words = {
        live: "live",
        connecting: "connecting",
        waiting: "offline, trying again",
        refused: error?.code === "person_needed" ? "no live news: an agent's token" : "no live news",
    };
    const made = document.getElementById("connection");
    made.textContent = words[state];
    made.dataset.state = state;
    made.title = error ? `${error.message} ${error.hint}` : "";
}

/** As the system, light, dark, and round again. */
function nextTheme() {
    const { dataset } = document.documentElement;
    const next = { undefined: "light", light: "dark", dark: undefined }[dataset.theme];
    if (next) dataset.theme = next;
    else delete dataset.theme;
    localStorage.setItem("exacta-theme", next ?? "");
    showTheme();
}

function showTheme() {
    const words = { light: "Light", dark: "Dark" }[document.documentElement.dataset.theme] ?? "Auto";
    const field = document.getElementById("theme");
    field.textContent = words;
    field.setAttribute("aria-label", `Colours: ${words}`);
}

function start() {
    document.getElementById("theme").addEventListener("click", nextTheme);
    document.getElementById("help").addEventListener("click", showHelp);
    document.getElementById("sign-out").addEventListener("click", () => leave());
    document.getElementById("project").addEventListener("change", (event) => choose(event.target.value));
    // The hash belongs to the views.
    document.getElementById("skip").addEventListener("click", (event) => {
        event.preventDefault();
        main.focus();
    });
    projects.addEventListener("change", () => {
        const { name, id } = place();
        // What has a number in one project is something else in another.
        if (id) location.hash = `#/${name}`;
        else show(false);
    });
    daemon.addEventListener("connection", showConnection);
    inbox.addEventListener("change", showCount);
    access.addEventListener("refused", ({ detail }) => leave(detail));
    addEventListener("hashchange", () => (takeToken() ? enter() : show()));
    startKeys();
    showTheme();
    takeToken();
    enter();
}

start();
