import type { UsageLine } from "../../api/schema.ts";
import { ShareBar } from "../../parts/charts/share-bar.tsx";
import { Figure } from "../../parts/layout/section.tsx";
import { formatMoney } from "../../parts/values/format.ts";
import { Money, Time } from "../../parts/values/values.tsx";
import { text } from "../../text/text.ts";
import { UsageFigures } from "../usage/usage-figures.tsx";
import type { KeyDetails } from "./key-details.ts";
import { spentInPeriod } from "./spent-in-period.ts";

const words = text.manage;
const NANODOLLARS = 1e9;

/** What was spent with a key, against its limit, and its use in the last 30 days. `days` is null while it is loaded. */
export function KeyFigures({ of: key, days }: { of: KeyDetails; days: readonly UsageLine[] | null }) {
  return (
    <dl class="figures">
      <LimitFigure of={key} days={days} />
      <Figure name={words.spentInAll}>
        <Money nanodollars={key.usage_nanodollars} />
      </Figure>
      <UsageFigures days={days} of={{ key_id: key.id }} />
      <Figure name={text.keys.used}>
        {key.last_used_at === null ? text.keys.never : <Time at={key.last_used_at} />}
      </Figure>
      <Figure name={text.keys.created}>
        <Time at={key.created_at} />
      </Figure>
    </dl>
  );
}

function LimitFigure({ of: key, days }: { of: KeyDetails; days: readonly UsageLine[] | null }) {
  if (key.spend_limit === null) return <Figure name={text.keys.limit}>{text.keys.noLimit}</Figure>;
  const limit = key.spend_limit * NANODOLLARS;
  const spent = spentInPeriod(key, days, Date.now());
  const isReached = spent !== null && spent >= limit;
  return (
    <Figure name={words.limitOf[key.spend_limit_period]}>
      <span class={isReached ? "bad" : undefined}>
        {`${spent === null ? "…" : formatMoney(spent)} / ${formatMoney(limit)}`}
      </span>
      <ShareBar share={limit === 0 ? 1 : (spent ?? 0) / limit} isReached={isReached} />
    </Figure>
  );
}
