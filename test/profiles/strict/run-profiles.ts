import { CLIENTS, type Client } from "../../fidelity/formats.ts";
import { createSeededRandom } from "../../support/seeded-random.ts";
import type { Fields } from "../sites/profile-site.ts";
import { AXES, BASES } from "./axes.ts";
import type { DistinctProfile } from "./distinct-profiles.ts";
import { examine, type Finding } from "./examine.ts";
import { coverPairs } from "./pairwise.ts";
import type { Ask } from "./strict-site.ts";

/** A finding, and the request that shows it. */
export interface Found extends Finding {
  readonly client: Client;
  readonly host: string;
  readonly model: string;
  readonly body: Fields;
}

export interface ProfileRun {
  readonly requests: number;
  /** The first of equal findings. */
  readonly found: readonly Found[];
}

/** Returns the bodies of a client API in which every pair of values of two parameters is. */
export function listBodies(client: Client, seed: number): readonly Fields[] {
  const axes = AXES[client];
  const rows = coverPairs(
    axes.map(({ values }) => values.length),
    createSeededRandom(seed),
  );
  const bodies = rows.map(
    (row) => Object.assign({}, BASES[client], ...row.map((value, at) => axes[at]?.values[value])) as Fields,
  );
  return client === "messages" ? bodies.map(toValidMessages) : bodies;
}

/**
 * Leaves out what no model of the Messages API takes beside thinking, since a client that asks for it there gets an error from the vendor
 * too (https://platform.claude.com/docs/en/build-with-claude/extended-thinking): sampling, a forced tool, and a limit below the budget.
 */
function toValidMessages(body: Fields): Fields {
  const { type, budget_tokens: budget = 0 } = (body["thinking"] ?? {}) as {
    type?: string;
    budget_tokens?: number;
  };
  if (type !== "enabled" && type !== "adaptive") return body;
  const { temperature: _, top_p: __, top_k: ___, tool_choice: choice, ...rest } = body;
  const isForced = ["any", "tool"].includes((choice as { type?: string } | undefined)?.type ?? "");
  return {
    ...rest,
    ...(choice === undefined || isForced ? {} : { tool_choice: choice }),
    max_tokens: Math.max(Number(body["max_tokens"]), budget + 1000),
  };
}

/** Whether a body has a picture: models without them are not asked, because routing rejects it. */
function hasPicture(body: Fields): boolean {
  return JSON.stringify(body["messages"] ?? body["input"]).includes("iVBOR");
}

/** Sends the bodies of all client APIs to each profile, one after the other, and examines what becomes of them. */
export async function runProfiles(
  profiles: readonly DistinctProfile[],
  ask: Ask,
  seed: number,
): Promise<ProfileRun> {
  const found = new Map<string, Found>();
  let requests = 0;
  for await (const findings of examineAll(profiles, ask, seed)) {
    requests += 1;
    for (const one of findings) {
      const key = [one.host, one.client, one.kind, one.field, one.kind === "rejected" ? one.detail : ""].join(
        " ",
      );
      if (!found.has(key)) found.set(key, one);
    }
  }
  return { requests, found: [...found.values()] };
}

/** Whether anything is found at these profiles. Ends with the first finding. */
export async function findsAnything(
  profiles: readonly DistinctProfile[],
  ask: Ask,
  seed: number,
): Promise<boolean> {
  for await (const findings of examineAll(profiles, ask, seed)) if (findings.length > 0) return true;
  return false;
}

async function* examineAll(
  profiles: readonly DistinctProfile[],
  ask: Ask,
  seed: number,
): AsyncGenerator<readonly Found[]> {
  const bodies = CLIENTS.map((client) => [client, listBodies(client, seed)] as const);
  for (const profile of profiles)
    for (const [client, all] of bodies)
      for (const body of all) {
        if (hasPicture(body) && !profile.model.inputModalities.includes("image")) continue;
        const findings = examine(client, profile, body, await ask(client, profile, body));
        yield findings.map((one) => ({ ...one, client, host: profile.host, model: profile.model.id, body }));
      }
}
