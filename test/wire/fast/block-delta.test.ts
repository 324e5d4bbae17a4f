import { expect, test } from "bun:test";
import fc from "fast-check";
import { encodeLatin1 } from "../../../src/base/json/scan.ts";
import { measureDelta } from "../../../src/wire/fast/block-delta.ts";

const FIELDS = {
  text_delta: "text",
  thinking_delta: "thinking",
  input_json_delta: "partial_json",
  signature_delta: "signature",
} as const;

const text = fc.oneof(
  fc.string({ maxLength: 30, unit: "grapheme" }),
  fc.constantFrom("", '"', '":"', '"}}', "\\", '"delta":{', '"delta":{"type":"signature_delta"', "☃\n"),
);
const type = fc.constantFrom(...(Object.keys(FIELDS) as (keyof typeof FIELDS)[]));

test("the delta of a Messages event is measured as parsing it would, if it is measured at all", () => {
  fc.assert(
    fc.property(fc.nat(12), type, text, fc.constantFrom("", " "), (index, type, value, space) => {
      const delta = { type, [FIELDS[type]]: value };
      const json = JSON.stringify({ type: "content_block_delta", index, delta }, null, space);
      const before = "event: content_block_delta\ndata: ";
      const event = before + encodeLatin1(json);
      const measured = measureDelta(event, before.length, event.length);
      const size = encodeLatin1(JSON.stringify(value)).length - '""'.length;
      const expected = { size, isSignature: type === "signature_delta" };
      if (space === "") expect(measured).toEqual(expected);
      else expect(measured).toBeNull();
    }),
    { numRuns: 2_000 },
  );
});
