// What the doctor has found: promises, whether each holds, by what, and how to mend it.

import { badge, element, facts, replace, section, warning } from "./dom.js";
import { exact, prose, visible } from "./text.js";

export function showDoctor(place, { promises = [], missing = [], level, problem, programs, min_isolation: least }) {
    const broken = promises.filter((promise) => promise.state !== "holds");
    replace(
        place,
        problem && warning(visible(problem)),
        facts([
            ["Level", level && visible(level)],
            ["Programs", `${programs === "run" ? "run" : "do not run"}; at least ${least} is asked for`],
            [
                "Promises",
                broken.length === 0
                    ? `all ${promises.length} hold`
                    : `${promises.length - broken.length} of ${promises.length} hold`,
            ],
        ]),
        // What is wrong comes first.
        element(
            "div",
            { class: "rows" },
            [...broken, ...promises.filter((promise) => promise.state === "holds")].map(row),
        ),
        missing.length > 0 &&
            section(
                "Missing walls",
                missing.map((one) =>
                    element(
                        "div",
                        { class: "card" },
                        element("p", {}, exact(one.wall), " ", visible(one.reason ?? "")),
                        one.fix && element("p", { class: "hint" }, prose(one.fix)),
                    ),
                ),
            ),
    );
}

function row({ name, promise, state, enforced_by: by = [], attempts = [], missing, fix }) {
    return element(
        "details",
        { class: "row", open: state !== "holds" },
        element(
            "summary",
            { data: { item: "" } },
            badge(state),
            element("strong", {}, visible(name)),
            element("span", { class: "what" }, visible(promise)),
        ),
        element(
            "div",
            { class: "row-body" },
            facts([
                ["By", by.length > 0 ? by.join(", ") : "nothing"],
                ["Missing", missing && visible(missing)],
                ["Fix", fix && prose(fix)],
                [
                    "Tried",
                    attempts.length > 0 &&
                        element(
                            "ul",
                            { class: "attempts" },
                            attempts.map((attempt) =>
                                element(
                                    "li",
                                    {},
                                    exact(attempt.attempt),
                                    " ",
                                    element("span", { class: "note" }, visible(attempt.result)),
                                ),
                            ),
                        ),
                ],
            ]),
        ),
    );
}
