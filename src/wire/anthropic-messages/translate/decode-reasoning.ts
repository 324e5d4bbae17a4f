import type { ReasoningParameters } from "../../canonical/request.ts";
import { asFields } from "../../json/fields.ts";
import { makeExtras } from "./extras.ts";
import type { FieldTaker } from "./take-fields.ts";

/** Takes `thinking`, and `effort` of `output_config`. Null if the client sends neither. */
export function takeReasoning(take: FieldTaker, outputConfig: FieldTaker): ReasoningParameters | null {
  const thinking = take.fields("thinking");
  const effort = outputConfig.text("effort");
  if (thinking === null && effort === null) return null;
  const { type, display, budget_tokens: budget } = asFields(thinking) ?? {};
  return {
    enabled: type === "disabled" ? false : type === "enabled" || type === "adaptive" ? true : null,
    effort,
    budgetTokens: typeof budget === "number" ? budget : null,
    adaptive: type === "adaptive",
    summary: display === "summarized" ? "auto" : null,
    hidden: display === "omitted",
    ...makeExtras(thinking === null ? {} : { thinking }),
  };
}
