import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { callAdmin } from "../gateway/management.ts";
import { openConsolePage, PageTraffic, signInWith, waitForData } from "./console-page.ts";
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

type ScreenSite = Pick<ConsoleSite, "gateway" | "organization"> &
  Partial<Pick<ConsoleSite, "team" | "people">>;

/**
 * Lists addresses of all screens of the console, with their tabs and variants, for a site. `secret` is the management key of the person who
 * visits them, by default the operator's: requests and keys are those that this person may read.
 */
export async function listAddresses(
  { gateway, organization, team, people }: ScreenSite,
  secret = gateway.adminKey,
): Promise<readonly ScreenAddress[]> {
  const list = async (path: string) => {
    const { status, rows } = await callAdmin(gateway, secret, "GET", path);
    return status === 200 ? rows : [];
  };
  const [generations, keys, users, responses] = await Promise.all([
    list("/generations?limit=100"),
    list("/keys?limit=100"),
    list("/users?limit=1"),
    list(`/responses?account_id=${organization}&limit=2`),
  ]);
  const failed = generations.find(({ outcome }) => outcome === "failed");
  const failover = generations.find((row) => Number(row["attempts"]) > 1);
  const requests = [generations[0], failed, failover].flatMap((one) => (one === undefined ? [] : [one.id]));
  const key = keys.find((one) => one["kind"] === "inference")?.id;
  const tabs = [
    "overview",
    "members",
    "invitations",
    "teams",
    "keys",
    "budgets",
    "policy",
    "usage",
    "responses",
  ];
  const teamTabs = ["overview", "members", "keys", "policy", "settings"];
  const memberTabs = ["overview", "keys", "usage", "sessions"];
  const inOrganization = `/console/people/${organization}`;
  const variants: Readonly<Record<string, readonly string[]>> = {
    "/console/requests": ["/console/requests", "/console/requests?outcome=rejected&last=7d"],
    "/console/requests/:id": [...new Set(requests)].map((id) => `/console/requests/${id}`),
    "/console/responses": ["/console/responses", `/console/responses?account_id=${organization}`],
    "/console/responses/:id": responses.map(({ id }) => `/console/responses/${id}`),
    "/console/keys": ["/console/keys", "/console/keys?unused=never", "/console/keys?order=oldest_secret"],
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
      ...tabs.map((tab) => `${inOrganization}?tab=${tab}`),
      ...users.map(({ id }) => `/console/people/${id}?tab=memberships`),
    ],
    "/console/people/:account/teams/:team":
      team === undefined ? [] : teamTabs.map((tab) => `${inOrganization}/teams/${team}?tab=${tab}`),
    "/console/people/:account/members/:user":
      people === undefined
        ? []
        : memberTabs.map((tab) => `${inOrganization}/members/${people.member}?tab=${tab}`),
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

/** What a screen did until it showed its data. */
export interface ScreenVisit {
  readonly address: string;
  /** The requests of the API, as method and path. */
  readonly sent: readonly string[];
  /** How long it took with an empty page at its beginning. Milliseconds. */
  readonly ms: number;
}

/** Visits all screens that a person may see, one after the other. */
export async function visitScreens(
  browser: Browser,
  site: ConsoleSite,
  secret: string,
): Promise<readonly ScreenVisit[]> {
  const { page } = await openConsolePage(browser, site.gateway.url);
  await signInWith(page, secret);
  const traffic = new PageTraffic(page);
  const visits: ScreenVisit[] = [];
  for (const { address } of await listAddresses(site, secret)) {
    await page.goto("about:blank");
    await traffic.settle();
    const before = traffic.sent.length;
    const begin = performance.now();
    await page.goto(site.gateway.url + address);
    await waitForData(page, traffic);
    const ms = performance.now() - begin;
    if ((await page.getByRole("heading", { level: 1 }).innerText()) !== "Page not found")
      visits.push({ address, sent: traffic.sent.slice(before), ms });
  }
  await page.context().close();
  return visits;
}
