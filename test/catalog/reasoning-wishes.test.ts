import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { listRows, type Row, renderTable, TABLE_FILE, type WishName } from "./reasoning-wishes.ts";

const rows = listRows();

/** Endpoints of which this does not hold, by name. */
function namesOf(found: readonly Row[]): string[] {
  return found.map(({ model, provider, format }) => `${model} at ${provider} in ${format}`);
}

const isSilent = ({ told }: Row, wish: WishName): boolean =>
  told[wish].said === "-" && told[wish].warned.length === 0;

describe("a wish for reasoning at the endpoints of the shipped catalog", () => {
  test("goes out as the table says", () => {
    expect(rows.length).toBeGreaterThan(700);
    expect(readFileSync(TABLE_FILE, "utf8")).toBe(renderTable(rows));
  });

  test("that asks for it is said, or named where it cannot be, wherever the catalog knows how the model is steered", () => {
    const steered = rows.filter(({ control }) => control !== "nothing known");
    // What has a budget and cannot be switched off reasons without being told.
    const silent = steered.filter((row) => isSilent(row, "on") && row.control !== "budget");
    expect(namesOf(silent)).toEqual([]);
    expect(namesOf(steered.filter((row) => isSilent(row, "low")))).toEqual([]);
  });

  test("that asks for none is said or named, but for models that reason only when they are told to", () => {
    const silent = rows.filter((row) => isSilent(row, "off") && !row.control.includes("only when told"));
    expect(namesOf(silent)).toEqual([]);
  });

  test("that asks for an effort which the model has is not warned of in the formats of OpenAI", () => {
    const openai = rows.filter(({ provider, control }) => provider === "openai" && control.includes("low/"));
    expect(openai.length).toBeGreaterThan(10);
    for (const { told } of openai) expect(told.low.warned).toEqual([]);
  });
});
