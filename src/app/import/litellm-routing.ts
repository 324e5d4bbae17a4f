import { asFields, asObjects } from "../../base/json/fields.ts";
import { matchPattern } from "../../base/text/match-pattern.ts";
import type { ConfigDraft } from "./config-draft.ts";
import type { ImportedDeployment } from "./deployment.ts";
import type { ImportReport, SourcePath } from "./import-report.ts";
import type { LitellmEntry } from "./read-litellm-entry.ts";

/** The settings that routes are made of. */
export const ROUTING: ReadonlySet<string> = new Set([
  "fallbacks",
  "default_fallbacks",
  "context_window_fallbacks",
  "model_group_alias",
  "routing_strategy",
]);

/** What other strategies than drawing by weight become. */
const STRATEGIES: Readonly<Record<string, string>> = {
  "least-busy": "Requests are drawn by weight, not by the number of running ones.",
  "latency-based-routing":
    "Requests are drawn by weight, not by latency. A request may ask for provider.sort: latency among the providers of one model.",
  "cost-based-routing":
    "Requests are drawn by weight, not by price. A name that leads to a model without `provider` goes to its cheapest provider.",
  "usage-based-routing": "Requests are drawn by weight, not by the use of limits.",
  "usage-based-routing-v2": "Requests are drawn by weight, not by the use of limits.",
};

/** Collects the groups, aliases and fallbacks of a LiteLLM configuration, and writes them as named routes. */
export class LitellmRouting {
  private readonly groups = new Map<string, LitellmEntry[]>();
  private readonly implied: LitellmEntry[] = [];
  private readonly fallbacks = new Map<string, string[]>();
  private readonly defaults: string[] = [];

  constructor(
    private readonly draft: ConfigDraft,
    private readonly report: ImportReport,
  ) {}

  addEntry(entry: LitellmEntry): void {
    const group = this.groups.get(entry.name);
    if (group === undefined) this.groups.set(entry.name, [entry]);
    else group.push(entry);
  }

  /** Adds an entry that is used if the file has none with its name. */
  addImplied(entry: LitellmEntry): void {
    this.implied.push(entry);
  }

  addRoutes(): void {
    for (const { name, deployment } of this.implied) {
      const provider = this.groups.has(name) ? null : this.draft.slugOf(deployment);
      const { at, upstream: target } = deployment;
      if (provider !== null) this.draft.addAlias({ at, name, target, provider });
    }
    for (const [name, entries] of this.groups) this.addGroup(name, entries);
  }

  /** Reads a setting of `ROUTING`. Call it when all entries have been added. */
  readSetting(at: SourcePath, name: string, value: unknown): void {
    if (value === null) return;
    if (name === "model_group_alias") this.readAliases(at, value);
    else if (name === "routing_strategy") this.readStrategy(at, value);
    else if (name === "default_fallbacks") this.readDefaults(at, value);
    else this.readFallbacks(at, name, value);
  }

  private readDefaults(at: SourcePath, value: unknown): void {
    const names = this.takeNames(at, value);
    this.defaults.push(...names);
    if (names.length > 0)
      this.report.taken(at, { target: "named_routes", text: "Every imported name falls back to these." });
  }

  private readFallbacks(at: SourcePath, name: string, value: unknown): void {
    let isTaken = false;
    for (const [index, item] of asObjects(value).entries())
      for (const [group, targets] of Object.entries(item)) {
        const place = { ...at, path: [...at.path, index, group] };
        if (group !== "*" && !this.groups.has(group)) {
          this.report.missing(place, {
            text: `No model with the name ${JSON.stringify(group)} was taken over.`,
          });
          continue;
        }
        const names = this.takeNames(place, targets);
        if (group === "*") this.defaults.push(...names);
        else this.fallbacks.set(group, [...(this.fallbacks.get(group) ?? []), ...names]);
        isTaken ||= names.length > 0;
      }
    if (isTaken) this.report[name === "fallbacks" ? "taken" : "differs"](at, describeFallbacks(name));
  }

  /** Returns the names of a list that were taken over, and reports the others. */
  private takeNames(at: SourcePath, value: unknown): string[] {
    const names: unknown[] = Array.isArray(value) ? value : [value];
    return names.flatMap((name) => {
      if (typeof name === "string" && this.isName(name)) return name;
      const text =
        typeof name === "string"
          ? `No model with the name ${JSON.stringify(name)} was taken over.`
          : "A fallback is the name of a model here, without parameters.";
      this.report.missing(at, { text });
      return [];
    });
  }

  private readAliases({ file, path }: SourcePath, value: unknown): void {
    for (const [name, written] of Object.entries(asFields(value) ?? {})) {
      const at = { file, path: [...path, name] };
      const target = typeof written === "string" ? written : asFields(written)?.["model"];
      if (typeof target !== "string" || !this.isName(target)) {
        this.report.missing(at, { text: "It names no model that was taken over." });
        continue;
      }
      this.draft.addAlias({ at, name, target });
      if (asFields(written)?.["hidden"] === true)
        this.report.differs(at, { text: "The name is listed, as every named route is." });
    }
  }

  /** Whether a name was taken over, by itself or by a pattern. */
  private isName(name: string): boolean {
    return this.groups.has(name) || [...this.groups.keys()].some((pattern) => matchPattern(pattern, name));
  }

  private readStrategy(at: SourcePath, value: unknown): void {
    const text = Object.hasOwn(STRATEGIES, String(value)) ? STRATEGIES[String(value)] : undefined;
    if (value === "simple-shuffle")
      this.report.taken(at, { target: "named_routes", text: "Each request draws a target by weight." });
    else if (text === undefined)
      this.report.missing(at, { text: "The import does not know this strategy. Groups draw by weight." });
    else this.report.differs(at, { target: "named_routes", text });
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
    const fallbacks = names.flatMap(
      (other): readonly (ImportedDeployment | string)[] =>
        this.groups.get(other)?.map(({ deployment }) => deployment) ?? [other],
    );
    this.draft.addRoute({ at: first.deployment.at, name, targets, fallbacks });
  }
}

function describeFallbacks(name: string): { readonly target: string; readonly text: string } {
  const target = "named_routes";
  if (name === "fallbacks") return { target, text: "Targets with weight 0." };
  return {
    target,
    text: "A model whose context window is too small is left out, and its fallbacks follow. They are used for other failures, too.",
  };
}
