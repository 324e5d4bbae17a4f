import type { Clock } from "../../base/clock.ts";
import type { AuthKind, ProviderRecord } from "../../core/catalog/records.ts";
import type { Transport } from "../../core/deployments/transport.ts";
import type {
  UpstreamAction,
  UpstreamAddress,
  UpstreamCall,
} from "../../core/deployments/upstream-address.ts";
import type { FormatName } from "../../wire/conversation/format-name.ts";
import { FORMAT_NAMES } from "../../wire/conversation/format-name.ts";
import {
  type Authorizer,
  createAwsAuthorizer,
  createGoogleAuthorizer,
  createHeaderAuthorizer,
  readAwsKey,
} from "./authorizer.ts";
import { fillTemplate, listParts, type Parts } from "./fill-template.ts";
import { createTokenSource, type TokenSource } from "./google-tokens.ts";
import { type Path, SCHEMES, type Scheme, USUAL_SCHEME } from "./schemes.ts";
import { isServiceAccount, readServiceAccount } from "./service-account.ts";
import { vertexBase } from "./vertex-base.ts";

/** A provider's row with what the operator says of it. */
export interface AddressPlan {
  readonly record: ProviderRecord;
  /** Where its API is, in place of what the row says; null: as the row says. */
  readonly base: string | null;
  readonly parts: Parts;
  /** The keys that will come. */
  readonly secrets: readonly (string | null)[];
}

/** What addresses take of the world. */
export interface AddressDeps {
  readonly clock: Clock;
  readonly transport: Transport;
  /** Who gives tokens for Google's service accounts. */
  readonly tokenUrl: URL;
}

/** An address, or what keeps it from being one. */
export type AddressReading =
  | { readonly kind: "address"; readonly address: UpstreamAddress }
  /** Parts that nobody has given, by their names. */
  | { readonly kind: "incomplete"; readonly missing: readonly string[] }
  /** Why it cannot be called with these keys or parts. No secret is in it. */
  | { readonly kind: "refused"; readonly reason: string };

/** Puts a provider's address together. */
export function createAddress(plan: AddressPlan, deps: AddressDeps): AddressReading {
  const refusal = findRefusal(plan);
  if (refusal !== null) return { kind: "refused", reason: refusal };
  const name = chooseScheme(plan);
  const scheme = SCHEMES[name];
  const missing = findMissing(plan, scheme);
  if (missing.length > 0) return { kind: "incomplete", missing };
  const base = readBase(plan, name);
  if (!URL.canParse(base)) return { kind: "refused", reason: `${base} is no address` };
  const schemes = new Map(FORMAT_NAMES.map((format) => [format, findScheme(scheme, format)]));
  const schemeFor = (format: FormatName) => schemes.get(format) as SchemeOf;
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

/** How the addresses of a format are put together, and whether the provider's row says so itself. */
interface SchemeOf {
  readonly scheme: Scheme;
  readonly isOwn: boolean;
}

/** The scheme of the provider's row where it knows the format, else the usual one of the format. */
function findScheme(own: Scheme, format: FormatName): SchemeOf {
  const isOwn = own.paths[format] !== undefined;
  return { scheme: isOwn ? own : SCHEMES[USUAL_SCHEME[format]], isOwn };
}

type SchemeName = keyof typeof SCHEMES;

function authOf(record: ProviderRecord): AuthKind {
  return record.auth ?? SCHEMES[rowScheme(record)].auth;
}

function rowScheme({ address, format }: ProviderRecord): SchemeName {
  return address ?? USUAL_SCHEME[format];
}

const DATED = /^\d{4}-\d{2}-\d{2}/;

/** The row's scheme, or its variant for what is configured. */
function chooseScheme({ record, parts, secrets }: AddressPlan): SchemeName {
  const name = rowScheme(record);
  if (name === "azure" && DATED.test(parts["api_version"] ?? "")) return "azure-dated";
  if (name === "vertex" && authOf(record) === "google" && !secrets.some(isAccount)) return "vertex-express";
  return name;
}

function isAccount(secret: string | null): boolean {
  return secret !== null && isServiceAccount(secret);
}

/** A part may become part of a host's name, and must not end it. */
const PART = /^[A-Za-z0-9][A-Za-z0-9._:-]*$/;

function findRefusal({ record, parts, secrets }: AddressPlan): string | null {
  const [odd] = Object.entries(parts).find(([, value]) => !PART.test(value)) ?? [];
  if (odd !== undefined) return `its ${odd} has characters that no address has`;
  if (authOf(record) !== "google") return null;
  const accounts = secrets.filter(isAccount);
  if (accounts.length > 0 && accounts.length < secrets.length)
    return "its keys are service accounts and API keys mixed; give one kind";
  if (accounts.length === 0 && record.format !== "gemini")
    return "it takes no API key; give the JSON of a service account's key";
  return accounts.map(findAccountProblem).find((problem) => problem !== null) ?? null;
}

function findAccountProblem(secret: string | null): string | null {
  const reading = readServiceAccount(secret ?? "");
  return reading.kind === "unreadable" ? `its key ${reading.reason}` : null;
}

/** Parts that the host, the paths or the signature need, and nobody has given. */
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
  schemeFor: (format: FormatName) => SchemeOf,
  base: string,
): UpstreamAddress["urlFor"] {
  // Calls name models of the catalog alone, so that this has a bound.
  const known = new Map<FormatName, Map<string, URL>>(FORMAT_NAMES.map((format) => [format, new Map()]));
  return ({ format, action, model, stream }: UpstreamCall) => {
    const found = schemeFor(format);
    const path = findPath(record, found, format, action);
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
 * The path that the provider's row names, else the scheme's. A row that names paths of a further format names all of them. A
 * format that neither the row nor its scheme has is not spoken there.
 */
function findPath(
  { format: own, paths, formats }: ProviderRecord,
  { scheme, isOwn }: SchemeOf,
  format: FormatName,
  action: UpstreamAction,
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

/** One segment of a path. Vertex's models have an `@`, which needs no encoding there. */
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
