import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Agent } from "./agents.ts";
import { runChild } from "./run-child.ts";

/** The folder of installed agents, which is kept between runs. */
export const AGENTS_DIR = process.env["GATEWAY_AGENTS_DIR"] ?? join(tmpdir(), "gateway-agents");

/** The path of an installed agent, or why it could not be installed. */
export type Installed = { readonly binary: string } | { readonly problem: string };

/** Installs an agent with npm in its own folder, unless it is installed. Never part of `npm ci`. */
export async function installAgent(
  { npmPackage, version, command }: Agent,
  timeoutMs: number,
): Promise<Installed> {
  const folder = join(AGENTS_DIR, `${npmPackage.replace(/^@/, "").replace("/", "-")}-${version}`);
  const binary = join(folder, "node_modules/.bin", command);
  if (existsSync(binary)) return { binary };
  // Installed in a draft folder first, so that an interrupted run leaves no incomplete installation.
  const draft = `${folder}.${process.pid}`;
  mkdirSync(draft, { recursive: true });
  const manifest = { private: true, allowScripts: { [npmPackage]: true } };
  writeFileSync(join(draft, "package.json"), JSON.stringify(manifest));
  const { exitCode, stdout, stderr } = await runChild(
    // Run by `npm run`, npm would otherwise install into the repository.
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

/** Returns npm's own reason on one line. */
function summarize(printed: string): string {
  const errors = printed.split("\n").filter((line) => /^npm error (code|network|\d+)\b/.test(line));
  return errors.length > 0 ? errors.slice(0, 2).join("; ") : printed.trim().slice(-200);
}
