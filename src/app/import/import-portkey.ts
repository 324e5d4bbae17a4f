import { asFields, asObjects } from "../../base/json/fields.ts";
import type { CatalogData } from "../../core/catalog/records/records.ts";
import type { YamlSource } from "../config/yaml-source.ts";
import { ConfigDraft } from "./config-draft.ts";
import type { ImportedDeployment, RouteTarget } from "./deployment.ts";
import { ImportReport, type SourcePath } from "./import-report.ts";
import type { ImportedConfig } from "./imported-config.ts";
import { findProvider, PORTKEY_PROVIDERS } from "./provider-names.ts";
import { References } from "./references.ts";
import { writeMilliseconds, writeRepeats } from "./write-settings.ts";

type Fields = Readonly<Record<string, unknown>>;

/** How deep targets may be nested. */
const MAX_DEPTH = 8;

/** Fields of a target that are read elsewhere. */
const READ = new Set([
  "name",
  "strategy",
  "targets",
  "provider",
  "virtual_key",
  "api_key",
  "custom_host",
  "override_params",
  "weight",
  "retry",
  "request_timeout",
  "resource_name",
  "azure_resource_name",
  "azure_api_version",
  "api_version",
  "deployment_id",
  "azure_deployment_id",
  "aws_region",
  "vertex_project_id",
  "vertex_region",
]);

const GUARDRAILS = "Guardrails are not imported. Configure them in `guardrails`; a webhook can stay one.";

/** Explanations of fields that have no equal. */
const REMARKS: Readonly<Record<string, string>> = {
  cache: "Answers are cached for keys that have a cache: gateway keys create --cache; see docs/answers.md.",
  input_guardrails: GUARDRAILS,
  output_guardrails: GUARDRAILS,
  before_request_hooks: GUARDRAILS,
  after_request_hooks: GUARDRAILS,
  forward_headers: "Headers of clients are not forwarded.",
  aws_access_key_id: "Set AWS_ACCESS_KEY_ID in the environment.",
  aws_secret_access_key: "Set AWS_SECRET_ACCESS_KEY in the environment.",
  vertex_service_account_json: "Set GOOGLE_APPLICATION_CREDENTIALS in the environment.",
};

/** The names of the parts of a base URL in a target, by provider here. */
const PARTS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  azure: {
    resource_name: "resource",
    azure_resource_name: "resource",
    api_version: "api_version",
    azure_api_version: "api_version",
  },
  "amazon-bedrock": { aws_region: "region" },
  "google-vertex": { vertex_project_id: "project", vertex_region: "location" },
};

/** Converts a Portkey gateway config. `name` is the model name that clients send for it from now on. */
export function importPortkey(file: YamlSource, name: string, catalog: CatalogData): ImportedConfig {
  return new PortkeyImport(file, name, catalog).run();
}

class PortkeyImport {
  private readonly report = new ImportReport();
  private readonly draft: ConfigDraft;
  private readonly references = new References();
  /** Whether a target takes the model from the request. */
  private takesAnyModel = false;

  constructor(
    private readonly file: YamlSource,
    private readonly name: string,
    catalog: CatalogData,
  ) {
    this.draft = new ConfigDraft(catalog, this.report, this.references);
  }

  run(): ImportedConfig {
    const root = toSnakeKeys(this.file.value) as Fields;
    const at: SourcePath = { file: this.file, path: [] };
    if (asFields(root["strategy"])?.["mode"] === "conditional") this.addConditions(root, at);
    else
      this.addRoute(
        { ...at, path: Array.isArray(root["targets"]) ? ["targets"] : ["provider"] },
        this.name,
        this.readTarget(root, at, 0),
      );
    const config = this.draft.finish({ isOpen: this.takesAnyModel });
    return { config, entries: this.report.entries, variables: [...this.references.names].sort() };
  }

  private addRoute(at: SourcePath, name: string, targets: readonly RouteTarget[]): void {
    if (targets.length > 0) this.draft.addRoute({ at, name, targets, fallbacks: [] });
  }

