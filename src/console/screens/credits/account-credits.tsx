import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import { Button } from "../../parts/controls/button.tsx";
import { Crumbs } from "../../parts/layout/crumbs.tsx";
import { Page } from "../../parts/layout/page.tsx";
import { ErrorBox, NameSkeleton, Skeleton } from "../../parts/layout/states.tsx";
import { Id, Money } from "../../parts/values/values.tsx";
import { loadAccountName } from "../../state/accounts/accounts.ts";
import { useLoad } from "../../state/load.ts";
import { query, setQuery } from "../../state/location.ts";
import { isOperator } from "../../state/session.ts";
import { text } from "../../text/text.ts";
import type { Balance } from "./balance.ts";
import { ChangeCredits, type ChangeKind } from "./change-credits.tsx";
import { Grants } from "./grants.tsx";
import { Holds } from "./holds.tsx";
import { Ledger } from "./ledger.tsx";

/** In the address, so that the form is open again after a sign-in. */
const CHANGES: readonly ChangeKind[] = ["credits", "correction"];

/** The balance of one account, its expiring credits, and its ledger. */
export function AccountCredits({ id, knownName }: { id: string; knownName: string | null }) {
  const change = CHANGES.find((kind) => kind === query.value["change"]) ?? null;
  const setChange = (kind: ChangeKind | null) => setQuery({ change: kind });
  const [round, setRound] = useState(0);
  const balance = useLoad(`${id} ${round}`, async (signal) => {
    return (await call("GET /api/admin/accounts/{id}/balance", { params: { id }, signal })).data;
  });
  const spent = useLoad(`${id} ${round}`, (signal) => loadSpent(id, signal));
  const loaded = useLoad(knownName === null ? id : null, (signal) => loadAccountName(id, signal));
  const name = knownName ?? loaded.data ?? (loaded.error === null ? null : id);
  return (
    <Page
      title={`${text.credits.title}: ${name ?? id}`}
      heading={<Heading id={id} name={name} />}
      actions={
        isOperator.value ? (
          <>
            <Button onClick={() => setChange("correction")}>{text.credits.correct}</Button>
            <Button kind="primary" icon="plus" onClick={() => setChange("credits")}>
              {text.credits.add}
            </Button>
          </>
        ) : null
      }
    >
      <div class="stack">
        {balance.error === null ? null : <ErrorBox error={balance.error} onRetry={balance.reload} />}
        {balance.data === null ? (
          balance.error === null ? (
            <Skeleton lines={1} height={40} />
          ) : null
        ) : (
          <>
            <Figures balance={balance.data} spent={spent.data} />
            <Grants grants={balance.data.grants} />
            {isOperator.value && balance.data.held_nanodollars > 0 ? <Holds id={id} /> : null}
          </>
        )}
        {balance.error?.status === 404 ? null : <Ledger id={id} round={round} />}
      </div>
      {change === null || balance.data === null || !isOperator.value ? null : (
        <ChangeCredits
          kind={change}
          account={{ id, name: name ?? id }}
          balance={balance.data.balance_nanodollars}
          onClose={() => setChange(null)}
          onDone={() => setRound((before) => before + 1)}
        />
      )}
    </Page>
  );
}

function Heading({ id, name }: { id: string; name: string | null }) {
  return (
    <Crumbs
      list={isOperator.value ? { title: text.credits.title, address: "/console/credits" } : undefined}
      title={isOperator.value ? (name ?? <NameSkeleton />) : text.credits.title}
      hint={name ?? undefined}
    >
      <Id id={id} />
    </Crumbs>
  );
}

function Figures({ balance, spent }: { balance: Balance; spent: number | null }) {
  const figures = [
    ["balance", balance.balance_nanodollars],
    ["held", balance.held_nanodollars],
    ["available", balance.available_nanodollars],
    ["spent", spent],
  ] as const;
  return (
    <dl class="figures">
      {figures.map(([name, value]) => (
        <div key={name}>
          <dt class="figure-name" title={text.credits.figureHints[name]}>
            {text.credits.figures[name]}
          </dt>
          <dd class={value !== null && value < 0 ? "figure-value bad" : "figure-value"}>
            {value !== null ? (
              <Money nanodollars={value} />
            ) : name === "available" ? (
              text.credits.unlimited
            ) : (
              "–"
            )}
          </dd>
        </div>
      ))}
    </dl>
  );
}

async function loadSpent(id: string, signal: AbortSignal): Promise<number> {
  const query = { group_by: "account", account_id: id };
  const { data } = await call("GET /api/admin/usage", { query, signal });
  return data.reduce((sum, { cost_nanodollars }) => sum + cost_nanodollars, 0);
}
