import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { ConfigSecret } from "../../api/schema.ts";
import { printSecret, SecretField } from "../../parts/config/secret-field.tsx";
import { useConfig } from "../../parts/config/use-config.ts";
import { Button } from "../../parts/controls/button.tsx";
import { FormError } from "../../parts/forms/form-error.tsx";
import { Confirm, Dialog, DialogButtons } from "../../parts/layout/dialog.tsx";
import { showFailure, showToast } from "../../parts/layout/toast.tsx";
import { LoadedRows } from "../../parts/lists/paged-rows.tsx";
import { type Column, Table } from "../../parts/lists/table.tsx";
import { Time } from "../../parts/values/values.tsx";
import { useForm } from "../../state/form.ts";
import { text } from "../../text/text.ts";
import { listUsers } from "./list-users.ts";

/** A secret with the settings that refer to it. */
interface UsedSecret extends ConfigSecret {
  readonly usedBy: readonly string[];
}

/** The secrets of the stored configuration. Their values are never shown. */
export function Secrets() {
  const config = useConfig();
  const [replacing, setReplacing] = useState<ConfigSecret | null>(null);
  const [deleting, setDeleting] = useState<ConfigSecret | null>(null);
  const { data } = config;
  const rows =
    data === null
      ? null
      : data.stored.secrets.map(
          (one): UsedSecret => ({ ...one, usedBy: listUsers(data.stored.document, one.id) }),
        );
  const done = () => {
    setReplacing(null);
    setDeleting(null);
    config.reload();
  };
  return (
    <section class="card">
      <div class="card-head">
        <h2>{text.settings.secrets.title}</h2>
        <span class="faint">{text.settings.secrets.about}</span>
      </div>
      <LoadedRows
        loaded={{ ...config, data: rows }}
        lines={3}
        empty={<p class="card-body quiet">{text.settings.secrets.none}</p>}
      >
        {(shown) => (
          <Table
            label={text.settings.secrets.title}
            columns={listColumns(setReplacing, setDeleting)}
            rows={shown}
            keyOf={({ id }) => id}
            hasCards
          />
        )}
      </LoadedRows>
      {replacing === null ? null : (
        <ReplaceSecret secret={replacing} onClose={() => setReplacing(null)} onReplaced={done} />
      )}
      {deleting === null ? null : (
        <DeleteSecret secret={deleting} onClose={() => setDeleting(null)} onDeleted={done} />
      )}
    </section>
  );
}

function listColumns(
  onReplace: (secret: ConfigSecret) => void,
  onDelete: (secret: ConfigSecret) => void,
): readonly Column<UsedSecret>[] {
  const { columns: titles } = text.settings.secrets;
  return [
    { id: "id", title: titles.id, width: 240, onCard: "title", cell: ({ id }) => <code>{id}</code> },
    { id: "last", title: titles.lastFour, width: 90, cell: (row) => <code>{printSecret(row)}</code> },
    {
      id: "used",
      title: titles.usedBy,
      wraps: true,
      cell: ({ usedBy }) =>
        usedBy.length === 0 ? (
          <span class="faint">{text.settings.secrets.unused}</span>
        ) : (
          <code>{usedBy.join(", ")}</code>
        ),
    },
    { id: "updated", title: titles.updated, width: 110, cell: ({ updated_at }) => <Time at={updated_at} /> },
    {
      id: "actions",
      title: "",
      width: 160,
      cell: (row) => (
        <div class="row row-actions">
          <Button
            kind="bare"
            size="small"
            label={text.settings.secrets.replaceLabel(row.id)}
            onClick={() => onReplace(row)}
          >
            {text.config.replace}
          </Button>
          {row.usedBy.length > 0 ? null : (
            <Button
              kind="bare"
              size="small"
              label={text.settings.secrets.deleteLabel(row.id)}
              onClick={() => onDelete(row)}
            >
              {text.settings.secrets.delete}
            </Button>
          )}
        </div>
      ),
    },
  ];
}

function ReplaceSecret(props: { secret: ConfigSecret; onClose: () => void; onReplaced: () => void }) {
  const { id } = props.secret;
  const form = useForm<{ readonly value: string }, ConfigSecret>({
    draft: `secret ${id}`,
    initial: { value: "" },
    fields: ["value"],
    send: async ({ value }) =>
      (await call("PUT /api/admin/config/secrets/{id}", { params: { id }, body: { value } })).data,
    onSent() {
      showToast(text.settings.secrets.replaced(id));
      props.onReplaced();
    },
  });
  const close = () => {
    form.reset();
    props.onClose();
  };
  return (
    <Dialog
      title={text.settings.secrets.replaceTitle(id)}
      onClose={close}
      onSubmit={() => void form.submit()}
      foot={
        <DialogButtons
          submit={text.config.replace}
          onClose={close}
          isBusy={form.isBusy}
          isDisabled={form.values.value === ""}
        />
      }
    >
      <FormError error={form.error} />
      <SecretField
        label={text.settings.secrets.newValue}
        stored={null}
        value={form.values.value}
        error={form.errorOf("value")}
        onInput={(value) => form.set({ value })}
        hasFocus
      />
    </Dialog>
  );
}

function DeleteSecret(props: { secret: ConfigSecret; onClose: () => void; onDeleted: () => void }) {
  const { id } = props.secret;
  const [isBusy, setBusy] = useState(false);
  const remove = () => {
    setBusy(true);
    call("DELETE /api/admin/config/secrets/{id}", { params: { id } }).then(
      () => {
        showToast(text.settings.secrets.deleted(id));
        props.onDeleted();
      },
      (failure: unknown) => {
        showFailure(failure);
        props.onClose();
      },
    );
  };
  return (
    <Confirm
      title={text.settings.secrets.deleteTitle(id)}
      action={text.settings.secrets.delete}
      isBusy={isBusy}
      onConfirm={remove}
      onClose={props.onClose}
    >
      <p>{text.settings.secrets.deleteAbout}</p>
    </Confirm>
  );
}
