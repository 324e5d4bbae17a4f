import type { ComponentChildren } from "preact";
import type { Me } from "../../api/schema.ts";
import { ShareBar } from "../../parts/charts/share-bar.tsx";
import { formatMoney } from "../../parts/values/format.ts";
import { Time } from "../../parts/values/values.tsx";
import { text } from "../../text/text.ts";

const words = text.home;
const NANODOLLARS = 1e9;

type OwnBudget = Me["budgets"][number];

/** What the person may still spend: of their daily limit, and of each budget that counts for all of their requests. */
export function WhatIsLeft({ of: me }: { of: Me }) {
  const { daily_limit, spent_today, budgets } = me;
  const isUnlimited = daily_limit === null && budgets.length === 0;
  return (
    <section class="card">
      <div class="card-head">
        <h2>{words.left}</h2>
      </div>
      <div class="card-body stack">
        {isUnlimited ? <p class="quiet">{words.unlimited}</p> : null}
        {daily_limit === null ? (
          <p class="quiet">{words.spentToday(formatMoney(spent_today * NANODOLLARS))}</p>
        ) : (
          <Left name={words.today} limit={daily_limit} spent={spent_today} />
        )}
        {budgets.map((budget) => (
          <Left
            key={budget.id}
            name={budget.name}
            limit={budget.limit}
            spent={budget.spent ?? 0}
            about={<About budget={budget} teams={me.teams} />}
          />
        ))}
      </div>
    </section>
  );
}

/** Whose a budget is, its period, and when it begins again. */
function About({ budget, teams }: { budget: OwnBudget; teams: Me["teams"] }) {
  const { subject, team_id, period, days, resets_at, action } = budget;
  const team = teams.find(({ id }) => id === team_id)?.name ?? "";
  const whose =
    subject === "team"
      ? words.budgetOf.team(team)
      : words.budgetOf[subject === "member" ? subject : "account"];
  const each = days === null ? text.budgets.periods[period] : text.budgets.ofDays(days);
  return (
    <>
      {whose} · {each}
      {action === "warn" ? ` · ${words.onlyWarns}` : null}
      {resets_at === null ? null : (
        <>
          {" "}
          · {words.resets} <Time at={resets_at} />
        </>
      )}
    </>
  );
}

/** One limit with a bar of what is spent of it. Dollars. */
function Left(props: { name: string; limit: number; spent: number; about?: ComponentChildren }) {
  const { name, limit, spent, about } = props;
  const isReached = spent >= limit;
  const shown = formatMoney(limit * NANODOLLARS);
  return (
    <div class="left-line">
      <div class="row wrap">
        <span class="grow strong-name">{name}</span>
        <span class={isReached ? "bad number" : "number"}>
          {isReached ? words.reached(shown) : words.leftOf(formatMoney((limit - spent) * NANODOLLARS), shown)}
        </span>
      </div>
      <ShareBar share={limit === 0 ? 1 : spent / limit} isReached={isReached} />
      {about === undefined ? null : <p class="field-hint">{about}</p>}
    </div>
  );
}
