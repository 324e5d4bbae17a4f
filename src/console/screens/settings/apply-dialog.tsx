import { useState } from "preact/hooks";
import { type ApiError, call } from "../../api/client.ts";
import type { ConfigChange, ConfigWritten } from "../../api/schema.ts";
import { Changes } from "../../parts/config/changes.tsx";
import { secretIdOf } from "../../parts/config/read-config.ts";
import { SecretField } from "../../parts/config/secret-field.tsx";
import { Button } from "../../parts/controls/button.tsx";
import { TextArea } from "../../parts/controls/field.tsx";
import { FieldError } from "../../parts/controls/field-error.tsx";
import { FormError } from "../../parts/forms/form-error.tsx";
import { Dialog, DialogButtons } from "../../parts/layout/dialog.tsx";
import { showToast } from "../../parts/layout/toast.tsx";
import { useForm } from "../../state/form.ts";
import { toApiError } from "../../state/load.ts";
import { text } from "../../text/text.ts";
import { needsTrial, TrialDialog } from "./oidc-trial.tsx";

/** The largest file that is read. Bytes. */
const MAX_FILE_BYTES = 2_000_000;

/** A button that applies a configuration file: it shows the difference, asks for missing secrets, and stores it whole or not at all. */
export function ApplyButton({ onApplied }: { onApplied: () => void }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button onClick={() => setOpen(true)}>{text.settings.apply.action}</Button>
      {isOpen ? (
        <ApplyDialog
          onClose={() => setOpen(false)}
          onApplied={() => {
            setOpen(false);
            onApplied();
          }}
        />
      ) : null}
    </>
  );
}

interface Draft {
  readonly typed: string;
  readonly secrets: Readonly<Record<string, string>>;
}

/** What is known of the file: the secrets that are missing, and the changes once it was checked. */
interface Checked {
  readonly missing: readonly string[];
  readonly changes: readonly ConfigChange[] | null;
  readonly error: ApiError | null;
  /** The settings of the sign-in that need a trial first; null if they need none. */
  readonly oidc: Readonly<Record<string, unknown>> | null;
}

const UNCHECKED: Checked = { missing: [], changes: null, error: null, oidc: null };

function useApply(onApplied: () => void) {
  const [checked, setChecked] = useState(UNCHECKED);
  const [problem, setProblem] = useState<string | null>(null);
  const [isChecking, setChecking] = useState(false);
  const form = useForm<Draft, ConfigWritten>({
    draft: "apply file",
    initial: { typed: "", secrets: {} },
    fields: [],
    send: async (draft) => put(draft, {}),
    onSent({ revision }) {
      showToast(text.settings.savedRevision(revision));
      onApplied();
    },
  });
  const check = async () => {
    setChecking(true);
    setProblem(null);
    try {
      const { changes } = await put(form.values, { dry_run: "true" });
      setChecked((before) => ({ ...before, changes, error: null, oidc: null }));
    } catch (failure) {
      const error = toApiError(failure);
      if (failure instanceof SyntaxError || (failure as Error).name.startsWith("YAML"))
        setProblem((failure as Error).message);
      else {
        const missing = (error.metadata["missing_secrets"] ?? []) as readonly string[];
        const oidc = needsTrial(error) ? await readOidcOf(form.values) : null;
        setChecked({ missing, changes: null, error: missing.length > 0 || oidc ? null : error, oidc });
      }
    }
    setChecking(false);
  };
  return {
    form,
    checked,
    problem,
    isChecking,
    check,
    closeTrial: () => setChecked((before) => ({ ...before, oidc: null })),
    set(change: Partial<Draft>) {
      setChecked((before) => ({ ...before, changes: null, error: null }));
      form.set(change);
    },
  };
}

/** Returns the settings of the sign-in in a file. A secret that is stored already is left out: the API knows it. */
async function readOidcOf({ typed, secrets }: Draft): Promise<Readonly<Record<string, unknown>>> {
  const document = (await import("./yaml.ts")).parseYaml(typed) as {
    readonly console?: { readonly oidc?: Readonly<Record<string, unknown>> };
  } | null;
  const { client_secret, ...others } = document?.console?.oidc ?? {};
  const id = secretIdOf(client_secret);
  const secret = id === null ? client_secret : secrets[id];
  return secret === undefined ? others : { ...others, client_secret: secret };
}

async function put(
  { typed, secrets }: Draft,
  query: Readonly<Record<string, string>>,
): Promise<ConfigWritten> {
  const document = (await import("./yaml.ts")).parseYaml(typed);
  return (await call("PUT /api/admin/config", { query, body: { document, secrets } })).data;
}

function ApplyDialog(props: { onClose: () => void; onApplied: () => void }) {
  const { form, checked, problem, isChecking, check, closeTrial, set } = useApply(props.onApplied);
  const { typed, secrets } = form.values;
  const isReady = checked.changes !== null;
  const close = () => {
    form.reset();
    props.onClose();
  };
  return (
    <Dialog
      title={text.settings.apply.title}
      isWide
      onClose={close}
      onSubmit={() => void (isReady ? form.submit() : check())}
      foot={
        <DialogButtons
          submit={isReady ? text.settings.apply.apply : text.settings.apply.check}
          onClose={close}
          isBusy={form.isBusy || isChecking}
          isDisabled={typed.trim() === ""}
        />
      }
    >
      <p class="quiet">{text.settings.apply.about}</p>
      <FilePicker onRead={(content) => set({ typed: content })} />
      <TextArea
        label={text.settings.apply.file}
        rows={isReady ? 4 : 12}
        error={problem}
        value={typed}
        onInput={(value) => set({ typed: value })}
      />
      {checked.missing.length === 0 ? null : (
        <>
          <p class="warn">{text.settings.apply.missing}</p>
          {checked.missing.map((id) => (
            <SecretField
              key={id}
              label={id}
              stored={null}
              value={secrets[id] ?? ""}
              onInput={(value) => set({ secrets: { ...secrets, [id]: value } })}
            />
          ))}
        </>
      )}
      {checked.oidc === null ? null : (
        <TrialDialog oidc={checked.oidc} onSucceeded={() => void check()} onClose={closeTrial} />
      )}
      <FormError error={form.error ?? checked.error} />
      {checked.changes === null ? null : <Changes changes={checked.changes} />}
    </Dialog>
  );
}

function FilePicker({ onRead }: { onRead: (content: string) => void }) {
  const [problem, setProblem] = useState<string | null>(null);
  const read = async (file: File | undefined) => {
    if (file === undefined) return;
    if (file.size > MAX_FILE_BYTES) return setProblem(text.settings.apply.tooLarge);
    setProblem(null);
    onRead(await file.text());
  };
  return (
    <label class="field">
      <span class="field-label">{text.settings.apply.choose}</span>
      <input
        type="file"
        accept=".yaml,.yml,.json"
        onChange={(event) => void read(event.currentTarget.files?.[0])}
      />
      <FieldError error={problem} />
    </label>
  );
}
