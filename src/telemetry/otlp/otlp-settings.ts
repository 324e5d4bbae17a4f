/** How traces begin: always, never, or for a share of them. */
export interface Sampler {
  /** The share of the traces that begin here, from 0 to 1. */
  readonly ratio: number;
  /** Whether the decision of a caller's `traceparent` is followed. */
  readonly followsParent: boolean;
}

/** The destination and settings of one signal. */
export interface SignalSettings {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The time limit of one post. Milliseconds. */
  readonly timeoutMs: number;
  readonly isGzipped: boolean;
}

/** The settings from OpenTelemetry's environment variables. */
export interface OtlpSettings {
  /** Null if traces are not exported. */
  readonly traces: (SignalSettings & { readonly sampler: Sampler }) | null;
  /** Null if metrics are not exported. */
  readonly metrics: (SignalSettings & { readonly intervalMs: number }) | null;
  /** The attributes of `OTEL_RESOURCE_ATTRIBUTES` and `OTEL_SERVICE_NAME`. */
  readonly resource: Readonly<Record<string, string>>;
}

/** A variable with a value that is not valid or not supported. The message names the variable and the remedy. */
export class OtlpSettingError extends Error {}

type Environment = Readonly<Record<string, string | undefined>>;
type Signal = "TRACES" | "METRICS";

const DEFAULT_ENDPOINT = "http://localhost:4318";
const DEFAULT_SERVICE = "gateway";
/** The longest time that a variable may state. Milliseconds. */
const MAX_MS = 86_400_000;
const MAX_ATTRIBUTES = 128;
const MAX_HEADERS = 64;

/**
 * Reads the variables of OpenTelemetry for OTLP over HTTP in JSON. A signal is exported if it has an endpoint, or if its exporter is `otlp`.
 * @throws OtlpSettingError
 */
export function readOtlpSettings(environment: Environment): OtlpSettings {
  const read = createReader(environment);
  const resource = {
    "service.name": DEFAULT_SERVICE,
    ...readPairs("OTEL_RESOURCE_ATTRIBUTES", read("OTEL_RESOURCE_ATTRIBUTES"), MAX_ATTRIBUTES),
  };
  const name = read("OTEL_SERVICE_NAME");
  if (name !== null) resource["service.name"] = name;
  if (read("OTEL_SDK_DISABLED")?.toLowerCase() === "true") return { traces: null, metrics: null, resource };
  const traces = readSignal("TRACES", read);
  const metrics = readSignal("METRICS", read);
  return {
    traces: traces && { ...traces, sampler: readSampler(read) },
    metrics: metrics && { ...metrics, intervalMs: readMs("OTEL_METRIC_EXPORT_INTERVAL", read, 60_000) },
    resource,
  };
}

type Read = (name: string) => string | null;

/** An empty variable counts as absent. */
function createReader(environment: Environment): Read {
  return (name) => environment[name]?.trim() || null;
}

function readSignal(signal: Signal, read: Read): SignalSettings | null {
  const exporter = `OTEL_${signal}_EXPORTER`;
  const chosen = read(exporter);
  if (chosen !== null && chosen !== "otlp" && chosen !== "none") reject(exporter, "must be otlp or none");
  const url = readUrl(signal, read, chosen === "otlp");
  if (chosen === "none" || url === null) return null;
  rejectUnsupported(signal, read);
  const [compression, compressionName] = readEither(signal, "COMPRESSION", read);
  if (compression !== null && compression !== "gzip" && compression !== "none")
    reject(compressionName, "must be gzip or none");
  const [headers, headersName] = readEither(signal, "HEADERS", read);
  const [, timeoutName] = readEither(signal, "TIMEOUT", read);
  return {
    url,
    headers: readPairs(headersName, headers, MAX_HEADERS),
    timeoutMs: readMs(timeoutName, read, 10_000),
    isGzipped: compression === "gzip",
  };
}

/** Returns the value of the signal's own variable, or of the one of all signals, and the name of the variable. */
function readEither(signal: Signal, suffix: string, read: Read): readonly [string | null, string] {
  const own = `OTEL_EXPORTER_OTLP_${signal}_${suffix}`;
  const common = `OTEL_EXPORTER_OTLP_${suffix}`;
  const value = read(own);
  return value === null ? [read(common), common] : [value, own];
}

