import { useEffect, useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { Key } from "../../api/schema.ts";
import { Button } from "../../parts/controls/button.tsx";
import { Check } from "../../parts/controls/field.tsx";
import { Page } from "../../parts/layout/page.tsx";
import { PagedList, usePages } from "../../parts/lists/paged-list.tsx";
import { useLoad } from "../../state/load.ts";
import { query, setQuery } from "../../state/location.ts";
import { forgetOptions, loadOptions } from "../../state/names.ts";
import { isManager, isOperator } from "../../state/session.ts";
import { text } from "../../text/text.ts";
import { KeyForm, NewSecret } from "./key-form.tsx";
import { KeyTable, toRow, type Use } from "./key-table.tsx";
import { RevokeKey } from "./revoke-key.tsx";

const words = text.keys;
const DAYS = 30;
const DAY_MS = 86_400_000;

/** The dialog that is open. */
type Action =
  | { readonly kind: "make" }
  | { readonly kind: "change" | "revoke"; readonly key: Key }
  | { readonly kind: "made"; readonly key: Key; readonly secret: string };

/** The keys that the signed-in person may see, with their limits and their use. */
export default function Keys() {
  const [action, setAction] = useState<Action | null>(null);
  const pages = usePages("keys", (query, signal) => call("GET /api/admin/keys", { query, signal }));
  const useOf = useUses();
  useOwners();
  const showsEnded = query.value["ended"] === "1";
  const toRows = (keys: readonly Key[]) =>
    keys.map((key) => toRow(key, useOf)).filter(({ state }) => showsEnded || state === "active");
  return (
    <Page
      title={words.title}
      fills
      actions={<Actions showsEnded={showsEnded} onMake={() => setAction({ kind: "make" })} />}
    >
      <PagedList pages={pages} newer={words.newer} older={words.older}>
        {(keys) => <KeyTable rows={toRows(keys)} onAction={setAction} />}
      </PagedList>
      <ActionDialog action={action} onAction={setAction} onChanged={pages.reload} />
    </Page>
  );
}

function Actions({ showsEnded, onMake }: { showsEnded: boolean; onMake: () => void }) {
  return (
    <>
      <Check
        label={words.showEnded}
        isChecked={showsEnded}
        onChange={(isChecked) => setQuery({ ended: isChecked ? "1" : null })}
      />
      {isManager.value ? (
        <Button kind="primary" icon="plus" onClick={onMake}>
          {words.make}
        </Button>
      ) : null}
    </>
  );
}

/** The dialog of an action; nothing for null. */
function ActionDialog(props: {
  action: Action | null;
  onAction: (action: Action | null) => void;
  onChanged: () => void;
}) {
  const { action, onAction, onChanged } = props;
  const close = () => onAction(null);
  const saved = (key: Key, secret: string | null) => {
    forgetOptions("keys");
    onChanged();
    onAction(secret === null ? null : { kind: "made", key, secret });
  };
  if (action === null) return null;
  if (action.kind === "make") return <KeyForm key="make" known={null} onClose={close} onSaved={saved} />;
  if (action.kind === "change")
    return <KeyForm key="change" known={action.key} onClose={close} onSaved={saved} />;
  if (action.kind === "made") return <NewSecret secret={action.secret} made={action.key} onClose={close} />;
  return <RevokeKey of={action.key} onClose={close} onDone={onChanged} />;
}

/** Loads the names of accounts for the operator, who sees whose the keys are. */
function useOwners(): void {
  const isForAll = isOperator.value;
  useEffect(() => {
    if (isForAll) loadOptions("accounts");
  }, [isForAll]);
}

/** Returns a function that finds the requests and costs of the last days of a key; it returns null while they are not known. */
function useUses(): (keyId: string) => Use | null {
  const { data } = useLoad("uses", (signal) =>
    call("GET /api/admin/usage", {
      query: {
        from: new Date(Date.now() - DAYS * DAY_MS).toISOString().slice(0, 10),
        group_by: "key",
      },
      signal,
    }),
  );
  if (data === null) return () => null;
  const uses = new Map(
    data.data.map((line) => [line.key ?? "", { requests: line.requests, cost: line.cost_nanodollars }]),
  );
  // A report that is not complete may lack keys that were used.
  const unused = data.is_complete ? { requests: 0, cost: 0 } : null;
  return (keyId) => uses.get(keyId) ?? unused;
}
