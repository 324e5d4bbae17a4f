import { describe, expect, test } from "bun:test";
import { allFields, fields, items, LEAF } from "../../../src/base/json/scan.ts";
import { scanBody } from "../../../src/base/json/scan-body.ts";

const SHAPE = allFields({ a: fields({ b: LEAF }), list: items(fields({ b: LEAF })) });

function scan(body: string): void {
  scanBody(Buffer.from(body), SHAPE, () => {});
}

describe("a body that people may have written", () => {
  test.each([
    ['{"a":{"b":"\\x"}}', "a broken escape at byte 11"],
    ['{"other":[1,]}', "a comma with nothing after it at byte 11"],
    ['{"a":1,"a":2}', '"a" stands twice in one object at byte 7'],
    ['{"a":1,"a":2', 'expected "," or "}" at byte 12'],
    ['{"b":"\u0001"}', "a line break or control character in a string, which must be escaped at byte 6"],
  ])("is validated as a whole: %p is rejected with the position of its first error", (body, message) => {
    expect(() => scan(body)).toThrow(`The body is not valid JSON: ${message}.`);
  });
});

test("values that the scan of a large body skips are left to the upstream", () => {
  const filling = "x".repeat(8_192);
  expect(() => scan(`{"other":[1,],"filling":"${filling}"}`)).not.toThrow();
});
