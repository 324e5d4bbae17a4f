import type { Stores } from "../../src/app/stores/stores.ts";
import { createKey } from "../../src/core/accounts/manage/manage-keys.ts";
import {
  type AccountRecord,
  NO_KEY_DEFAULTS,
  OPEN_POLICY,
  type Policy,
} from "../../src/core/accounts/records/records.ts";
import type { Role } from "../../src/core/accounts/records/rights.ts";
import { openTestStores } from "../support/databases/test-stores.ts";
import { startTestGateway, type TestGateway, type TestGatewayOptions } from "../support/gateway/gateway.ts";
import { type RecordingVendor, startRecordingVendor } from "../support/vendors/recording-vendor.ts";

/** The secrets of the platform keys for two of the vendors. */
export const PLATFORM = { near: "platform-near-0123456789", far: "platform-far-0123456789" } as const;

/** A gateway with three vendors: `near` and `far` both serve `acme/model`, and there is no platform key for `openai`. */
export interface Site {
  readonly gateway: TestGateway;
  readonly stores: Stores;
  readonly near: RecordingVendor;
  readonly far: RecordingVendor;
  readonly openai: RecordingVendor;
  /** Stores a BYOK key and returns its id. */
  bring(account: string, provider: string, key: string, more?: Record<string, unknown>): Promise<string>;
  /** Calls the management API, with the admin key by default. */
  manage(path: string, init?: { method?: string; body?: unknown; key?: string }): Promise<Answer>;
  /** Sends a chat completion to `acme/model`. */
  chat(secret: string, more?: Record<string, unknown>): Promise<Answer>;
  /** Returns the generation of an answer from `GET generation`. */
  generation(secret: string, answer: Answer): Promise<Record<string, unknown>>;
  stop(): Promise<void>;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests access members of responses
  readonly json: any;
}

/** The options of a site. */
export interface SiteOptions extends TestGatewayOptions {
  /** Further providers in YAML, one line each. */
  readonly providers?: string;
}

/** Starts a site. `yaml` is inserted before its configuration. */
export async function startSite({ providers = "", ...options }: SiteOptions = {}): Promise<Site> {
  const [near, far, openai] = [startRecordingVendor(), startRecordingVendor(), startRecordingVendor()];
  const host = (vendor: RecordingVendor, key: string, price: string) =>
    `{base_url: "${vendor.baseUrl}", api_keys: [${key}], headers: {x-platform: platform-header-0123456789}, models: [{id: acme/model, prices: {prompt: "${price}", completion: "${price}"}}]}`;
  const gateway = await startTestGateway({
    ...options,
    yaml: `${options.yaml ?? ""}
providers:
  near: ${host(near, PLATFORM.near, "0.000001")}
  far: ${host(far, PLATFORM.far, "0.000002")}
  openai: {base_url: "${openai.baseUrl}"}
${providers}`,
  });
  const stores = await openTestStores(gateway.dataDir);

  const manage: Site["manage"] = async (path, { method = "GET", body, key = gateway.adminKey } = {}) => {
    const response = await fetch(`${gateway.url}/api/admin${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return readAnswer(response);
  };

  return {
    gateway,
    stores,
    near,
    far,
    openai,
    manage,
    async bring(account, provider, key, more = {}) {
      const body = { provider, key, ...more };
      const answer = await manage(`/accounts/${account}/provider-keys`, { method: "POST", body });
      if (answer.status !== 201) throw new Error(answer.text);
      return answer.json.data.id;
    },
    async chat(secret, more = {}) {
      const body = {
        model: "acme/model",
        messages: [{ role: "user", content: "Hi" }],
        ...more,
      };
      return readAnswer(
        await fetch(`${gateway.base}/chat/completions`, {
          method: "POST",
          headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
          body: JSON.stringify(body),
        }),
      );
    },
    async generation(secret, { headers }) {
      const id = headers.get("x-gateway-generation-id");
      const response = await fetch(`${gateway.base}/generation?id=${id}`, {
        headers: { authorization: `Bearer ${secret}` },
      });
      return ((await response.json()) as { data: Record<string, unknown> }).data;
    },
    async stop() {
      await stores.close();
      await Promise.all([gateway.stop(), near.stop(), far.stop(), openai.stop()]);
    },
  };
}

/** Stops a site and starts another one with the same data and other vendors. */
export async function restart(site: Site, options: Omit<SiteOptions, "dataDir" | "key">): Promise<Site> {
  const { gateway, stores, near, far, openai } = site;
  const { dataDir, key } = gateway;
  await stores.close();
  await Promise.all([gateway.stop({ keepData: true }), near.stop(), far.stop(), openai.stop()]);
  return startSite({ ...options, dataDir, key });
}

async function readAnswer(response: Response): Promise<Answer> {
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.startsWith("application/json");
  return {
    status: response.status,
    headers: response.headers,
    text,
    json: isJson ? JSON.parse(text) : null,
  };
}

/** The fields of a new account. */
export interface Wanted {
  readonly overdraft?: number | null;
  readonly policy?: Partial<Policy>;
  /** The roles of its members by user id. Makes the account an organization. */
  readonly members?: Readonly<Record<string, Role>>;
}

let accounts = 0;

/** Creates an account, with members an organization. Returns its id. */
export async function makeAccount({ stores }: Site, wanted: Wanted = {}): Promise<string> {
  const { overdraft = null, policy = {}, members } = wanted;
  accounts += 1;
  const id = members === undefined ? `user_${accounts}` : `org_${accounts}`;
  const account: AccountRecord = {
    id,
    kind: members === undefined ? "user" : "organization",
    name: id,
    overdraft,
    monthlyLimit: null,
    policy: { ...OPEN_POLICY, ...policy },
    rateLimit: null,
    plan: null,
    email: null,
    externalId: null,
    createdAt: 0,
    ...NO_KEY_DEFAULTS,
    closedAt: null,
  };
  await stores.accounts.insertAccount(account);
  for (const [userId, role] of Object.entries(members ?? {})) {
    if ((await stores.accounts.findAccount(userId)) === null)
      await stores.accounts.insertAccount({ ...account, id: userId, kind: "user", policy: OPEN_POLICY });
    await stores.accounts.putMember({
      ...{ organizationId: id, userId, role, dailyLimit: null },
      ...{ source: "manual", createdAt: 0 },
    });
  }
  return id;
}

/** Creates an API key of an account and returns its secret. */
export async function makeKey(
  { stores }: Site,
  accountId: string,
  userId: string | null = null,
  kind: "inference" | "management" = "inference",
): Promise<string> {
  const wanted = { name: "test", kind, accountId, userId, expiresAt: null };
  return (await createKey(stores, wanted)).secret;
}

/** Returns the secrets with which a vendor was called, in order. */
export function secretsAt(vendor: RecordingVendor): (string | null)[] {
  return vendor.requests.map(({ headers }) => headers.get("authorization")?.replace("Bearer ", "") ?? null);
}
