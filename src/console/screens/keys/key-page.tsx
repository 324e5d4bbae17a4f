import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { Key } from "../../api/schema.ts";
import { Button } from "../../parts/controls/button.tsx";
import { Crumbs } from "../../parts/layout/crumbs.tsx";
import { Page } from "../../parts/layout/page.tsx";
import { ErrorBox, NameSkeleton, Skeleton } from "../../parts/layout/states.tsx";
import { Badge } from "../../parts/values/badge.tsx";
import { Id } from "../../parts/values/values.tsx";
import { useLoad } from "../../state/load.ts";
import { text } from "../../text/text.ts";
import { AppliedBudgets } from "../budgets/applied-budgets.tsx";
import { RecentRequests } from "../requests/recent-requests.tsx";
import { UsagePanel, useDailyUsage } from "../usage/usage-panel.tsx";
import { FormerSecret } from "./former-secret.tsx";
import type { KeyDetails } from "./key-details.ts";
import { type KeyAction, KeyDialog } from "./key-dialog.tsx";
import { KeyFacts } from "./key-facts.tsx";
import { KeyFigures } from "./key-figures.tsx";
import { mayChangeKey } from "./key-rights.ts";
import { stateOf } from "./key-table.tsx";

/** One key: its settings, what was spent with it, the budgets that apply to it, and its newest requests. */
export function KeyPage({ id }: { id: string }) {
  const [action, setAction] = useState<KeyAction | null>(null);
  const { data, error, reload } = useLoad(id, async (signal) => {
    return (await call("GET /api/admin/keys/{id}", { params: { id }, signal })).data;
  });
  return (
    <Page
      title={data?.name ?? text.keys.title}
      heading={<Heading of={data} id={id} hasFailed={error !== null} />}
      actions={data === null ? null : <Actions of={data} onAction={setAction} />}
    >
      {error === null ? null : <ErrorBox error={error} onRetry={reload} />}
      {data !== null ? <Content of={data} /> : error === null ? <Skeleton lines={10} /> : null}
      <KeyDialog
        action={action}
        owner={{ account: data?.account_id ?? null }}
        onAction={setAction}
        onChanged={reload}
      />
    </Page>
  );
}

function Heading({ of: key, id, hasFailed }: { of: KeyDetails | null; id: string; hasFailed: boolean }) {
  const state = key === null ? "active" : stateOf(key);
  return (
    <Crumbs
      list={{ title: text.keys.title, address: "/console/keys" }}
      title={key?.name ?? (hasFailed ? text.keys.title : <NameSkeleton />)}
      hint={key?.name}
    >
      {state === "active" ? null : <Badge tone="warn">{text.keys.states[state]}</Badge>}
      {key?.kind === "management" ? <Badge tone="accent">{text.keys.kinds.management}</Badge> : null}
      <Id id={id} />
    </Crumbs>
  );
}

function Actions({ of: key, onAction }: { of: Key; onAction: (action: KeyAction) => void }) {
  if (key.revoked_at !== null || !mayChangeKey(key)) return null;
  return (
    <>
      <Button onClick={() => onAction({ kind: "change", key })}>{text.keys.edit}</Button>
      {stateOf(key) === "active" ? (
        <Button onClick={() => onAction({ kind: "rotate", key })}>{text.keys.rotate}</Button>
      ) : null}
      <Button kind="danger" onClick={() => onAction({ kind: "revoke", key })}>
        {text.keys.revoke}
      </Button>
    </>
  );
}

function Content({ of: key }: { of: KeyDetails }) {
  const usage = useDailyUsage({ key_id: key.id });
  if (key.kind === "management")
    return (
      <div class="stack readable">
        <FormerSecret of={key} />
        <KeyFacts of={key} />
      </div>
    );
  return (
    <div class="stack">
      <FormerSecret of={key} />
      <KeyFigures of={key} days={usage.data} />
      <div class="side-by-side">
        <KeyFacts of={key} />
        <AppliedBudgets of={key} />
      </div>
      <UsagePanel usage={usage} />
      <RecentRequests of={{ key_id: key.id }} />
      <p>
        <a href={`/console/responses?${new URLSearchParams({ account_id: key.account_id, key_id: key.id })}`}>
          {text.responses.title}
        </a>
      </p>
    </div>
  );
}
