import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Agent } from "./agents.ts";
import { runChild } from "./run-child.ts";

/** Where agents are kept between runs. */
export const AGENTS_DIR = process.env["GATEWAY_AGENTS_DIR"] ?? join(tmpdir(), "gateway-agents");

/** An agent that can be started, or why it cannot. */
export type Installed = { readonly binary: string } | { readonly problem: string };

/** Installs an agent with npm in a folder of its own, unless it is there. Never a part of `npm ci`. */
export async function installAgent(
  { npmPackage, version, command }: Agent,
  timeoutMs: number,
): Promise<Installed> {
  const folder = join(AGENTS_DIR, `${npmPackage.replace(/^@/, "").replace("/", "-")}-${version}`);
  const binary = join(folder, "node_modules/.bin", command);
  if (existsSync(binary)) return { binary };
  // A run that is cut off leaves nothing that looks whole.
  const draft = `${folder}.${process.pid}`;
  mkdirSync(draft, { recursive: true });
  const manifest = { private: true, allowScripts: { [npmPackage]: true } };
  writeFileSync(join(draft, "package.json"), JSON.stringify(manifest));
  const { exitCode, stdout, stderr } = await runChild(
    // Started by `npm run`, npm would else take the repository for the place to install in.
    [
      "npm",
      "install",
      "--prefix",
      draft,
      "--no-audit",
      "--no-fund",
      "--save-exact",
      `${npmPackage}@${version}`,
    ],
    { cwd: draft, env: { ...process.env }, timeoutMs },
  );
  if (exitCode !== 0) {
    rmSync(draft, { recursive: true, force: true });
    return { problem: `npm install ${npmPackage}@${version}: ${summarize(stderr || stdout)}` };
  }
  rmSync(folder, { recursive: true, force: true });
  renameSync(draft, folder);
  return { binary };
}

/** npm's own reason, in a line. */
function summarize(printed: string): string {
  const errors = printed.split("\n").filter((line) => /^npm error (code|network|\d+)\b/.test(line));
  return errors.length > 0 ? errors.slice(0, 2).join("; ") : printed.trim().slice(-200);
}
