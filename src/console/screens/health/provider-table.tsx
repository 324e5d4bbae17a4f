import { Fragment } from "preact";
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

const TITLES = [
  { title: columns.provider, width: 168 },
  { title: columns.state, width: 104 },
  { title: columns.requests, hint: columnHints.requests, width: 92, isNumber: true },
  { title: columns.errors, hint: columnHints.errors, width: 70, isNumber: true },
  { title: columns.latency, hint: columnHints.latency, width: 88, isNumber: true },
  { title: columns.circuit, width: 84 },
  { title: columns.keys, hint: columnHints.keys, width: 66, isNumber: true },
  { title: columns.warm, hint: columnHints.warm, width: 96, isNumber: true },
  { title: columns.failure },
  { title: columns.actions, width: 164 },
] as const;
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
      <table class="table" aria-label={text.health.list} style={{ minWidth: `${MIN_WIDTH}px` }}>
        <colgroup>
          {TITLES.map((column) => (
            <col key={column.title} style={"width" in column ? { width: `${column.width}px` } : {}} />
          ))}
        </colgroup>
        <thead>
          <tr>
            {TITLES.map((column) => (
              <th
                key={column.title}
                scope="col"
                class={"isNumber" in column ? "number" : undefined}
                title={"hint" in column ? column.hint : undefined}
              >
                {column.title}
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
                  <td colSpan={TITLES.length}>
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

type RowProps = TableProps & { readonly row: ProviderHealth; readonly isOpen: boolean };

function Row({ row, isOpen, trials, onToggle, onTest, onClear, onDrain }: RowProps) {
  const { provider, name, state, requests, latency_ms, circuit, keys, warm } = row;
  const share = errorShare(row);
  const toggle = () => onToggle(provider);
  return (
    <tr class="clickable" onClick={(event) => isButton(event) || toggle()}>
      <td>
        <button
          type="button"
          class="fold"
          aria-expanded={isOpen}
          title={`${name} (${provider})`}
          onClick={toggle}
        >
          <Icon name={isOpen ? "down" : "right"} size={12} />
          <span class="cut">{name}</span>
        </button>
      </td>
      <td>{row.drain === null ? <StateBadge state={state} /> : <DrainedBadge drain={row.drain} />}</td>
      <td class="number">{requests === 0 ? <None /> : formatCount(requests)}</td>
      <td class="number">
        {share === null ? <None /> : <span class={share > 0 ? "bad" : undefined}>{formatShare(share)}</span>}
      </td>
      <td class="number">{latency_ms === null ? <None /> : formatDuration(latency_ms.p50)}</td>
      <td>
        <CircuitText circuit={circuit} />
      </td>
      <td class="number">
        {keys.length === 0 ? <None /> : text.health.usableKeys(countUsable(row), keys.length)}
      </td>
      <td class="number">{warm === 0 ? <None /> : formatCount(warm)}</td>
      <td>
        <LastFailure row={row} />
      </td>
      <td>
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
      </td>
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
