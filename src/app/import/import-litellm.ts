import { asFields, asObjects } from "../../base/json/fields.ts";
import type { CatalogData } from "../../core/catalog/records/records.ts";
import { ConfigError } from "../config/config-error.ts";
import type { YamlSource } from "../config/yaml-source.ts";
import { ConfigDraft } from "./config-draft.ts";
import type { ImportedDeployment } from "./deployment.ts";
import { ImportReport, type SourcePath } from "./import-report.ts";
import type { ImportedConfig } from "./imported-config.ts";
import { findRule, LITELLM_SECTIONS, LITELLM_SETTINGS, type SettingRule } from "./litellm-settings.ts";
import { type LitellmEntry, readLitellmEntry } from "./read-litellm-entry.ts";
import { References } from "./references.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Settings that routes are made of. */
const ROUTING = new Set([
  "fallbacks",
  "default_fallbacks",
  "context_window_fallbacks",
  "model_group_alias",
  "routing_strategy",
]);

/** The maximum number of entries of `model_list`. */
const MAX_MODELS = 5_000;

/** Sections that are read elsewhere. */
const READ_SECTIONS = new Set(["model_list", "include", "credential_list"]);

/** Converts a LiteLLM configuration: the file, and those that its `include` names. */
export function importLitellm(files: readonly YamlSource[], catalog: CatalogData): ImportedConfig {
  return new LitellmImport(files, catalog).run();
}

class LitellmImport {
  private readonly report = new ImportReport();
  private readonly draft: ConfigDraft;
  private readonly references: References;
  private readonly credentials = new Map<string, Fields>();
  private readonly groups = new Map<string, LitellmEntry[]>();
  private readonly fallbacks = new Map<string, string[]>();
  private readonly defaults: string[] = [];
  /** The number of entries of `model_list`, in all files. */
  private models = 0;

  constructor(
    private readonly files: readonly YamlSource[],
    catalog: CatalogData,
  ) {
    const given = files.map(({ value }) => asFields(value["environment_variables"]) ?? {});
    this.references = new References(Object.assign({}, ...given) as Fields);
    this.draft = new ConfigDraft(catalog, this.report, this.references);
  }

  run(): ImportedConfig {
    for (const file of this.files) this.readCredentials(file);
    for (const file of this.files) this.readModels(file);
    for (const file of this.files) this.readSections(file);
    for (const [name, entries] of this.groups) this.addGroup(name, entries);
    const config = this.draft.finish();
    return { config, entries: this.report.entries, variables: [...this.references.names].sort() };
  }

  private readCredentials(file: YamlSource): void {
    for (const { credential_name: name, credential_values: values } of asObjects(
      file.value["credential_list"],
    ))
      this.credentials.set(String(name), asFields(values) ?? {});
  }

  private readModels(file: YamlSource): void {
    const list: unknown = file.value["model_list"];
    if (!Array.isArray(list)) return;
    this.models += list.length;
    if (this.models > MAX_MODELS)
      throw new ConfigError(
        `${file.file}: model_list has more than ${MAX_MODELS} entries. Import it in parts.`,
      );
    for (const [index, item] of list.entries()) {
      const at = { file, path: ["model_list", index] };
      const { report, references, credentials } = this;
      const entry = readLitellmEntry(item, { at, report, references, credentials });
      if (entry === null || !this.draft.addDeployment(entry.deployment)) continue;
      if (entry.deployment.upstream.includes("*")) this.reportWildcard(entry.deployment);
      else this.addToGroup(entry);
    }
  }

  private addToGroup(entry: LitellmEntry): void {
    const group = this.groups.get(entry.name);
    if (group === undefined) this.groups.set(entry.name, [entry]);
    else group.push(entry);
  }

  private reportWildcard({ at, provider, providerName }: ImportedDeployment): void {
    if (provider.kind === "catalog")
      this.report.differs(at, {
        target: `providers.${provider.slug}`,
        text: `All models of the catalog that ${provider.slug} serves are available, by their ids: GET /api/gateway/models.`,
      });
    else this.report.missing(at, { text: `List the models of ${providerName} under providers.` });
  }

