import { ScrollBox } from "../../parts/lists/scroll-box.tsx";
import { formatCount } from "../../parts/values/format.ts";
import type { ModelDetails } from "../../state/catalog/model-types.ts";
import { text } from "../../text/text.ts";
import { formatPerMillion } from "./model-format.ts";
import { Price } from "./model-values.tsx";

const words = text.models;
type Endpoint = ModelDetails["endpoints"][number];
type PriceRow = Endpoint["prices"][number];

/** The price rows of all endpoints of a model, with the days on which they apply. */
export function PricesTable({ endpoints }: { endpoints: readonly Endpoint[] }) {
  const rows = endpoints.flatMap(({ provider_name, upstream_model, prices }) =>
    prices.map((row) => ({ row, provider_name, upstream_model })),
  );
  if (rows.length === 0) return <p class="quiet">{words.noPrices}</p>;
  return (
    <ScrollBox kind="card" label={words.prices}>
      <table class="table prices-table">
        <thead>
          <tr>
            {Object.entries(words.priceColumns).map(([name, title]) => (
              <th key={name} class={`col-${name}${isNumber(name) ? " number" : ""}`}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ row, provider_name, upstream_model }) => (
            <Row
              key={`${provider_name} ${upstream_model} ${row.from} ${row.min_prompt_tokens}`}
              provider={provider_name}
              row={row}
            />
          ))}
        </tbody>
      </table>
    </ScrollBox>
  );
}

const isNumber = (name: string) => ["input", "output", "cacheRead", "cacheWrite"].includes(name);

function Row({ provider, row }: { provider: string; row: PriceRow }) {
  const { from, until, min_prompt_tokens, is_current, pricing } = row;
  return (
    <tr class={is_current ? undefined : "faint"}>
      <td title={provider}>{provider}</td>
      <td>{printDays(from, until)}</td>
      <td>{min_prompt_tokens === 0 ? words.allPrompts : words.promptFrom(formatCount(min_prompt_tokens))}</td>
      <td class="number">
        <Price value={pricing.prompt} />
      </td>
      <td class="number">
        <Price value={pricing.completion} />
      </td>
      <td class="number">
        <Price value={pricing.input_cache_read} />
      </td>
      <td class="number">
        <Price value={pricing.input_cache_write} />
      </td>
      <td class="wraps">{printOthers(pricing)}</td>
    </tr>
  );
}

function printDays(from: string | null, until: string | null): string {
  if (from === null) return until === null ? words.always : words.until(until);
  return until === null ? words.from(from) : words.between(from, until);
}

/** Returns the prices that have no column: `$0.01 / search`. */
function printOthers(pricing: PriceRow["pricing"]): string {
  const names = Object.entries(words.otherPrices);
  const others = names.flatMap(([name, unit]) => {
    const price = pricing[name as keyof typeof pricing];
    if (price === undefined) return [];
    const dollars = unit.startsWith("M ") ? Number(price) * 1_000_000 : Number(price);
    return [`$${formatPerMillion(dollars)} / ${unit}`];
  });
  return others.join(", ") || "–";
}
