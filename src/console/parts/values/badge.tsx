import type { ComponentChildren } from "preact";
import { text } from "../../text/text.ts";
import { Icon, type IconName } from "./icon.tsx";

/** What a badge says by its colour. */
export type Tone = "plain" | "good" | "bad" | "warn" | "accent";

/** A short state in a coloured box. Its text or icon says the same as its colour. */
export function Badge({ tone = "plain", children }: { tone?: Tone; children: ComponentChildren }) {
  return <span class={`badge ${tone}`}>{children}</span>;
}

/** How a generation ended, or that a request was rejected before. */
type Outcome = "open" | "completed" | "cached" | "failed" | "cancelled" | "interrupted" | "rejected";

const TONES: Readonly<Record<Outcome, Tone>> = {
  open: "accent",
  completed: "good",
  cached: "good",
  failed: "bad",
  cancelled: "warn",
  interrupted: "bad",
  rejected: "warn",
};
const ICONS: Readonly<Record<Outcome, IconName>> = {
  open: "more",
  completed: "check",
  cached: "refresh",
  failed: "close",
  cancelled: "pause",
  interrupted: "alert",
  rejected: "close",
};

/** The outcome of a generation as a badge. */
export function OutcomeBadge({ outcome }: { outcome: Outcome }) {
  return (
    <Badge tone={TONES[outcome]}>
      <Icon name={ICONS[outcome]} size={12} />
      {text.outcomes[outcome]}
    </Badge>
  );
}

/** The outcome of a generation in a dense list: coloured text with a shape, which the style sheet draws. */
export function OutcomeText({ outcome }: { outcome: Outcome }) {
  const tone = outcome === "completed" ? "quiet" : TONES[outcome];
  return <span class={`outcome ${outcome} ${tone}`}>{text.outcomes[outcome]}</span>;
}
