import { type BillingVendor, startBillingVendor } from "../books/billing-vendor.ts";
import { LONGEST_ANSWER, WINDOW } from "../books/hostile-answers.ts";
import { describePrices, PROVIDERS, type ProviderSlug } from "../books/prices.ts";
import { WITH_FULL_DISK } from "../support/databases/full-disk.ts";
import { startTestPostgres, type TestPostgres } from "../support/databases/postgres.ts";
import { startTestRedis, type TestRedis } from "../support/databases/redis.ts";
import { startTcpProxy, type TcpProxy } from "../support/servers/tcp-proxy.ts";
import { GatewayNode } from "./gateway-node.ts";
import { ADMIN_KEY } from "./payers.ts";

/** A gateway with its own ways to the stores, which can be cut. */
export interface Member {
  readonly node: GatewayNode;
  readonly toPostgres: TcpProxy;
  readonly toRedis: TcpProxy;
}

/** Several gateways behind a balancer, their stores, and the vendor that they call. */
export interface Cluster {
  readonly members: readonly Member[];
  readonly postgres: TestPostgres;
  readonly redis: TestRedis;
  readonly databaseUrl: string;
  readonly vendor: BillingVendor;
  /** Where clients connect. */
  readonly url: string;
  /** Starts the next processes with this command. */
  setCommand(command: readonly string[]): void;
  remove(): Promise<void>;
}

const MODELS: Readonly<Record<(typeof PROVIDERS)[number], readonly string[]>> = {
  "vendor-a": ["acme/alone", "acme/pair"],
  "vendor-b": ["acme/pair"],
};
/** All gateways encrypt with the same master key. */
const MASTER_KEY = "Zm9yIHRlc3RzIG9ubHksIDMyIGJ5dGVzIG9mIGl0ISE=";

/** Starts the stores, the vendor and the balancer. The gateways are started by their nodes. */
export async function startCluster(size: number, command: readonly string[]): Promise<Cluster> {
  const [postgres, redis] = await Promise.all([startTestPostgres(), startTestRedis()]);
  const databaseUrl = await postgres.createDatabase();
  const vendor = startBillingVendor();
  let next = command;
  const members = await Promise.all(
    Array.from({ length: size }, async (_, index): Promise<Member> => {
      const [toPostgres, toRedis] = await Promise.all([startWay(databaseUrl), startWay(redis.url)]);
      const stores = { database: through(toPostgres, databaseUrl), redis: through(toRedis, redis.url) };
      const name = `gateway ${index + 1}`;
      const node = new GatewayNode(name, describeConfig(vendor, stores), () => [...WITH_FULL_DISK, ...next]);
      return { node, toPostgres, toRedis };
    }),
  );
  const balancer = await startBalancer(members.map(({ node }) => node));
  return {
    members,
    postgres,
    redis,
    databaseUrl,
    vendor,
    url: `http://127.0.0.1:${balancer.port}`,
    setCommand(command) {
      next = command;
    },
    async remove() {
      await Promise.all(members.map(({ node }) => node.kill()));
      balancer.stop();
      for (const { node, toPostgres, toRedis } of members) {
        toPostgres.stop();
        toRedis.stop();
        node.remove();
      }
      vendor.stop();
      await Promise.all([postgres.remove(), redis.remove()]);
    },
  };
}

/** Gives each new connection to the next gateway that accepts it. It sees neither requests nor their errors. */
function startBalancer(nodes: readonly GatewayNode[]): Promise<TcpProxy> {
  let turn = 0;
  return startTcpProxy(() => {
    turn += 1;
    return nodes.flatMap((_, index) => nodes[(turn + index) % nodes.length]?.port ?? []);
  });
}

function startWay(url: string): Promise<TcpProxy> {
  const port = Number(new URL(url).port);
  return startTcpProxy(() => [port]);
}

/** The URL of a store as a gateway reaches it through its proxy. */
function through({ port }: TcpProxy, url: string): string {
  const changed = new URL(url);
  changed.port = String(port);
  return changed.href;
}

function describeConfig(
  vendor: BillingVendor,
  stores: { readonly database: string; readonly redis: string },
): string {
  const providers = PROVIDERS.map((slug: ProviderSlug & keyof typeof MODELS) => {
    const models = MODELS[slug].map(
      (id) =>
        `{id: ${id}, name: up, context_length: ${WINDOW}, max_output_tokens: ${LONGEST_ANSWER}, prices: ${describePrices(slug)}}`,
    );
    return `  ${slug}: {base_url: "${vendor.baseUrl(slug)}", api_keys: ["sk-0123456789abcdef"], models: [${models.join(", ")}]}`;
  });
  return `admin_key: ${ADMIN_KEY}
secrets: {keys: ["${MASTER_KEY}"]}
database: {url: "${stores.database}"}
redis: {url: "${stores.redis}"}
providers:
${providers.join("\n")}
`;
}