  private readSections(file: YamlSource): void {
    for (const [section, value] of Object.entries(file.value)) {
      if (READ_SECTIONS.has(section)) continue;
      const at = { file, path: [section] };
      if (section === "environment_variables") this.readVariables(at, value);
      else if (Object.hasOwn(LITELLM_SETTINGS, section)) this.readSettings(at, asFields(value) ?? {});
      else this.apply(at, value, findRule(LITELLM_SECTIONS, section));
    }
  }

  private readVariables({ file, path }: SourcePath, value: unknown): void {
    for (const name of Object.keys(asFields(value) ?? {}))
      this.report.differs(
        { file, path: [...path, name] },
        {
          text: "Where os.environ names it, its value is written in its place. Set it in the environment for everything else.",
        },
      );
  }

  private readSettings({ file, path }: SourcePath, settings: Fields): void {
    for (const [name, value] of Object.entries(settings)) {
      const at = { file, path: [...path, name] };
      if (ROUTING.has(name)) this.readRouting(at, name, value);
      else this.apply(at, value, findRule(LITELLM_SETTINGS[String(path[0])], name));
    }
  }

  private apply(at: SourcePath, value: unknown, rule: SettingRule): void {
    const isWritten = rule.write?.(value, { draft: this.draft, references: this.references }) ?? true;
    if (isWritten) this.report[rule.outcome](at, rule);
    else this.report.missing(at, { text: `The value cannot be written as ${rule.target}.` });
  }

  private readRouting(at: SourcePath, name: string, value: unknown): void {
    if (name === "model_group_alias") this.readAliases(at, value);
    else if (name === "routing_strategy") this.readStrategy(at, value);
    else if (name === "default_fallbacks") {
      this.defaults.push(...readNames(value));
      this.report.taken(at, { target: "named_routes", text: "Every imported name falls back to these." });
    } else this.readFallbacks(at, name, value);
  }

  private readFallbacks(at: SourcePath, name: string, value: unknown): void {
    for (const item of asObjects(value))
      for (const [group, targets] of Object.entries(item))
        this.fallbacks.set(group, [...(this.fallbacks.get(group) ?? []), ...readNames(targets)]);
    if (name === "fallbacks")
      this.report.taken(at, { target: "named_routes", text: "Targets with weight 0." });
    else
      this.report.differs(at, {
        target: "named_routes",
        text: "A model whose context window is too small is left out, and its fallbacks follow. They are used for other failures, too.",
      });
  }

  private readAliases({ file, path }: SourcePath, value: unknown): void {
    for (const [name, written] of Object.entries(asFields(value) ?? {})) {
      const at = { file, path: [...path, name] };
      const target = typeof written === "string" ? written : asFields(written)?.["model"];
      if (typeof target === "string" && this.groups.has(target)) this.draft.addAlias({ at, name, target });
      else this.report.missing(at, { text: "It names no model that was taken over." });
    }
  }

  private readStrategy(at: SourcePath, value: unknown): void {
    if (value === "simple-shuffle")
      this.report.taken(at, { target: "named_routes", text: "Each request draws a target by weight." });
    else
      this.report.differs(at, {
        target: "named_routes",
        text: "Groups draw by weight. Of one model's providers the cheapest comes first, or by provider.sort of the request: price, latency, throughput.",
      });
  }

  private addGroup(name: string, entries: readonly LitellmEntry[]): void {
    const [first] = entries as readonly [LitellmEntry];
    // As in the other gateway: weights if there are any, otherwise requests per minute, otherwise tokens per minute.
    const measure = (["weight", "rpm", "tpm"] as const).find((field) =>
      entries.some((entry) => entry[field] > 0),
    );
    const order = Math.min(...entries.map((entry) => entry.order));
    const targets = entries.map((entry) => ({
      deployment: entry.deployment,
      weight: entry.order > order ? 0 : measure === undefined ? 1 : entry[measure],
    }));
    const names = [...new Set([...(this.fallbacks.get(name) ?? []), ...this.defaults])].filter(
      (other) => other !== name,
    );
    const fallbacks = names.flatMap((other) =>
      (this.groups.get(other) ?? []).map(({ deployment }) => deployment),
    );
    this.draft.addRoute({ at: first.deployment.at, name, targets, fallbacks });
  }
}

/** Reads a list of names. Entries that are not names, such as models with parameters, are left out. */
function readNames(value: unknown): string[] {
  return (Array.isArray(value) ? (value as unknown[]) : []).filter((name) => typeof name === "string");
}