  /** Reads a target, or a strategy with targets, as deployments with their share of the requests. */
  private readTarget(target: Fields, at: SourcePath, depth: number): readonly RouteTarget[] {
    this.reportFields(target, at);
    const targets = asObjects(target["targets"]);
    if (targets.length === 0) {
      const deployment = this.readDeployment(target, at);
      return deployment === null ? [] : [{ deployment, weight: 1 }];
    }
    const strategy = asFields(target["strategy"]) ?? {};
    const mode = strategy["mode"] ?? "single";
    const strategyAt = { ...at, path: [...at.path, "strategy"] };
    if (depth >= MAX_DEPTH || (depth > 0 && mode === "conditional")) {
      this.report.missing(strategyAt, { text: "A strategy in this place cannot be converted." });
      return [];
    }
    this.reportStrategy(strategy, strategyAt);
    const used = mode === "single" ? targets.slice(0, 1) : targets;
    return used.flatMap((child, index) => {
      const childAt = { ...at, path: [...at.path, "targets", index] };
      const leaves = this.readTarget(child, childAt, depth + 1);
      const total = leaves.reduce((sum, { weight }) => sum + weight, 0) || 1;
      const share = mode === "loadbalance" ? readWeight(child["weight"]) : index === 0 ? 1 : 0;
      return leaves.map(({ deployment, weight }) => ({ deployment, weight: (weight / total) * share }));
    });
  }

  private reportStrategy(strategy: Fields, at: SourcePath): void {
    const { mode } = strategy;
    if (mode === "loadbalance")
      this.report.differs(at, {
        target: "named_routes",
        text: "A target is drawn by weight; if it fails, the others follow.",
      });
    else
      this.report.taken(at, {
        target: "named_routes",
        text: mode === "fallback" ? "Later targets have weight 0." : "One target.",
      });
    if (strategy["on_status_codes"] !== undefined)
      this.report.differs(
        { ...at, path: [...at.path, "on_status_codes"] },
        { text: "Whether another target is tried depends on the kind of failure; see docs/routing.md." },
      );
  }

  private readDeployment(target: Fields, at: SourcePath): ImportedDeployment | null {
    const params = asFields(target["override_params"]) ?? {};
    const { provider: named, virtual_key: virtual } = target;
    const written = String(named ?? virtual ?? "");
    const [slugged, pathModel] = splitAt(written);
    const model =
      readText(params["model"]) ??
      pathModel ??
      readText(target["deployment_id"] ?? target["azure_deployment_id"]);
    const split = model?.startsWith("@") ? splitAt(model) : undefined;
    const providerName = split?.[0] ?? slugged;
    const provider = findProvider(PORTKEY_PROVIDERS, providerName);
    if (provider === null) return this.reject(at, virtual, providerName);
    const parts = this.readParts(target, provider.kind === "catalog" ? provider.slug : "");
    if (virtual !== undefined || written.startsWith("@"))
      this.report.differs(at, {
        text: "The key is stored at the other gateway: set it in the environment or as api_keys.",
      });
    const deployment: ImportedDeployment = {
      at,
      provider,
      providerName,
      upstream: split === undefined ? (model ?? "") : (split[1] ?? ""),
      apiKey: this.references.read(target["api_key"]),
      baseUrl: this.references.read(target["custom_host"]),
      parts,
    };
    if (deployment.upstream !== "") return deployment;
    this.draft.addDeployment(deployment);
    this.takesAnyModel = true;
    this.report.differs(at, {
      text: `It takes the model from the request: clients send its id in the catalog. Providers are chosen by price, or by provider.order of the request.`,
    });
    return null;
  }

  private reject(at: SourcePath, virtual: unknown, providerName: string): null {
    const text =
      virtual === undefined
        ? `The provider ${JSON.stringify(providerName)} is not known: add it under providers.`
        : "A virtual key does not say its provider: write provider in its place, and import again.";
    this.report.missing(at, { text });
    return null;
  }

  private readParts(target: Fields, slug: string): Record<string, string> {
    const parts: Record<string, string> = {};
    for (const [field, part] of Object.entries(PARTS[slug] ?? {})) {
      const value = this.references.read(target[field]);
      if (value !== undefined) parts[part] = value;
    }
    return parts;
  }

