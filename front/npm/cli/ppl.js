#!/usr/bin/env node
// Runs the program for this system, which npm has installed as an optional dependency.
"use strict";
const { spawn } = require("node:child_process");
const os = require("node:os");

const name = `@ppl/cli-${process.platform}-${process.arch}`;
let program;
try {
  program = require.resolve(`${name}/${process.platform === "win32" ? "ppl.exe" : "ppl"}`);
} catch {
  console.error(`ppl: the package ${name} with the program for this system is missing.
help: Install @ppl/cli again without --omit=optional or --no-optional. Is there no such package? Then there
      is no program for this system: build it with Go, https://github.com/ppl-lang/ppl.`);
  process.exit(1);
}
const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
// The terminal sends Ctrl-C to both processes; what another process sends reaches only this one.
process.on("SIGINT", () => {});
for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("error", (error) => {
  console.error(`ppl: ${error.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => process.exit(signal ? 128 + os.constants.signals[signal] : code));
