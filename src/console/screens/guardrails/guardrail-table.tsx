import { PinnedNote } from "../../parts/config/pinned-note.tsx";
import { Button } from "../../parts/controls/button.tsx";
import { type Column, Table } from "../../parts/lists/table.tsx";
import { Badge, type Tone } from "../../parts/values/badge.tsx";
import { setQuery } from "../../state/location.ts";
import { text } from "../../text/text.ts";
import type { Guardrail, GuardrailRow } from "./guardrail-list.ts";

interface TableProps {
  readonly rows: readonly GuardrailRow[];
  /** The name of the first stored guardrail, which cannot move up: those of the file run first. */
  readonly firstStored: string | null;
  readonly isBusy: boolean;
  readonly onMove: (guardrail: Guardrail) => void;
  readonly onSwitch: (guardrail: Guardrail) => void;
}

/** The guardrails with what they check and do, and the buttons that move, switch and edit them. */
export function GuardrailTable(props: TableProps) {
  return (
    <Table
      label={text.guardrails.list}
      columns={listColumns(props)}
      rows={props.rows}
      keyOf={({ guardrail }) => guardrail.name}
      onOpen={({ guardrail }) => open(guardrail)}
      hasCards
    />
  );
}

function open({ name }: Guardrail): void {
  setQuery({ edit: name }, { replaces: false });
}

const ACTION_TONES: Readonly<Record<string, Tone>> = { block: "bad", mask: "accent", warn: "warn" };

function listColumns(props: TableProps): readonly Column<GuardrailRow>[] {
  const { columns: titles } = text.guardrails;
  return [
    {
      id: "name",
      title: titles.name,
      minWidth: 240,
      wraps: true,
      onCard: "title",
      cell: ({ guardrail, pinned }) => (
        <>
          <span class="strong-name">{guardrail.name}</span>{" "}
          {pinned === null ? null : <PinnedNote pinned={pinned} />}
        </>
      ),
    },
    {
      id: "kind",
      title: titles.kind,
      width: 130,
      cell: ({ guardrail }) => text.guardrails.kinds[guardrail.kind],
    },
    {
      id: "on",
      title: titles.on,
      width: 110,
      cell: ({ guardrail }) => text.guardrails.on(guardrail.on ?? "request"),
    },
    {
      id: "action",
      title: titles.action,
      width: 150,
      cell: ({ guardrail: { action, kind } }) =>
        action === undefined ? (
          <span class="faint">{kind === "webhook" ? text.guardrails.decides : "–"}</span>
        ) : (
          <Badge tone={ACTION_TONES[action] ?? "plain"}>{action}</Badge>
        ),
    },
    {
      id: "scope",
      title: titles.scope,
      minWidth: 160,
      wraps: true,
      cell: ({ guardrail }) => printScope(guardrail),
    },
    {
      id: "state",
      title: titles.state,
      width: 70,
      onCard: "aside",
      cell: ({ guardrail: { enabled = true } }) => (
        <Badge tone={enabled ? "good" : "plain"}>{text.guardrails.state(enabled)}</Badge>
      ),
    },
    { id: "actions", title: "", width: 190, cell: (row) => <Actions row={row} {...props} /> },
  ];
}

function Actions({ row: { guardrail, pinned }, ...props }: TableProps & { row: GuardrailRow }) {
  const { name, enabled = true } = guardrail;
  const isPinned = pinned !== null;
  const openButton = (
    <Button
      kind="bare"
      size="small"
      label={(isPinned ? text.guardrails.viewLabel : text.guardrails.editLabel)(name)}
      onClick={() => open(guardrail)}
    >
      {isPinned ? text.guardrails.view : text.guardrails.edit}
    </Button>
  );
  if (isPinned) return <div class="row row-actions">{openButton}</div>;
  return (
    <div class="row row-actions">
      {openButton}
      <Button
        kind="bare"
        size="small"
        label={text.guardrails.switchLabel(name, !enabled)}
        isDisabled={props.isBusy}
        onClick={() => props.onSwitch(guardrail)}
      >
        {text.guardrails.switchTo(!enabled)}
      </Button>
      <Button
        kind="bare"
        size="small"
        icon="up"
        label={text.schema.moveUp(name)}
        isDisabled={props.isBusy || name === props.firstStored}
        onClick={() => props.onMove(guardrail)}
      />
    </div>
  );
}

function printScope({ accounts, keys, teams, models }: Guardrail): string {
  const { scope } = text.guardrails;
  const parts = [
    models === undefined ? null : `${scope.models} ${models.join(", ")}`,
    accounts === undefined ? null : `${scope.accounts} ${accounts.join(", ")}`,
    teams === undefined ? null : `${scope.teams} ${teams.join(", ")}`,
    keys === undefined ? null : `${scope.keys} ${keys.join(", ")}`,
  ].filter((part) => part !== null);
  return parts.length === 0 ? scope.all : parts.join("; ");
}
