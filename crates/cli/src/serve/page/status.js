// How a project is guarded, what the daemon has, and a doctor that tries it.

import { get, path } from "./api.js";
import {
    badge,
    button,
    element,
    facts,
    failure,
    heading,
    loading,
    note,
    replace,
    section,
    table,
    warning,
} from "./dom.js";
import { showDoctor } from "./doctor.js";
import { project } from "./projects.js";
import { exact, name, visible } from "./text.js";
import { bytes } from "./time.js";

const FILES = { enoent: "do not exist", eacces: "cannot be opened", none: "are not held off" };
const NETWORK = {
    loopback: "only what a rule names, and the jail's own loopback",
    none: "nothing",
    host: "all of the host's",
    "granted-hosts": "only what a rule names",
};

export const status = { title: "Status", show };

async function show({ root, signal }) {
    const found = element("div", {}, loading("the status"));
    const doctor = element(
        "div",
        { "aria-live": "polite" },
        note("The doctor tries to break out of the jail, and says what holds. It takes a moment."),
    );
    const examine = async () => {
        replace(doctor, loading("what the doctor finds"));
        try {
            showDoctor(doctor, await get(path("doctor"), { project: project() }, { signal }));
        } catch (error) {
            if (!signal.aborted) replace(doctor, failure(error, examine));
        }
    };
    replace(
        root,
        heading("Status", "How commands are judged and held here."),
        found,
        element(
            "section",
            { class: "part" },
            element("header", { class: "part-head" }, element("h2", {}, "Doctor"), button("Examine", examine)),
            doctor,
        ),
    );
    await load(found, signal);
}

async function load(place, signal) {
    try {
        const all = await get(path("status"), { project: project() }, { signal });
        replace(place, overview(all), limits(all), configuration(all), others(all));
    } catch (error) {
        if (!signal.aborted)
            replace(
                place,
                failure(error, () => load(place, signal)),
            );
    }
}

function overview(all) {
    const { rules = {}, isolation = {} } = all;
    const missing = isolation.missing ?? [];
    return [
        (all.notices ?? []).map((notice) => warning(visible(notice))),
        isolation.problem && warning(visible(isolation.problem)),
        element(
            "div",
            { class: "tiles" },
            tile(
                "Execution",
                all.enabled ? badge("on") : badge("off"),
                `profile ${all.profile}; unknown commands: ${all.unknown_commands}`,
            ),
            tile(
                "Rules",
                [
                    badge("allow", `${rules.allow} allow`),
                    badge("confirm", `${rules.confirm} ask`),
                    badge("deny", `${rules.deny} deny`),
                ],
                null,
            ),
            tile("Approvals", String(all.pending_approvals ?? 0), `waiting; ${all.answered_approvals ?? 0} answered`),
            tile(
                "Isolation",
                badge(isolation.level === "full" ? "holds" : "weaker", isolation.level ?? "?"),
                `programs ${all.programs === "run" ? "run" : "are refused"}; at least ${all.min_isolation}`,
            ),
        ),
        facts([
            ["Root", all.root && name(all.root)],
            ["Walls", isolation.walls?.length > 0 && isolation.walls.join(", ")],
            ["Files outside", isolation.fs && visible(FILES[isolation.fs] ?? isolation.fs)],
            ["Network", isolation.net && visible(NETWORK[isolation.net] ?? isolation.net)],
            ["Limits by", typeof isolation.limits === "string" && visible(isolation.limits)],
        ]),
        missing.length > 0 &&
            section(
                "Missing walls",
                table(
                    ["Wall", "Why"],
                    missing.map((one) => [exact(one.wall), visible(one.reason ?? "")]),
                ),
            ),
    ];
}

function tile(title, value, about) {
    return element(
        "div",
        { class: "tile" },
        element("h2", {}, title),
        element("div", { class: "tile-value" }, value),
        about && note(about),
    );
}

function limits({ limits: all }) {
    if (!all) return null;
    return section(
        "Limits",
        facts([
            ["Processor time", all.cpu_seconds !== undefined && `${all.cpu_seconds} s`],
            ["Memory", bytes(all.memory_bytes)],
            ["Processes", all.processes !== undefined && String(all.processes)],
            ["Tasks", all.tasks !== undefined && String(all.tasks)],
            ["Open files", all.open_files !== undefined && String(all.open_files)],
            ["Output", bytes(all.output_bytes)],
        ]),
        note("Builds and package managers get more."),
    );
}

function configuration({ configuration: files = [] }) {
    return section(
        "Configuration",
        files.length === 0
            ? note("No file configures it: these are the defaults.")
            : table(
                  ["File", "Belongs to"],
                  files.map(({ file, tier }) => [name(file), visible(tier)]),
              ),
    );
}

const SHOWN = [
    "schema_version",
    "enabled",
    "profile",
    "unknown_commands",
    "root",
    "rules",
    "pending_approvals",
    "answered_approvals",
    "isolation",
    "min_isolation",
    "programs",
    "limits",
    "configuration",
    "notices",
];

/** What the daemon has, and whatever a newer one tells that this page does not know yet. */
function others(all) {
    const rest = Object.entries(all).filter(([key, value]) => !SHOWN.includes(key) && value !== null);
    if (rest.length === 0) return null;
    const entries = rest.flatMap(([key, value]) => (isPlainObject(value) ? Object.entries(value) : [[key, value]]));
    return section(
        "Daemon",
        facts(
            entries.map(([key, value]) => [
                key.replaceAll("_", " "),
                exact(typeof value === "object" ? JSON.stringify(value) : String(value)),
            ]),
        ),
    );
}

function isPlainObject(value) {
    return typeof value === "object" && !Array.isArray(value);
}
