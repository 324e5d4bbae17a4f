import type { RouteExplanation } from "../../api/schema.ts";
import { type Column, Table } from "../../parts/lists/table.tsx";
import { TakesTable } from "../../parts/lists/takes-table.tsx";
import { formatDuration } from "../../parts/values/format.ts";
import { Icon } from "../../parts/values/icon.tsx";
import { Money } from "../../parts/values/values.tsx";
import { text } from "../../text/text.ts";

type Candidate = RouteExplanation["candidates"][number] & { readonly position: number };
type LeftOut = RouteExplanation["left_out"][number];

const { columns } = text.routing;

/** The candidates of a request in order with the reason of each, and those that were left out. */
export function Explanation({ explanation }: { explanation: RouteExplanation }) {
  const { tier, error, candidates, left_out, warnings, named_routes } = explanation;
  return (
    <>
      {named_routes.length === 0 ? null : <p class="breaks">{printSteps(named_routes)}</p>}
      {tier === null ? null : <p>{text.routing.case(tier.when)}</p>}
      {error === null ? null : (
        <div class="check-line bad" role="status">
          <Icon name="alert" />
          <span class="breaks">
            {text.routing.error} {error.message}
          </span>
        </div>
      )}
      {warnings.map(({ field, message }) => (
        <p key={field} class="warn breaks">
          {field}: {message}
        </p>
      ))}
      {candidates.length === 0 ? null : (
        <div class="card">
          <Table
            hasCards
            label={text.routing.candidates}
            columns={CANDIDATES}
            rows={candidates.map((candidate, i) => ({ ...candidate, position: i + 1 }))}
            keyOf={({ position }) => String(position)}
          />
        </div>
      )}
      {candidates.map((candidate, i) => (
        <CandidateDetails key={String(i)} candidate={{ ...candidate, position: i + 1 }} />
      ))}
      {left_out.length === 0 ? null : (
        <details>
          <summary>{text.routing.leftOut(left_out.length)}</summary>
          <Table
            hasCards
            label={text.routing.leftOut(left_out.length)}
            columns={LEFT_OUT}
            rows={left_out}
            keyOf={({ provider, model, reason, is_byok }) => `${provider} ${model} ${reason} ${is_byok}`}
          />
        </details>
      )}
    </>
  );
}

/**
 * The parts of a request that a candidate would not get as they are, and the rules of its endpoint. Shows nothing for a candidate that
 * would get everything.
 */
function CandidateDetails({ candidate }: { candidate: Candidate }) {
  const { position, model, provider, changes, error, takes } = candidate;
  const name = `${position}. ${provider}: ${model}`;
  return (
    <>
      {error === null ? null : (
        <p class="bad breaks">
          {name}: {error.message}
        </p>
      )}
      {(changes ?? []).map(({ field, message }) => (
        <p key={`${field} ${message}`} class="warn breaks">
          {name}: {field}: {message}
        </p>
      ))}
      {takes.length === 0 ? null : (
        <details>
          <summary>
            {name} <span class="quiet">· {text.takes.rules(takes.length)}</span>
          </summary>
          <TakesTable label={`${text.takes.title}: ${name}`} takes={takes} />
        </details>
      )}
    </>
  );
}

/** Prints the names on the way, with the draw of a group: `fast → openai/gpt-5.4 (90 of 100)`. */
function printSteps(steps: RouteExplanation["named_routes"]): string {
  const ways = steps.map(({ to, draw }) => {
    const weight = draw?.order.find(({ model }) => model === to)?.weight;
    const sum = draw?.order.reduce((total, target) => total + target.weight, 0);
    return weight === undefined || sum === undefined ? to : `${to} (${text.routing.share(weight, sum)})`;
  });
  return [steps[0]?.name ?? "", ...ways].join(" → ");
}

function reasonOf(reason: string): string {
  return text.request.reasons[reason as keyof typeof text.request.reasons] ?? reason;
}

const CANDIDATES: readonly Column<Candidate>[] = [
  { id: "position", title: "#", width: 48, onCard: "plain", cell: ({ position }) => position },
  {
    id: "model",
    title: columns.model,
    minWidth: 140,
    wraps: true,
    onCard: "title",
    cell: ({ model, upstream_model }) => <span title={upstream_model}>{model}</span>,
  },
  {
    id: "provider",
    title: columns.provider,
    width: 110,
    wraps: true,
    onCard: "plain",
    cell: ({ provider }) => provider,
  },
  {
    id: "reason",
    title: columns.reason,
    minWidth: 120,
    wraps: true,
    onCard: "plain",
    cell: ({ reason, would_be_asked }) => {
      const about = `${reasonOf(reason)}${would_be_asked ? "" : ` (${text.routing.notAsked})`}`;
      return (
        <span class={would_be_asked ? undefined : "faint"} title={about}>
          {about}
        </span>
      );
    },
  },
  {
    id: "cost",
    title: columns.cost,
    isNumber: true,
    onCard: "aside",
    width: 90,
    cell: ({ estimated_cost }) => <Money nanodollars={estimated_cost * 1e9} />,
  },
  {
    id: "latency",
    title: columns.latency,
    isNumber: true,
    width: 90,
    cell: ({ health }) => formatDuration(health.latency_ms),
  },
];

const LEFT_OUT: readonly Column<LeftOut>[] = [
  { id: "model", title: columns.model, width: 240, wraps: true, onCard: "title", cell: ({ model }) => model },
  {
    id: "provider",
    title: columns.provider,
    width: 140,
    wraps: true,
    onCard: "plain",
    cell: ({ provider }) => provider,
  },
  {
    id: "reason",
    title: columns.reason,
    wraps: true,
    onCard: "plain",
    cell: ({ reason, about }) => {
      const words = `${reasonOf(reason)}${about === undefined ? "" : ` ${about}`}`;
      return <span title={words}>{words}</span>;
    },
  },
];
