import type { Key } from "../../api/schema.ts";
import { forgetOptions } from "../../state/names.ts";
import { KeyForm, NewSecret } from "./key-form.tsx";
import { RevokeKey } from "./revoke-key.tsx";

/** The dialog about keys that is open. */
export type KeyAction =
  | { readonly kind: "make" }
  | { readonly kind: "change" | "revoke"; readonly key: Key }
  | { readonly kind: "made"; readonly key: Key; readonly secret: string };

/** The dialog of an action; nothing for null. */
export function KeyDialog(props: {
  action: KeyAction | null;
  /** The account that a new key is for; null to choose it. */
  account: string | null;
  onAction: (action: KeyAction | null) => void;
  onChanged: () => void;
}) {
  const { action, account, onAction, onChanged } = props;
  const close = () => onAction(null);
  const saved = (key: Key, secret: string | null) => {
    forgetOptions("keys");
    onChanged();
    onAction(secret === null ? null : { kind: "made", key, secret });
  };
  if (action === null) return null;
  if (action.kind === "make")
    return <KeyForm key="make" known={null} account={account} onClose={close} onSaved={saved} />;
  if (action.kind === "change")
    return <KeyForm key="change" known={action.key} account={account} onClose={close} onSaved={saved} />;
  if (action.kind === "made") return <NewSecret secret={action.secret} made={action.key} onClose={close} />;
  return <RevokeKey of={action.key} onClose={close} onDone={onChanged} />;
}
