import { readFileSync } from "node:fs";
import { join } from "node:path";

const FILE = join(import.meta.dir, "../../../deploy/grafana/gateway.json");

interface Panel {
  readonly title: string;
  readonly targets?: readonly { readonly expr: string }[];
}

/** The expressions of the panels, variables and annotations of the Grafana board, and the titles of its panels and rows. */
export function readDashboard() {
  const board = JSON.parse(readFileSync(FILE, "utf8")) as {
    panels: readonly Panel[];
    templating: { list: readonly { definition?: string }[] };
    annotations: { list: readonly { expr?: string }[] };
  };
  const queries = board.panels.flatMap(({ targets }) => (targets ?? []).map(({ expr }) => expr));
  const annotations = board.annotations.list.flatMap(({ expr }) => expr ?? []);
  return {
    /** Those that Prometheus evaluates. */
    queries: [...queries, ...annotations],
    expressions: [
      ...queries,
      ...annotations,
      ...board.templating.list.flatMap(({ definition }) => definition ?? []),
    ],
    titles: board.panels.map(({ title }) => title),
  };
}
