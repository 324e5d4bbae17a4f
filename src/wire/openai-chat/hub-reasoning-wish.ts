import type { ModelTarget } from "../canonical/format.ts";
import type { ConversationRequest, ReasoningWish } from "../canonical/request.ts";
import { asFields, type Fields } from "../json/fields.ts";
import type { Warn } from "./encode-part.ts";
import { asText } from "./reasoning.ts";

/** Efforts, least first. */
const EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];
/** What a model that reasons is taken to know where nobody says. */
const COMMON_EFFORTS = ["low", "medium", "high"];

/** Reads `reasoning` and `reasoning_effort`; where both name an effort, the object counts. */
export function readReasoningWish(raw: Fields): Pick<ConversationRequest, "reasoning"> {
  const wish = asFields(raw["reasoning"]);
  const effort = asText(wish?.["effort"]) ?? asText(raw["reasoning_effort"]);
  if (wish === null && effort === null) return { reasoning: null };
  const enabled = wish?.["enabled"];
  const budget = wish?.["max_tokens"];
  return {
    reasoning: {
      enabled: typeof enabled === "boolean" ? enabled : null,
      effort,
      budgetTokens: typeof budget === "number" ? budget : null,
      adaptive: false,
      summary: asText(wish?.["summary"]),
      hidden: wish?.["exclude"] === true,
    },
  };
}

/** The wish as `reasoning_effort`, the nearest that the model knows. A model that is not known to reason refuses the field. */
export function encodeReasoningWish(
  { reasoning }: Pick<ConversationRequest, "reasoning">,
  target: ModelTarget,
  warn: Warn,
): Fields {
  const wanted = reasoning === null ? null : chooseEffort(reasoning);
  if (wanted === null) return {};
  if (target.reasoning === null) {
    if (wanted !== "none") warn("reasoning", "The model is not known to reason; the wish was left out.");
    return {};
  }
  const known = target.reasoning.efforts ?? COMMON_EFFORTS;
  const effort = wanted === "none" && target.reasoning.canDisable ? wanted : findNearest(wanted, known);
  if (effort === null) return {};
  if (effort !== wanted) warn("reasoning", `The model has no effort "${wanted}"; "${effort}" was sent.`);
  return { reasoning_effort: effort };
}

/** The effort that a wish comes to; null where it leaves that to the vendor. */
function chooseEffort({ enabled, effort, budgetTokens }: ReasoningWish): string | null {
  if (enabled === false) return "none";
  if (effort !== null) return effort;
  if (budgetTokens === null) return null;
  if (budgetTokens === 0) return "none";
  if (budgetTokens <= 4_096) return "low";
  return budgetTokens <= 16_384 ? "medium" : "high";
}

/** The nearest of the efforts that are known, of two the lesser; a word that nobody knows stays itself. */
function findNearest(wanted: string, known: readonly string[]): string | null {
  const rank = EFFORTS.indexOf(wanted);
  if (known.includes(wanted) || rank < 0) return wanted;
  const distance = (effort: string) => Math.abs(EFFORTS.indexOf(effort) - rank);
  const ranked = EFFORTS.filter((effort) => known.includes(effort)).toSorted(
    (a, b) => distance(a) - distance(b),
  );
  return ranked[0] ?? null;
}
