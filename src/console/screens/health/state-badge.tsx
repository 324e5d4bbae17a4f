import type { ProviderHealth } from "../../api/schema.ts";
import { Badge, type Tone } from "../../parts/values/badge.tsx";
import { formatExactTime } from "../../parts/values/format.ts";
import { text } from "../../text/text.ts";
import type { State } from "./health-rows.ts";

const TONES: Readonly<Record<State, Tone>> = {
  ok: "good",
  degraded: "warn",
  down: "bad",
  unknown: "plain",
  no_key: "plain",
};

/** The state of a provider or of one of its models, optionally with how many are in it. */
export function StateBadge({ state, count }: { state: State; count?: number }) {
  return (
    <Badge tone={TONES[state]}>
      {count === undefined ? "" : `${count} `}
      {text.health.states[state]}
    </Badge>
  );
}

/** Says that an operator has taken a provider or model out of routing. */
export function DrainedBadge({ drain }: { drain: NonNullable<ProviderHealth["drain"]> }) {
  const { until, untilEnded, badge } = text.health.drain;
  const about = drain.until === null ? untilEnded : `${until} ${formatExactTime(Date.parse(drain.until))}`;
  return (
    <span title={drain.note === null ? about : `${about}: ${drain.note}`}>
      <Badge tone="warn">{badge}</Badge>
    </span>
  );
}

/** The state of a circuit: quiet while it is closed. */
export function CircuitText({ circuit }: { circuit: ProviderHealth["circuit"] }) {
  const tone = circuit === "open" ? "bad" : circuit === "half_open" ? "warn" : "faint";
  return <span class={tone}>{text.health.circuits[circuit]}</span>;
}
