import type { UsageLine } from "../../api/schema.ts";
import { Figure } from "../../parts/layout/section.tsx";
import { formatCount } from "../../parts/values/format.ts";
import { Money } from "../../parts/values/values.tsx";
import { text } from "../../text/text.ts";
import { sumLines } from "./usage-lines.ts";
import type { UsageOf } from "./usage-panel.tsx";

const words = text.manage;

/** What something has used in the last 30 days; the number of requests leads to them. `days` is null while they are loaded. */
export function UsageFigures({ days, of }: { days: readonly UsageLine[] | null; of: UsageOf }) {
  const total = days === null ? null : sumLines(days);
  return (
    <>
      <Figure name={words.cost30}>
        {total === null ? "…" : <Money nanodollars={total.cost_nanodollars} />}
      </Figure>
      <Figure name={words.requests30}>
        {total === null ? (
          "…"
        ) : (
          <a href={`/console/requests?${new URLSearchParams({ last: "30d", ...of })}`}>
            {formatCount(total.requests)}
          </a>
        )}
      </Figure>
      <Figure name={words.errors30}>{total === null ? "…" : formatCount(total.errors)}</Figure>
    </>
  );
}
