import { existsSync } from "node:fs";
import { join } from "node:path";
import { findShippedConsole } from "../catalog/shipped-files.ts";
import { hashConsoleSources } from "../console/console-sources.ts";
import { type DoctorScene, type Finding, failure, ok } from "./finding.ts";

/** Checks that the pages of the console exist or can be built. */
export async function checkConsole({ config: { console } }: DoctorScene): Promise<readonly Finding[]> {
  if (!console.enabled) return [ok("disabled")];
  const built = console.built_dir ?? findShippedConsole();
  if (built !== null) {
    if (existsSync(join(built, "main.js"))) return [ok(`built, in ${built}`)];
    return [failure(`${built} has no build of the console`, "Correct console.built_dir, or remove it.")];
  }
  try {
    await hashConsoleSources();
    return [ok("is built from its sources when it is first opened")];
  } catch {
    const remedy =
      "Set console.built_dir to a build (`npm run build -- console FOLDER`), or console.enabled: false.";
    return [failure("has neither sources nor a build", remedy)];
  }
}
