import { accounts, loadAccounts } from "../../state/accounts/accounts.ts";
import { Combobox } from "./combobox.tsx";

/** A choice of one of the accounts, by name. Ids may be pasted. */
export function AccountPicker(props: {
  label: string;
  value: string | null;
  onChange: (id: string | null) => void;
  showsLabel?: boolean;
  /** Only accounts of this kind. */
  kind?: "user" | "organization";
}) {
  const options = accounts.value
    .filter(({ kind }) => props.kind === undefined || kind === props.kind)
    .map(({ id, name, kind }) => ({
      value: id,
      label: name,
      detail: props.kind === undefined ? kind : id.slice(-6),
    }));
  if (props.value !== null) loadAccounts();
  return (
    <div class="account-picker">
      <Combobox
        label={props.label}
        hidesLabel={!props.showsLabel}
        value={props.value}
        options={options}
        onChange={props.onChange}
        onOpen={loadAccounts}
        allowsOther
      />
    </div>
  );
}
