import { expect, test } from "bun:test";
import { fitStrictAnswer, StrictToolFitter } from "../../../src/wire/canonical/fit/fit-strict-tools.ts";
import type { Warning } from "../../../src/wire/conversation/warning.ts";

/** A schema with a keyword that strict mode does not have. */
const SCHEMA = {
  type: "object",
  properties: { name: { type: "string", minLength: 2 } },
  required: ["name"],
  additionalProperties: false,
};

test("a warning about the schema of a strict tool names the place in it and what was loosened", () => {
  const warnings: Warning[] = [];
  const fitter = new StrictToolFitter((field, message) => warnings.push({ field, message }));
  const tool = { kind: "function", name: "f", description: null, parameters: SCHEMA } as const;
  const fitted = fitter.fit({ ...tool, strict: true }, "tools[3]");
  expect(JSON.stringify(fitted)).not.toContain("minLength");
  expect(warnings).toEqual([
    { field: "tools[3].parameters.properties.name.minLength", message: expect.stringMatching(/ /) },
  ]);
  const loose = { ...tool, strict: false };
  expect(fitter.fit(loose, "tools[4]")).toBe(loose);
});

test("a warning about the schema of a strict answer names the place in it", () => {
  const warnings: Warning[] = [];
  fitStrictAnswer(SCHEMA, (field, message) => warnings.push({ field, message }));
  expect(warnings).toEqual([
    { field: "response_format.schema.properties.name.minLength", message: expect.stringMatching(/ /) },
  ]);
});
