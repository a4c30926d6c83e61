// Elements out of plain values. Nothing here, and nothing that uses it, ever parses markup: what agents write stays text.

import { prose } from "./text.js";

/** Attributes that would run something, or load something from elsewhere. */
const FORBIDDEN = /^(on|style$|srcdoc$|src$|innerhtml$|outerhtml$|action$|formaction$)/i;

/** `element("a", { class: "row", href: "#/undo/1", on: { click } }, "text", other)`; children that are null are left out. */
export function element(tag, properties = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(properties)) {
        if (value === null || value === undefined || value === false) continue;
        if (name === "on") {
            for (const [event, listener] of Object.entries(value)) made.addEventListener(event, listener);
        } else if (name === "data") {
            Object.assign(made.dataset, value);
        } else if (name === "value") {
            made.value = value;
        } else if (FORBIDDEN.test(name)) {
            throw new TypeError(`no element gets ${name} here`);
        } else if (name === "href" && !String(value).startsWith("#")) {
            throw new TypeError("links lead to views of this page only");
        } else {
            made.setAttribute(name, value === true ? "" : value);
        }
    }
    made.append(...present(children));
    return made;
}

export function replace(parent, ...children) {
    parent.replaceChildren(...present(children));
}

function present(children) {
    return children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false);
}

export function button(label, click, properties = {}) {
    return element("button", { type: "button", ...properties, on: { click } }, label);
}

/** For fields with commands and names: nothing is to correct them. */
export const LITERAL = { spellcheck: "false", autocapitalize: "off", autocomplete: "off" };

/** `link("undo", 12, "its record")`: to one thing in a view. */
export function link(view, id, text, properties = {}) {
    return element("a", { href: `#/${view}/${encodeURIComponent(id)}`, ...properties }, text);
}

/** All requests of a session. */
export function linkToSession(session, text) {
    return element(
        "a",
        { href: `#/history?session=${encodeURIComponent(session)}`, title: "All of this session" },
        text,
    );
}

export function note(...children) {
    return element("p", { class: "note" }, ...children);
}

export function warning(...children) {
    return element("p", { class: "warning" }, ...children);
}

/** The head of a view. The heading takes the focus when the view is opened, so that it is read out. */
export function heading(title, about, ...actions) {
    return element(
        "header",
        { class: "heading" },
        element("div", {}, element("h1", { tabindex: -1 }, title), about && element("p", { class: "about" }, about)),
        actions.length > 0 && element("div", { class: "actions" }, ...actions),
    );
}

export function section(title, ...children) {
    return element("section", { class: "part" }, element("h2", {}, title), ...children);
}

/** Terms and what they are; those without a value are left out. */
export function facts(entries, properties = {}) {
    const known = entries.filter(
        ([, value]) => value !== null && value !== undefined && value !== "" && value !== false,
    );
    return element(
        "dl",
        { class: "facts", ...properties },
        known.map(([term, value]) => element("div", {}, element("dt", {}, term), element("dd", {}, value))),
    );
}

/** A word with a colour; the word alone says it all. */
export function badge(kind, word = kind) {
    return element("span", { class: `badge is-${String(kind).replace(/[^a-z0-9-]/gi, "-")}` }, word);
}

export function table(headings, rows, properties = {}) {
    const head = element(
        "tr",
        {},
        headings.map((title) => element("th", { scope: "col" }, title)),
    );
    // The heading again at each cell: on a narrow screen the cells stand below one another.
    const cells = (row) => row.map((cell, column) => element("td", { data: { heading: headings[column] } }, cell));
    return element(
        "table",
        properties,
        element("thead", {}, head),
        element(
            "tbody",
            {},
            rows.map((row) => element("tr", {}, cells(row))),
        ),
    );
}

export function loading(what) {
    return element(
        "p",
        { class: "loading", role: "status" },
        element("span", { class: "spinner", "aria-hidden": "true" }),
        `Loading ${what} …`,
    );
}

export function empty(title, text) {
    return element(
        "div",
        { class: "empty" },
        element("p", { class: "empty-title" }, title),
        text && element("p", {}, text),
    );
}

/** What went wrong, in the words of the daemon. */
export function failure(error, retry) {
    return element(
        "div",
        { class: "failure", role: "alert" },
        element(
            "p",
            {},
            element("strong", {}, prose(error.message)),
            error.code && element("code", { class: "error-code" }, error.code),
        ),
        error.hint && element("p", { class: "hint" }, prose(error.hint)),
        retry && button("Try again", retry),
    );
}

/** Says it to those who do not see the page. */
export function announce(text) {
    const live = document.getElementById("live");
    // The same text twice in a row would not be read again.
    live.textContent = live.textContent === text ? `${text} ` : text;
}

/** Many rows are shown in portions: all of 10,000 at once would hold the page up. */
export function portions(parent, items, render, size = 100) {
    let shown = 0;
    const more = button(
        "",
        () => {
            const first = parent.children.length;
            add();
            parent.children[first]?.querySelector("a, summary, button")?.focus();
        },
        { class: "more" },
    );
    const add = () => {
        parent.append(...items.slice(shown, shown + size).map(render));
        shown = Math.min(shown + size, items.length);
        more.textContent = `Show more (${items.length - shown} left)`;
        more.hidden = shown >= items.length;
    };
    add();
    return [parent, more];
}
