import { connect, type Socket } from "node:net";
import { dirname, join } from "node:path";
import { FORMAT_NAMES, type FormatName } from "../../src/wire/canonical/parts.ts";
import { type GatewayProcess, makeSite } from "../support/gateway-process.ts";
import { PROBE_SOCKET, type Reading } from "./probe.ts";
import { type HostileVendor, startHostileVendor } from "./vendor.ts";

/** A gateway as an operator starts it, watched, and a vendor of every format. */
export interface Field {
  readonly gateway: Pick<GatewayProcess, "url" | "key">;
  readonly adminKey: string;
  readonly vendor: HostileVendor;
  /** The model that the vendor serves in a format; `isFree`: without a key. */
  modelOf(format: FormatName, isFree?: boolean): string;
  /** Posts a body to a path of the gateway's; text and bytes go out as they are. */
  post(path: string, body: unknown, headers?: Readonly<Record<string, string>>): Promise<Response>;
  /** Opens a connection to the gateway. */
  dial(): Promise<Socket>;
  /** What the gateway's process says of itself since it was asked last. */
  read(): Promise<Reading>;
  /** What the gateway has printed. */
  printed(): string;
  stop(): Promise<void>;
}

const ADMIN_KEY = "hostile-management-key-0123456789";
const ROOT = join(import.meta.dir, "../..");
const COMMAND = [process.execPath, "--preload", join(import.meta.dir, "probe.ts"), join(ROOT, "src/main.ts")];

/** Starts them. */
export async function startField(): Promise<Field> {
  const vendor = startHostileVendor();
  const site = makeSite(describeSite(vendor), COMMAND);
  const gateway = await site.start();
  const { hostname, port } = new URL(gateway.url);
  const socket = join(dirname(site.dataDir), PROBE_SOCKET);
  return {
    gateway,
    adminKey: ADMIN_KEY,
    vendor,
    modelOf: (format, isFree = false) => `acme/${format}${isFree ? ":free" : ""}`,
    post: (path, body, headers = {}) =>
      fetch(`${gateway.url}${path}`, {
        method: "POST",
        headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json", ...headers },
        body:
          typeof body === "string" || body instanceof Uint8Array ? (body as string) : JSON.stringify(body),
      }),
    dial: () =>
      new Promise((resolve, reject) => {
        const opened = connect(Number(port), hostname);
        opened.once("connect", () => resolve(opened));
        opened.once("error", reject);
      }),
    async read() {
      const response = await fetch("http://probe/", { unix: socket });
      return (await response.json()) as Reading;
    },
    printed: gateway.printed,
    async stop() {
      await gateway.terminate();
      vendor.stop();
      site.remove();
    },
  };
}

const WINDOW = 100_000_000;

/** Windows that hold any prompt: what is tried is the gateway, and not its check of the context. */
function describeSite(vendor: HostileVendor): string {
  const prices = '{prompt: "0.000001", completion: "0.000002"}';
  const providers = FORMAT_NAMES.map(
    (format) =>
      `  vendor-${format}: {format: ${format}, auth: bearer, base_url: "${vendor.baseUrl(format)}", api_keys: [sk-0123456789abcdef], models: [` +
      `{id: acme/${format}, name: up, context_length: ${WINDOW}, prices: ${prices}}, ` +
      `{id: "acme/${format}:free", name: up, context_length: ${WINDOW}}]}`,
  );
  return `admin_key: ${ADMIN_KEY}\nlimits: {anonymous_requests_per_hour: 100000}\nproviders:\n${providers.join("\n")}\n`;
}
