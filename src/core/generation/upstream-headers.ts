import type { ProviderFormat } from "../../wire/conversation/format-name.ts";
import type { ProviderKey } from "../deployments/served-models.ts";

/** Header values by lower-case name. */
type HeaderValues = Readonly<Record<string, string>>;

/** What the headers of a request to an upstream depend on. */
export interface HeaderQuestion {
  readonly key: ProviderKey;
  readonly format: ProviderFormat;
  readonly stream: boolean;
  /** Headers of this request only; absent for none. */
  readonly added?: HeaderValues | undefined;
}

/** Headers of requests that add none of their own, and what they became with credentials. */
interface KnownHeaders {
  readonly plain: HeaderValues;
  credentials: HeaderValues | null;
  complete: HeaderValues;
}

const known = {
  streamed: new WeakMap<ProviderKey, Map<ProviderFormat, KnownHeaders>>(),
  whole: new WeakMap<ProviderKey, Map<ProviderFormat, KnownHeaders>>(),
};

/** The headers of a request to an upstream. */
export interface UpstreamHeaders {
  readonly headers: HeaderValues;
  /** Whether other requests have the same object. */
  readonly areShared: boolean;
}

/** Returns the headers of a request without credentials. */
export function headersBefore(question: HeaderQuestion): HeaderValues {
  return question.added === undefined ? knownFor(question).plain : join(question);
}

/**
 * Returns the headers of a request with its credentials. Requests that add no headers have the same object as long as the credentials
 * are the same object.
 */
export function headersWith(question: HeaderQuestion, credentials: HeaderValues): UpstreamHeaders {
  if (question.added !== undefined)
    return { headers: { ...join(question), ...credentials }, areShared: false };
  const found = knownFor(question);
  if (found.credentials !== credentials) {
    found.credentials = credentials;
    found.complete = { ...found.plain, ...credentials };
  }
  return { headers: found.complete, areShared: true };
}

function knownFor(question: HeaderQuestion): KnownHeaders {
  const { key, format, stream } = question;
  const byKey = stream ? known.streamed : known.whole;
  const byFormat = byKey.get(key) ?? new Map<ProviderFormat, KnownHeaders>();
  let found = byFormat.get(format);
  if (found === undefined) {
    const plain = join(question);
    found = { plain, credentials: null, complete: plain };
    byKey.set(key, byFormat.set(format, found));
  }
  return found;
}

/** What the operator has configured takes precedence. */
function join({ key, format, stream, added }: HeaderQuestion): HeaderValues {
  return {
    "content-type": "application/json",
    accept: stream ? streamTypeOf(format) : "application/json",
    ...added,
    ...key.address.headersFor(format),
    ...key.headers,
  };
}

/** Returns the media type of a format's streams: server-sent events, except at Bedrock. */
function streamTypeOf(format: ProviderFormat): string {
  return format === "bedrock-converse" ? "application/vnd.amazon.eventstream" : "text/event-stream";
}
