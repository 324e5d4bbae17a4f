import type { Command } from "commander";
import { getHealthHistory, listIncidents } from "../../../http/routes/routing/admin-health-history.ts";
import { type AnswerOf, defineCommand } from "../../endpoint/command-spec.ts";
import { declareCommands } from "../../endpoint/declare-command.ts";
import { DEFAULT_LIMIT } from "../../endpoint/read-options.ts";
import { tableOf } from "../../render/columns.ts";
import { formatTable } from "../../render/format-table.ts";

/** `gateway health history` and `health incidents`: how providers have done, from the stores. */
export function declareHistoryCommands(health: Command): void {
  declareCommands(health, [
    defineCommand({
      name: "history",
      endpoint: getHealthHistory,
      examples: ["gateway health history", "gateway health history --range week --provider openai"],
      show: formatHistory,
    }),
    defineCommand({
      name: "incidents",
      endpoint: listIncidents,
      rows: DEFAULT_LIMIT,
      examples: ["gateway health incidents", "gateway health incidents --state open"],
      show: tableOf(INCIDENT_COLUMNS, "No incidents."),
    }),
  ]);
}

type History = AnswerOf<typeof getHealthHistory>;
type ProviderHistory = History["data"][number];
type State = ProviderHistory["total"]["state"];

/** The character that stands for a bucket in each state. */
const MARKS: Readonly<Record<State, string>> = { ok: "+", degraded: "~", down: "x", unknown: "." };
const LEGEND = "+ ok   ~ degraded   x down   . no attempts";
const HEADINGS = ["provider", "attempts", "succeeded", "failed", "rate limited", "key refused"];

function formatHistory(history: History): string {
  const { range, data } = history;
  if (data.length === 0) return `No attempts in the last ${range}.`;
  const strips = data.map((one) => [one.provider, drawStrip(history, one)]);
  return [
    formatTable(HEADINGS, data.map(toRow)),
    "",
    `From ${history.from.slice(0, 16)}, ${history.bucket_s / 60} minutes each: ${LEGEND}`,
    "",
    formatTable(["provider", `last ${range}`], strips),
  ].join("\n");
}

function toRow({ provider, total }: ProviderHistory): readonly string[] {
  const { attempts, succeeded, failed, rate_limited, key_refused } = total;
  const share = `${((100 * succeeded) / attempts).toFixed(1)} %`;
  return [provider, String(attempts), share, String(failed), String(rate_limited), String(key_refused)];
}

/** Returns one character for each bucket of the range. */
function drawStrip({ from, bucket_s, bucket_count }: History, { buckets }: ProviderHistory): string {
  const marks = new Array<string>(bucket_count).fill(MARKS.unknown);
  for (const { began_at, state } of buckets)
    marks[Math.round((Date.parse(began_at) - Date.parse(from)) / (1_000 * bucket_s))] = MARKS[state];
  return marks.join("");
}

interface Failure {
  readonly error_type: string;
  readonly status: number | null;
  readonly count: number;
}

/** The number of kinds of failures that are printed. */
const SHOWN_KINDS = 3;

const INCIDENT_COLUMNS = [
  "provider",
  "level",
  ["began", "began_at"],
  ["lasted", "duration_s", (seconds, { ended_at }) => printDuration(Number(seconds), ended_at === null)],
  ["saved", "saved_requests"],
  ["failed", "failed_requests"],
  ["what failed", "failures", (failures) => printFailures(failures as readonly Failure[])],
  ["models", "models", (models) => (models as readonly string[]).join(" ")],
] satisfies Parameters<typeof tableOf>[0];

function printFailures(failures: readonly Failure[]): string {
  const shown = failures
    .slice(0, SHOWN_KINDS)
    .map(({ error_type, status, count }) => `${count} × ${status === null ? "" : `${status} `}${error_type}`);
  return [...shown, ...(failures.length > SHOWN_KINDS ? ["…"] : [])].join(", ");
}

const UNITS = [
  ["d", 86_400],
  ["h", 3_600],
  ["min", 60],
  ["s", 1],
] as const;

/** Prints a duration with its two largest units. */
function printDuration(seconds: number, isOpen: boolean): string {
  let rest = seconds;
  const parts = UNITS.flatMap(([unit, length]) => {
    const count = Math.floor(rest / length);
    rest -= count * length;
    return count === 0 ? [] : [`${count} ${unit}`];
  });
  const text = parts.slice(0, 2).join(" ") || "0 s";
  return isOpen ? `${text}, lasts` : text;
}
