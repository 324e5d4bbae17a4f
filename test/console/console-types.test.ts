import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { generateConsoleTypes, TYPES_FILE } from "../../scripts/write-console-types.ts";

test("the console's types of the API are those of the OpenAPI document; `npm run console:types` writes them", async () => {
  expect(readFileSync(TYPES_FILE, "utf8")).toBe(await generateConsoleTypes());
});
