import { describe, expect, test } from "bun:test";
import { signAwsRequest } from "../../src/providers/address/sign-aws-request.ts";

const SECRET = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";
const NOW = Date.UTC(2015, 7, 30, 12, 36, 0);
const TOKEN =
  "AQoDYXdzEPT//////////wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFqwAeMicRXmxfpSPfIeoIYRqTflfKD8YUuwthAx7mSEI/qkPpKPi/kMcGdQrmGdeehM4IC1NtBmUpp2wUE8phUZampKsburEDy0KPkyQDYwT7WZ0wq5VSXDvp75YU9HFvlRd8Tx6q6fE8YQcHNVXAkiY9q6d+xo0rKwT38xVqr7ZD0u0iPPkUL64lIZbqBAz+scqKmlzm8FDrypNC9Yjc8fPOLn9FX9KSYvKTr4rvx3iSIlTJabIQwj2ICCR/oLxBA==";

function sign(change: Partial<Parameters<typeof signAwsRequest>[0]>, sessionToken: string | null = null) {
  const request = {
    method: "POST",
    url: new URL("https://example.amazonaws.com/"),
    headers: {},
    body: new Uint8Array(),
    region: "us-east-1",
    service: "service",
    now: NOW,
    ...change,
  };
  return signAwsRequest(request, { accessKeyId: "AKIDEXAMPLE", secretAccessKey: SECRET, sessionToken });
}

const FORM = { "content-type": "application/x-www-form-urlencoded" };
const FORM_BODY = Buffer.from("Param1=value1");

describe("signing a request for AWS", () => {
  // Names and signatures of aws-sig-v4-test-suite, which AWS publishes with the description of Signature Version 4.
  test.each([
    [
      "get-vanilla",
      { method: "GET" },
      null,
      "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31",
    ],
    [
      "get-vanilla-query-order-key-case",
      { method: "GET", url: new URL("https://example.amazonaws.com/?Param2=value2&Param1=value1") },
      null,
      "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500",
    ],
    [
      "get-header-value-trim",
      { method: "GET", headers: { "my-header1": " value1", "my-header2": ' "a   b   c"' } },
      null,
      "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736",
    ],
    ["post-vanilla", {}, null, "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"],
    [
      "post-x-www-form-urlencoded",
      { headers: FORM, body: FORM_BODY },
      null,
      "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a",
    ],
    [
      "post-x-www-form-urlencoded-parameters",
      { headers: { "content-type": `${FORM["content-type"]}; charset=utf8` }, body: FORM_BODY },
      null,
      "1a72ec8f64bd914b0e42e42607c7fbce7fb2c7465f63e3092b3b0d39fa77a6fe",
    ],
    ["post-sts-header-before", {}, TOKEN, "85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead"],
  ])("%s", (_name, change, token, signature) => {
    const proof = sign(change, token);
    expect(proof["authorization"]).toEndWith(`Signature=${signature}`);
    expect(proof["x-amz-date"]).toBe("20150830T123600Z");
    expect(proof["x-amz-security-token"] ?? null).toBe(token);
  });

  test("names the signed headers and the credential", () => {
    expect(sign({ headers: FORM })["authorization"]).toStartWith(
      "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=content-type;host;x-amz-date, ",
    );
  });
});

test("encodes a path with an encoded model once more, as aws4fetch 1.0.20 does", () => {
  const host = "https://bedrock-runtime.us-east-1.amazonaws.com";
  const proof = sign(
    {
      url: new URL(`${host}/model/anthropic.claude-3-5-sonnet-20241022-v2%3A0/converse-stream`),
      headers: { "content-type": "application/json" },
      body: Buffer.from('{"messages":[]}'),
      service: "bedrock",
    },
    "SESSION",
  );
  expect(proof["authorization"]).toEndWith(
    "Signature=f3e50a2c5b91cb0912903befd1dcace0dabd6e3dd18660cf2e85b4c85ac74046",
  );
});