  /** Reports and writes the fields that targets and strategies share. */
  private reportFields(target: Fields, at: SourcePath): void {
    for (const name of Object.keys(target)) {
      const field = { ...at, path: [...at.path, name] };
      if (!READ.has(name))
        this.report.missing(field, {
          text: (Object.hasOwn(REMARKS, name) ? REMARKS[name] : undefined) ?? "The import does not know it.",
        });
    }
    const params = Object.keys(asFields(target["override_params"]) ?? {}).filter((name) => name !== "model");
    for (const name of params)
      this.report.missing(
        { ...at, path: [...at.path, "override_params", name] },
        { text: "Store a preset for the account: gateway named-routes set @name." },
      );
    this.writeTimes(target, at);
  }

  private writeTimes(target: Fields, at: SourcePath): void {
    const retry = { ...at, path: [...at.path, "retry"] };
    if (writeRepeats(this.draft, asFields(target["retry"])?.["attempts"]))
      this.report.differs(retry, {
        target: "limits.repeats",
        text: "It counts rounds over all targets, at most 5, for all models.",
      });
    else if (target["retry"] !== undefined) this.report.missing(retry, { text: "It has no attempts." });
    const timeout = { ...at, path: [...at.path, "request_timeout"] };
    if (writeMilliseconds(this.draft, "total_ms", Number(target["request_timeout"])))
      this.report.differs(timeout, {
        target: "timers.total_ms",
        text: "It applies to all models, and to a request with its fallbacks.",
      });
  }

  /** Conditions on the model name become named routes; others have no equal. */
  private addConditions(root: Fields, at: SourcePath): void {
    this.reportFields(root, at);
    const strategy = asFields(root["strategy"]) ?? {};
    const byName = new Map<string, readonly RouteTarget[]>();
    for (const [index, target] of asObjects(root["targets"]).entries())
      byName.set(String(target["name"]), this.readTarget(target, { ...at, path: ["targets", index] }, 1));
    for (const [index, condition] of asObjects(strategy["conditions"]).entries()) {
      const place = { ...at, path: ["strategy", "conditions", index] };
      const names = readModelNames(asFields(condition["query"]) ?? {});
      for (const name of names) this.addRoute(place, name, byName.get(String(condition["then"])) ?? []);
      if (names.length === 0)
        this.report.missing(place, {
          text: "Only conditions that compare params.model become routes. Tiers choose by a request header; see docs/tiers.md.",
        });
    }
    if (typeof strategy["default"] === "string")
      this.addRoute(
        { ...at, path: ["strategy", "default"] },
        this.name,
        byName.get(strategy["default"]) ?? [],
      );
  }
}

/** Returns the model names that a query compares with; none if it compares anything else. */
function readModelNames(query: Fields): readonly string[] {
  const fields = Object.entries(query);
  const [field] = fields;
  if (fields.length !== 1 || field?.[0] !== "params.model") return [];
  const test = asFields(field[1]) ?? { $eq: field[1] };
  const values = Object.keys(test).length === 1 ? (test["$in"] ?? [test["$eq"]]) : [];
  return (Array.isArray(values) ? (values as unknown[]) : []).filter((name) => typeof name === "string");
}

/** Splits `@provider/model`; what has no `@` is a provider alone. */
function splitAt(text: string): readonly [string, string | undefined] {
  const slash = text.startsWith("@") ? text.indexOf("/") : -1;
  return slash < 0 ? [text.replace(/^@/, ""), undefined] : [text.slice(1, slash), text.slice(slash + 1)];
}

function readText(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function readWeight(value: unknown): number {
  return typeof value === "number" && value >= 0 ? value : 1;
}

/**
 * Converts field names to snake case, because configs may spell them like `overrideParams`. Keys below a query and below parameters are not
 * changed.
 */
function toSnakeKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toSnakeKeys);
  const fields = asFields(value);
  if (fields === null) return value;
  return Object.fromEntries(
    Object.entries(fields).map(([key, member]) => {
      const name = key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
      return [name, name === "query" ? member : toSnakeKeys(member)];
    }),
  );
}
