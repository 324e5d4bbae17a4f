import type { GenerationDetails } from "../../api/schema.ts";
import { Section } from "../../parts/layout/section.tsx";
import { type Column, Table } from "../../parts/lists/table.tsx";
import { Badge, type Tone } from "../../parts/values/badge.tsx";
import { formatExactTime } from "../../parts/values/format.ts";
import { text } from "../../text/text.ts";

const words = text.request;

type PlanLine = GenerationDetails["plan"][number];

/** An entry of the plan. */
interface Entry {
  readonly position: number | null;
  readonly provider: string;
  readonly keyNumber: number | null;
  readonly keyName: string | null;
  readonly model: string;
  readonly result: PlanLine["result"];
  readonly reason: string;
}

const TONES: Readonly<Record<Entry["result"], Tone>> = {
  answered: "good",
  empty: "warn",
  failed: "bad",
  cancelled: "warn",
  running: "accent",
  not_called: "plain",
  left_out: "warn",
};

const COLUMNS: readonly Column<Entry>[] = [
  {
    id: "position",
    title: "#",
    width: 48,
    onCard: "plain",
    cell: ({ position }) => position ?? <span class="faint">–</span>,
  },
  {
    id: "provider",
    title: words.provider,
    width: 160,
    wraps: true,
    onCard: "title",
    cell: ({ provider, keyNumber, keyName }) => (
      <>
        {provider}
        {keyNumber === null ? null : (
          <span class="faint" title={keyName ?? undefined}>
            {" "}
            · {words.keyNumber(keyNumber)}
          </span>
        )}
      </>
    ),
  },
  {
    id: "state",
    title: words.state,
    width: 110,
    onCard: "aside",
    cell: ({ result }) => <Badge tone={TONES[result]}>{words.results[result]}</Badge>,
  },
  { id: "model", title: words.model, width: 220, wraps: true, onCard: "plain", cell: ({ model }) => model },
  { id: "reason", title: words.reason, wraps: true, onCard: "plain", cell: ({ reason }) => reason },
];

/** The routing plan: the candidates in their order with the reason of each, then those that were left out. */
export function Why({ generation }: { generation: GenerationDetails }) {
  const entries = listEntries(generation);
  const candidates = entries.filter(({ position }) => position !== null).length;
  return (
    <Section id="why" title={words.why} summary={words.candidates(candidates, entries.length - candidates)}>
      {entries.length === 0 ? (
        <p class="quiet">{generation.outcome === "cached" ? words.noPlanCached : words.noPlan}</p>
      ) : (
        <Table
          kind="card"
          label={words.why}
          columns={COLUMNS}
          rows={entries}
          keyOf={({ position, provider, keyNumber, model, reason }) =>
            `${position} ${provider} ${keyNumber} ${model} ${reason}`
          }
          minWidth={760}
          hasCards
        />
      )}
    </Section>
  );
}

function listEntries({ plan }: GenerationDetails): readonly Entry[] {
  let position = 0;
  return plan.map((entry): Entry => {
    const { provider_name, model, key, key_number, is_candidate, result, reason, until } = entry;
    if (is_candidate) position += 1;
    return {
      position: is_candidate ? position : null,
      provider: provider_name,
      keyNumber: key_number,
      keyName: key,
      model,
      result,
      reason: describe(reason, until),
    };
  });
}

function describe(reason: string, until: string | undefined): string {
  const sentence = words.reasons[reason as keyof typeof words.reasons] ?? reason;
  return until === undefined ? sentence : `${sentence} ${words.until(formatExactTime(Date.parse(until)))}`;
}
