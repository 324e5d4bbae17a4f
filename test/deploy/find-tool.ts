import { IS_DEPLOY_RUN } from "./run-program.ts";

/** Returns the path of a program that checks files; null, with a line that says so, where it is not installed. */
export function findTool(name: string, howToInstall: string): string | null {
  if (!IS_DEPLOY_RUN) return null;
  const path = Bun.which(name);
  if (path === null) console.warn(`skipped: ${name} is not installed (${howToInstall})`);
  return path;
}
