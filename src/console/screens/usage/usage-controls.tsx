import { useState } from "preact/hooks";
import { Button } from "../../parts/controls/button.tsx";
import { Check, Field } from "../../parts/controls/field.tsx";
import { Segments } from "../../parts/controls/segments.tsx";
import { FilterBar } from "../../parts/filters/filter-bar.tsx";
import type { FilterField } from "../../parts/filters/filter-fields.ts";
import { namedField } from "../../parts/filters/named-field.ts";
import { Dialog } from "../../parts/layout/dialog.tsx";
import { ZoneSwitch } from "../../parts/values/zone.tsx";
import { setQuery } from "../../state/location.ts";
import { isOperator } from "../../state/session.ts";
import { nameOffset } from "../../state/time-zone.ts";
import { text } from "../../text/text.ts";
import { seesTeams, seesUsers } from "../requests/filter-fields.ts";
import {
  countDays,
  type DayRange,
  FILTERS,
  MAX_DAYS,
  type Period,
  printPeriod,
  RANGE_NAMES,
  type UsageView,
} from "./usage-view.ts";

/** The choice of the range, the comparison and the filters. All of it is in the address. */
export function UsageControls({ view }: { view: UsageView }) {
  const [isChoosing, setChoosing] = useState(false);
  const choose = (range: string) => {
    if (range === "own") setChoosing(true);
    else setQuery({ range, from: null, to: null });
  };
  return (
    <div class="row wrap">
      <Segments
        label={text.usage.range}
        value={view.range}
        choices={RANGE_NAMES.map((value) => ({ value, label: text.usage.ranges[value] }))}
        onChange={choose}
      />
      <span class="quiet nowrap">
        {printPeriod(view.period)} <ZoneSwitch kind="short" />
      </span>
      <Check
        label={text.usage.compare}
        isChecked={view.isCompared}
        onChange={(isChecked) => setQuery({ compare: isChecked ? null : "no" })}
      />
      <FilterBar
        fields={listFilterFields()}
        values={{ ...view.filters, account: view.account ?? undefined }}
        onChange={setQuery}
      />
      {isChoosing ? <OwnRange days={toDays(view.period)} onClose={() => setChoosing(false)} /> : null}
    </div>
  );
}

const names = text.usage.dimensions;

/** Returns the fields that the signed-in person can filter usage by. */
function listFilterFields(): readonly FilterField[] {
  return [
    namedField(FILTERS.model, names.model, "models"),
    namedField(FILTERS.provider, names.provider, "providers"),
    namedField(FILTERS.key, names.key, "keys"),
    ...(seesUsers() ? [namedField(FILTERS.user, names.user, "users")] : []),
    ...(seesTeams() ? [namedField(FILTERS.team, names.team, "teams")] : []),
    ...(isOperator.value ? [namedField("account", names.account, "accounts")] : []),
    { ...namedField(FILTERS.client, names.client, "clients"), isClosed: true },
    namedField(FILTERS.tag, names.tag, "tags"),
  ];
}

/** The days of a period, from which an own range is changed. */
function toDays({ from, to }: Period): DayRange {
  const chars = "YYYY-MM-DD".length;
  return { from: from.slice(0, chars), to: to.slice(0, chars) };
}

function OwnRange({ days, onClose }: { days: DayRange; onClose: () => void }) {
  const [from, setFrom] = useState(days.from);
  const [to, setTo] = useState(days.to);
  const problem =
    from > to
      ? text.usage.wrongOrder
      : countDays({ from, to }) > MAX_DAYS
        ? text.usage.tooLong(MAX_DAYS)
        : null;
  const submit = () => {
    if (problem !== null) return;
    setQuery({ range: null, from, to });
    onClose();
  };
  return (
    <Dialog
      title={text.usage.ownRange}
      onClose={onClose}
      onSubmit={submit}
      foot={
        <>
          <Button onClick={onClose}>{text.usage.cancel}</Button>
          <Button kind="primary" isSubmit>
            {text.usage.apply}
          </Button>
        </>
      }
    >
      <Field
        label={text.usage.from}
        type="date"
        value={from}
        onInput={setFrom}
        isRequired
        hint={text.times.daysIn(nameOffset(Date.now()))}
      />
      <Field label={text.usage.to} type="date" value={to} onInput={setTo} isRequired error={problem} />
    </Dialog>
  );
}
