import type { LedgerEntry } from "../../api/schema.ts";
import { Button } from "../../parts/controls/button.tsx";
import { Field, Select } from "../../parts/controls/field.tsx";
import { Empty } from "../../parts/layout/states.tsx";
import { query, setQuery } from "../../state/location.ts";
import { text } from "../../text/text.ts";

type Kind = LedgerEntry["kind"];

/** Which transfers are listed: of a kind, and of days in UTC. Null does not filter. */
export interface LedgerFilters {
  readonly kind: Kind | null;
  readonly from: string | null;
  readonly to: string | null;
}

const KINDS = Object.keys(text.credits.kinds) as Kind[];
const KIND_CHOICES = [
  { value: "", label: text.credits.allKinds },
  ...KINDS.map((value) => ({ value, label: text.credits.kinds[value] })),
];

/** Reads the filters from the address. What is not valid does not filter. */
export function readLedgerFilters(): LedgerFilters {
  const { kind, from, to } = query.value;
  const readDay = (day: string | undefined) => (/^\d{4}-\d\d-\d\d$/.test(day ?? "") ? (day ?? null) : null);
  return { kind: KINDS.find((name) => name === kind) ?? null, from: readDay(from), to: readDay(to) };
}

/** The fields above the ledger. What they say is in the address. */
export function LedgerFilterBar({ kind, from, to }: LedgerFilters) {
  return (
    <div class="row wrap ledger-filters">
      <Field
        type="date"
        label={text.credits.from}
        hidesLabel
        value={from ?? ""}
        onInput={(value) => setQuery({ from: value })}
      />
      <span class="faint" aria-hidden="true">
        –
      </span>
      <Field
        type="date"
        label={text.credits.to}
        hidesLabel
        value={to ?? ""}
        onInput={(value) => setQuery({ to: value })}
      />
      <Select
        label={text.credits.ledgerKind}
        hidesLabel
        value={kind ?? ""}
        choices={KIND_CHOICES}
        onChange={(value) => setQuery({ kind: value })}
      />
    </div>
  );
}

/** Shown in an empty ledger: that there are no transfers, or that the filters exclude all of them. */
export function NoTransfers({ kind, from, to }: LedgerFilters) {
  if (kind === null && from === null && to === null)
    return (
      <Empty title={text.credits.noLedger}>
        <p>{text.credits.noLedgerAbout}</p>
      </Empty>
    );
  return (
    <Empty title={text.credits.noMatch}>
      <p>{text.credits.noMatchAbout}</p>
      <Button onClick={() => setQuery({ kind: null, from: null, to: null })}>
        {text.credits.clearFilters}
      </Button>
    </Empty>
  );
}
