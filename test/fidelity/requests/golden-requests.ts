import { type Client, FORMATS } from "../formats.ts";
import { type Golden, makeGolden } from "../golden.ts";
import type { RequestCase } from "./request-case.ts";
import type { RequestRun, Sent } from "./run-requests.ts";

/** Returns the stored results of a case: by upstream format, with one entry for all client APIs with equal results. */
export function goldenRequest(one: RequestCase, runs: readonly RequestRun[]): Golden {
  const byFormat = FORMATS.map((format) => {
    const entries = new Map<string, { from: Client[]; entry: object }>();
    for (const run of runs.filter((each) => each.format === format)) {
      const entry = { verdict: run.verdict, ...describe(run.sent) };
      const key = JSON.stringify(entry);
      const known = entries.get(key) ?? { from: [], entry };
      known.from.push(run.client);
      entries.set(key, known);
    }
    return [format, [...entries.values()].map(({ from, entry }) => ({ from, ...entry }))] as const;
  });
  return makeGolden("requests", one.name, Object.fromEntries(byFormat));
}

function describe(sent: Sent): object {
  if ("refusal" in sent) return { refuses: sent.refusal };
  const warns = sent.warnings.map(({ field, message }) => `${field}: ${message}`);
  return { sends: sent.body, ...(warns.length === 0 ? {} : { warns }) };
}
