import { systemClock } from "../../../src/base/time/clock.ts";
import { TimesRecorder } from "../../../src/core/usage/reports/times-recorder.ts";
import { type SeededKey, seedGenerations } from "../databases/seed-generations.ts";
import { openTestStores } from "../databases/test-stores.ts";
import { startTestGateway, type TestGateway } from "../gateway/gateway.ts";
import { callAdmin, createAccountTools } from "../gateway/management.ts";
import { healthy, startVendor, type Vendor } from "../vendors/vendor.ts";
import { addMuchData, enlarge } from "./much-data.ts";

/** A gateway as a company would have it after some days, for tests and pictures of the console. */
export interface ConsoleSite {
  readonly gateway: TestGateway;
  /** Answers all calls of the provider `openai`. */
  readonly vendor: Vendor;
  /** The organization with most requests. */
  readonly organization: string;
  /** Secrets of management keys by role. */
  readonly secrets: { readonly operator: string; readonly owner: string; readonly member: string };
  /** An inference key of the organization. */
  readonly inferenceKey: string;
  stop(): Promise<void>;
}

/** How much a site has. */
export interface ConsoleSiteOptions {
  /** The number of recorded generations. */
  readonly generations?: number;
  /** The time over which they are spread. Milliseconds. */
  readonly spanMs?: number;
  /** Whether lists have long names, long ids of models and amounts of seven digits. */
  readonly hasMuch?: boolean;
  /** More lines of the configuration file. */
  readonly yaml?: string;
}

const HOUR_MS = 3_600_000;
const SEED = 14;

/** Starts a site: organizations, people, keys, credits, and generations of the last day. */
export async function startConsoleSite(options: ConsoleSiteOptions = {}): Promise<ConsoleSite> {
  const vendor = startVendor(healthy("Alpha"));
  const yaml = `providers:\n  openai:\n    base_url: ${vendor.baseUrl}\n    api_keys: [vendor-key]\n${options.yaml ?? ""}`;
  const first = await startTestGateway({ yaml });
  const people = await createPeople(first);
  if (options.hasMuch) await addMuchData(first, people.organization);
  await first.stop({ keepData: true });
  await recordGenerations(first.dataDir, people.keys, options);
  const gateway = await startTestGateway({ yaml, dataDir: first.dataDir, key: first.key });
  // Builds the console, which the first page would wait for.
  await (await fetch(`${gateway.url}/console`)).arrayBuffer();
  return {
    gateway,
    vendor,
    organization: people.organization,
    secrets: people.secrets,
    inferenceKey: people.inferenceKey,
    async stop() {
      await gateway.stop();
      vendor.stop();
    },
  };
}

interface People extends Pick<ConsoleSite, "organization" | "secrets" | "inferenceKey"> {
  readonly keys: readonly SeededKey[];
}

async function createPeople(gateway: TestGateway): Promise<People> {
  const tools = createAccountTools(gateway);
  const [ada, grace, linus] = [
    await tools.user("Ada Lovelace"),
    await tools.user("Grace Hopper"),
    await tools.user("Linus Pauling"),
  ];
  const organization = await tools.organization(ada, { name: "Northwind Traders" });
  const other = await tools.organization(linus, { name: "Contoso Research" });
  await tools.member(organization, grace, "member");
  for (const account of [organization, other])
    await callAdmin(gateway, gateway.adminKey, "POST", `/accounts/${account}/credits`, {
      amount: 250,
      note: "Prepaid",
    });
  const inferenceKey = await tools.key(organization, { name: "storefront production" });
  const wanted = [
    { account: organization, name: "support assistant", user: null, weight: 4 },
    { account: organization, name: "Grace's laptop", user: grace, weight: 2 },
    { account: other, name: "nightly evaluation of retrieval-augmented answers", user: null, weight: 1 },
  ];
  for (const { account, name, user } of wanted)
    await tools.key(account, { name, ...(user === null ? {} : { user_id: user }) });
  const weights = new Map([
    ["storefront production", 6],
    ...wanted.map(({ name, weight }) => [name, weight] as const),
  ]);
  const { rows } = await callAdmin(gateway, gateway.adminKey, "GET", "/keys?limit=100");
  return {
    organization,
    inferenceKey,
    secrets: {
      operator: gateway.adminKey,
      owner: await tools.key(organization, { name: "Ada's console", kind: "management", user_id: ada }),
      member: await tools.key(organization, { name: "Grace's console", kind: "management", user_id: grace }),
    },
    keys: rows.flatMap((row) => {
      const weight = weights.get(String(row["name"]));
      const { id: keyId, account_id: accountId, user_id: userId } = row;
      return weight === undefined ? [] : [{ keyId, accountId, userId, weight }];
    }),
  };
}

/** Writes records between two starts of the gateway, which would otherwise not know what they have cost. */
async function recordGenerations(
  dataDir: string,
  keys: readonly SeededKey[],
  { generations = 1_500, spanMs = 24 * HOUR_MS, hasMuch = false }: ConsoleSiteOptions,
): Promise<void> {
  const stores = await openTestStores(dataDir);
  const until = Date.now() - 20_000;
  const seeded = seedGenerations({ keys, count: generations, until, spanMs, seed: SEED });
  const records = hasMuch ? seeded.map(enlarge) : seeded;
  const entries = records.map((record) => ({ record, json: JSON.stringify(record) }));
  for (let i = 0; i < entries.length; i += 500) await stores.usage.saveUsage(entries.slice(i, i + 500));
  const times = new TimesRecorder({ store: stores.usage, clock: systemClock });
  times.add(records);
  await times.flush();
  await stores.close();
}

/** `bun test/support/browser/console-site.ts` runs a site until it is interrupted, for work on the console. */
if (import.meta.main) {
  const site = await startConsoleSite();
  console.log(`${site.gateway.url}/console`);
  console.log(
    `operator ${site.secrets.operator}\nowner    ${site.secrets.owner}\nmember   ${site.secrets.member}`,
  );
  process.on("SIGINT", async () => {
    await site.stop();
    process.exit(0);
  });
}
