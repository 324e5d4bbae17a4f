import type { GenerationDetails } from "../../api/schema.ts";
import { Section } from "../../parts/layout/section.tsx";
import { type Column, Table } from "../../parts/lists/table.tsx";
import { Badge, type Tone } from "../../parts/values/badge.tsx";
import { formatExactTime } from "../../parts/values/format.ts";
import { text } from "../../text/text.ts";

const words = text.request;

interface Entry {
  readonly position: number | null;
  readonly provider: string;
  readonly model: string;
  readonly state: "answered" | "failed" | "candidate" | "left_out";
  readonly reason: string;
}

const TONES: Readonly<Record<Entry["state"], Tone>> = {
  answered: "good",
  failed: "bad",
  candidate: "plain",
  left_out: "warn",
};

const COLUMNS: readonly Column<Entry>[] = [
  { id: "position", title: "#", width: 48, cell: ({ position }) => position ?? <span class="faint">–</span> },
  { id: "provider", title: words.provider, width: 160, cell: ({ provider }) => provider },
  { id: "model", title: words.model, width: 220, cell: ({ model }) => model },
  {
    id: "state",
    title: words.state,
    width: 110,
    cell: ({ state }) => <Badge tone={TONES[state]}>{words.states[state]}</Badge>,
  },
  { id: "reason", title: words.reason, cell: ({ reason }) => <span title={reason}>{reason}</span> },
];

/** The routing plan: the candidates in their order with the reason of each, then those that were left out. */
export function Why({ generation }: { generation: GenerationDetails }) {
  const entries = listEntries(generation);
  const candidates = entries.filter(({ position }) => position !== null).length;
  return (
    <Section id="why" title={words.why} summary={words.candidates(candidates, entries.length - candidates)}>
      {entries.length === 0 ? (
        <p class="quiet">{words.noPlan}</p>
      ) : (
        <Table
          kind="card"
          label={words.why}
          columns={COLUMNS}
          rows={entries}
          keyOf={({ position, provider, model, reason }) => `${position} ${provider} ${model} ${reason}`}
          minWidth={760}
        />
      )}
    </Section>
  );
}

function listEntries({ plan, attempts, provider_name, model, outcome }: GenerationDetails): readonly Entry[] {
  let position = 0;
  return plan.map((entry): Entry => {
    const { provider_name: provider, is_candidate, reason, until } = entry;
    if (is_candidate) position += 1;
    const tried = attempts.filter((attempt) => attempt.provider_name === provider);
    const isFailed = tried.length > 0 && tried.every(({ error_type }) => error_type !== null);
    const isAnswer = provider === provider_name && entry.model === model && outcome !== "failed" && !isFailed;
    return {
      position: is_candidate ? position : null,
      provider,
      model: entry.model,
      state: !is_candidate ? "left_out" : isAnswer ? "answered" : isFailed ? "failed" : "candidate",
      reason: describe(reason, until),
    };
  });
}

function describe(reason: string, until: string | undefined): string {
  const sentence = words.reasons[reason as keyof typeof words.reasons] ?? reason;
  return until === undefined ? sentence : `${sentence} ${words.until(formatExactTime(Date.parse(until)))}`;
}
