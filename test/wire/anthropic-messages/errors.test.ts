import { expect, test } from "bun:test";
import { ERROR_STATUS, type ErrorCode } from "../../../src/base/failures/errors.ts";
import { encodeMessagesError } from "../../../src/wire/anthropic-messages/errors.ts";
import { readVendorError } from "../../../src/wire/conversation/errors/vendor-error.ts";

const ANTHROPIC_TYPES = [
  "invalid_request_error",
  "authentication_error",
  "billing_error",
  "permission_error",
  "not_found_error",
  "request_too_large",
  "rate_limit_error",
  "api_error",
  "timeout_error",
  "overloaded_error",
];

test.each(Object.keys(ERROR_STATUS) as ErrorCode[])(
  "the error %s has one of Anthropic's types, its HTTP status and the gateway's code",
  (code) => {
    const body = encodeMessagesError({ code, message: "m" }, "req_1");
    expect(body).toMatchObject({
      type: "error",
      error: { code: ERROR_STATUS[code] },
      error_type: code,
      request_id: "req_1",
    });
    expect(ANTHROPIC_TYPES).toContain((body["error"] as { type: string }).type);
  },
);

test.each([
  ["authentication", "authentication_error"],
  ["insufficient_credits", "billing_error"],
  ["payload_too_large", "request_too_large"],
  ["rate_limit_exceeded", "rate_limit_error"],
  ["unavailable", "overloaded_error"],
] as const)("%s is %s", (code, type) => {
  expect(encodeMessagesError({ code, message: "m" }, "r")).toMatchObject({ error: { type, message: "m" } });
});

test("a context overflow is reported with the phrase that clients search for", () => {
  const metadata = { limit: 200_000, requested: 210_000 };
  const body = encodeMessagesError(
    { code: "context_length_exceeded", message: "maximum context length is …", metadata },
    "r",
  );
  const { message } = body["error"] as { message: string };
  expect(message).toBe("prompt is too long: 210000 tokens > 200000 maximum");
  expect(readVendorError(400, body)).toMatchObject({ meaning: "context_overflow", contextLimit: 200_000 });
});

test("the error code that the SDK handles is in details", () => {
  const metadata = { field: "thread", error_code: "thread_unsupported_request", unsupported: ["thread"] };
  expect(encodeMessagesError({ code: "invalid_request", message: "m", metadata }, "r")).toMatchObject({
    error: { details: { error_code: "thread_unsupported_request", unsupported: ["thread"] } },
  });
});
