import type { ModelTarget } from "../../canonical/format.ts";
import type { ReasoningParameters } from "../../canonical/request.ts";
import type { Warning } from "../../conversation/warning.ts";
import type { Fields } from "../../json/fields.ts";
import { readOwnFields } from "./extras.ts";

/**
 * `reasoning`: a wish said in this spelling goes out as it came; of others the effort is fitted to the model. A model that does
 * not reason would refuse the field.
 */
export function encodeWish(
  wish: ReasoningParameters | null,
  target: ModelTarget,
  warnings: Warning[],
): Fields {
  if (wish === null) return {};
  if (target.reasons === false) {
    const isOff = wish.enabled === false || wish.effort === "none";
    if (!isOff) warnings.push({ field: "reasoning", message: NO_REASONING });
    return {};
  }
  const own = readOwnFields(wish.extras);
  const effort = own === null ? fitEffort(wish, target, warnings) : wish.effort;
  const summary = own === null ? chooseSummary(wish) : wish.summary;
  const said = {
    ...own,
    ...(effort === null ? {} : { effort }),
    ...(summary === null ? {} : { summary }),
  };
  return own === null && Object.keys(said).length === 0 ? {} : { reasoning: said };
}

const NO_REASONING = "The model does not reason; the wish was left out.";

/** Elsewhere reasoning that is asked for is shown; here it is shown only in summaries, and only when asked. */
function chooseSummary(wish: ReasoningParameters): string | null {
  if (wish.hidden || wish.enabled === false || wish.effort === "none") return null;
  return wish.summary ?? "auto";
}

/** Efforts from least to most. */
const EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

function fitEffort(wish: ReasoningParameters, target: ModelTarget, warnings: Warning[]): string | null {
  const wanted = chooseEffort(wish);
  const offered = target.reasoning?.efforts;
  if (wanted === "none" && target.reasoning?.onlyWhenTold && !offered?.includes("none")) return null;
  if (wanted === null || offered === undefined || offered.length === 0 || offered.includes(wanted))
    return wanted;
  const place = EFFORTS.indexOf(wanted);
  if (place < 0) return wanted;
  const nearest = offered.toSorted((a, b) => distance(a, place) - distance(b, place))[0] as string;
  const isAskedFor = wish.enabled === false || wish.effort !== null || wish.budgetTokens !== null;
  if (isAskedFor) {
    const message = `The model has no effort "${wanted}"; "${nearest}" was asked for.`;
    warnings.push({ field: "reasoning", message });
  }
  return nearest;
}

/** Reasoning that is to be on and nothing else is asked for in the middle: without an effort some models do not reason. */
function chooseEffort({ enabled, effort, budgetTokens }: ReasoningParameters): string | null {
  if (enabled === false) return "none";
  return effort ?? effortOfBudget(budgetTokens) ?? (enabled === true ? "medium" : null);
}

function distance(effort: string, place: number): number {
  return Math.abs(EFFORTS.indexOf(effort) - place);
}

/** About what each effort spends, so that a budget lands where it means the same. */
function effortOfBudget(tokens: number | null): string | null {
  if (tokens === null) return null;
  if (tokens === 0) return "none";
  if (tokens <= 4_096) return "low";
  return tokens <= 16_384 ? "medium" : "high";
}
