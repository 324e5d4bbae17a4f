import type { CatalogModel } from "../../api/schema.ts";
import { Badge, type Tone } from "../../parts/values/badge.tsx";
import { text } from "../../text/text.ts";
import { perMillion } from "./model-filters.ts";
import { formatPerMillion } from "./model-format.ts";

/** A price per token as dollars per million tokens; a dash if it is unknown. */
export function Price({ value, isFree = false }: { value: string | undefined; isFree?: boolean }) {
  const price = perMillion(value);
  if (price === null) return <span class="faint">–</span>;
  if (price === 0 && isFree) return <span class="good">{text.models.free}</span>;
  return <>{formatPerMillion(price)}</>;
}

/** Whether a model is served, or why not. */
export function ServedText({ model }: { model: CatalogModel }) {
  const reason = model.not_served_because;
  if (reason === null) return <span class="good">{text.models.isServed}</span>;
  return (
    <span class={reason === "policy" ? "warn" : "faint"} title={text.models.reasonsAbout[reason]}>
      {text.models.reasons[reason]}
    </span>
  );
}

const TONES: Readonly<Record<string, Tone>> = { ok: "good", degraded: "warn", down: "bad" };

/** The recent health of an endpoint as a badge. */
export function StatusBadge({ state }: { state: keyof typeof text.models.states }) {
  return <Badge tone={TONES[state] ?? "plain"}>{text.models.states[state]}</Badge>;
}
