import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { CatalogChange } from "../../api/schema.ts";
import { Button } from "../../parts/controls/button.tsx";
import { Confirm } from "../../parts/layout/dialog.tsx";
import { showFailure, showToast } from "../../parts/layout/toast.tsx";
import { type Column, Table } from "../../parts/lists/table.tsx";
import { Time } from "../../parts/values/values.tsx";
import { text } from "../../text/text.ts";
import { printJumps } from "./setting-rows.ts";

type Verdict = "approve" | "reject";

const OPERATIONS = {
  approve: "POST /api/admin/catalog/changes/{id}/approve",
  reject: "POST /api/admin/catalog/changes/{id}/reject",
} as const;

/** The price changes that wait, each with its decision, and a decision for all. */
export function CatalogChanges({
  changes,
  onDecided,
}: {
  changes: readonly CatalogChange[];
  onDecided: () => void;
}) {
  const [asking, setAsking] = useState<Verdict | null>(null);
  const [isBusy, setBusy] = useState(false);
  const decide = (id: string, verdict: Verdict) => {
    setBusy(true);
    call(OPERATIONS[verdict], { params: { id } })
      .then(({ data }) => showToast(text.settings.decided[verdict](data.length)), showFailure)
      .finally(() => {
        setBusy(false);
        setAsking(null);
        onDecided();
      });
  };
  if (changes.length === 0) return <p class="card-foot quiet">{text.settings.noChanges}</p>;
  return (
    <>
      <div class="card-head card-part">
        <h3>{text.settings.changes}</h3>
        <span class="grow" />
        <Button size="small" onClick={() => setAsking("approve")}>
          {text.settings.approveAll}
        </Button>
        <Button size="small" onClick={() => setAsking("reject")}>
          {text.settings.rejectAll}
        </Button>
      </div>
      <Table
        label={text.settings.changes}
        columns={changeColumns(isBusy, decide)}
        rows={changes}
        keyOf={({ id }) => id}
      />
      {asking === null ? null : (
        <Confirm
          title={text.settings.askAll[asking]}
          action={asking === "approve" ? text.settings.approveAll : text.settings.rejectAll}
          isBusy={isBusy}
          onConfirm={() => decide("all", asking)}
          onClose={() => setAsking(null)}
        >
          <p>{text.settings.askAllAbout[asking](changes.length)}</p>
        </Confirm>
      )}
    </>
  );
}

function changeColumns(
  isBusy: boolean,
  decide: (id: string, verdict: Verdict) => void,
): readonly Column<CatalogChange>[] {
  const { changeColumns: titles } = text.settings;
  return [
    {
      id: "model",
      title: titles.model,
      width: 240,
      cell: ({ model, model_name }) => (
        <a href={`/console/models/${model}`} title={`${model} (${model_name})`}>
          {model}
        </a>
      ),
    },
    { id: "provider", title: titles.provider, width: 130, cell: ({ provider }) => provider },
    {
      id: "change",
      title: titles.change,
      cell: ({ jumps }) => {
        const list = printJumps(jumps, text.settings.unknownPrice).join("; ");
        return <span title={list}>{list}</span>;
      },
    },
    { id: "seen", title: titles.seen, width: 100, cell: ({ seen_at }) => <Time at={seen_at} /> },
    {
      id: "decide",
      title: "",
      width: 160,
      cell: ({ id }) => (
        <div class="row actions">
          <Button kind="bare" size="small" isDisabled={isBusy} onClick={() => decide(id, "approve")}>
            {text.settings.approve}
          </Button>
          <Button kind="bare" size="small" isDisabled={isBusy} onClick={() => decide(id, "reject")}>
            {text.settings.reject}
          </Button>
        </div>
      ),
    },
  ];
}
