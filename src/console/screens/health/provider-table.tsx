import { type ComponentChildren, Fragment } from "preact";
import type { ProviderHealth } from "../../api/schema.ts";
import { Button } from "../../parts/controls/button.tsx";
import { formatCount, formatDuration, formatShare } from "../../parts/values/format.ts";
import { Icon } from "../../parts/values/icon.tsx";
import { Time } from "../../parts/values/values.tsx";
import type { Loaded } from "../../state/load.ts";
import { text } from "../../text/text.ts";
import { countUsable, errorShare } from "./health-rows.ts";
import type { History } from "./history-rows.ts";
import { ProviderDetails } from "./provider-details.tsx";
import { CircuitText, DrainedBadge, StateBadge } from "./state-badge.tsx";
import type { Trial } from "./trial.tsx";

const { columns, columnHints } = text.health;

/** The columns: their widths in pixels, and the classes of their cells. Cards of a narrow window name values that have no class `card-…`. */
const TITLES = {
  provider: { width: 168, class: "wraps card-title" },
  state: { width: 104, class: "card-plain" },
  requests: { width: 92, class: "number", hint: columnHints.requests },
  errors: { width: 70, class: "number", hint: columnHints.errors },
  latency: { width: 88, class: "number", hint: columnHints.latency },
  circuit: { width: 84 },
  keys: { width: 66, class: "number", hint: columnHints.keys },
  warm: { width: 96, class: "number", hint: columnHints.warm },
  failure: { class: "wraps" },
  actions: { width: 164, class: "card-aside" },
} as const satisfies Record<string, { width?: number; class?: string; hint?: string }>;
type ColumnName = keyof typeof TITLES;
const NAMES = Object.keys(TITLES) as ColumnName[];
const COLUMNS: Readonly<Record<ColumnName, { width?: number; class?: string; hint?: string }>> = TITLES;
const MIN_WIDTH = 1_030;

interface TableProps {
  readonly rows: readonly ProviderHealth[];
  /** The slug of the unfolded provider; null for none. */
  readonly open: string | null;
  readonly trials: Readonly<Record<string, Trial>>;
  readonly history: Loaded<History>;
  onToggle(provider: string): void;
  onTest(row: ProviderHealth): void;
  onClear(row: ProviderHealth): void;
  onDrain(row: ProviderHealth): void;
  /** Called after a drain has been ended. */
  onUndrained(): void;
}

/** The providers, one a row. A row unfolds to keys, models and failures. */
export function ProviderTable(props: TableProps) {
  const { rows, open, trials } = props;
  return (
    <section class="table-box unfolds" tabIndex={0} aria-label={text.health.list}>
      <table class="table cards" aria-label={text.health.list} style={{ "--table-width": `${MIN_WIDTH}px` }}>
        <colgroup>
          {NAMES.map((name) => (
            <col key={name} style={printWidth(COLUMNS[name].width)} />
          ))}
        </colgroup>
        <thead>
          <tr>
            {NAMES.map((name) => (
              <th
                key={name}
                scope="col"
                class={COLUMNS[name].class === "number" ? "number" : undefined}
                title={COLUMNS[name].hint}
              >
                {columns[name]}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <Fragment key={row.provider}>
              <Row {...props} row={row} isOpen={row.provider === open} />
              {row.provider === open ? (
                <tr class="unfolded">
                  <td colSpan={NAMES.length}>
                    <ProviderDetails
                      row={row}
                      history={props.history}
                      trial={trials[row.provider] ?? null}
                      onUndrained={props.onUndrained}
                    />
                  </td>
                </tr>
              ) : null}
            </Fragment>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function printWidth(width: number | undefined) {
  return width === undefined ? undefined : { width: `${width}px` };
}

/** A cell, which says on a card what it is. */
function Cell({ of: name, children }: { of: ColumnName; children: ComponentChildren }) {
  const { class: classes = "" } = COLUMNS[name];
  return (
    <td class={classes || undefined} data-title={classes.includes("card-") ? undefined : columns[name]}>
      {children}
    </td>
  );
}

type RowProps = TableProps & { readonly row: ProviderHealth; readonly isOpen: boolean };

function Row({ row, isOpen, trials, onToggle, onTest, onClear, onDrain }: RowProps) {
  const { provider, name, state, requests, latency_ms, circuit, keys, warm } = row;
  const share = errorShare(row);
  const toggle = () => onToggle(provider);
  return (
    <tr class="clickable" onClick={(event) => isButton(event) || toggle()}>
      <Cell of="provider">
        <button
          type="button"
          class="fold"
          aria-expanded={isOpen}
          title={`${name} (${provider})`}
          onClick={toggle}
        >
          <Icon name={isOpen ? "down" : "right"} size={12} />
          <span>{name}</span>
        </button>
      </Cell>
      <Cell of="state">
        {row.drain === null ? <StateBadge state={state} /> : <DrainedBadge drain={row.drain} />}
      </Cell>
      <Cell of="requests">{requests === 0 ? <None /> : formatCount(requests)}</Cell>
      <Cell of="errors">
        {share === null ? <None /> : <span class={share > 0 ? "bad" : undefined}>{formatShare(share)}</span>}
      </Cell>
      <Cell of="latency">{latency_ms === null ? <None /> : formatDuration(latency_ms.p50)}</Cell>
      <Cell of="circuit">
        <CircuitText circuit={circuit} />
      </Cell>
      <Cell of="keys">
        {keys.length === 0 ? <None /> : text.health.usableKeys(countUsable(row), keys.length)}
      </Cell>
      <Cell of="warm">{warm === 0 ? <None /> : formatCount(warm)}</Cell>
      <Cell of="failure">
        <LastFailure row={row} />
      </Cell>
      <Cell of="actions">
        <div class="row row-actions">
          <Button
            kind="bare"
            size="small"
            label={text.health.testLabel(name)}
            isDisabled={keys.length === 0}
            isBusy={trials[provider]?.kind === "running"}
            onClick={() => onTest(row)}
          >
            {text.health.test}
          </Button>
          <Button kind="bare" size="small" label={text.health.drain.label(name)} onClick={() => onDrain(row)}>
            {text.health.drain.action}
          </Button>
          <Button kind="bare" size="small" label={text.health.clearLabel(name)} onClick={() => onClear(row)}>
            {text.health.clear}
          </Button>
        </div>
      </Cell>
    </tr>
  );
}

function isButton(event: MouseEvent): boolean {
  return (event.target as Element).closest("a, button") !== null || Boolean(getSelection()?.toString());
}

function None() {
  return <span class="faint">–</span>;
}

function LastFailure({ row: { last_failures } }: { row: ProviderHealth }) {
  const [last] = last_failures;
  if (last === undefined) return <None />;
  return (
    <>
      <a class="quiet" href={`/console/requests/${last.generation_id}`}>
        <Time at={last.at} />
      </a>{" "}
      <span title={last.message}>{last.message}</span>
    </>
  );
}
