import { loadShippedCatalog } from "../../../src/app/catalog/load-catalog.ts";
import { GatewayError } from "../../../src/base/failures/errors.ts";
import type { CatalogWithFamilies } from "../../../src/core/catalog/records/records.ts";
import type { UpstreamTarget } from "../../../src/wire/client-apis/request/inference-request.ts";
import type { ProviderFormat } from "../../../src/wire/conversation/traits/format-name.ts";
import type { Client } from "../../fidelity/formats.ts";
import { openRequest } from "../../fidelity/open-request.ts";
import { startTestGateway } from "../../support/gateway/gateway.ts";
import { startRecordingVendor } from "../../support/vendors/recording-vendor.ts";
import type { Fields } from "../sites/profile-site.ts";
import { type DistinctProfile, listTargets } from "./distinct-profiles.ts";
import { answerStrictly, findRefusal, formatOf, type Refusal } from "./strict-host.ts";

/** What became of one request. */
export interface Outcome {
  /** What the caller got: 200, or the status of an error. */
  readonly status: number;
  /** The error's message; empty for an answer. */
  readonly error: string;
  /** Null if no host was asked. */
  readonly format: ProviderFormat | null;
  /** The body that reached the host last. */
  readonly sent: Fields;
  /** Why the host refused it; null if it did not. */
  readonly refusal: Refusal | null;
  /** The fields that warnings name. */
  readonly named: readonly string[];
}

/** Sends a request of a client API to the model of a profile, at its host only. */
export type Ask = (client: Client, profile: DistinctProfile, body: Fields) => Promise<Outcome>;

const PATHS: Readonly<Record<Client, string>> = {
  chat: "/chat/completions",
  responses: "/responses",
  messages: "/messages",
};

/** Fields that may cost something at some host, so that only profiles decide what is sent. */
const SENT_FIELDS = [
  "service_tier",
  "store",
  "metadata",
  "user",
  "safety_identifier",
  "prompt_cache_key",
  "prompt_cache_retention",
  "verbosity",
  "include",
  "truncation",
  "background",
  "max_tool_calls",
  "output_config",
  "thinking",
  "modalities",
  "prediction",
  "logit_bias",
];

/** A gateway whose providers are all one strict vendor, which knows the host by the path. */
export async function startStrictSite(
  hosts: ReadonlySet<string>,
): Promise<{ readonly ask: Ask; stop(): Promise<unknown> }> {
  const vendor = startRecordingVendor();
  const origin = new URL(vendor.baseUrl).origin;
  const rows = [...hosts].map((host) => {
    const key = host.startsWith("google")
      ? "AIzaSyTest0000000000000000000000000000000"
      : `sk-test-${host}-0001`;
    return `  ${host}: { base_url: "${origin}/${host}", api_keys: ["${key}"], send: { fields: [${SENT_FIELDS.join(", ")}] } }`;
  });
  const gateway = await startTestGateway({ usesRedis: false, yaml: `providers:\n${rows.join("\n")}\n` });
  return {
    async ask(client, { host, model }, body) {
      let refusal: Refusal | null = null;
      vendor.reset((request) => {
        const reached = { host, format: formatOf(request.path), model: model.id };
        refusal = findRefusal(JSON.parse(request.text) as Fields, reached);
        return answerStrictly(request, reached);
      });
      const response = await fetch(`${gateway.base}${PATHS[client]}`, {
        method: "POST",
        headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
        body: JSON.stringify({
          ...body,
          model: model.id,
          provider: { only: [host], allow_fallbacks: false },
        }),
      });
      const answer = (await response.json()) as {
        error?: { message?: string } | null;
        gateway_metadata?: { warnings?: { field: string }[] };
      };
      const request = vendor.requests.at(-1);
      return {
        status: response.status,
        error: answer.error?.message ?? "",
        format: request === undefined ? null : formatOf(request.path),
        sent: request === undefined ? {} : (JSON.parse(request.text) as Fields),
        refusal,
        named: (answer.gateway_metadata?.warnings ?? []).map(({ field }) => field),
      };
    },
    stop: () => Promise.all([gateway.stop(), vendor.stop()]),
  };
}

/**
 * Returns a function that encodes requests as the gateway does for the first attempt, without a connection: for catalogs that no gateway can
 * be started with.
 */
export function encodeWith(catalog: CatalogWithFamilies = loadShippedCatalog()): Ask {
  const providers = new Map(catalog.providers.map((provider) => [provider.slug, provider]));
  const known = new Map<DistinctProfile, readonly UpstreamTarget[]>();
  const targetsOf = (profile: DistinctProfile) => {
    const record = providers.get(profile.host);
    if (record === undefined) throw new Error(`the catalog has no provider ${profile.host}`);
    return listTargets(profile, record, catalog).map((provider) => ({ ...UNCHANGED, provider }));
  };
  return async (client, profile, body) => {
    const targets = known.get(profile) ?? targetsOf(profile);
    known.set(profile, targets);
    try {
      const request = openRequest(client, { ...body, model: profile.model.id });
      const { format, body: bytes, warnings } = request.encoding.plan(targets).encode();
      const sent = JSON.parse(bytes.toString("utf8")) as Fields;
      const refusal = findRefusal(sent, { host: profile.host, format, model: profile.model.id });
      const status = refusal === null ? 200 : 400;
      return {
        status,
        error: refusal?.message ?? "",
        format,
        sent,
        refusal,
        named: warnings.map(({ field }) => field),
      };
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      return { status: 400, error: error.message, format: null, sent: {}, refusal: null, named: [] };
    }
  };
}

const UNCHANGED = {
  withReasoning: true,
  overrides: null,
  recallTurn: () => null,
  hashUser: (user: string) => `hashed-${user}`,
};
