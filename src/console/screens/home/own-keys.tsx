import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { Me } from "../../api/schema.ts";
import { Button } from "../../parts/controls/button.tsx";
import { Empty } from "../../parts/layout/states.tsx";
import { PagedRows } from "../../parts/lists/paged-rows.tsx";
import { usePages } from "../../state/pages.ts";
import { text } from "../../text/text.ts";
import { describeBounds } from "../keys/key-bounds.ts";
import type { ListedKey } from "../keys/key-details.ts";
import { type KeyAction, KeyDialog } from "../keys/key-dialog.tsx";
import { useUses } from "../keys/key-list.tsx";
import { countLeft, mayMakeKey } from "../keys/key-rights.ts";
import { KeyTable, toRow } from "../keys/key-table.tsx";

const words = text.home;
const ROWS = 100;

/** The valid inference keys of the person, to be made, rotated and revoked. */
export function OwnKeys({ me }: { me: Me }) {
  const [action, setAction] = useState<KeyAction | null>(null);
  const account = me.account?.id ?? null;
  const of = { account, user: me.user?.id };
  const pages = usePages<ListedKey>(`own ${me.user?.id}`, (after, signal) =>
    call("GET /api/admin/keys", {
      query: { account_id: account, user_id: of.user, limit: ROWS, after },
      signal,
    }),
  );
  const useOf = useUses(of);
  const rows = pages.rows
    ?.map((key) => toRow(key, useOf))
    .filter(({ key, state }) => state === "active" && key.kind === "inference");
  return (
    <section class="card">
      <div class="card-head">
        <h2>{words.keys}</h2>
        <Bounds me={me} />
        <span class="grow" />
        <a href="/console/keys">{words.allKeys}</a>
        {mayMakeKey(me) ? (
          <Button kind="primary" size="small" icon="plus" onClick={() => setAction({ kind: "make" })}>
            {text.keys.make}
          </Button>
        ) : null}
      </div>
      <PagedRows
        pages={{ ...pages, rows: rows ?? null }}
        lines={3}
        empty={
          <Empty title={words.noKeys}>
            <p>{me.own_keys?.count === 0 ? text.keys.noOwnKeys : words.noKeysAbout}</p>
          </Empty>
        }
      >
        {(shown) => <KeyTable rows={shown} of={of} onAction={setAction} />}
      </PagedRows>
      <KeyDialog action={action} owner={of} onAction={setAction} onChanged={pages.reload} />
    </section>
  );
}

/** How many keys the person has of how many, or why they can make none. */
function Bounds({ me }: { me: Me }) {
  const { own_keys: bounds } = me;
  if (bounds === null || bounds.count === 0) return null;
  const isUsedUp = countLeft(me) === 0 && bounds.count !== null;
  return (
    <span class="quiet">{isUsedUp ? text.keys.usedUp(bounds.count ?? 0) : describeBounds(bounds)[0]}</span>
  );
}
