import { useState } from "preact/hooks";
import { type ApiError, call } from "../../api/client.ts";
import type { Key } from "../../api/schema.ts";
import { Field } from "../../parts/controls/field.tsx";
import { FormError } from "../../parts/forms/form-error.tsx";
import { Dialog, DialogButtons } from "../../parts/layout/dialog.tsx";
import {
  findProblem,
  type KeyInput,
  NEW_KEY,
  readKey,
  toChanges,
  toSettings,
} from "../../state/accounts/key-input.ts";
import { useMe } from "../../state/accounts/me.ts";
import { toApiError } from "../../state/load.ts";
import { can, leads, session } from "../../state/session.ts";
import { text } from "../../text/text.ts";
import { lastDayOf } from "./key-bounds.ts";
import { KeyIdentity, type KeyOwner } from "./key-identity.tsx";
import { KeyLimits } from "./key-limits.tsx";
import { makesOwnOnly, managesKey } from "./key-rights.ts";
import { OwnBounds } from "./own-bounds.tsx";

const words = text.keys;

/** The names of the API's fields by the form's. */
const API_FIELDS: Readonly<Partial<Record<keyof KeyInput, string>>> = {
  name: "name",
  accountId: "account_id",
  userId: "user_id",
  teamId: "team_id",
  models: "models",
  spendLimit: "spend_limit",
  spendLimitPeriod: "spend_limit_period",
  requestsPerMinute: "rate_limit",
  promptLog: "prompt_log",
  cache: "cache",
  tags: "tags",
  expires: "expires_at",
};

interface FormProps {
  /** The key to change; null for a new one. */
  readonly known: Key | null;
  /** Whose a new key is. */
  readonly owner: KeyOwner;
  readonly onClose: () => void;
  readonly onSaved: (key: Key, secret: string | null) => void;
}

/** A dialog for a new key, or for the settings of one. Calls `onSaved` with the key, and with its secret if it is new. */
export function KeyForm(props: FormProps) {
  const { known, owner, onClose } = props;
  const { input, setInput, submit, errorOf, otherError, isBusy } = useKeyForm(props);
  const set = (name: keyof KeyInput) => (value: string | null) => setInput({ ...input, [name]: value });
  // Without the right to manage the key, it is one of their own, within bounds.
  const isManaged = known === null ? can("manage_keys") || leads(input.teamId) : managesKey(known);
  const me = useMe(known === null && makesOwnOnly()).data;
  const bounds = isManaged ? null : (me?.own_keys ?? null);
  const action = known === null ? words.make : words.save;
  return (
    <Dialog
      title={known === null ? words.make : words.change(known.name)}
      onClose={onClose}
      onSubmit={submit}
      foot={<Foot action={action} isBusy={isBusy} onClose={onClose} />}
    >
      {known !== null && !isManaged ? <p class="quiet">{words.tighterOnly}</p> : null}
      {bounds === null ? null : <OwnBounds bounds={bounds} />}
      <Field
        label={words.name}
        hint={words.nameHint}
        value={input.name}
        onInput={set("name")}
        error={errorOf("name")}
        hasFocus
      />
      {known === null ? (
        <KeyIdentity input={input} owner={owner} onChange={setInput} errorOf={errorOf} />
      ) : null}
      {input.kind === "inference" ? (
        <KeyLimits
          input={input}
          set={set}
          errorOf={errorOf}
          bounds={bounds}
          extent={isManaged ? "all" : known === null ? "own" : "tighter"}
        />
      ) : null}
      <Field
        label={words.expires}
        hint={bounds?.days == null ? words.expiresHint : words.latest(lastDayOf(bounds.days, Date.now()))}
        type="date"
        value={input.expires}
        onInput={set("expires")}
        error={errorOf("expires")}
      />
      <FormError error={otherError} />
    </Dialog>
  );
}

/** Returns the state of the form, the error of each field, and the error that belongs to no field. */
function useKeyForm({ known, owner, onSaved }: Omit<FormProps, "onClose">) {
  const [input, setInput] = useState<KeyInput>(known === null ? newKeyOf(owner) : readKey(known));
  const [problem, setProblem] = useState<{ field: string; message: string } | null>(null);
  const [error, setError] = useState<ApiError | null>(null);
  const [isBusy, setBusy] = useState(false);
  const submit = async () => {
    const found = findProblem(input);
    setProblem(found === null ? null : { field: found.field, message: words.problems[found.problem] });
    setError(null);
    if (found !== null) return;
    setBusy(true);
    try {
      const { key, secret } = await save(known, input);
      onSaved(key, secret);
    } catch (thrown) {
      setError(toApiError(thrown));
      setBusy(false);
    }
  };
  const errorOf = (field: keyof KeyInput) => {
    if (problem?.field === field) return problem.message;
    const apiField = API_FIELDS[field];
    return error?.field != null && apiField === error.field.split(".")[0] ? error.message : null;
  };
  const isShown = Object.keys(API_FIELDS).some((field) => errorOf(field as keyof KeyInput) !== null);
  const otherError = isShown ? null : error;
  return { input, setInput, submit, errorOf, otherError, isBusy };
}

/** A new key is one's own by default, if that is possible. */
function newKeyOf({ account, user, team }: KeyOwner): KeyInput {
  const { value: signedIn } = session;
  const isInside = account === null || account === signedIn?.account?.id;
  const isOfOwn = team === undefined || signedIn?.teams.some(({ id }) => id === team) === true;
  const own = isInside && isOfOwn ? (signedIn?.user?.id ?? null) : null;
  return { ...NEW_KEY, accountId: account, userId: user ?? own, teamId: team ?? null };
}

function Foot({ action, isBusy, onClose }: { action: string; isBusy: boolean; onClose: () => void }) {
  return <DialogButtons submit={action} onClose={onClose} isBusy={isBusy} />;
}

async function save(known: Key | null, input: KeyInput): Promise<{ key: Key; secret: string | null }> {
  if (known !== null) {
    const body = toChanges(readKey(known), input);
    const { data } = await call("PATCH /api/admin/keys/{id}", { params: { id: known.id }, body });
    return { key: data, secret: null };
  }
  const made = await call("POST /api/admin/keys", { body: toNewKey(input) });
  return { key: made.data, secret: made.key };
}

/** Returns the body of a new key. Settings without a value are left out: members may not send all of them. */
function toNewKey(input: KeyInput): Record<string, unknown> & { name: string } {
  const set = Object.entries(toSettings(input)).filter(([, value]) => value !== null);
  const account = input.accountId ?? session.value?.account?.id ?? "";
  const ofOrganization = account.startsWith("org_");
  return {
    ...Object.fromEntries(set),
    name: input.name.trim(),
    kind: input.kind,
    ...(input.accountId === null ? {} : { account_id: input.accountId }),
    ...(ofOrganization ? { user_id: input.userId } : {}),
    ...(ofOrganization && input.teamId !== null ? { team_id: input.teamId } : {}),
  };
}
