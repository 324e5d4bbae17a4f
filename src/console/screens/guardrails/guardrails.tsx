import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import { type Config, type LoadedConfig, useConfig } from "../../parts/config/use-config.ts";
import { Button } from "../../parts/controls/button.tsx";
import { Page } from "../../parts/layout/page.tsx";
import { Empty, ErrorBox, Skeleton } from "../../parts/layout/states.tsx";
import { showFailure, showToast } from "../../parts/layout/toast.tsx";
import type { Schema } from "../../parts/schema/schema.ts";
import { useLoad } from "../../state/load.ts";
import { query, setQuery } from "../../state/location.ts";
import { text } from "../../text/text.ts";
import { GuardrailEditor } from "./guardrail-editor.tsx";
import { type Guardrail, listRows, listStored, moveUp, putGuardrail } from "./guardrail-list.ts";
import { GuardrailTable } from "./guardrail-table.tsx";

const NEW = "";

/** The guardrails in the order in which they run, and the editor of one with a try-out. */
export default function Guardrails() {
  const config = useConfig();
  const schema = useLoad("config schema", async (signal) => {
    return (await call("GET /api/admin/config/schema", { signal })).data as Schema;
  });
  const { data } = config;
  const error = config.error ?? schema.error;
  const name = query.value["edit"];
  const isNew = query.value["new"] !== undefined;
  const back = () => setQuery({ edit: null, new: null });
  const actions =
    name === undefined && !isNew ? (
      <Button kind="primary" icon="plus" onClick={() => setQuery({ new: "1" }, { replaces: false })}>
        {text.guardrails.add}
      </Button>
    ) : (
      <Button onClick={back}>{text.guardrails.back}</Button>
    );
  return (
    <Page title={text.guardrails.title} actions={actions}>
      {error === null ? null : (
        <ErrorBox error={error} onRetry={config.error === null ? schema.reload : config.reload} />
      )}
      {data === null || schema.data === null ? (
        error === null ? (
          <Skeleton lines={6} />
        ) : null
      ) : name === undefined && !isNew ? (
        <List config={config} data={data} />
      ) : (
        <GuardrailEditor
          key={`${name ?? NEW} ${data.stored.revision}`}
          row={listRows(data).find(({ guardrail }) => guardrail.name === name) ?? null}
          config={config}
          data={data}
          schema={schema.data}
          onDone={back}
        />
      )}
    </Page>
  );
}

function List({ config, data }: { config: Config; data: LoadedConfig }) {
  const [isBusy, setBusy] = useState(false);
  const rows = listRows(data);
  const stored = listStored(data);
  const store = (list: readonly Guardrail[], done: string) => {
    setBusy(true);
    config
      .save([{ path: ["guardrails"], value: list }])
      .then(() => showToast(done), showFailure)
      .finally(() => setBusy(false));
  };
  if (rows.length === 0)
    return (
      <Empty title={text.guardrails.none}>
        <p>{text.guardrails.noneAbout}</p>
        <Button kind="primary" icon="plus" onClick={() => setQuery({ new: "1" }, { replaces: false })}>
          {text.guardrails.add}
        </Button>
      </Empty>
    );
  return (
    <section class="card">
      <div class="card-head">
        <h2>{text.guardrails.list}</h2>
        <span class="faint">{text.guardrails.order}</span>
      </div>
      <GuardrailTable
        rows={rows}
        firstStored={stored[0]?.name ?? null}
        isBusy={isBusy}
        onMove={({ name }) => store(moveUp(stored, name), text.guardrails.moved(name))}
        onSwitch={(guardrail) => {
          const enabled = guardrail.enabled === false;
          const list = putGuardrail(stored, guardrail.name, { ...guardrail, enabled });
          store(list, text.guardrails.switched(guardrail.name, enabled));
        }}
      />
    </section>
  );
}
