import { useState } from "preact/hooks";
import { AccountPicker } from "../../parts/controls/account-picker.tsx";
import { Button } from "../../parts/controls/button.tsx";
import { Check, Field } from "../../parts/controls/field.tsx";
import { Segments } from "../../parts/controls/segments.tsx";
import { Dialog } from "../../parts/layout/dialog.tsx";
import { setQuery } from "../../state/location.ts";
import { isOperator } from "../../state/session.ts";
import { text } from "../../text/text.ts";
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

/** The choice of the range, the account and the comparison. All of it is in the address. */
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
      <span class="quiet nowrap" title={text.usage.utc[view.period.step]}>
        {printPeriod(view.period)}
      </span>
      <span class="grow" />
      {isOperator.value ? (
        <AccountPicker
          label={text.usage.allAccounts}
          value={view.account}
          onChange={(account) => setQuery({ account })}
        />
      ) : null}
      <Check
        label={text.usage.compare}
        isChecked={view.isCompared}
        onChange={(isChecked) => setQuery({ compare: isChecked ? null : "no" })}
      />
      <Filters view={view} />
      {isChoosing ? <OwnRange days={toDays(view.period)} onClose={() => setChoosing(false)} /> : null}
    </div>
  );
}

/** The days of a period, from which an own range is changed. */
function toDays({ from, to }: Period): DayRange {
  const chars = "YYYY-MM-DD".length;
  return { from: from.slice(0, chars), to: to.slice(0, chars) };
}

const FILTERED = ["model", "provider", "key", "user", "tag"] as const;

/** The filters that are set; pressing one removes it. */
function Filters({ view }: { view: UsageView }) {
  return (
    <>
      {FILTERED.map((dimension) => {
        const value = view.filters[FILTERS[dimension]];
        const name = text.usage.dimensions[dimension];
        if (value === undefined) return null;
        return (
          <Button
            key={dimension}
            icon="close"
            label={text.usage.removeFilter(name)}
            onClick={() => setQuery({ [FILTERS[dimension]]: null })}
          >
            {text.usage.filter(name, value)}
          </Button>
        );
      })}
    </>
  );
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
        hint={text.usage.utc.day}
      />
      <Field label={text.usage.to} type="date" value={to} onInput={setTo} isRequired error={problem} />
    </Dialog>
  );
}
