import { type Frame, openSocket, type SocketClient } from "../clients/socket-client.ts";
import { startTestGateway, type TestGateway } from "../gateway/gateway.ts";
import { createTestHealth } from "../gateway/test-health.ts";
import { SCRIPTS } from "../vendors/scripts/all-scripts.ts";
import { type Behavior, CUT_FUNCTION, PLAYS, SPOKEN_FORMATS } from "../vendors/scripts/behaviors.ts";
import type { SpokenFormat } from "../vendors/speaking-vendor.ts";
import { startVendor, type Vendor } from "../vendors/vendor.ts";
import type { Json } from "./stream-rules.ts";

/** Where a response comes from: the sandbox, or a simulated vendor of a format. */
export interface Target {
  readonly name: string;
  readonly model: string;
  /** Null for the sandbox. */
  readonly format: SpokenFormat | null;
}

/** The vendors, one for each upstream format. */
export const VENDORS: readonly Target[] = SPOKEN_FORMATS.map((format) => ({
  name: `a vendor of ${format}`,
  model: `acme/${format}`,
  format,
}));

/** The model of the sandbox that calls tools, and the vendors. */
export const TARGETS: readonly Target[] = [
  { name: "the sandbox", model: "sandbox/agent", format: null },
  ...VENDORS,
];

/** A gateway with the sandbox and one vendor that speaks every format. */
export interface OpenSite {
  readonly gateway: TestGateway;
  readonly vendor: Vendor;
  /** Makes the model of a target behave like this. Returns the text with which a request has to begin for that. */
  behave(target: Target, behavior: Behavior): string;
  /** Posts a request to a path below `/v1/responses`. */
  post(body: unknown, path?: string): Promise<Response>;
  /** Creates a response. @throws Error for any status but 200. */
  create(body: object): Promise<Json>;
  /** Streams a response over HTTP. */
  stream(body: object): Promise<readonly Json[]>;
  /** Asks for a response over a WebSocket, and returns its frames. */
  turn(client: SocketClient, body: object): Promise<readonly Json[]>;
  connect(): Promise<SocketClient>;
  /** Closes all connections. */
  disconnect(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a site. `yaml` has further members of the configuration. */
export async function startOpenSite(yaml = ""): Promise<OpenSite> {
  const vendor = startVendor();
  const health = createTestHealth();
  const providers = SPOKEN_FORMATS.map(
    (format) =>
      `  host-${format}: {base_url: "${vendor.baseUrl}", format: ${format}, api_keys: [sk-host-0123456789], models: [{id: acme/${format}, name: up, input: [text, image], output: text}]}`,
  );
  const gateway = await startTestGateway({
    repeats: 0,
    health: health.health,
    yaml: `sandbox: on\nproviders:\n${providers.join("\n")}\n${yaml}`,
  });
  const sockets: SocketClient[] = [];
  const post = (body: unknown, path = "") =>
    fetch(`${gateway.url}/v1/responses${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
  return {
    gateway,
    vendor,
    behave(target, behavior) {
      // An earlier failure would make the gateway avoid the vendor.
      health.reset();
      if (target.format === null) return MARKERS[behavior];
      vendor.perform(PLAYS[behavior](SCRIPTS[target.format]));
      return "";
    },
    post,
    async create(body) {
      const response = await post(body);
      const text = await response.text();
      if (response.status !== 200) throw new Error(`${response.status} ${text}`);
      return JSON.parse(text);
    },
    async stream(body) {
      const response = await post({ ...body, stream: true });
      vendor.calls.at(-1)?.openGate();
      return readSse(await response.text()).flatMap(({ data }) =>
        data === "[DONE]" ? [] : [JSON.parse(data)],
      );
    },
    async turn(client, body) {
      client.send({ type: "response.create", ...body });
      const frames = [await client.next()];
      if (frames[0]?.["type"] === "error") return frames;
      vendor.calls.at(-1)?.openGate();
      return [...frames, ...(await client.readTurn())];
    },
    async connect() {
      const client = await openSocket(gateway);
      sockets.push(client);
      return client;
    },
    async disconnect() {
      await Promise.all(sockets.splice(0).map((socket) => socket.close()));
    },
    async stop() {
      await gateway.stop();
      vendor.stop();
    },
  };
}

const MARKERS: Readonly<Record<Behavior, string>> = {
  agent: "",
  reasoning: "[sandbox:reasoning] ",
  // The request limits its tokens.
  cut: "",
  "cut-call": "[sandbox:tools] ",
  "late-failure": "[sandbox:error-late] ",
  failure: "[sandbox:error=500] ",
  limited: "[sandbox:error=429] ",
  overflow: "[sandbox:context] ",
};

/** An event as it was sent. */
export interface SentEvent {
  /** The fields of the event: `event`, `data`, and any other. */
  readonly fields: ReadonlyMap<string, string>;
  readonly data: string;
}

/** Splits a stream into its events. Comments are left out. */
export function readSse(text: string): readonly SentEvent[] {
  const blocks = text.split("\n\n").filter((block) => block !== "");
  const events = blocks.map((block) => {
    const lines = block.split("\n").filter((line) => !line.startsWith(":"));
    const fields = new Map(lines.map((line) => line.split(/: ?(.*)/s, 2) as [string, string]));
    return { fields, data: fields.get("data") ?? "" };
  });
  return events.filter(({ fields }) => fields.size > 0);
}

/** The function that the tests offer. Its name is that of vendors by default. */
export const TOOL = {
  type: "function",
  name: "find",
  description: "Finds a thing.",
  parameters: {
    type: "object",
    properties: { q: { type: "string" } },
    required: ["q"],
    additionalProperties: false,
  },
} as const;

/** A function that is called with more tokens than the smallest limit that a request may have. */
export const LONG_TOOL = {
  ...TOOL,
  name: CUT_FUNCTION,
  parameters: {
    type: "object",
    properties: { at: { const: "word ".repeat(40) } },
    required: ["at"],
    additionalProperties: false,
  },
} as const;

/** Returns the items of a type of a response. */
export function itemsOf(response: Json | Frame, type: string): readonly Json[] {
  return response["output"].filter((item: Json) => item["type"] === type);
}

/** Returns the text of the messages of a response. */
export function textOf(response: Json | Frame): string {
  const parts = itemsOf(response, "message").flatMap((item) => item["content"] as Json[]);
  return parts.map((part) => part["text"] ?? part["refusal"]).join("");
}
