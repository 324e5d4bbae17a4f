import type { FirstStart } from "../../app/run/first-start.ts";
import { write } from "../render/print.ts";
import type { ConsoleLink } from "./console-link.ts";

/** The contents of the greeting at a start. */
interface Greeting {
  readonly url: string;
  readonly notices: readonly string[];
  readonly exampleModel: string | null;
  /** Null if the console is disabled. */
  readonly console: ConsoleLink | null;
  /** Keys that the start has created; null if none. */
  readonly keys: Pick<FirstStart, "managementKey" | "inferenceKey"> | null;
}

/** Returns the greeting. It is the only place where the secrets of the first start are shown. */
function formatGreeting({ url, notices, keys, exampleModel, console }: Greeting): string {
  const lines = [`Gateway listens on ${url}`, ...notices.map((notice) => `Note: ${notice}`)];
  if (console !== null) lines.push(`Console: ${console.url}`, `  ${hintFor(console)}`);
  if (keys === null) return `${lines.join("\n")}\n`;
  const { managementKey, inferenceKey } = keys;
  lines.push("", "New keys, shown only once:", "");
  if (managementKey !== null) lines.push(`  management key  ${managementKey}`);
  if (inferenceKey !== null)
    lines.push(`  inference key   ${inferenceKey}`, "", ...formatExample(url, inferenceKey, exampleModel));
  return `${lines.join("\n")}\n\n`;
}

function hintFor({ signsIn }: ConsoleLink): string {
  return signsIn
    ? "The link signs in one browser as the operator. It works once and expires in an hour. New link: gateway console"
    : "Sign in with a management key, or with a one-time link. New link: gateway console";
}

function formatExample(url: string, inferenceKey: string, model: string | null): string[] {
  if (model === null)
    return [
      "No models are served yet. Add a provider in the console, with gateway config set, or in the configuration file (gateway reload).",
    ];
  return [
    "Try it:",
    "",
    `  curl ${url}/api/gateway/chat/completions \\`,
    `    -H "Authorization: Bearer ${inferenceKey}" -H "Content-Type: application/json" \\`,
    `    -d '{"model": "${model}", "messages": [{"role": "user", "content": "Hello!"}]}'`,
  ];
}

/** Prints a greeting to standard error, because standard output carries only the log. Resolves with whether it was written. */
export function printGreeting(greeting: Greeting): Promise<boolean> {
  // The callback of the write handles a closed stream; an unhandled "error" event would end the process without a graceful stop.
  process.stderr.on("error", () => {});
  return new Promise((resolve) => {
    write(formatGreeting(greeting), (error) => resolve(!error));
  });
}
