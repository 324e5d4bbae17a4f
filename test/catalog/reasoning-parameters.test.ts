import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { listRows, type ReasoningName, type Row, renderTable, TABLE_FILE } from "./reasoning-parameters.ts";

const rows = listRows();

/** Returns the names of endpoints, which an assertion shows if it fails. */
function namesOf(found: readonly Row[]): string[] {
  return found.map(({ model, provider, format }) => `${model} at ${provider} in ${format}`);
}

/** Whether a request for reasoning changes nothing and the client gets no warning. */
const isSilent = ({ outcome }: Row, name: ReasoningName): boolean =>
  outcome[name].sent === "-" && outcome[name].warnings.length === 0;

describe("reasoning parameters at the endpoints of the shipped catalog", () => {
  test("are sent as the golden file lists them", () => {
    expect(rows.length).toBeGreaterThan(700);
    expect(readFileSync(TABLE_FILE, "utf8")).toBe(renderTable(rows));
  });

  test("that enable reasoning or set an effort are sent or warned of if the catalog knows how to control the model", () => {
    const controllable = rows.filter(({ control }) => control !== "nothing known");
    // A model with a budget that cannot be disabled always reasons.
    const silent = controllable.filter((row) => isSilent(row, "on") && row.control !== "budget");
    expect(namesOf(silent)).toEqual([]);
    expect(namesOf(controllable.filter((row) => isSilent(row, "low")))).toEqual([]);
  });

  test("that disable reasoning are sent or warned of, except for models that reason only if a request asks for it", () => {
    const silent = rows.filter((row) => isSilent(row, "off") && !row.control.includes("only when told"));
    expect(namesOf(silent)).toEqual([]);
  });

  test("that set an effort of the model give no warning in OpenAI's formats", () => {
    const openai = rows.filter(({ provider, control }) => provider === "openai" && control.includes("low/"));
    expect(openai.length).toBeGreaterThan(10);
    for (const { outcome } of openai) expect(outcome.low.warnings).toEqual([]);
  });
});
