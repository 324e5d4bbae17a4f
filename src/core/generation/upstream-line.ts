import { WeakPairs } from "../../base/weak-pairs.ts";
import type { InferenceRequest } from "../../wire/client-apis/request/inference-request.ts";
import type { ProviderFormat } from "../../wire/conversation/traits/format-name.ts";
import { FORMAT_TRAITS } from "../../wire/formats/traits.ts";
import type { ProviderKey } from "../deployments/served-models.ts";
import { type UpstreamCall, upstreamActionOf } from "../deployments/upstream-address.ts";
import type { Candidate } from "../routing/plan.ts";

/** Header values by lower-case name. */
export type HeaderValues = Readonly<Record<string, string>>;

/** What requests to a model endpoint with one key, for one action in one format, have in common. */
export class UpstreamLine {
  readonly url: URL;
  /** The headers of requests that add none of their own, without credentials. */
  readonly headers: HeaderValues;
  private credentials: HeaderValues | null = null;
  private authorized: HeaderValues;

  constructor(
    private readonly key: ProviderKey,
    private readonly call: UpstreamCall,
    url: URL,
  ) {
    this.url = url;
    this.headers = this.headersWith(undefined);
    this.authorized = this.headers;
  }

  /** Returns whether these are the calls of an action in a format. */
  isFor({ format, action, stream }: Pick<UpstreamCall, "format" | "action" | "stream">): boolean {
    const { call } = this;
    return call.format === format && call.action === action && call.stream === stream;
  }

  /** Returns the headers of a request that adds some of its own, without credentials. What the operator has configured takes precedence. */
  headersWith(added: HeaderValues | undefined): HeaderValues {
    const { key, call } = this;
    return {
      "content-type": "application/json",
      accept: call.stream ? FORMAT_TRAITS[call.format].streamType : "application/json",
      ...added,
      ...key.address.headersFor(call.format),
      ...key.headers,
    };
  }

  /** Returns `headers` with credentials: the same object as long as the credentials are the same object. */
  authorizedBy(credentials: HeaderValues): HeaderValues {
    if (this.credentials !== credentials) {
      this.credentials = credentials;
      this.authorized = { ...this.headers, ...credentials };
    }
    return this.authorized;
  }
}

/** The lines of each model endpoint by key. Both are replaced when catalog or configuration change. */
const known = new WeakPairs<Candidate["endpoint"], ProviderKey, UpstreamLine[]>();

/** Returns the line of a candidate for a request in a format; each is created once. */
export function findLine(
  candidate: Candidate,
  { action, stream }: Pick<InferenceRequest, "action" | "stream">,
  format: ProviderFormat,
): UpstreamLine {
  const lines = linesOf(candidate);
  const upstreamAction = upstreamActionOf(action, format);
  for (const line of lines) if (line.isFor({ format, action: upstreamAction, stream })) return line;
  const { key, endpoint, provider } = candidate;
  const call = { format, action: upstreamAction, model: endpoint.name, stream };
  const url = key.address.urlFor(call);
  // Served models include only deployments that have an address.
  if (url === null) throw new Error(`${provider.record.slug} has no address for ${format}`);
  const line = new UpstreamLine(key, call, url);
  lines.push(line);
  return line;
}

function linesOf({ endpoint, key }: Candidate): UpstreamLine[] {
  let lines = known.get(endpoint, key);
  if (lines === undefined) {
    lines = [];
    known.set(endpoint, key, lines);
  }
  return lines;
}
