import type { Stores } from "../../../src/app/stores/stores.ts";
import { createIdSource } from "../../../src/base/secrets/ids.ts";
import { createSystemRandom } from "../../../src/base/secrets/random.ts";
import { systemClock } from "../../../src/base/time/clock.ts";
import { TimesRecorder } from "../../../src/core/usage/reports/times-recorder.ts";
import { type SeededKey, seedGenerations } from "../databases/seed-generations.ts";
import { openTestStores } from "../databases/test-stores.ts";
import { startTestGateway, type TestGateway } from "../gateway/gateway.ts";
import { callAdmin, createAccountTools } from "../gateway/management.ts";
import { healthy, startVendor, type Vendor } from "../vendors/vendor.ts";
import { addCompany, addMuchData, enlarge } from "./much-data.ts";

/** A gateway as a company would have it after some days, for tests and pictures of the console. */
export interface ConsoleSite {
  readonly gateway: TestGateway;
  /** Answers all calls of the provider `openai`. */
  readonly vendor: Vendor;
  /** The organization with most requests. */
  readonly organization: string;
  /** A team of the organization, with a lead, a member and keys. */
  readonly team: string;
  /** Ids of the people of the organization. */
  readonly people: Readonly<Record<SitePerson, string>>;
  /** Secrets of management keys: of the operator, and of a person with each role. The lead is a member who leads the team. */
  readonly secrets: Readonly<Record<"operator" | SitePerson, string>>;
  /** An inference key of the organization. */
  readonly inferenceKey: string;
  stop(): Promise<void>;
}

/** The people of the organization by what they are there. */
export const SITE_PEOPLE = ["owner", "admin", "billing", "auditor", "lead", "member"] as const;
export type SitePerson = (typeof SITE_PEOPLE)[number];

