import type { GenerationDetails } from "../../api/schema.ts";
import { Section } from "../../parts/layout/section.tsx";
import { formatCount, formatExactMoney, formatPricePerMillion } from "../../parts/values/format.ts";
import { Copy, Money, Time } from "../../parts/values/values.tsx";
import { text } from "../../text/text.ts";

const words = text.request;
const NANODOLLARS = 1e9;

/** The arithmetic of the cost, and what it did to the account. */
export function Cost({ generation }: { generation: GenerationDetails }) {
  const { pricing, total_cost_nanodollars, upstream_inference_cost, is_byok, held_nanodollars } = generation;
  const { margin_nanodollars, replay_saved_nanodollars } = generation;
  const sum = Math.round(pricing.reduce((all, { cost_nanodollars }) => all + Number(cost_nanodollars), 0));
  const listPrice = Math.round(upstream_inference_cost * NANODOLLARS);
  return (
    <Section id="cost" title={words.whatItCost} summary={<Money nanodollars={total_cost_nanodollars} />}>
      {pricing.length === 0 ? (
        <p class="quiet">{words.noCost}</p>
      ) : (
        <Arithmetic generation={generation} total={sum} />
      )}
      <dl class="facts money">
        <dt>{words.listPrice}</dt>
        <dd>{formatExactMoney(listPrice)}</dd>
        <dt>{words.charged}</dt>
        <dd>
          {formatExactMoney(total_cost_nanodollars)}
          {is_byok ? <span class="quiet"> · {words.byokAbout}</span> : null}
        </dd>
        {replay_saved_nanodollars > 0 ? (
          <>
            <dt>{words.saved}</dt>
            <dd>{formatExactMoney(replay_saved_nanodollars)}</dd>
          </>
        ) : null}
        {margin_nanodollars !== null && margin_nanodollars !== 0 ? (
          <>
            <dt>{words.margin}</dt>
            <dd>{formatExactMoney(margin_nanodollars)}</dd>
          </>
        ) : null}
        {held_nanodollars > 0 ? (
          <>
            <dt>{words.held}</dt>
            <dd>{formatExactMoney(held_nanodollars)}</dd>
            <dt>{words.released}</dt>
            <dd>{formatExactMoney(Math.max(0, held_nanodollars - total_cost_nanodollars))}</dd>
          </>
        ) : null}
        {generation.transfers.map(({ id, kind, amount_nanodollars, created_at, note }) => (
          <>
            <dt key={id}>{words.transfers[kind]}</dt>
            <dd>
              {formatExactMoney(amount_nanodollars)}
              <span class="quiet">
                {" · "}
                <Time at={created_at} />
                {note === null ? "" : ` · ${note}`}
              </span>{" "}
              <Copy value={id} label={text.values.copyId} />
            </dd>
          </>
        ))}
      </dl>
    </Section>
  );
}

function Arithmetic({ generation, total }: { generation: GenerationDetails; total: number }) {
  return (
    <div class="card table-box">
      <table class="table cost-table" aria-label={words.whatItCost}>
        <thead>
          <tr>
            <th scope="col">{words.kind}</th>
            <th scope="col" class="number">
              {words.count}
            </th>
            <th scope="col" class="number">
              {words.price}
            </th>
            <th scope="col" class="number">
              {words.amount}
            </th>
          </tr>
        </thead>
        <tbody>
          {generation.pricing.map(({ kind, model, tokens, count, price, cost_nanodollars }) => (
            <tr key={`${model} ${kind}`}>
              <td>
                {words.kinds[kind as keyof typeof words.kinds] ?? kind}
                {model === undefined ? null : <span class="quiet"> · {model}</span>}
              </td>
              <td class="number">{formatCount(tokens ?? count ?? 0)}</td>
              <td class="number">
                {tokens === undefined ? `$${price}` : `${formatPricePerMillion(price)} / M`}
              </td>
              <td class="number">{formatExactMoney(Number(cost_nanodollars))}</td>
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <td colSpan={3}>{words.sum}</td>
            <td class="number">{formatExactMoney(total)}</td>
          </tr>
        </tfoot>
      </table>
    </div>
  );
}
