import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { ResponseHeaders } from "../../src/http/inference/response-headers.ts";

type HeaderValues = Readonly<Record<string, string | number>>;

const NAMES = ["x-request-id", "content-type", "x-gateway-model", "x-a", "x-b", "cache-control"];
const VALUES = ["one", "two", "3", 3, 4, ""];

const PART: fc.Arbitrary<HeaderValues> = fc.dictionary(fc.constantFrom(...NAMES), fc.constantFrom(...VALUES));

describe("the headers of responses", () => {
  test("are those of the parts, the last value of a repeated name, whatever the response before had", () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(PART, { maxLength: 3 }), { minLength: 1, maxLength: 12 }),
        (responses) => {
          const headers = new ResponseHeaders();
          for (const parts of responses) {
            const expected: HeaderValues = Object.assign({}, ...parts);
            expect(toObject(fill(headers, parts))).toEqual(toObject(new Headers(print(expected))));
          }
        },
      ),
    );
  });

  test("stay what they are in a response that was made before", () => {
    const headers = new ResponseHeaders();
    const first = new Response("", { headers: fill(headers, [{ "x-request-id": "one", "x-a": "1" }]) });
    const second = new Response("", { headers: fill(headers, [{ "x-request-id": "two", "x-a": "1" }]) });
    second.headers.set("x-a", "2");
    expect(first.headers.get("x-request-id")).toBe("one");
    expect(first.headers.get("x-a")).toBe("1");
    expect(second.headers.get("x-request-id")).toBe("two");
    expect(fill(headers, [{ "x-request-id": "two", "x-a": "1" }]).get("x-a")).toBe("1");
  });

  test("are not changed by a value that the runtime rejects", () => {
    const headers = new ResponseHeaders();
    fill(headers, [{ "x-a": "1", "x-b": "1" }]);
    expect(() => fill(headers, [{ "x-a": "2", "x-b": "\n\0" }])).toThrow();
    expect(toObject(fill(headers, [{ "x-a": "1", "x-b": "1" }]))).toEqual({ "x-a": "1", "x-b": "1" });
  });
});

function toObject(headers: Headers): Record<string, string> {
  return Object.fromEntries(headers.entries());
}

function fill(headers: ResponseHeaders, parts: readonly HeaderValues[]): Headers {
  headers.begin();
  for (const part of parts)
    for (const [name, value] of Object.entries(part)) headers.put(name, value, unitOf(name));
  return headers.end();
}

function print(values: HeaderValues): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      typeof value === "string" ? value : `${value}${unitOf(name)}`,
    ]),
  );
}

function unitOf(name: string): string {
  return name === "x-b" ? "s" : "";
}