/** How much a site has. */
export interface ConsoleSiteOptions {
  /** The number of recorded generations. */
  readonly generations?: number;
  /** The time over which they are spread. Milliseconds. */
  readonly spanMs?: number;
  /** Whether lists have long names, long ids of models and amounts of seven digits. */
  readonly hasMuch?: boolean;
  /** Whether the organization has 200 people, 600 keys and 30 teams. */
  readonly isCompany?: boolean;
  /** More lines of the configuration file. */
  readonly yaml?: string;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const SEED = 14;

/** Starts a site: organizations, people, keys, credits, and generations of the last day. */
export async function startConsoleSite(options: ConsoleSiteOptions = {}): Promise<ConsoleSite> {
  const vendor = startVendor(healthy("Alpha"));
  const yaml = `providers:\n  openai:\n    base_url: ${vendor.baseUrl}\n    api_keys: [vendor-key]\n${options.yaml ?? ""}`;
  const first = await startTestGateway({ yaml });
  const people = await createPeople(first);
  if (options.hasMuch) await addMuchData(first, people.organization);
  if (options.isCompany) await addCompany(first, people.organization);
  await first.stop({ keepData: true });
  const stores = await openTestStores(first.dataDir);
  await addOldKeys(stores, people.organization);
  await recordGenerations(stores, people.keys, options);
  await stores.close();
  const gateway = await startTestGateway({ yaml, dataDir: first.dataDir, key: first.key });
  // Builds the console, which the first page would wait for.
  await (await fetch(`${gateway.url}/console`)).arrayBuffer();
  return {
    gateway,
    vendor,
    organization: people.organization,
    team: people.team,
    people: people.people,
    secrets: people.secrets,
    inferenceKey: people.inferenceKey,
    async stop() {
      await gateway.stop();
      vendor.stop();
    },
  };
}

interface People extends Pick<ConsoleSite, "organization" | "team" | "people" | "secrets" | "inferenceKey"> {
  readonly keys: readonly SeededKey[];
}

/** The names of the people of the organization. */
const NAMES: Readonly<Record<SitePerson, string>> = {
  owner: "Ada Lovelace",
  admin: "Dorothy Vaughan",
  billing: "Mary Jackson",
  auditor: "Annie Easley",
  lead: "Katherine Johnson",
  member: "Grace Hopper",
};

async function createPeople(gateway: TestGateway): Promise<People> {
  const tools = createAccountTools(gateway);
  const linus = await tools.user("Linus Pauling");
  const people = Object.fromEntries(
    await mapEach(SITE_PEOPLE, async (person) => [person, await tools.user(NAMES[person])] as const),
  ) as Record<SitePerson, string>;
  const organization = await tools.organization(people.owner, {
    name: "Northwind Traders",
    member_keys: { count: 5, days: 90, spend_limit: 50 },
  });
  const other = await tools.organization(linus, { name: "Contoso Research" });
  for (const person of SITE_PEOPLE)
    if (person !== "owner")
      await tools.member(organization, people[person], person === "lead" ? "member" : person);
  for (const account of [organization, other])
    await callAdmin(gateway, gateway.adminKey, "POST", `/accounts/${account}/credits`, {
      amount: 250,
      note: "Prepaid",
    });
  const team = await createTeams(gateway, organization, people);
  const inferenceKey = await tools.key(organization, { name: "storefront production" });
  const wanted = [
    { account: organization, name: "support assistant", weight: 4 },
    { account: organization, name: "Grace's laptop", user_id: people.member, weight: 2 },
    { account: organization, name: "search indexer", team_id: team, weight: 2 },
    { account: organization, name: "search notebook", user_id: people.lead, team_id: team, weight: 1 },
    { account: other, name: "nightly evaluation of retrieval-augmented answers", weight: 1 },
  ];
  for (const { account, weight: _, ...key } of wanted) await tools.key(account, key);
  const weights = new Map([
    ["storefront production", 6],
    ...wanted.map(({ name, weight }) => [name, weight] as const),
  ]);
  const { rows } = await callAdmin(gateway, gateway.adminKey, "GET", "/keys?limit=100");
  const signed = await mapEach(SITE_PEOPLE, async (person) => {
    const name = `${NAMES[person].split(" ")[0]}'s console`;
    return [person, await tools.key(organization, { name, kind: "management", user_id: people[person] })];
  });
  return {
    organization,
    team,
    people,
    inferenceKey,
    secrets: { operator: gateway.adminKey, ...Object.fromEntries(signed) },
    keys: rows.flatMap((row) => {
      const weight = weights.get(String(row["name"]));
      const { id: keyId, account_id: accountId, user_id: userId } = row;
      const teamId = row["team_id"] as string | null;
      return weight === undefined ? [] : [{ keyId, accountId, userId, teamId, weight }];
    }),
  };
}

/** Creates two teams. Returns the one with a lead, a policy, limits and a budget. */
async function createTeams(
  gateway: TestGateway,
  organization: string,
  people: Readonly<Record<SitePerson, string>>,
): Promise<string> {
  const path = `/organizations/${organization}/teams`;
  const call = (method: string, below: string, body: unknown) =>
    callAdmin(gateway, gateway.adminKey, method, path + below, body);
  await call("POST", "", { name: "Support" });
  const { data } = await call("POST", "", {
    name: "Search",
    policy: { denied_models: ["openai/o1*"] },
    rate_limit: { requests_per_minute: 600 },
    tags: ["team:search"],
  });
  await call("PUT", `/${data.id}/members/${people.lead}`, { is_lead: true });
  await call("PUT", `/${data.id}/members/${people.member}`, {});
  await callAdmin(gateway, gateway.adminKey, "POST", "/budgets", {
    account_id: organization,
    team_id: data.id,
    limit: 75,
    period: "month",
  });
  return data.id;
}

/** Calls a function for each of some values, one after the other. */
async function mapEach<Value, Result>(
  values: readonly Value[],
  map: (value: Value) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (const value of values) results.push(await map(value));
  return results;
}

/** Keys that were made long ago, and how many days ago they were used last. */
const OLD_KEYS = [
  { name: "2024 prototype", days: 430, usedDaysAgo: null },
  { name: "quarterly report", days: 120, usedDaysAgo: 95 },
] as const;

/** Adds keys of an organization that are older than the gateway, whose times the API does not set. */
async function addOldKeys(stores: Pick<Stores, "keys">, organization: string): Promise<void> {
  const [known] = await stores.keys.listKeys({ accountId: organization, name: "support assistant" });
  if (known === undefined) throw new Error("the organization has no key");
  for (const [i, { name, days, usedDaysAgo }] of OLD_KEYS.entries()) {
    const createdAt = Date.now() - days * DAY_MS;
    const ids = createIdSource({ ...systemClock, now: () => createdAt }, createSystemRandom());
    await stores.keys.insertKey({
      ...known,
      id: ids.next("key"),
      name,
      hint: `gw_old${i}…Ab${days}`,
      hash: new Bun.CryptoHasher("sha256").update(name).digest("hex"),
      createdAt,
      lastUsedAt: usedDaysAgo === null ? null : Date.now() - usedDaysAgo * DAY_MS,
    });
  }
}

/** Writes records between two starts of the gateway, which would otherwise not know what they have cost. */
async function recordGenerations(
  stores: Stores,
  keys: readonly SeededKey[],
  { generations = 1_500, spanMs = 24 * HOUR_MS, hasMuch = false }: ConsoleSiteOptions,
): Promise<void> {
  const until = Date.now() - 20_000;
  const seeded = seedGenerations({ keys, count: generations, until, spanMs, seed: SEED });
  const records = hasMuch ? seeded.map(enlarge) : seeded;
  const entries = records.map((record) => ({ record, json: JSON.stringify(record) }));
  for (let i = 0; i < entries.length; i += 500) await stores.usage.saveUsage(entries.slice(i, i + 500));
  const times = new TimesRecorder({ store: stores.usage, clock: systemClock });
  times.add(records);
  await times.flush();
}

/** `bun test/support/browser/console-site.ts` runs a site until it is interrupted, for work on the console. */
if (import.meta.main) {
  const site = await startConsoleSite();
  console.log(`${site.gateway.url}/console`);
  for (const [person, secret] of Object.entries(site.secrets)) console.log(`${person.padEnd(8)} ${secret}`);
  process.on("SIGINT", async () => {
    await site.stop();
    process.exit(0);
  });
}
