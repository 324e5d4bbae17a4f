import { expect, test } from "bun:test";
import { redact } from "../../src/core/generation/redact.ts";

test.each([
  ["a key of its usual form", "Incorrect API key provided: sk-proj-abcdefgh1234."],
  ["the key in hand", "no such key: opaque-0001-hidden"],
  ["a token of Google", "token ya29.a0AfH6SM-x_y.z is expired"],
  ["a key id of AWS", "Credential=AKIAIOSFODNN7EXAMPLE/20150830/us-east-1"],
  [
    "a session of AWS in the request that it repeats",
    "The Canonical String for this request should have been\n'POST\n/model/x/converse\n\nx-amz-date:20150830T123600Z\nx-amz-security-token:AQoDYXdzEPT//hidden==\n\nhost'",
  ],
  [
    "team and key of xAI",
    "Content violates usage guidelines. Team: 0f1e2d3c-hidden-4455, API key ID: 99aa-hidden-bbcc, Model: grok-4",
  ],
])("a vendor's words lose %s", (_name, words) => {
  const text = redact(words, "opaque-0001-hidden");
  expect(text).toContain("[redacted]");
  expect(text).not.toMatch(/abcdefgh|hidden|a0AfH6|IOSFODNN/);
});

test("a vendor's words about nothing secret stay as they are", () => {
  const words =
    "This model's maximum context length is 4097 tokens. ASIA is a continent; x-amz-date is wrong.";
  expect(redact(words, null)).toBe(words);
});
