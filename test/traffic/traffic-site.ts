import { checkConfig } from "../../src/app/config/load-config.ts";
import { buildServing } from "../../src/app/serving/build-serving.ts";
import { wireUp } from "../../src/app/start/wire-up.ts";
import type { Stores } from "../../src/app/stores/stores.ts";
import type { Log } from "../../src/base/failures/log.ts";
import { Stopwatch } from "../../src/base/time/stopwatch.ts";
import { createKey } from "../../src/core/accounts/manage/manage-keys.ts";
import { resolveAccount } from "../../src/core/accounts/memory/resolve-account.ts";
import type { InferencePrincipal } from "../../src/core/accounts/records/principal.ts";
import { DEFAULT_ACCOUNT_ID } from "../../src/core/accounts/records/records.ts";
import { createCatalog } from "../../src/core/catalog/served/catalog.ts";
import { createServedModels } from "../../src/core/deployments/served-models.ts";
import {
  type GenerationCall,
  type GenerationDeps,
  type GenerationResult,
  type Serving,
  UNCOUNTED,
} from "../../src/core/generation/call/call.ts";
import { generate } from "../../src/core/generation/generate.ts";
import { createSandboxTransport } from "../../src/providers/sandbox/sandbox-transport.ts";
import { parseChatRequest } from "../../src/wire/client-apis/chat-request.ts";
import { NO_HEADERS } from "../../src/wire/client-apis/request/session-hints.ts";
import { createDatabases, openPlainStores } from "../simulation/service.ts";
import { createMemoryJournal } from "../support/databases/memory-journal.ts";
import { createSeededRandom, type SeededRandom } from "../support/seeded-random.ts";
import { createEventClock, type EventClock } from "./event-clock.ts";
import { createFleet, type Fleet, type VendorTraits } from "./fleet.ts";

/** A request of a client. */
export interface TrafficRequest {
  readonly model: string;
  readonly stream: boolean;
  /** Names the conversation; the same in each of its turns. */
  readonly conversation: string;
  /** Turns before this one. */
  readonly turn: number;
  /** The client's name for its session, or `null`. */
  readonly session: string | null;
}

/** The outcome of a request. */
export interface Asked {
  readonly request: number;
  readonly model: string;
  readonly at: number;
  readonly endedAt: number;
  readonly isAnswered: boolean;
  /** Whether a vendor that serves its model was healthy all the time. */
  readonly couldBeAnswered: boolean;
}

/** A gateway in front of twenty vendors, its clients, and a clock. */
export interface TrafficSite {
  readonly clock: EventClock;
  readonly chance: SeededRandom;
  readonly fleet: Fleet;
  readonly models: readonly string[];
  readonly vendors: readonly string[];
  /** The vendors that serve a model, the cheapest first. */
  serversOf(model: string): readonly string[];
  readonly asked: readonly Asked[];
  /** Sends a request and records its outcome. */
  ask(request: TrafficRequest): Promise<Asked>;
  close(): void;
}

const START_MS = Date.UTC(2026, 4, 1);
const VENDORS = 20;
const MODELS = 12;
const SERVERS = { fewest: 4, most: 9 } as const;
/** One vendor in this many limits its callers. */
const LIMITED = 5;
/** How long the gateway waits for a first token. Milliseconds. */
export const FIRST_TOKEN_MS = 20_000;
const TIMERS = { connect_ms: 5_000, first_token_ms: FIRST_TOKEN_MS, silence_ms: 120_000, total_ms: 300_000 };

/** Creates a site from a seed. */
export async function createTrafficSite(seed: number): Promise<TrafficSite> {
  const chance = createSeededRandom(seed);
  const clock = createEventClock(START_MS);
  const traits = Array.from({ length: VENDORS }, (_, at) => describeVendor(at, chance));
  const models = Array.from({ length: MODELS }, (_, at) => presentModel(at, chance));
  const fleet = createFleet(traits, clock, chance);
  const { deps, principal, close } = await openGateway(describeConfig(models), fleet, clock, seed);
  const asked: Asked[] = [];
  let requests = 0;
  const serversOf = (model: string) =>
    models.find(({ id }) => id === model)?.servers.map(({ slug }) => slug) ?? [];
  return {
    clock,
    chance,
    fleet,
    models: models.map(({ id }) => id),
    vendors: traits.map(({ slug }) => slug),
    serversOf,
    asked,
    async ask(request) {
      const at = clock.now();
      requests += 1;
      const number = requests;
      const isAnswered = await sendRequest(deps, principal, request, number);
      const couldBeAnswered = serversOf(request.model).some((slug) => fleet.wasWellSince(slug, at));
      const result = {
        request: number,
        model: request.model,
        at,
        endedAt: clock.now(),
        isAnswered,
        couldBeAnswered,
      };
      asked.push(result);
      return result;
    },
    close,
  };
}

function describeVendor(at: number, chance: SeededRandom): VendorTraits {
  return {
    slug: `vendor-${String.fromCharCode(97 + at)}`,
    ttftMs: 150 + chance.below(1_000),
    tokensPerS: 30 + chance.below(150),
    perMinute: at % LIMITED === LIMITED - 1 ? 20 + chance.below(60) : null,
  };
}

interface SiteModel {
  readonly id: string;
  readonly servers: readonly { readonly slug: string; readonly price: number }[];
}

/** Served by some vendors, at prices that differ by up to a factor of two. */
function presentModel(at: number, chance: SeededRandom): SiteModel {
  const slugs = Array.from({ length: VENDORS }, (_, vendor) => `vendor-${String.fromCharCode(97 + vendor)}`);
  const count = SERVERS.fewest + chance.below(SERVERS.most - SERVERS.fewest + 1);
  const servers = Array.from({ length: count }, () => ({
    slug: slugs.splice(chance.below(slugs.length), 1)[0] as string,
    price: 1_000 + chance.below(1_000),
  }));
  return { id: `acme/m${at}`, servers: servers.toSorted((a, b) => a.price - b.price) };
}

