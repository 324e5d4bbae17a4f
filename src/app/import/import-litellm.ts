import { asFields, asObjects } from "../../base/json/fields.ts";
import type { CatalogData } from "../../core/catalog/records/records.ts";
import { isPattern } from "../../core/named-routes/named-routes.ts";
import { ConfigError } from "../config/config-error.ts";
import type { YamlSource } from "../config/yaml-source.ts";
import { ConfigDraft } from "./config-draft.ts";
import { ImportReport, type SourcePath } from "./import-report.ts";
import type { ImportedConfig } from "./imported-config.ts";
import { LitellmRouting, ROUTING } from "./litellm-routing.ts";
import { findRule, LITELLM_SECTIONS, LITELLM_SETTINGS, type SettingRule } from "./litellm-settings.ts";
import { findPatternFault, findShortRest, listAnyModels, listImplied } from "./litellm-wildcards.ts";
import { type LitellmEntry, readLitellmEntry } from "./read-litellm-entry.ts";
import { References } from "./references.ts";

type Fields = Readonly<Record<string, unknown>>;

/** The maximum number of entries of `model_list`. */
const MAX_MODELS = 5_000;

/** Sections that are read elsewhere. */
const READ_SECTIONS = new Set(["model_list", "include", "credential_list", "environment_variables"]);

/** Converts a LiteLLM configuration: the file, and those that its `include` names. */
export function importLitellm(files: readonly YamlSource[], catalog: CatalogData): ImportedConfig {
  return new LitellmImport(files, catalog).run();
}

class LitellmImport {
  private readonly report = new ImportReport();
  private readonly draft: ConfigDraft;
  private readonly references: References;
  private readonly credentials = new Map<string, Fields>();
  private readonly routing: LitellmRouting;
  /** The number of entries of `model_list`, in all files. */
  private models = 0;

  constructor(
    private readonly files: readonly YamlSource[],
    catalog: CatalogData,
  ) {
    const given = files.map(({ value }) => asFields(value["environment_variables"]) ?? {});
    this.references = new References(Object.assign({}, ...given) as Fields);
    this.draft = new ConfigDraft(catalog, this.report, this.references);
    this.routing = new LitellmRouting(this.draft, this.report);
  }

  run(): ImportedConfig {
    for (const file of this.files) this.reportRepeated(file);
    for (const file of this.files) this.readCredentials(file);
    for (const file of this.files) this.readModels(file);
    for (const file of this.files) this.readSections(file);
    for (const file of this.files) this.readVariables(file);
    this.routing.addRoutes();
    if (this.models === 0) this.reportNoModels();
    const config = this.draft.finish();
    return { config, entries: this.report.entries, variables: [...this.references.names].sort() };
  }

  private reportRepeated(file: YamlSource): void {
    for (const { name, place } of file.repeated)
      this.report.atPlace("differs", place, {
        source: name,
        text: "The key is repeated. LiteLLM reads the last one, and so does the import.",
      });
  }

  private reportNoModels(): void {
    const [first] = this.files;
    if (first === undefined) return;
    this.report.missing(
      { file: first, path: ["model_list"] },
      { text: "There are no models in it. Those that were added in LiteLLM's UI are in its database." },
    );
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
    for (const [index, item] of list.entries()) this.readModel(item, { file, path: ["model_list", index] });
  }

  private readModel(item: unknown, at: SourcePath): void {
    const { report, references, credentials } = this;
    const context = { at, report, references, credentials, enforcesRates: this.enforcesRates() };
    const fields = asFields(item) ?? {};
    if (fields["model_name"] === "*" && asFields(fields["litellm_params"])?.["model"] === "*")
      this.addAnyModels(at);
    else this.addEntry(readLitellmEntry(item, context));
  }

  /** Adds the models of all providers, whose keys are in the environment. */
  private addAnyModels(at: SourcePath): void {
    for (const any of listAnyModels()) this.draft.addAlias({ at, ...any });
    this.report.differs(at, {
      target: "named_routes",
      text: "The models of the catalog are available under LiteLLM's names, at the providers whose keys are in the environment.",
    });
  }

  private addEntry(entry: LitellmEntry | null): void {
    if (entry === null || !this.draft.addDeployment(entry.deployment)) return;
    const { at, upstream, providerName } = entry.deployment;
    const fault = findPatternFault(entry, this.draft.isOfCatalog(entry.deployment));
    if (fault !== null) {
      this.report.missing(at, { text: fault });
      return;
    }
    this.routing.addEntry(entry);
    for (const implied of listImplied(entry)) this.routing.addImplied(implied);
    const remark = findShortRest(entry);
    if (remark !== null) this.report.differs(at, { text: remark });
    if (isPattern(upstream))
      this.report.differs(at, {
        target: "named_routes",
        text: `It reaches the models that the catalog has for ${providerName}, under that provider's names. \`catalog.overrides\` and a refresh of the catalog add others.`,
      });
  }

  /** LiteLLM rejects requests above `rpm` and `tpm` only if a setting asks for it. */
  private enforcesRates(): boolean {
    return this.files.some(({ value }) =>
      ["router_settings", "litellm_settings"].some((section) => {
        const settings = asFields(value[section]) ?? {};
        const { optional_pre_call_checks: checks, routing_strategy: strategy } = settings;
        const isChecked = Array.isArray(checks) && checks.includes("enforce_model_rate_limits");
        return (
          isChecked ||
          settings["enable_pre_call_checks"] === true ||
          String(strategy).startsWith("usage-based-routing")
        );
      }),
    );
  }

  private readSections(file: YamlSource): void {
    for (const [section, value] of Object.entries(file.value)) {
      if (READ_SECTIONS.has(section)) continue;
      const at = { file, path: [section] };
      if (Object.hasOwn(LITELLM_SETTINGS, section)) this.readSettings(at, asFields(value) ?? {});
      else this.apply(at, value, findRule(LITELLM_SECTIONS, section));
    }
  }

  private readVariables(file: YamlSource): void {
    const path = ["environment_variables"];
    for (const name of Object.keys(asFields(file.value["environment_variables"]) ?? {})) {
      const at = { file, path: [...path, name] };
      if (this.references.given.has(name))
        this.report.taken(at, { text: "Its value is written where os.environ names it." });
      else this.report.missing(at, { text: "Nothing names it. Set it in the environment if it is needed." });
    }
  }

  private readSettings({ file, path }: SourcePath, settings: Fields): void {
    for (const [name, value] of Object.entries(settings)) {
      const at = { file, path: [...path, name] };
      if (ROUTING.has(name)) this.routing.readSetting(at, name, value);
      else this.apply(at, value, findRule(LITELLM_SETTINGS[String(path[0])], name));
    }
  }

  private apply(at: SourcePath, value: unknown, rule: SettingRule): void {
    if (isNothing(value) && rule.outcome === "missing") return;
    const written = rule.write?.(value, { draft: this.draft, references: this.references }) ?? true;
    if (typeof written === "object") this.report[written.outcome](at, written);
    else if (written) this.report[rule.outcome](at, rule);
    else this.report.missing(at, { text: `The value cannot be written as ${rule.target}.` });
  }
}

/** Whether a value switches nothing on. */
function isNothing(value: unknown): boolean {
  if (value === null || value === undefined || value === false || value === "") return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}
