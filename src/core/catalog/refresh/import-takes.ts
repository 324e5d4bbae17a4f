import { compareText } from "../records/format-catalog.ts";
import { takesShape } from "../records/model-schema.ts";
import type { ModelRecord, ModelTakes, ReasoningControl } from "../records/records.ts";
import type { ImportRules } from "./import-rules.ts";

/** The members, in the order of files. */
const MEMBERS = Object.keys(takesShape) as (keyof ModelTakes)[];

/** What models take, according to the rules, the claims of a price map, and a previous catalog. */
export class TakesReader {
  readonly #rules: readonly { readonly models: RegExp; readonly rule: ImportRules["takes"][number] }[];
  readonly #known: ReadonlyMap<string, ModelTakes>;

  /** `known` are models of a catalog, whose facts apply if a source claims none. */
  constructor({ takes }: ImportRules, known: readonly ModelRecord[]) {
    this.#rules = takes.map((rule) => ({ models: new RegExp(rule.models), rule }));
    this.#known = new Map(
      known.flatMap(({ id, takes: facts }) => (facts === undefined ? [] : [[id, facts]])),
    );
  }

  /** Returns what a model takes; undefined if nothing is known. `claims` are those of its author's own API. */
  readModel(id: string, claims: ModelTakes | undefined): ModelTakes | undefined {
    const facts = claims ?? this.#known.get(id) ?? {};
    return sortTakes({ ...this.#listRules(id, false), ...facts, ...this.#listRules(id, true) });
  }

  /** Returns how what a host takes differs from what the model takes; undefined if it does not. Corrections apply at all hosts. */
  readEndpoint(
    id: string,
    model: ModelTakes | undefined,
    claims: ModelTakes | undefined,
  ): ModelTakes | undefined {
    if (claims === undefined) return undefined;
    const corrected = this.#listRules(id, true);
    const other = MEMBERS.filter(
      (name) => claims[name] !== undefined && claims[name] !== model?.[name] && corrected[name] === undefined,
    );
    return sortTakes(Object.fromEntries(other.map((name) => [name, claims[name]])));
  }

  #listRules(id: string, corrects: boolean): ModelTakes {
    const matching = this.#rules.filter(
      ({ models, rule }) => (rule.corrects === true) === corrects && models.test(id),
    );
    return Object.assign({}, ...matching.map(({ rule }) => rule.takes)) as ModelTakes;
  }
}

/** Returns the members in the order of the files; undefined if there are none. */
function sortTakes(takes: ModelTakes): ModelTakes | undefined {
  const members = MEMBERS.flatMap((name) => (takes[name] === undefined ? [] : [[name, takes[name]]]));
  return members.length === 0 ? undefined : (Object.fromEntries(members) as ModelTakes);
}

/** Removes what contradicts when a model reasons: models that always reason cannot be switched off, others need not be told. */
export function alignReasoning(
  control: ReasoningControl | null,
  takes: ModelTakes | undefined,
): ReasoningControl | null {
  if (control === null || takes?.reasoning === undefined) return control;
  const { efforts, canDisable, onlyWhenTold: _, budgetTokens, ...rest } = control;
  const isAlways = takes.reasoning === "always";
  const possible = isAlways ? efforts?.filter((effort) => effort !== "none") : efforts;
  const aligned: ReasoningControl = {
    ...rest,
    ...(possible === undefined || possible.length === 0 ? {} : { efforts: possible }),
    ...(budgetTokens !== undefined && takes.budgets !== false ? { budgetTokens } : {}),
    ...(takes.reasoning === "default-on" || (canDisable && !isAlways) ? { canDisable: true as const } : {}),
    ...(takes.reasoning === "when-told" ? { onlyWhenTold: true as const } : {}),
  };
  return Object.keys(aligned).length === 0 ? null : aligned;
}

/** Gives models without a known reasoning control the one of the rules, as far as it matches their behavior. */
export function inheritReasoning(
  models: readonly ModelRecord[],
  { reasoningLike }: ImportRules,
): ModelRecord[] {
  const byId = new Map(models.map((model) => [model.id, model]));
  const rules = reasoningLike.map((rule) => ({ ...rule, pattern: new RegExp(rule.models) }));
  return models.map((model) => {
    if (model.reasoning !== undefined || !model.supportedParameters.includes("reasoning")) return model;
    const rule = rules.find(({ pattern }) => pattern.test(model.id));
    const control = rule?.reasoning ?? byId.get(rule?.like ?? "")?.reasoning ?? null;
    const reasoning = alignReasoning(control as ReasoningControl | null, model.takes);
    if (reasoning === null) return model;
    const parameters = new Set([
      ...model.supportedParameters,
      ...(reasoning.efforts === undefined ? [] : ["reasoning_effort"]),
    ]);
    return { ...model, reasoning, supportedParameters: [...parameters].sort(compareText) };
  });
}
