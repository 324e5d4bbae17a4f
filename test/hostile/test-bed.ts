import { dirname, join } from "node:path";
import type { FormatName } from "../../src/wire/conversation/traits/format-name.ts";
import { FORMAT_NAMES } from "../../src/wire/conversation/traits/format-name.ts";
import { type GatewayProcess, makeSite } from "../support/gateway/gateway-process.ts";
import { startVendor, type Vendor } from "../support/vendors/vendor.ts";
import { PROBE_SOCKET, type Reading } from "./probe.ts";
import { type HostileVendor, startHostileVendor } from "./vendor.ts";

/** A gateway started as an operator starts it, with a probe in its process, and a vendor of every format. */
export interface TestBed {
  /** The gateway's process; another one after a crash. */
  readonly gateway: Pick<GatewayProcess, "url" | "key">;
  readonly adminKey: string;
  readonly dataDir: string;
  readonly vendor: HostileVendor;
  /** The vendor of the paid models, whose answers are scripted to the byte. */
  readonly scripted: Vendor;
  /** The model that the vendor serves in a format; `isFree`: without a key. */
  modelOf(format: FormatName, isFree?: boolean): string;
  /** The model that the scripted vendor serves in a format, at `PRICES`, with answers of up to `LONGEST_ANSWER`. */
  paidModelOf(format: FormatName): string;
  /** Posts a body to a path of the gateway; text and bytes are sent unchanged. */
  post(path: string, body: unknown, headers?: Readonly<Record<string, string>>): Promise<Response>;
  /** The probe's measurements since `forget`. */
  read(): Promise<Reading>;
  /** Collects the gateway's garbage and returns the memory that is still in use, in megabytes. */
  readLiveMb(): Promise<number>;
  forget(): Promise<void>;
  /** What the gateway has printed. */
  printed(): string;
  /** Kills the gateway with signal 9 and starts another one on its data. `between` runs while none does. */
  crash(between?: () => void): Promise<void>;
  stop(): Promise<void>;
}

const ADMIN_KEY = "hostile-management-key-0123456789";
const ROOT = join(import.meta.dir, "../..");
const COMMAND = [process.execPath, "--preload", join(import.meta.dir, "probe.ts"), join(ROOT, "src/main.ts")];

/** Starts them. `config` is configuration besides the providers, such as `timers: {…}`. */
export async function startTestBed(config = ""): Promise<TestBed> {
  const vendor = startHostileVendor();
  const scripted = startVendor();
  const site = makeSite(describeSite(vendor, scripted, config), COMMAND);
  let gateway = await site.start();
  const socket = join(dirname(site.dataDir), PROBE_SOCKET);
  const askProbe = (method: string) => fetch("http://probe/", { unix: socket, method });
  /** What gateways printed before they were killed. */
  let ofKilled = { stallMs: 0, peakMb: 0 };
  const read = async (): Promise<Reading> => {
    const { stallMs, peakMb, residentMb } = (await (await askProbe("GET")).json()) as Reading;
    return {
      stallMs: Math.max(stallMs, ofKilled.stallMs),
      peakMb: Math.max(peakMb, ofKilled.peakMb),
      residentMb,
    };
  };
  return {
    get gateway() {
      return gateway;
    },
    adminKey: ADMIN_KEY,
    dataDir: site.dataDir,
    vendor,
    scripted,
    modelOf: (format, isFree = false) => `acme/${format}${isFree ? ":free" : ""}`,
    paidModelOf: (format) => `acme/${format}-paid`,
    post: (path, body, headers = {}) =>
      fetch(`${gateway.url}${path}`, {
        method: "POST",
        headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json", ...headers },
        body:
          typeof body === "string" || body instanceof Uint8Array ? (body as string) : JSON.stringify(body),
      }),
    read,
    readLiveMb: async () => (await (await askProbe("POST")).json()) as number,
    async forget() {
      ofKilled = { stallMs: 0, peakMb: 0 };
      await askProbe("DELETE");
    },
    printed: () => gateway.printed(),
    async crash(between = () => {}) {
      const { key } = gateway;
      ofKilled = await read();
      await gateway.kill();
      between();
      gateway = await site.start(key);
      // A start delays no request.
      await askProbe("DELETE");
    },
    async stop() {
      await gateway.terminate();
      vendor.stop();
      scripted.stop();
      site.remove();
    },
  };
}

/** Nanodollars per token of the paid models. */
export const PRICES = { prompt: 1_000, completion: 10_000 } as const;
/** Tokens. */
export const LONGEST_ANSWER = 100_000;

/** Large enough for any prompt: the case tests the gateway and not its context check. */
const WINDOW = 100_000_000;
const PAID_WINDOW = 128_000;

function describeSite(vendor: HostileVendor, scripted: Vendor, config: string): string {
  const prices = '{prompt: "0.000001", completion: "0.000002"}';
  const paid = `context_length: ${PAID_WINDOW}, max_output_tokens: ${LONGEST_ANSWER}, prices: {prompt: "0.000001", completion: "0.00001", search: "0.01"}`;
  const provider = (slug: string, format: FormatName, baseUrl: string, models: string) =>
    `  ${slug}: {format: ${format}, auth: bearer, base_url: "${baseUrl}", api_keys: [sk-0123456789abcdef], models: [${models}]}`;
  const providers = FORMAT_NAMES.flatMap((format) => [
    provider(
      `vendor-${format}`,
      format,
      vendor.baseUrl(format),
      `{id: acme/${format}, name: up, context_length: ${WINDOW}, prices: ${prices}}, ` +
        `{id: "acme/${format}:free", name: up, context_length: ${WINDOW}}`,
    ),
    provider(`paid-${format}`, format, scripted.baseUrl, `{id: acme/${format}-paid, name: up, ${paid}}`),
  ]);
  const common = config === "" ? "limits: {anonymous_requests_per_hour: 100000}" : config;
  return `admin_key: ${ADMIN_KEY}\n${common}\nproviders:\n${providers.join("\n")}\n`;
}
