import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { ERROR_STATUS } from "../../src/base/failures/errors.ts";
import type { FormatName } from "../../src/wire/conversation/traits/format-name.ts";
import { FORMAT_NAMES } from "../../src/wire/conversation/traits/format-name.ts";
import { waitFor } from "../support/event-loop.ts";
import { isInRun } from "../support/long-run.ts";
import { SCRIPTS } from "../support/vendors/scripts/all-scripts.ts";
import { SCRIPTED_USAGE } from "../support/vendors/scripts/vendor-script.ts";
import { CLIENT_APIS, type ClientAnswer, type ClientApi } from "./client-apis.ts";
import { FORMAT_FAULTS, type FormatFault, type FormatOutcome } from "./format-faults.ts";
import { type FormatVendors, SCRIPTED_COST, standInOf, startFormatVendors } from "./format-vendors.ts";
import { fetchRecord, KEY_A, KEY_B, PROMPT } from "./two-vendors.ts";

let vendors: FormatVendors;

beforeAll(async () => {
  vendors = await startFormatVendors();
});
afterAll(() => vendors.stop());

/** One cell of the matrix. */
interface Case {
  readonly api: ClientApi;
  readonly format: FormatName;
  readonly fault: FormatFault;
  readonly stream: boolean;
  readonly vendorCount: "alone" | "both";
}

for (const [apiIndex, api] of CLIENT_APIS.entries()) {
  for (const [formatIndex, format] of FORMAT_NAMES.entries()) {
    describe(`a ${api.name} client of a vendor that speaks ${format}`, () => {
      beforeEach(() => vendors.reset(format));
      for (const [group, faults] of Object.entries(FORMAT_FAULTS)) {
        describe(`and fails ${group}`, () => {
          // Each fault of each format is tested with one of the client APIs, and each API with each fault.
          for (const [index, fault] of faults.entries())
            if (isInRun(CLIENT_APIS.length, apiIndex, formatIndex, index))
              testFault({ api, format, fault }, index);
        });
      }
      test("that disconnects in the middle of a stream is charged for the output so far", () =>
        expectChargeAfterDisconnect(api, format));
    });
  }
}

const VENDORS = { alone: "without a second vendor", both: "with a second vendor of another format" } as const;

/** Tests a fault streamed and whole, with one vendor and with two: one of the four in each fault's turn, unless the run is long. */
function testFault({ api, format, fault }: Pick<Case, "api" | "format" | "fault">, index: number): void {
  for (const stream of [true, false]) {
    for (const vendorCount of ["alone", "both"] as const) {
      if (!isInRun(4, index, 2 * Number(stream), Number(vendorCount === "both"))) continue;
      const outcome = fault[stream ? "streamed" : "whole"][vendorCount];
      const mode = stream ? "streamed" : "whole";
      test(`${fault.what}, ${mode}, ${VENDORS[vendorCount]}: ${describeOutcome(outcome)}`, () =>
        runCase({ api, format, fault, stream, vendorCount }, outcome));
    }
  }
}

function describeOutcome(outcome: FormatOutcome): string {
  if (outcome.kind === "answer") return `the answer of the ${outcome.by} vendor, ${outcome.finish}`;
  if (outcome.kind === "rejection") return `${ERROR_STATUS[outcome.code]} ${outcome.code}`;
  return `the API's own error event, ${outcome.code}`;
}

async function runCase(each: Case, outcome: FormatOutcome): Promise<void> {
  const { api, format, fault, stream, vendorCount } = each;
  const { first, second, gateway } = vendors;
  if (fault.play) first.perform(fault.play(SCRIPTS[format]));
  const model = `acme/${format}${fault.play ? "" : "-down"}-${vendorCount}`;
  const { response, body } = await send(each, model);
  const attempts = outcome.kind === "answer" && outcome.by === "second" ? 2 : 1;
  expect(response.headers.get("x-gateway-attempts")).toBe(String(attempts));
  const id = response.headers.get("x-gateway-generation-id") ?? "";
  const record = await fetchRecord(gateway, id);
  expect(record["attempts"]).toHaveLength(attempts);
  if (outcome.kind === "rejection") {
    expectRejection(api, response, body, outcome, record);
  } else {
    expect(response.status).toBe(200);
    const answered = stream ? api.readStream(body) : api.readDocument(body);
    expect([answered.id, answered.model, answered.text]).toEqual([id, model, outcome.text]);
    if (outcome.kind === "answer") expectAnswer(each, answered, outcome, record);
    else expectBreak(api, answered, outcome, record);
  }
  expect(first.calls).toHaveLength(fault.play ? 1 : 0);
  expect(second.calls).toHaveLength(attempts - 1);
  expectNoSecrets({ headers: [...response.headers], body, record });
}

