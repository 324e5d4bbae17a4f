import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { postChat } from "../support/gateway/gateway.ts";
import { isInRun } from "../support/long-run.ts";
import { FAULTS, type Fault } from "./faults.ts";
import { describeOutcome, expectCalls, expectOutcome, type Outcome, type Received } from "./outcome.ts";
import { KEY_A, KEY_B, PROMPT, startTwoVendors, type TwoVendors } from "./two-vendors.ts";

let vendors: TwoVendors;

interface Request {
  readonly model: string;
  readonly stream: boolean;
}

const VENDORS = { alone: "without a second vendor", both: "with a second vendor" } as const;

for (const transport of ["http1", "fetch"] as const) {
  describe(`over ${transport}`, () => {
    beforeAll(async () => {
      vendors = await startTwoVendors(`upstream: {transport: ${transport}}`);
    });
    afterAll(() => vendors.stop());
    beforeEach(() => vendors.reset());
    for (const [group, faults] of Object.entries(FAULTS)) {
      // All faults over the default transport, and every third over the other.
      const rows = faults.filter(
        ({ needsHttp1 }, index) => transport === "http1" || (!needsHttp1 && isInRun(3, index)),
      );
      describe(`a vendor that fails ${group}`, () => testRows(rows));
    }
    test(
      "a vendor out of credit is not called again for a minute, and the client gets the remaining time",
      expectCreditCooldown,
    );
  });
}

/** Tests each fault streamed and whole, with one vendor and with two; both of each, but not all four, unless the run is long. */
function testRows(faults: readonly Fault[]): void {
  for (const [index, fault] of faults.entries()) {
    for (const mode of ["streamed", "whole"] as const) {
      for (const vendorCount of ["alone", "both"] as const) {
        if (!isInRun(2, index, Number(mode === "streamed"), Number(vendorCount === "both"))) continue;
        const outcome = fault[mode][vendorCount];
        const name = `${fault.what}, ${mode}, ${VENDORS[vendorCount]}: ${describeOutcome(outcome)}`;
        test(name, () => runRow(fault, outcome, requestFor(fault, mode, vendorCount)));
      }
    }
  }
}

function requestFor(fault: Fault, mode: "streamed" | "whole", vendorCount: "alone" | "both"): Request {
  const place = fault.at === undefined ? "" : `${fault.at}-`;
  return { model: `acme/${place}${vendorCount}`, stream: mode === "streamed" };
}

async function runRow(fault: Fault, outcome: Outcome, request: Request): Promise<void> {
  const { a, b, gateway } = vendors;
  if (fault.play) a.perform(fault.play);
  if (fault.second) b.perform(fault.second);
  const received = await send(fault, request);
  await expectOutcome(vendors, received, outcome, request);
  const attempts = outcome.kind === "break" ? 1 : outcome.attempts;
  expectCalls(a, fault.at === undefined ? 1 : 0, KEY_A, gateway.key);
  expectCalls(b, attempts - 1, KEY_B, gateway.key);
}

/**
 * Sends a request. Lets the vendor continue once the client has the first text, or advances the clock if the
 * fault is a timeout.
 */
async function send(fault: Fault, request: Request): Promise<Received> {
  const body = { ...request, messages: [{ role: "user", content: PROMPT }] };
  const muteCount = vendors.mute.connections.length;
  const pending = postChat(vendors.gateway, body);
  const passMs = fault.passMs?.[request.stream ? "streamed" : "whole"] ?? 0;
  const speaksFirst = fault.speaksFirst === true && request.stream;
  if (passMs > 0 && !speaksFirst) await advanceAtGate(fault, passMs, muteCount);
  const response = await pending;
  if (!request.stream || response.status !== 200) return { response, body: await response.text() };
  const reader = response.body!.getReader();
  const pieces: Uint8Array[] = [];
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    pieces.push(next.value);
    if (pieces.length > 1) continue;
    if (passMs > 0 && speaksFirst) await advanceAtGate(fault, passMs, muteCount);
    else for (const call of vendors.a.calls) call.openGate();
  }
  return { response, body: Buffer.concat(pieces).toString("utf8") };
}

async function advanceAtGate(fault: Fault, passMs: number, muteCount: number): Promise<void> {
  if (fault.at === "mute") await vendors.mute.connection(muteCount);
  else await (await vendors.a.call(0)).atGate;
  vendors.clock.advance(passMs);
}

async function expectCreditCooldown(): Promise<void> {
  const { a, b, clock, gateway } = vendors;
  a.perform((call) => call.respond(402, { error: { message: "Payment required" } }));
  const messages = [{ role: "user", content: PROMPT }];
  expect((await postChat(gateway, { model: "acme/both", messages })).status).toBe(200);
  clock.advance(20_000);
  const next = await postChat(gateway, { model: "acme/both", messages });
  expect(next.headers.get("x-gateway-provider")).toBe("vendor-b");
  expect(next.headers.get("x-gateway-attempts")).toBe("1");
  const alone = await postChat(gateway, { model: "acme/alone", messages });
  expect(alone.status).toBe(503);
  expect(alone.headers.get("retry-after")).toBe("40");
  expect(a.calls).toHaveLength(1);
  expect(b.calls).toHaveLength(2);
}
