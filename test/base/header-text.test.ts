import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { isHeaderValue, toHeaderText } from "../../src/base/text/header-text.ts";

const text = fc.string({ unit: "binary", maxLength: 30 });

describe("a text in a header", () => {
  test("is accepted by the runtime and arrives as it was sent, whatever it contains", () => {
    fc.assert(
      fc.property(text, (value) => {
        const encoded = toHeaderText(value);
        expect(encoded).toMatch(/^[\x20-\x7e]*$/);
        expect(new Response(null, { headers: { "x-text": encoded } }).headers.get("x-text")).toBe(
          encoded.trim(),
        );
      }),
    );
  });

  test("can be decoded as a part of a URL if it has no percent sign", () => {
    fc.assert(
      fc.property(text, (value) => {
        fc.pre(!value.includes("%"));
        expect(decodeURIComponent(toHeaderText(value))).toBe(value.toWellFormed());
      }),
    );
  });

  test("is unchanged if it is printable ASCII", () => {
    const ascii = Array.from({ length: 95 }, (_, at) => String.fromCharCode(0x20 + at)).join("");
    expect(toHeaderText(ascii)).toBe(ascii);
  });

  test.each([
    ["acme/модель", "acme/%D0%BC%D0%BE%D0%B4%D0%B5%D0%BB%D1%8C"],
    ["acme/é", "acme/%C3%A9"],
    ["a\r\nset-cookie: b", "a%0D%0Aset-cookie: b"],
    ["a\ud800b", "a%EF%BF%BDb"],
  ])("%j is sent as %s", (value, encoded) => {
    expect(toHeaderText(value)).toBe(encoded);
  });
});

test.each([
  ["sk-0123 ~\t", true],
  ["sk-é", true],
  ["sk-модель", false],
  ["sk-a\nb", false],
  ["sk-a\0", false],
])("whether %j may be the value of a header that is sent to a provider: %p", (value, may) => {
  expect(isHeaderValue(value)).toBe(may);
});
