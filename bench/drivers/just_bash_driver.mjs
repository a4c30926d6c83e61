// Times the cases in just-bash. Input and output: JSON.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const { Bash, OverlayFs } = createRequire(process.argv[2] + "/")("just-bash");
const task = JSON.parse(readFileSync(0, "utf8"));
const executionLimits = { maxCommandCount: 1e9, maxLoopIterations: 1e9 };
const fs = new OverlayFs({ root: task.root, mountPoint: task.root });
const shell = new Bash({ fs, cwd: task.root, executionLimits });

async function fastest(action, count) {
  let best = Infinity;
  for (let round = 0; round < count; round++) {
    const start = process.hrtime.bigint();
    await action();
    best = Math.min(best, Number(process.hrtime.bigint() - start) / 1e9);
  }
  return best;
}

const times = {};
for (const { name, script, count } of task.cases) {
  if (script === null) {
    times[name] = await fastest(async () => new Bash(), count);
    continue;
  }
  const result = await shell.exec(script);
  if (result.exitCode !== 0) throw new Error(`just-bash: ${name}: ${result.stderr}`);
  times[name] = await fastest(() => shell.exec(script), count);
}
process.stdout.write(JSON.stringify(times));
