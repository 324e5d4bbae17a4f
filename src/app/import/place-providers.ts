import type { ProviderRecord } from "../../core/catalog/records/records.ts";
import type { ProviderFormat } from "../../wire/conversation/traits/format-name.ts";
import { CHAT_FORMAT } from "../../wire/formats/traits.ts";
import type { ImportedDeployment } from "./deployment.ts";
import type { ImportReport } from "./import-report.ts";
import type { References } from "./references.ts";

/** An entry of `providers`, in the form of the file. */
export interface ProviderDraft {
  base_url?: string;
  api_keys?: string[];
  auth?: string;
  format?: ProviderFormat;
  parts?: Record<string, string>;
  models?: Record<string, unknown>[];
}

const AZURE = "azure";
const GOOGLE = "google";
/** An address with a version in it, which is not one of Gemini's API. */
const VERSIONED = /\/v1(?:\/|$)|\/models(?:\/|$)/;
const AZURE_HOST = /^https:\/\/([a-z0-9-]+)\.openai\.azure\.com/i;

/** Finds the entry of `providers` for each deployment, and makes entries of hosts that the catalog does not have. */
export class ProviderPlacer {
  readonly drafts = new Map<string, ProviderDraft>();

  constructor(
    private readonly catalog: ReadonlyMap<string, ProviderRecord>,
    private readonly report: ImportReport,
    private readonly references: References,
  ) {}

  /** Whether a provider is one of the catalog. */
  isOfCatalog(slug: string): boolean {
    return this.catalog.has(slug);
  }

  /** Sets a part of the address of a provider that was placed, if nothing has set it. Returns whether the provider was placed. */
  addPart(slug: string, name: string, value: string): boolean {
    const draft = this.drafts.get(slug);
    if (draft !== undefined) draft.parts = { [name]: value, ...draft.parts };
    return draft !== undefined;
  }

  /** Returns the slug of a deployment's provider; null, with an entry in the report, if there is none. */
  place(deployment: ImportedDeployment): string | null {
    const slug = this.findSlug(deployment);
    if (slug === null || deployment.apiKey === undefined) return slug;
    const draft = this.draft(slug);
    draft.api_keys ??= [];
    const keys = draft.api_keys;
    if (keys.includes(deployment.apiKey)) return slug;
    keys.push(deployment.apiKey);
    if (keys.length > 1)
      this.report.differs(deployment.at, {
        target: `providers.${slug}.api_keys`,
        text: "The keys of a provider serve all of its models and are tried in order; they are not bound to a model.",
      });
    return slug;
  }

  private findSlug(deployment: ImportedDeployment): string | null {
    const { provider, baseUrl } = deployment;
    if (provider.kind === "host")
      return this.placeHost(deployment, baseUrl ?? provider.baseUrl, provider.format);
    const row = this.catalog.get(provider.slug)!;
    if (provider.slug === AZURE) return this.placeAzure(deployment);
    if (provider.slug === GOOGLE && baseUrl !== undefined && VERSIONED.test(baseUrl))
      return this.placeVersioned(deployment, baseUrl);
    if (baseUrl !== undefined && trimSlash(baseUrl) !== trimSlash(row.baseUrl ?? ""))
      return this.placeHost(deployment, baseUrl, row.format);
    return this.placeParts(deployment, provider.slug);
  }

  /** Adds the parts of an address to a provider of the catalog. A provider has one value for each. */
  private placeParts(deployment: ImportedDeployment, slug: string): string | null {
    const { parts = {}, at } = deployment;
    const draft = this.draft(slug);
    const other = Object.entries(parts).find(([name, value]) => (draft.parts?.[name] ?? value) !== value);
    if (other !== undefined) {
      const text = `The provider ${slug} has one ${other[0]}, and another entry sets a different one. Run a second gateway for it${slug === "amazon-bedrock" ? ", or add a host with the format bedrock-converse and an API key of Amazon Bedrock" : ""}.`;
      this.report.missing(at, { text });
      return null;
    }
    if (Object.keys(parts).length > 0) draft.parts = { ...draft.parts, ...parts };
    return slug;
  }

  /** Vertex AI takes API keys, without a project, at an address with a version. Others end before the version here. */
  private placeVersioned(deployment: ImportedDeployment, baseUrl: string): string | null {
    if (/^https:\/\/aiplatform\.googleapis\.com\//.test(baseUrl))
      return this.placeParts(deployment, "google-vertex");
    this.report.missing(deployment.at, {
      text: "The address of an API in Gemini's format ends before the version here. Add the host under providers.",
    });
    return null;
  }

  /** The first resource of Azure OpenAI is the provider `azure`; others are hosts with Azure's OpenAI-compatible API. */
  private placeAzure(deployment: ImportedDeployment): string | null {
    const { baseUrl, parts = {} } = deployment;
    const resource = baseUrl === undefined ? undefined : AZURE_HOST.exec(baseUrl)?.[1];
    const draft = this.drafts.get(AZURE);
    const isSame =
      draft === undefined ||
      (draft.parts?.["resource"] === resource &&
        draft.base_url === (resource === undefined ? baseUrl : undefined));
    if (!isSame && baseUrl !== undefined) {
      const slug = this.placeHost(deployment, `${trimSlash(baseUrl)}/openai/v1`, CHAT_FORMAT);
      if (slug !== null) this.drafts.get(slug)!.auth = "api-key";
      return slug;
    }
    const entry = this.draft(AZURE);
    if (resource === undefined && baseUrl !== undefined) entry.base_url = baseUrl;
    const all = { ...parts, ...(resource === undefined ? {} : { resource }) };
    if (Object.keys(all).length > 0) entry.parts = { ...entry.parts, ...all };
    return AZURE;
  }

  private placeHost(
    deployment: ImportedDeployment,
    baseUrl: string | null,
    format: ProviderFormat,
  ): string | null {
    if (baseUrl === null || !(/^https?:\/\//.test(baseUrl) || this.references.nameAt(baseUrl) !== null)) {
      const text = `The provider ${deployment.providerName} has no address here: give api_base, or add it under providers.`;
      this.report.missing(deployment.at, { text });
      return null;
    }
    const address = trimSlash(baseUrl);
    for (const [slug, draft] of this.drafts)
      if (draft.base_url === address && draft.format === format) return slug;
    const slug = this.freeSlug(slugOf(address, this.references.nameAt(address)));
    this.drafts.set(slug, { base_url: address, format, models: [] });
    return slug;
  }

  private draft(slug: string): ProviderDraft {
    const existing = this.drafts.get(slug);
    if (existing !== undefined) return existing;
    const draft: ProviderDraft = {};
    this.drafts.set(slug, draft);
    return draft;
  }

  private freeSlug(wanted: string): string {
    const isTaken = (slug: string) => this.drafts.has(slug) || this.catalog.has(slug);
    if (!isTaken(wanted)) return wanted;
    for (let number = 2; ; number++) if (!isTaken(`${wanted}-${number}`)) return `${wanted}-${number}`;
  }
}

function trimSlash(url: string): string {
  return url.replace(/\/+$/, "");
}

/** Names a host by its address, or by the variable that has it: `FAKE_OPENAI_API_BASE` becomes `fake-openai`. */
function slugOf(address: string, variable: string | null): string {
  const name =
    variable === null
      ? URL.canParse(address)
        ? new URL(address).host
        : "host"
      : variable.replace(/(_API)?_(BASE(_URL)?|URL|ENDPOINT)$/i, "");
  const slug = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "");
  return slug === "" ? "host" : slug;
}
