import { useState } from "preact/hooks";
import type { ApiError } from "../../api/client.ts";
import type { ConfigWritten } from "../../api/schema.ts";
import { PinnedNote } from "../../parts/config/pinned-note.tsx";
import type { Config, LoadedConfig } from "../../parts/config/use-config.ts";
import { Segments } from "../../parts/controls/segments.tsx";
import { FormError } from "../../parts/forms/form-error.tsx";
import { RemoveButton } from "../../parts/forms/remove-button.tsx";
import { SaveBar } from "../../parts/forms/save-bar.tsx";
import { showToast } from "../../parts/layout/toast.tsx";
import { ObjectField } from "../../parts/schema/object-field.tsx";
import type { Schema } from "../../parts/schema/schema.ts";
import { SchemaField } from "../../parts/schema/schema-field.tsx";
import { useForm } from "../../state/form.ts";
import { text } from "../../text/text.ts";
import {
  changeKind,
  type Guardrail,
  type GuardrailKind,
  type GuardrailRow,
  KINDS,
  listStored,
  NEW_GUARDRAILS,
  putGuardrail,
  schemaOf,
} from "./guardrail-list.ts";
import { TryGuardrail } from "./try-guardrail.tsx";

interface EditorProps {
  /** The guardrail to edit; null to add one. */
  readonly row: GuardrailRow | null;
  readonly config: Config;
  readonly data: LoadedConfig;
  readonly schema: Schema;
  readonly onDone: () => void;
}

/** The fields that say which requests are checked. */
const SCOPE = ["models", "accounts", "teams", "keys"];

interface Draft {
  readonly guardrail: Guardrail;
}

/** The form of a guardrail of any kind, and a try-out of what is typed. One of a file is read-only, but can be tried. */
export function GuardrailEditor({ row, config, data, schema, onDone }: EditorProps) {
  const before = row?.guardrail.name ?? null;
  const isFixed = row !== null && row.pinned !== null;
  const form = useForm<Draft, ConfigWritten>({
    draft: `guardrail ${before ?? ""}`,
    initial: { guardrail: row?.guardrail ?? NEW_GUARDRAILS.regex },
    fields: [],
    send: ({ guardrail }) =>
      config.save([{ path: ["guardrails"], value: putGuardrail(listStored(data), before, guardrail) }]),
    onSent() {
      showToast(text.guardrails.saved);
      onDone();
    },
  });
  const [trialError, setTrialError] = useState<ApiError | null>(null);
  const { guardrail } = form.values;
  const set = (changed: unknown) => {
    setTrialError(null);
    form.set({ guardrail: changed as Guardrail });
  };
  const submit = (event: Event) => {
    event.preventDefault();
    if (!isFixed) void form.submit();
  };
  const errors = readErrors(form.error ?? trialError);
  const isAboutField = Object.keys(errors).length > 0;
  return (
    <div class="guardrail-editor">
      <section class="card">
        <div class="card-head">
          <h2 class="cut">{before ?? text.guardrails.newTitle}</h2>
          {row?.pinned == null ? null : <PinnedNote pinned={row.pinned} />}
          <span class="grow" />
          {row === null ? (
            <Segments<GuardrailKind>
              label={text.guardrails.kind}
              value={guardrail.kind}
              choices={KINDS.map((value) => ({ value, label: text.guardrails.kinds[value] }))}
              onChange={(kind) => set(changeKind(guardrail, kind))}
            />
          ) : null}
        </div>
        <form class="card-body stack" onSubmit={submit}>
          <p class="quiet">{text.guardrails.about[guardrail.kind]}</p>
          {isAboutField ? null : <FormError error={form.error} form={form} />}
          <fieldset class="fixed-fields" disabled={isFixed}>
            <ObjectField
              schema={schemaOf(schema, guardrail.kind)}
              path={["guardrail"]}
              label={text.guardrails.fields}
              last={SCOPE}
              value={guardrail}
              onChange={set}
              form={{
                errorOf: (path) => errors[path.slice(1).join(".")] ?? null,
                secrets: data.stored.secrets,
                Field: SchemaField,
              }}
              hidesLabel
            />
          </fieldset>
          {isFixed ? null : (
            <SaveBar form={form}>
              {before === null ? null : (
                <RemoveGuardrail name={before} config={config} data={data} onRemoved={onDone} />
              )}
            </SaveBar>
          )}
        </form>
      </section>
      <TryGuardrail guardrail={guardrail} isMasked={isFixed} onError={setTrialError} />
    </div>
  );
}

/** Returns what the API says about the fields of the guardrail, by their paths in it. */
function readErrors(error: ApiError | null): Readonly<Record<string, string>> {
  const { problems = [] } = (error?.metadata ?? {}) as {
    readonly problems?: readonly { readonly field?: string | null; readonly message: string }[];
  };
  return Object.fromEntries(
    problems.flatMap(({ field, message }) => {
      const own = /^guardrails\.\d+\.(.*)$/.exec(field ?? "")?.[1];
      return own === undefined
        ? []
        : [[own, message.slice(message.indexOf(field ?? "") + (field ?? "").length + 1)]];
    }),
  );
}

function RemoveGuardrail(props: { name: string; config: Config; data: LoadedConfig; onRemoved: () => void }) {
  const { name, config, onRemoved } = props;
  return (
    <RemoveButton
      label={text.guardrails.remove}
      title={text.guardrails.removeTitle(name)}
      remove={() => config.save([{ path: ["guardrails", name], remove: true }])}
      done={text.guardrails.removed(name)}
      onRemoved={onRemoved}
    >
      {text.guardrails.removeAbout}
    </RemoveButton>
  );
}
