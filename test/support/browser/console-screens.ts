import { readFileSync } from "node:fs";
import { join } from "node:path";
import { callAdmin } from "../gateway/management.ts";
import type { ConsoleSite } from "./console-site.ts";
import { LONG_MODELS } from "./much-data.ts";

const REGISTRY = join(import.meta.dir, "../../../src/console/screens/registry.ts");

/** An address of the console, and the screen of the registry that it shows. */
export interface ScreenAddress {
  /** The path of the screen, as the registry has it. */
  readonly screen: string;
  /** Relative to the origin. */
  readonly address: string;
}

/** Lists addresses of all screens of the console, with their tabs and variants, for a site. */
export async function listAddresses({
  gateway,
  organization,
}: Pick<ConsoleSite, "gateway" | "organization">): Promise<readonly ScreenAddress[]> {
  const admin = (path: string) => callAdmin(gateway, gateway.adminKey, "GET", path);
  const [{ rows: generations }, { rows: keys }, { rows: users }] = await Promise.all([
    admin("/generations?limit=100"),
    admin("/keys?limit=100"),
    admin("/users?limit=1"),
  ]);
  const failed = generations.find(({ outcome }) => outcome === "failed");
  const failover = generations.find((row) => Number(row["attempts"]) > 1);
  const requests = [generations[0], failed, failover].flatMap((one) => (one === undefined ? [] : [one.id]));
  const key = keys.find((one) => one["kind"] === "inference")?.id;
  const tabs = ["overview", "members", "keys", "budgets", "policy", "usage"];
  const variants: Readonly<Record<string, readonly string[]>> = {
    "/console/requests": ["/console/requests", "/console/requests?outcome=rejected&last=7d"],
    "/console/requests/:id": [...new Set(requests)].map((id) => `/console/requests/${id}`),
    "/console/keys": ["/console/keys", "/console/keys?unused=never"],
    "/console/keys/:id": key === undefined ? [] : [`/console/keys/${key}`],
    "/console/models/compare": [
      `/console/models/compare?ids=anthropic/claude-sonnet-4.6,openai/gpt-5,${LONG_MODELS[0]}`,
    ],
    "/console/models/:author/:model": [
      "/console/models/anthropic/claude-sonnet-4.6",
      `/console/models/${LONG_MODELS[2]}`,
    ],
    "/console/usage": ["model", "key", "account", "client", "outcome"].map(
      (by) => `/console/usage?range=7d&by=${by}`,
    ),
    "/console/credits": ["/console/credits", "/console/credits?kind=user"],
    "/console/credits/:account": [`/console/credits/${organization}`],
    "/console/people": ["/console/people", "/console/people?kind=user"],
    "/console/people/:account": [
      ...tabs.map((tab) => `/console/people/${organization}?tab=${tab}`),
      ...users.map(({ id }) => `/console/people/${id}?tab=memberships`),
    ],
    "/console/provider-keys": ["/console/provider-keys", `/console/provider-keys?account=${organization}`],
    "/console/providers/:slug": ["openai", "azure"].map((slug) => `/console/providers/${slug}`),
    "/console/settings": [
      "/console/settings",
      "/console/settings?group=pricing",
      ...["revisions", "gateways", "sessions"].map((tab) => `/console/settings?tab=${tab}`),
    ],
    "/console/guardrails": ["/console/guardrails", "/console/guardrails?new=1"],
    "/console/routing": [
      "/console/routing",
      "/console/routing?tier=gateway-auto%2Fbalanced",
      "/console/routing?route=new",
    ],
  };
  return listScreens().flatMap((path) =>
    (variants[path] ?? (path.includes(":") ? [] : [path])).map((address) => ({ screen: path, address })),
  );
}

/** Lists the paths of the registry. They are read from its text: its code belongs to the browser. */
export function listScreens(): readonly string[] {
  const source = readFileSync(REGISTRY, "utf8");
  return [...source.matchAll(/^ {4}path: "([^"]+)"/gm)].map(([, path = ""]) => path);
}
