import type { Clock } from "../../base/time/clock.ts";
import type { AuthKind } from "../../core/catalog/records/provider-schema.ts";
import type { ProviderRecord } from "../../core/catalog/records/records.ts";
import type { Transport } from "../../core/deployments/transport.ts";
import type {
  UpstreamAction,
  UpstreamAddress,
  UpstreamCall,
} from "../../core/deployments/upstream-address.ts";
import { PROVIDER_FORMATS, type ProviderFormat } from "../../wire/conversation/traits/format-name.ts";
import {
  type Authorizer,
  createAwsAuthorizer,
  createGoogleAuthorizer,
  createHeaderAuthorizer,
  readAwsKey,
} from "./authorizer.ts";
import { fillTemplate, listParts, type TemplateParts } from "./fill-template.ts";
import { createTokenSource, type TokenSource } from "./google-tokens.ts";
import { type Path, SCHEMES, type Scheme, usualSchemeOf } from "./schemes.ts";
import { isServiceAccount, readServiceAccount } from "./service-account.ts";

/** A provider's row, and the configuration of its address. */
export interface AddressPlan {
  readonly record: ProviderRecord;
  /** The configured base URL; null to use the one of the row. */
  readonly base: string | null;
  readonly parts: TemplateParts;
  /** The keys that will be used. */
  readonly secrets: readonly (string | null)[];
}

/** The dependencies of an address. */
interface AddressDeps {
  readonly clock: Clock;
  readonly transport: Transport;
  /** The token endpoint for Google service accounts. */
  readonly tokenUrl: URL;
}

/** An address, or the reason why there is none. */
export type AddressReading =
  | { readonly kind: "address"; readonly address: UpstreamAddress }
  /** Names of address parts that are not configured. */
  | { readonly kind: "incomplete"; readonly missing: readonly string[] }
  /** Why the provider cannot be called with these keys or parts. Contains no secret. */
  | { readonly kind: "refused"; readonly reason: string };

/** Creates the address of a provider. */
export function createAddress(plan: AddressPlan, deps: AddressDeps): AddressReading {
  const problem = findProblem(plan);
  if (problem !== null) return { kind: "refused", reason: problem };
  const name = chooseScheme(plan);
  const scheme = SCHEMES[name];
  const missing = findMissing(plan, scheme);
  if (missing.length > 0) return { kind: "incomplete", missing };
  const base = readBase(plan, name);
  if (!URL.canParse(base)) return { kind: "refused", reason: `${base} is not a URL` };
  const schemes = new Map(PROVIDER_FORMATS.map((format) => [format, findScheme(scheme, format)]));
  const schemeFor = (format: ProviderFormat) => schemes.get(format) as SchemeOf;
  return {
    kind: "address",
    address: {
      urlFor: createUrls(plan, schemeFor, base),
      headersFor: (format) => schemeFor(format).scheme.headers ?? NO_HEADERS,
      authorize: createAuthorizer(plan, deps),
    },
  };
}

const NO_HEADERS: Readonly<Record<string, string>> = {};

/** The scheme of a format's URLs, and whether the provider's row names it. */
interface SchemeOf {
  readonly scheme: Scheme;
  readonly isOwn: boolean;
}

/** Returns the scheme of the provider's row if it has the format, otherwise the usual scheme of the format. */
function findScheme(own: Scheme, format: ProviderFormat): SchemeOf {
  const isOwn = own.paths[format] !== undefined;
  return { scheme: isOwn ? own : SCHEMES[usualSchemeOf(format)], isOwn };
}

type SchemeName = keyof typeof SCHEMES;

function authOf(record: ProviderRecord): AuthKind {
  return record.auth ?? SCHEMES[rowScheme(record)].auth;
}

function rowScheme({ address, format }: ProviderRecord): SchemeName {
  return address ?? usualSchemeOf(format);
}

const DATED = /^\d{4}-\d{2}-\d{2}/;

/** Returns the row's scheme, or the variant of it that the configuration selects. */
function chooseScheme({ record, parts, secrets }: AddressPlan): SchemeName {
  const name = rowScheme(record);
  if (name === "azure" && DATED.test(parts["api_version"] ?? "")) return "azure-dated";
  if (name === "vertex" && authOf(record) === "google" && !secrets.some(isAccount)) return "vertex-express";
  return name;
}

function isAccount(secret: string | null): boolean {
  return secret !== null && isServiceAccount(secret);
}

/** The characters of an address part. None of them can end a host name that contains the part. */
const PART = /^[A-Za-z0-9][A-Za-z0-9._:-]*$/;

function findProblem({ record, parts, secrets }: AddressPlan): string | null {
  const [invalid] = Object.entries(parts).find(([, value]) => !PART.test(value)) ?? [];
  if (invalid !== undefined) return `its ${invalid} has characters that are not allowed in a URL`;
  if (authOf(record) !== "google") return null;
  const accounts = secrets.filter(isAccount);
  if (accounts.length > 0 && accounts.length < secrets.length)
    return "its keys are a mixture of service accounts and API keys; use one kind";
  if (accounts.length === 0 && SCHEMES["vertex-express"].paths[record.format] === undefined)
    return "it does not accept API keys; use the JSON key file of a service account";
  return accounts.map(findAccountProblem).find((problem) => problem !== null) ?? null;
}