function expectAnswer(
  { format }: Case,
  answered: ClientAnswer,
  { by, finish, text }: FormatOutcome & { kind: "answer" },
  record: Readonly<Record<string, unknown>>,
): void {
  expect(answered.ending).toEqual({ finish });
  expect(record).toMatchObject({
    outcome: "completed",
    status: 200,
    error_type: null,
    finish_reason: finish === "refusal" ? "content_filter" : finish,
    provider_name: by === "first" ? `first-${format}` : `second-${standInOf(format).format}`,
  });
  if (text === "") {
    expect([answered.usage?.completion, record["tokens_completion"]]).toEqual([0, 0]);
    return;
  }
  expect(answered.usage).toEqual({ completion: SCRIPTED_USAGE.completion, estimated: false });
  expect(record).toMatchObject({
    tokens_prompt: SCRIPTED_USAGE.prompt,
    tokens_completion: SCRIPTED_USAGE.completion,
    estimated: false,
    total_cost_nanodollars: SCRIPTED_COST[by],
  });
}

function expectBreak(
  api: ClientApi,
  answered: ClientAnswer,
  { code, calls }: FormatOutcome & { kind: "break" },
  record: Readonly<Record<string, unknown>>,
): void {
  expect(answered.ending).toEqual({ error: api.streamErrorName(code) });
  expect(answered.calls).toEqual([...calls]);
  expect(record).toMatchObject({ outcome: "failed", status: 200, error_type: code, estimated: true });
  expect(record["tokens_completion"]).toBeGreaterThan(0);
  expect(record["total_cost_nanodollars"]).toBeGreaterThan(0);
}

/** A failure before the first token costs nothing. */
function expectRejection(
  api: ClientApi,
  response: Response,
  body: string,
  { code, retryAfter }: FormatOutcome & { kind: "rejection" },
  record: Readonly<Record<string, unknown>>,
): void {
  const status = ERROR_STATUS[code];
  expect({ status: response.status, body: JSON.parse(body) }).toEqual({ status, body: api.errorBody(code) });
  expect(response.headers.get("retry-after")).toBe(retryAfter === null ? null : String(retryAfter));
  expect(response.headers.get("content-type")).toBe("application/json");
  expect(record).toMatchObject({
    outcome: "failed",
    status,
    error_type: code,
    finish_reason: null,
    total_cost_nanodollars: 0,
  });
}

/**
 * Checks that answers contain neither provider keys nor the state of the platform's account, and the log
 * neither prompts nor API keys.
 */
function expectNoSecrets(answered: unknown): void {
  const { gateway } = vendors;
  const answer = JSON.stringify(answered);
  const log = JSON.stringify(gateway.log);
  for (const secret of [KEY_A, KEY_B]) {
    expect(answer).not.toContain(secret);
    expect(log).not.toContain(secret);
  }
  // A length may be any number.
  const words = answer.replace(/\\?"content-length\\?",\\?"\d+\\?"/, "");
  expect(words).not.toMatch(/credit|billing|payment|quota|\b402\b/i);
  expect(log).not.toContain(gateway.key);
  expect(log).not.toContain(PROMPT);
  gateway.log.length = 0;
}

function post({ path, ask }: ClientApi, model: string, stream: boolean, signal?: AbortSignal) {
  const { base, key } = vendors.gateway;
  return fetch(base + path, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(ask(model, stream)),
    ...(signal ? { signal } : {}),
  });
}

/**
 * Sends a request. Lets the vendor continue once the client has the first text, or advances the clock if the
 * fault is a timeout.
 */
async function send({ api, fault, stream }: Case, model: string) {
  const pending = post(api, model, stream);
  const passMs = fault.passMs?.[stream ? "streamed" : "whole"] ?? 0;
  const speaksFirst = fault.speaksFirst === true && stream;
  if (passMs > 0 && !speaksFirst) await advanceAtGate(passMs);
  const response = await pending;
  if (!stream || response.status !== 200) return { response, body: await response.text() };
  const reader = response.body!.getReader();
  const pieces: Uint8Array[] = [];
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    pieces.push(next.value);
    if (pieces.length > 1) continue;
    if (passMs > 0 && speaksFirst) await advanceAtGate(passMs);
    else for (const call of vendors.first.calls) call.openGate();
  }
  return { response, body: Buffer.concat(pieces).toString("utf8") };
}

async function advanceAtGate(passMs: number): Promise<void> {
  await (await vendors.first.call(0)).atGate;
  vendors.clock.advance(passMs);
}

async function expectChargeAfterDisconnect(api: ClientApi, format: FormatName): Promise<void> {
  const { first, gateway } = vendors;
  const script = SCRIPTS[format];
  first.perform(async (call) => {
    await call.begin(200, { "content-type": script.contentType });
    await call.piece(script.begin("Alpha one"));
    await call.gate();
  });
  const abort = new AbortController();
  const response = await post(api, `acme/${format}-both`, true, abort.signal);
  await response.body!.getReader().read();
  abort.abort();
  await (await first.call(0)).connection.closed;
  const id = response.headers.get("x-gateway-generation-id") ?? "";
  const record = await waitFor(async () => {
    const found = await fetchRecord(gateway, id);
    return found["outcome"] === "open" ? null : found;
  });
  expect(record).toMatchObject({
    outcome: "cancelled",
    error_type: null,
    status: 200,
    estimated: true,
    provider_name: `first-${format}`,
  });
  expect(record["tokens_completion"]).toBeGreaterThan(0);
  expect(record["total_cost_nanodollars"]).toBeGreaterThan(0);
}