/** The endpoint of one signal is used unchanged. The common endpoint is a base URL, to which the path of each signal is added. */
function readUrl(signal: Signal, read: Read, isWanted: boolean): string | null {
  const own = `OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`;
  const ownUrl = read(own);
  if (ownUrl !== null) return checkUrl(own, ownUrl);
  const common = "OTEL_EXPORTER_OTLP_ENDPOINT";
  const base = read(common) ?? (isWanted ? DEFAULT_ENDPOINT : null);
  if (base === null) return null;
  return `${checkUrl(common, base).replace(/\/+$/, "")}/v1/${signal.toLowerCase()}`;
}

function checkUrl(name: string, text: string): string {
  const isHttp = URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
  return isHttp ? text : reject(name, "must be an http or https URL such as http://localhost:4318");
}

function rejectUnsupported(signal: Signal, read: Read): void {
  const [protocol, protocolName] = readEither(signal, "PROTOCOL", read);
  if (protocol !== null && protocol !== "http/json")
    reject(
      protocolName,
      `is "${protocol}", but the gateway speaks http/json only. Set it to http/json, and the endpoint to the HTTP port of the collector, usually 4318`,
    );
  for (const suffix of ["CERTIFICATE", "CLIENT_KEY", "CLIENT_CERTIFICATE"]) {
    const [value, name] = readEither(signal, suffix, read);
    if (value !== null) reject(name, "is not supported. Name a certificate authority in NODE_EXTRA_CA_CERTS");
  }
}

const SAMPLERS: Readonly<Record<string, (ratio: () => number) => Sampler>> = {
  always_on: () => ({ ratio: 1, followsParent: false }),
  always_off: () => ({ ratio: 0, followsParent: false }),
  traceidratio: (ratio) => ({ ratio: ratio(), followsParent: false }),
  parentbased_always_on: () => ({ ratio: 1, followsParent: true }),
  parentbased_always_off: () => ({ ratio: 0, followsParent: true }),
  parentbased_traceidratio: (ratio) => ({ ratio: ratio(), followsParent: true }),
};

function readSampler(read: Read): Sampler {
  const name = read("OTEL_TRACES_SAMPLER") ?? "parentbased_always_on";
  const create = Object.hasOwn(SAMPLERS, name) ? SAMPLERS[name] : undefined;
  if (create === undefined)
    return reject("OTEL_TRACES_SAMPLER", `must be one of ${Object.keys(SAMPLERS).join(", ")}`);
  return create(() => {
    const argument = read("OTEL_TRACES_SAMPLER_ARG") ?? "1";
    const ratio = Number(argument);
    return ratio >= 0 && ratio <= 1
      ? ratio
      : reject("OTEL_TRACES_SAMPLER_ARG", "must be a number from 0 to 1");
  });
}

function readMs(name: string, read: Read, defaultMs: number): number {
  const text = read(name);
  if (text === null) return defaultMs;
  const ms = Number(text);
  return Number.isInteger(ms) && ms >= 1 && ms <= MAX_MS
    ? ms
    : reject(name, `must be a number of milliseconds from 1 to ${MAX_MS}`);
}

/** Reads `key=value` pairs, separated by commas and percent-encoded, as W3C Baggage. */
function readPairs(name: string, text: string | null, max: number): Record<string, string> {
  const pairs = (text ?? "").split(",").filter((pair) => pair.trim() !== "");
  if (pairs.length > max) reject(name, `must not have more than ${max} entries`);
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf("=");
      if (at <= 0) reject(name, "must have the form key=value,key=value");
      return [decode(name, pair.slice(0, at)), decode(name, pair.slice(at + 1))];
    }),
  );
}

function decode(name: string, text: string): string {
  try {
    return decodeURIComponent(text.trim());
  } catch {
    return reject(name, "has a percent sign that does not begin an encoded character; write it as %25");
  }
}

function reject(name: string, problem: string): never {
  throw new OtlpSettingError(`${name} ${problem}.`);
}