function findAccountProblem(secret: string | null): string | null {
  const reading = readServiceAccount(secret ?? "");
  return reading.kind === "unreadable" ? `its key ${reading.reason}` : null;
}

/** Lists the parts that the host, the paths or the signature need and that are not configured. */
function findMissing({ record, base, parts, secrets }: AddressPlan, scheme: Scheme): string[] {
  const paths = Object.values(scheme.paths[record.format] ?? {}).map((path) => textOf(path, false));
  const template = base === null ? (record.baseUrlTemplate ?? "") : "";
  const needed = new Set([template, ...paths].flatMap(listParts));
  needed.delete("model");
  if (authOf(record) === "aws" && secrets.some((secret) => readAwsKey(secret ?? "") !== null))
    needed.add("region");
  return [...needed].filter((name) => parts[name] === undefined);
}

function readBase({ record, base, parts }: AddressPlan, name: SchemeName): string {
  const { baseUrlTemplate = "" } = record;
  const own =
    rowScheme(record) === "vertex"
      ? vertexBase(baseUrlTemplate, parts, name === "vertex-express")
      : fillTemplate(baseUrlTemplate, parts);
  return (base ?? record.baseUrl ?? own).replace(/\/+$/, "");
}

function createUrls(
  { record, parts }: AddressPlan,
  schemeFor: (format: ProviderFormat) => SchemeOf,
  base: string,
): UpstreamAddress["urlFor"] {
  // Bounded, because calls name only models of the catalog.
  const known = new Map<ProviderFormat, Map<string, URL>>(
    PROVIDER_FORMATS.map((format) => [format, new Map()]),
  );
  return ({ format, action, model, stream }: UpstreamCall) => {
    const found = schemeFor(format);
    const path = findPath(record, found, { format, action });
    if (path === undefined) return null;
    const template = textOf(path, stream);
    const name = template.includes("{model}") ? `${template} ${model}` : template;
    const ofFormat = known.get(format) as Map<string, URL>;
    let url = ofFormat.get(name);
    if (url === undefined) {
      const { dropsEnd } = found.scheme;
      const start = dropsEnd === undefined ? base : base.replace(dropsEnd, "");
      url = new URL(start + fillTemplate(template, { ...parts, model }, encodeSegment));
      ofFormat.set(name, url);
    }
    return url;
  };
}

/**
 * Returns the path in the provider's row, otherwise that of the scheme. A row with paths for an additional format has all paths of that
 * format. Returns undefined for a format that neither the row nor its scheme has.
 */
function findPath(
  { format: own, paths, formats }: ProviderRecord,
  { scheme, isOwn }: SchemeOf,
  { format, action }: Pick<UpstreamCall, "format" | "action">,
): Path | undefined {
  const usual = scheme.paths[format]?.[action];
  if (format === own) return paths?.[action] ?? usual;
  const further = formats?.[format];
  const named: Readonly<Partial<Record<UpstreamAction, string>>> | undefined = further?.paths;
  if (named !== undefined) return named[action];
  return further === undefined && !isOwn ? undefined : usual;
}

function textOf(path: Path, stream: boolean): string {
  if (typeof path === "string") return path;
  return stream ? path.streamed : path.whole;
}

/** Encodes one segment of a path. `@`, which Vertex model names contain, is not encoded. */
function encodeSegment(text: string): string {
  return encodeURIComponent(text).replaceAll("%40", "@");
}

function createAuthorizer({ record, parts, secrets }: AddressPlan, deps: AddressDeps): Authorizer {
  const kind = authOf(record);
  if (kind === "aws") return createAwsAuthorizer(parts["region"] ?? "", deps.clock);
  if (kind === "google") return createGoogleAuthorizer(createSources(secrets, deps));
  return createHeaderAuthorizer(kind);
}

function createSources(secrets: readonly (string | null)[], deps: AddressDeps): Map<string, TokenSource> {
  const sources = new Map<string, TokenSource>();
  for (const secret of secrets) {
    const reading = readServiceAccount(secret ?? "");
    if (secret !== null && reading.kind === "account")
      sources.set(secret, createTokenSource(reading.account, deps));
  }
  return sources;
}

/** Hosts of locations that differ from the template. */
const HOSTS: Readonly<Record<string, string>> = {
  "https://global-aiplatform.googleapis.com": "https://aiplatform.googleapis.com",
  "https://us-aiplatform.googleapis.com": "https://aiplatform.us.rep.googleapis.com",
  "https://eu-aiplatform.googleapis.com": "https://aiplatform.eu.rep.googleapis.com",
};

/** Returns the base URL of Vertex for a location. API keys are accepted only at the global one. */
function vertexBase(template: string, parts: TemplateParts, hasApiKey: boolean): string {
  const filled = fillTemplate(template, hasApiKey ? { ...parts, location: "global" } : parts);
  return HOSTS[filled] ?? filled;
}
