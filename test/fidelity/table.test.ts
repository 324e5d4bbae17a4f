import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { writeTable } from "./table.ts";

test("docs/fidelity.md is up to date (npm run generate)", () => {
  const written = readFileSync(join(import.meta.dir, "../../docs/fidelity.md"), "utf8");
  expect(writeTable()).toBe(written);
});
