import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { AuthorizeError } from "../../src/core/deployments/upstream-address.ts";
import { createTokenSource, type TokenSource } from "../../src/providers/address/google-tokens.ts";
import { readServiceAccount } from "../../src/providers/address/service-account.ts";
import { createHttp1Transport } from "../../src/providers/http1/transport.ts";
import { eventually } from "../support/eventually.ts";
import { createTestClock, type TestClock } from "../support/test-clock.ts";
import { type RecordingVendor, startRecordingVendor } from "../support/vendors/recording-vendor.ts";
import { makeServiceAccount } from "../support/vendors/service-account.ts";

const ACCOUNT = makeServiceAccount();
const LIFE_S = 3600;

let clock: TestClock;
let server: RecordingVendor;

beforeEach(() => {
  clock = createTestClock();
  server = startRecordingVendor();
  server.reset((_request, place) =>
    Response.json({ access_token: `token-${place}`, expires_in: LIFE_S, token_type: "Bearer" }),
  );
});
afterEach(() => server.stop());

function open(tokenUrl = new URL(`${server.baseUrl}/token`)): TokenSource {
  const reading = readServiceAccount(ACCOUNT.json);
  if (reading.kind !== "account") throw new Error(reading.reason);
  return createTokenSource(reading.account, { clock, transport: createHttp1Transport({ clock }), tokenUrl });
}

async function fail(source: TokenSource): Promise<AuthorizeError> {
  const error = await Promise.resolve(source.token()).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(AuthorizeError);
  return error as AuthorizeError;
}

describe("a token of a service account", () => {
  test("is fetched with the account's signature from the configured endpoint, not from that in the key file", async () => {
    expect(await open().token()).toBe("token-0");
    const form = new URLSearchParams(server.last().text);
    expect(server.last().headers.get("content-type")).toBe("application/x-www-form-urlencoded");
    expect(form.get("grant_type")).toBe("urn:ietf:params:oauth:grant-type:jwt-bearer");
    const nowS = clock.now() / 1000;
    expect(ACCOUNT.readClaims(form.get("assertion") as string)).toEqual({
      iss: "robot@my-project.iam.gserviceaccount.com",
      scope: "https://www.googleapis.com/auth/cloud-platform",
      aud: `${server.baseUrl}/token`,
      iat: nowS,
      exp: nowS + 3600,
    });
  });

  test("is cached and returned at once until five minutes before it expires", async () => {
    const source = open();
    await source.token();
    clock.advance((LIFE_S - 300) * 1000 - 1);
    expect(source.token()).toBe("token-0");
    clock.advance(1);
    expect(await source.token()).toBe("token-1");
    expect(source.token()).toBe("token-1");
    expect(server.requests).toHaveLength(2);
  });

  test("is fetched once for several simultaneous requests", async () => {
    const source = open();
    expect(await Promise.all([source.token(), source.token(), source.token()])).toEqual([
      "token-0",
      "token-0",
      "token-0",
    ]);
    expect(server.requests).toHaveLength(1);
  });

  test("leaves no timer running", async () => {
    const idle = clock.pendingTimers;
    const source = open();
    await source.token();
    // The remaining timer is that of the idle connection.
    expect(clock.pendingTimers).toBeLessThanOrEqual(idle + 1);
  });
});

describe("a failed token request", () => {
  test("with a rejected key is not repeated for ten seconds", async () => {
    const words = { error: "invalid_grant", error_description: "Invalid JWT Signature." };
    server.reset(() => Response.json(words, { status: 400 }));
    const source = open();
    const error = await fail(source);
    expect(error).toMatchObject({
      kind: "refused",
      message: "no token (HTTP 400): invalid_grant, Invalid JWT Signature.",
    });
    expect(await fail(source)).toBe(error);
    expect(server.requests).toHaveLength(1);
    clock.advance(10_000);
    server.reset(() => Response.json({ access_token: "new", expires_in: LIFE_S }));
    expect(await source.token()).toBe("new");
  });

  test.each([
    ["429", () => Response.json({ error: "slow_down" }, { status: 429 })],
    ["500", () => new Response("oops", { status: 500 })],
    ["an answer without a token", () => Response.json({ token: 1 })],
    ["an answer that is not JSON", () => new Response("<html>")],
    ["an answer without end", () => new Response("x".repeat(100_000))],
  ])("because of %s is repeated at once", async (_name, respond) => {
    server.reset(respond);
    const source = open();
    expect((await fail(source)).kind).toBe("unavailable");
    server.reset(() => Response.json({ access_token: "new", expires_in: LIFE_S }));
    expect(await source.token()).toBe("new");
  });

  test("to a closed port fails at once", async () => {
    const error = await fail(open(new URL("http://127.0.0.1:1/token")));
    expect(error).toMatchObject({ kind: "unavailable", message: expect.stringContaining("127.0.0.1:1") });
  });

  test("without an answer fails after ten seconds", async () => {
    server.reset(() => new Promise<Response>(() => {}));
    const failure = fail(open());
    await eventually("a request for a token", () => server.requests.length === 1);
    clock.advance(10_000);
    expect((await failure).kind).toBe("unavailable");
  });
});
