import type { FormatName } from "../../src/wire/conversation/traits/format-name.ts";
import { startTestGateway } from "../support/gateway/gateway.ts";
import { createAccountTools } from "../support/gateway/management.ts";
import type { Json } from "./conversation.ts";
import { TARGETS, type Target } from "./hosts.ts";
import type { Recording } from "./recordings.ts";

/** What a client got for a request, and what reached the vendor. */
export interface Asked {
  readonly status: number;
  /** The answer's body, bytes read as Latin-1. */
  readonly text: string;
  /** The bodies that reached the vendor, in order. */
  readonly sent: readonly Json[];
}

/** A gateway in front of vendors that play recordings back. */
export interface ReplaySite {
  /**
   * Posts a body to a path of the gateway. The vendor answers with `recording`. Each `caller` has its own account, so
   * that reasoning remembered for one is not given to another; `null`: the operator's.
   */
  ask(path: string, model: string, body: Json, recording: Playable, principal: string | null): Promise<Asked>;
  stop(): Promise<void>;
}

/** What a vendor sends. */
export type Playable = Pick<Recording, "format" | "isStream" | "body"> & { readonly status?: number };

/** The model that a target serves. */
export function modelOf({ name }: Pick<Target, "name">): string {
  return `replay/${name}`;
}

/** The embedding model. */
export const EMBEDDING_MODEL = "replay/embedding";

/** The model whose vendor fails for the n-th time: each has its own provider, because a failure starts a cooldown. */
export function failingModel(place: number): string {
  return `replay/failing-${place}`;
}

/** Starts the site. `failures` are the formats of the vendors that fail. */
export async function startReplaySite(failures: readonly FormatName[] = []): Promise<ReplaySite> {
  let playing: Playable | null = null;
  let sent: Json[] = [];
  const vendor = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      sent.push(await request.json());
      return playing === null ? new Response(null, { status: 500 }) : playBack(playing);
    },
  });
  const gateway = await startTestGateway({ yaml: describeSite(`http://127.0.0.1:${vendor.port}`, failures) });
  const create = createAccountTools(gateway);
  const keys = new Map<string, string>();
  const findKey = async (principal: string | null): Promise<string> => {
    if (principal === null) return gateway.key;
    const key = keys.get(principal) ?? (await create.key(await create.user()));
    keys.set(principal, key);
    return key;
  };
  return {
    async ask(path, model, body, recording, principal) {
      const key = await findKey(principal);
      playing = recording;
      sent = [];
      const response = await fetch(`${gateway.base}${path}`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify({ ...body, model }),
      });
      const text = Buffer.from(await response.arrayBuffer()).toString("latin1");
      return { status: response.status, text, sent };
    },
    async stop() {
      await gateway.stop();
      await vendor.stop(true);
    },
  };
}

const EVENT_STREAM: Readonly<Partial<Record<FormatName, string>>> = {
  "bedrock-converse": "application/vnd.amazon.eventstream",
};

function playBack({ format, isStream, body, status = 200 }: Playable): Response {
  const type = isStream ? (EVENT_STREAM[format] ?? "text/event-stream") : "application/json";
  return new Response(Buffer.from(body, "latin1"), { status, headers: { "content-type": type } });
}

const KEY = "sk-replay-0123456789";

function describeSite(origin: string, failures: readonly FormatName[]): string {
  const rows = [
    ...TARGETS.map(({ name, format, slug, upstream }) =>
      describeVendor(slug ?? `replay-${name}`, format, `${origin}/v1`, modelOf({ name }), upstream),
    ),
    ...failures.map((format, place) =>
      describeVendor(`replay-failing-${place}`, format, `${origin}/v1`, failingModel(place), "replayed"),
    ),
    `  replay-embedding: {base_url: "${origin}/v1", api_keys: [${KEY}], models: [{id: ${EMBEDDING_MODEL}, name: replayed, output: embedding}]}`,
  ];
  return `log_level: error\nlimits: {repeats: 0}\nproviders:\n${rows.join("\n")}\n`;
}

/** A provider with one model. It is called only in `format`, whatever else the catalog lists. */
function describeVendor(
  slug: string,
  format: FormatName,
  base: string,
  model: string,
  upstream: string,
): string {
  return `  ${slug}: {formats: [${format}], auth: bearer, base_url: "${base}", api_keys: [${KEY}], models: [{id: "${model}", name: "${upstream}", context_length: 2000000}]}`;
}
