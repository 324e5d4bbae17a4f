import { useState } from "preact/hooks";
import { type ApiError, call } from "../../api/client.ts";
import type { ProviderHealth } from "../../api/schema.ts";
import { Button } from "../../parts/controls/button.tsx";
import { Field, Select } from "../../parts/controls/field.tsx";
import { FormError } from "../../parts/forms/form-error.tsx";
import { Dialog, DialogButtons } from "../../parts/layout/dialog.tsx";
import { showToast } from "../../parts/layout/toast.tsx";
import { Time } from "../../parts/values/values.tsx";
import { toApiError } from "../../state/load.ts";
import { text } from "../../text/text.ts";
import { type Drained, listDrains } from "./health-rows.ts";

const words = text.health.drain;

/** The choices of a duration, in minutes; an empty text stands for no end. */
const DURATIONS = ["", "15", "60", "240", "1440"] as const;

/** A dialog that takes a provider, or one of its models, out of routing. */
export function DrainProvider(props: { row: ProviderHealth; onClose: () => void; onDone: () => void }) {
  const { provider, name, endpoints } = props.row;
  const [model, setModel] = useState("");
  const [minutes, setMinutes] = useState("");
  const [note, setNote] = useState("");
  const [error, setError] = useState<ApiError | null>(null);
  const [isBusy, setBusy] = useState(false);
  const submit = () => {
    setBusy(true);
    const until = minutes === "" ? null : new Date(Date.now() + Number(minutes) * 60_000).toISOString();
    const body = { until, ...(model === "" ? {} : { model }), ...(note.trim() === "" ? {} : { note }) };
    call("POST /api/admin/health/{provider}/drain", { params: { provider }, body }).then(
      () => {
        showToast(words.drained(model === "" ? name : `${model} (${name})`));
        props.onDone();
      },
      (failure: unknown) => {
        setError(toApiError(failure));
        setBusy(false);
      },
    );
  };
  return (
    <Dialog
      title={words.title(name)}
      onClose={props.onClose}
      onSubmit={submit}
      foot={<DialogButtons submit={words.action} onClose={props.onClose} isBusy={isBusy} />}
    >
      <FormError error={error} />
      <p>{words.about}</p>
      <Select
        label={words.model}
        hint={words.modelHint}
        value={model}
        choices={[
          { value: "", label: words.allModels },
          ...endpoints.map((endpoint) => ({ value: endpoint.model, label: endpoint.model })),
        ]}
        onChange={setModel}
      />
      <Select
        label={words.duration}
        value={minutes}
        choices={DURATIONS.map((value) => ({ value, label: words.durations[value] }))}
        onChange={setMinutes}
      />
      <Field label={words.note} hint={words.noteHint} value={note} onInput={setNote} />
    </Dialog>
  );
}

/** The drains of a provider and of its models, each with a button that ends it. */
export function Drains({ row, onDone }: { row: ProviderHealth; onDone: () => void }) {
  const drains = listDrains(row);
  return drains.length === 0 ? null : (
    <div class="stack">
      {drains.map((drained) => (
        <DrainLine key={drained.model ?? ""} row={row} drained={drained} onDone={onDone} />
      ))}
    </div>
  );
}

function DrainLine(props: { row: ProviderHealth; drained: Drained; onDone: () => void }) {
  const { row, drained } = props;
  const { provider, name } = row;
  const { model, until, note } = drained;
  const [error, setError] = useState<ApiError | null>(null);
  const [isBusy, setBusy] = useState(false);
  const target = model ?? words.allModels;
  const undrain = () => {
    setBusy(true);
    const query = model === null ? {} : { model };
    call("DELETE /api/admin/health/{provider}/drain", { params: { provider }, query }).then(
      () => {
        showToast(words.undrained(model === null ? name : `${model} (${name})`));
        props.onDone();
      },
      (failure: unknown) => {
        setError(toApiError(failure));
        setBusy(false);
      },
    );
  };
  return (
    <div>
      <div class="row wrap">
        <strong>{target}</strong>
        <span class="warn">{until === null ? words.untilEnded : words.until}</span>
        {until === null ? null : <Time at={until} />}
        {note === null ? null : <span class="quiet">{note}</span>}
        <span class="grow" />
        <Button size="small" isBusy={isBusy} label={words.undrainLabel(target)} onClick={undrain}>
          {words.undrain}
        </Button>
      </div>
      <FormError error={error} />
    </div>
  );
}
