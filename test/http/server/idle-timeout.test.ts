import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, spyOn, test } from "bun:test";
import type { HttpDeps } from "../../../src/http/context/context.ts";
import { IDLE_S, RequestState } from "../../../src/http/server/request-state.ts";
import { startTwoVendors, type TwoVendors } from "../../faults/two-vendors.ts";
import { ABORT_WATCH_DELAY_MS } from "../../support/clients/raw-client.ts";
import { postChat } from "../../support/gateway/gateway.ts";
import { createTestClock } from "../../support/test-clock.ts";
import { documentOf } from "../../support/vendors/vendor.ts";

const BODY = { model: "acme/alone", messages: [{ role: "user", content: "Hi" }] };
const disable = spyOn(RequestState.prototype, "disableIdleTimeout");

let vendors: TwoVendors;

beforeAll(async () => {
  vendors = await startTwoVendors();
});
afterAll(async () => {
  disable.mockRestore();
  await vendors.stop();
});
beforeEach(() => vendors.reset());
afterEach(() => disable.mockClear());

describe("the idle timeout of a client's connection", () => {
  test("stays as it is during a generation that ends soon", async () => {
    const response = await postChat(vendors.gateway, BODY);
    expect(response.status).toBe(200);
    expect(disable).not.toHaveBeenCalled();
  });

  test("is disabled during a generation that lasts", async () => {
    vendors.a.perform(async (call) => {
      await call.gate();
      await call.respond(200, documentOf("late"));
    });
    const answer = postChat(vendors.gateway, BODY);
    const call = await vendors.a.call(0);
    vendors.clock.advance(ABORT_WATCH_DELAY_MS);
    expect(disable).toHaveBeenCalledTimes(1);
    call.openGate();
    expect((await answer).status).toBe(200);
  });

  test("is enabled again only after it was disabled", () => {
    const set: number[] = [];
    const context = createContext((seconds) => set.push(seconds));
    context.enableIdleTimeout();
    expect(set).toEqual([]);
    context.disableIdleTimeout();
    context.enableIdleTimeout();
    context.enableIdleTimeout();
    expect(set).toEqual([0, IDLE_S]);
  });
});

function createContext(onTimeout: (seconds: number) => void): RequestState {
  const deps = { ids: { next: () => "req_1" }, clock: createTestClock() } as unknown as HttpDeps;
  const connection = { requestIP: () => null, timeout: (_: Request, seconds: number) => onTimeout(seconds) };
  return new RequestState(
    { deps: () => deps, route: "/chat/completions", isOpen: false },
    new Request("http://gateway/chat/completions"),
    connection,
  );
}
