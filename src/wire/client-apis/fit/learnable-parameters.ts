import type { ParameterRule } from "../../conversation/parameter-rules.ts";
import type { ProviderTarget } from "../request/inference-request.ts";
import { chatNameOf } from "./fit-parameters.ts";

/** A parameter that is left out after a vendor refused it, whatever its value. */
const REFUSED: ParameterRule = { values: [], isLearned: true };

/**
 * The parameters that a request is sent without after a vendor refused them, by the names of the chat API. Without one of them the request
 * means the same, and the vendor keeps no more of it. Not here are:
 *
 * - what changes the answer: `tools`, `response_format`, `stop`, `n`, `logit_bias`, `logprobs`, `reasoning_effort`, `verbosity`, bounds of
 *   the answer;
 * - what a vendor keeps, and who may read it: `store`, `metadata`, which is kept with a stored answer, and `prompt_cache_options`, with which
 *   a caller restricts what is cached;
 * - what decides the price or the speed: `service_tier`.
 */
const LEARNABLE: ReadonlyMap<string, ParameterRule> = new Map([
  // Sampling: how the next token is drawn. The model's own default is what its vendor recommends.
  ["temperature", REFUSED],
  ["top_p", REFUSED],
  ["top_k", REFUSED],
  ["top_a", REFUSED],
  ["min_p", REFUSED],
  ["typical_p", REFUSED],
  ["frequency_penalty", REFUSED],
  ["presence_penalty", REFUSED],
  ["repetition_penalty", REFUSED],
  // Vendors promise no equal answers for equal seeds.
  ["seed", REFUSED],
  // Cache hints: the answer is the same without them. `cache_control` is the mark of the whole request, not those of its messages.
  ["prompt_cache_key", REFUSED],
  ["cache_control", REFUSED],
  // "24h" is the longest retention, so that the vendor's default keeps no more. "in_memory" is the shortest: it is sent, and stays refused.
  // https://developers.openai.com/docs/guides/prompt-caching (2026-11-28)
  ["prompt_cache_retention", { values: ["in_memory"], isLearned: true }],
  // Ids of the end user: without them the vendor knows less.
  ["user", REFUSED],
  ["safety_identifier", REFUSED],
]);

/** The properties of a target that translate a vendor's field names. */
type NamingTarget = Pick<ProviderTarget, "format" | "renames">;

const NONE: ReadonlySet<string> = new Set();

/**
 * Returns the parameters to leave out for the fields that a vendor refused, by the names of the chat API. None if one of the fields is
 * always sent: without the others the vendor would refuse the request again.
 */
export function listLearnable(fields: readonly string[], target: NamingTarget): ReadonlySet<string> {
  const names = new Set<string>();
  for (const field of fields) {
    const name = nameOf(field, target);
    if (!LEARNABLE.has(name)) return NONE;
    names.add(name);
  }
  return names;
}

/** Objects that have parameters, in the spelling of bodies and in that of vendors' messages. */
const CONTAINER = /^(body|generation_?config|inference_?config|additional_?model_?request_?fields)\./i;

/** Returns the chat API's name of a field. Vendors name it as it was sent, or as their own programs do. */
function nameOf(field: string, { format, renames }: NamingTarget): string {
  const own = field.replace(CONTAINER, "");
  const renamed = renames.find(([, to]) => to === own)?.[0];
  return renamed ?? chatNameOf(format, own) ?? own.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Returns a target that is sent requests without parameters, which are those of `listLearnable`. */
export function withoutParameters(target: ProviderTarget, names: ReadonlySet<string>): ProviderTarget {
  const { takes = null, renames } = target;
  const rules = new Map(takes?.rules);
  for (const name of names) {
    const rule = LEARNABLE.get(name);
    if (rule === undefined) continue;
    rules.set(name, rule);
    for (const [from, to] of renames) if (from === name) rules.set(to, rule);
  }
  return { ...target, takes: { rules, reasonsByDefault: takes?.reasonsByDefault ?? true } };
}
