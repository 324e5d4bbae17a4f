import { callPath } from "../../api/client.ts";
import type { GenerationLine, Policy } from "../../api/schema.ts";
import { ErrorBox, Skeleton } from "../../parts/layout/states.tsx";
import { type Column, Table } from "../../parts/lists/table.tsx";
import { formatCount } from "../../parts/values/format.ts";
import { Icon } from "../../parts/values/icon.tsx";
import { Named, Time } from "../../parts/values/values.tsx";
import { useLoad } from "../../state/load.ts";
import { text } from "../../text/text.ts";

/** A recorded request that the policy would have refused. */
type Refused = GenerationLine & { readonly rule: string; readonly reason: string };

interface Result {
  readonly checked: number;
  readonly rerouted: number;
  readonly refused: readonly Refused[];
}

/** How many of the newest requests are checked. */
const LAST = 200;

/** Whose policy is tried: of an account, or of a team in it. */
export interface TriedOn {
  readonly account_id: string;
  readonly team_id?: string;
}

/** What a policy would have done to the newest requests of an account or a team. Nothing is saved. */
export function DryRun({ of, policy }: { of: TriedOn; policy: Policy }) {
  const { data, error, isLoading, reload } = useLoad(JSON.stringify([of, policy]), async (signal) => {
    const body = { ...of, policy, last: LAST };
    return (await callPath("POST /api/admin/policy/dry-run", { body, signal })) as Result;
  });
  if (error !== null) return <ErrorBox error={error} onRetry={reload} />;
  if (data === null || isLoading) return <Skeleton lines={3} />;
  return (
    <div class="stack">
      <Verdict {...data} />
      {data.refused.length === 0 ? null : (
        <div class="card tried">
          <Table
            hasCards
            label={text.people.refused}
            columns={COLUMNS}
            rows={data.refused}
            keyOf={({ id }) => id}
          />
        </div>
      )}
    </div>
  );
}

function Verdict({ checked, rerouted, refused }: Result) {
  const isGood = refused.length === 0;
  const found = isGood
    ? text.people.dryRunGood(formatCount(checked))
    : text.people.dryRunBad(formatCount(refused.length), formatCount(checked));
  return (
    <div
      class={checked === 0 ? "check-line quiet" : isGood ? "check-line good" : "check-line bad"}
      role="status"
    >
      {checked === 0 ? null : <Icon name={isGood ? "check" : "alert"} />}
      <span>
        {checked === 0 ? text.people.dryRunNone : found}
        {rerouted > 0 ? ` ${text.people.rerouted(formatCount(rerouted))}` : null}
      </span>
    </div>
  );
}

const { refusedColumns } = text.people;

const COLUMNS: readonly Column<Refused>[] = [
  {
    id: "time",
    title: refusedColumns.time,
    width: 120,
    onCard: "aside",
    cell: ({ id, created_at }) => (
      <a href={`/console/requests/${id}`}>
        <Time at={created_at} />
      </a>
    ),
  },
  {
    id: "model",
    title: refusedColumns.model,
    width: 220,
    wraps: true,
    onCard: "title",
    cell: ({ model, requested_model }) => <span title={model ?? undefined}>{requested_model}</span>,
  },
  {
    id: "who",
    title: refusedColumns.who,
    width: 150,
    wraps: true,
    onCard: "plain",
    cell: ({ key_id, key_name }) => <Named id={key_id} name={key_name} />,
  },
  {
    id: "reason",
    title: refusedColumns.reason,
    wraps: true,
    onCard: "plain",
    cell: ({ rule, reason }) => <span title={rule}>{reason}</span>,
  },
];