function describeConfig(models: readonly SiteModel[]) {
  const slugs = [...new Set(models.flatMap(({ servers }) => servers.map(({ slug }) => slug)))].sort();
  const providers = slugs.map((slug) => {
    const served = models.flatMap(({ id, servers }) => {
      const price = servers.find((server) => server.slug === slug)?.price;
      if (price === undefined) return [];
      const prices = `{prompt: "0.00000${price}", completion: "0.0000${price}"}`;
      return `{id: "${id}", name: ${id.slice(5)}, context_length: 200000, prices: ${prices}}`;
    });
    return `  ${slug}: {base_url: "http://${slug}.example/v1", api_keys: [key-1, key-2], models: [${served.join(", ")}]}`;
  });
  const yaml = `limits: {hold_tokens: 1000}\ntimers: ${JSON.stringify(TIMERS)}\nproviders:\n${providers.join("\n")}\n`;
  return checkConfig(yaml, "gateway.yaml", {});
}

async function openGateway(
  config: ReturnType<typeof checkConfig>,
  transport: Fleet,
  clock: EventClock,
  seed: number,
): Promise<{ deps: GenerationDeps; principal: InferencePrincipal; close(): void }> {
  const databases = createDatabases();
  const noise = createSeededRandom(seed + 1);
  const random = { bytes: (length: number) => Uint8Array.from({ length }, () => noise.below(256)) };
  const plain = openPlainStores({ ...databases, clock, random });
  // The ledger is kept elsewhere; here it would only grow.
  const stores: Stores = { ...plain, usage: { ...plain.usage, saveUsage: async () => {} } };
  const sandboxTransport = createSandboxTransport({ clock });
  const serving = withCachePrices(
    buildServing(
      { source: "traffic", providers: [], models: [], families: [] },
      { config, environment: {}, clock, transport, sandboxTransport },
    ),
  );
  const { http } = await wireUp(config, {
    clock,
    random,
    log: SILENT,
    environment: {},
    transport,
    resources: {
      stores,
      journal: NO_JOURNAL,
      gatewayId: "gateway_a",
      serving: { current: () => serving, notices: [], async refresh() {}, prepare: neverPrepared },
      async release() {},
    },
  });
  const { secret } = await createKey(stores, {
    name: "clients",
    kind: "inference",
    expiresAt: null,
    accountId: DEFAULT_ACCOUNT_ID,
    userId: null,
    spendLimit: null,
  });
  const found = await http.callers.keyCache.identify(secret);
  if (found?.kind !== "key") throw new Error("the key is not known");
  const principal = await resolveAccount(http.callers.accountCache, found.key, null);
  return { deps: http.generation, principal, close: () => databases.database.close() };
}

/** Sets the cache-read price to a tenth, which a configuration cannot express. */
function withCachePrices(serving: Serving): Serving {
  const { catalog, servedModels } = serving;
  const models = catalog.models.map((model) => ({
    ...model,
    endpoints: model.endpoints.map((endpoint) => ({
      ...endpoint,
      prices: endpoint.prices && { ...endpoint.prices, cacheRead: endpoint.prices.prompt.replace(".", ".0") },
    })),
  }));
  return {
    ...serving,
    catalog: createCatalog({ source: "traffic", providers: catalog.providers, models }),
    servedModels: createServedModels(models, servedModels.providers, START_MS),
  };
}

const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {} };
const NO_JOURNAL = createMemoryJournal();

/** Returns whether the whole answer arrived. */
async function sendRequest(
  deps: GenerationDeps,
  principal: InferencePrincipal,
  { model, stream, conversation, turn, session }: TrafficRequest,
  request: number,
): Promise<boolean> {
  const messages = [{ role: "system", content: conversation }];
  for (let at = 0; at < turn; at++) {
    messages.push({ role: "user", content: `question ${at}` }, { role: "assistant", content: "words more" });
  }
  messages.push({ role: "user", content: `question ${turn}` }, { role: "user", content: String(request) });
  const body = {
    model,
    stream,
    messages,
    max_tokens: 500,
    ...(session === null ? {} : { session_id: session }),
  };
  const bytes = Buffer.from(JSON.stringify(body));
  const call: GenerationCall = {
    requestId: `req_${request}`,
    principal: principal,
    request: parseChatRequest(bytes, (id) => id),
    withBody: (body) => ({ ...call, request: parseChatRequest(body, (id) => id) }),
    readClientSignal: () => NEVER,
    headers: NO_HEADERS,
    readBody: () => bytes,
    takeMemory: () => true,
    memory: UNCOUNTED,
    onLasting() {},
    onEnded() {},
    route: "/chat/completions",
    receivedAt: deps.clock.now(),
    stopwatch: new Stopwatch(deps.clock),
    trace: null,
    logFields: {},
  };
  const result = await generate(deps, call);
  return readAnswer(result.answer);
}

const NEVER = new AbortController().signal;

async function readAnswer(answer: GenerationResult["answer"]): Promise<boolean> {
  if (answer.kind === "json") return true;
  if (answer.kind !== "stream") return false;
  if (!(answer.stream instanceof ReadableStream)) return answer.stream.includes("[DONE]");
  let last = "";
  const reader = answer.stream.getReader();
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
    last = Buffer.from(piece.value).toString("latin1");
  }
  return last.includes("[DONE]");
}

/** No test of this kind reloads the configuration. */
function neverPrepared(): never {
  throw new Error("the served models do not change");
}
