import { expect, test } from "bun:test";
import { StoreError } from "../../src/base/failures/store-error.ts";
import { GatewayReplacedError } from "../../src/core/gateways/gateway-identity.ts";
import { type LiveGateways, RENEWAL_MS } from "../../src/core/gateways/gateway-registry.ts";
import { Membership } from "../../src/core/gateways/membership.ts";
import { createTestClock } from "../support/test-clock.ts";

const IDENTITY = { id: "gateway_a", epoch: 3 };

/** A membership whose renewals are answered by `answers` in turn, the last one for ever. */
function join(answers: readonly (LiveGateways | null | Error)[]) {
  const clock = createTestClock();
  const ends: GatewayReplacedError[] = [];
  let renewals = 0;
  const registry = {
    async renew() {
      const answer = answers[Math.min(renewals, answers.length - 1)] as LiveGateways | null | Error;
      renewals += 1;
      if (answer instanceof Error) throw answer;
      return answer;
    },
  };
  const membership = new Membership({
    registry,
    clock,
    identity: IDENTITY,
    onReplaced: (error) => ends.push(error),
  });
  const pass = async (ms: number): Promise<void> => {
    clock.advance(ms);
    for (let turn = 0; turn < 5; turn++) await Promise.resolve();
  };
  return { membership, clock, ends, pass, renewals: () => renewals };
}

test("a gateway has no share before its first renewal, and that of the last renewal afterwards", async () => {
  const { membership, pass, renewals } = join([null, { count: 2, rank: 1 }]);
  expect(membership.liveGateways()).toBeNull();
  await pass(RENEWAL_MS);
  expect(membership.liveGateways()).toBeNull();
  // It asks soon again, because it has no share until then.
  await pass(500);
  expect(membership.liveGateways()).toEqual({ count: 2, rank: 1 });
  expect(renewals()).toBe(2);
  await pass(RENEWAL_MS - 501);
  expect(renewals()).toBe(2);
  await pass(1);
  expect(renewals()).toBe(3);
});

test("a gateway keeps its share while the store is unavailable, and goes on to renew", async () => {
  const live = { count: 3, rank: 0 };
  const { membership, pass, ends } = join([live, new StoreError("gone"), { count: 2, rank: 0 }]);
  await pass(RENEWAL_MS);
  await pass(RENEWAL_MS);
  expect(membership.liveGateways()).toEqual(live);
  await pass(RENEWAL_MS);
  expect(membership.liveGateways()).toEqual({ count: 2, rank: 0 });
  expect(ends).toHaveLength(0);
});

test("a gateway that was replaced is told once, whichever call finds it, and renews no more", async () => {
  const { membership, clock, pass, ends } = join([new GatewayReplacedError(IDENTITY)]);
  await pass(RENEWAL_MS);
  membership.noticeFailure(new GatewayReplacedError(IDENTITY));
  expect(ends).toHaveLength(1);
  expect(clock.pendingTimers).toBe(0);
});

test("a failure of the store that is no replacement does not end a gateway", () => {
  const { membership, ends } = join([null]);
  membership.noticeFailure(new StoreError("the disk is full"));
  membership.noticeFailure(new Error("something else"));
  expect(ends).toHaveLength(0);
});

test("a gateway that has stopped renews no more", async () => {
  const { membership, pass, renewals } = join([null]);
  membership.stop();
  await pass(10 * RENEWAL_MS);
  expect(renewals()).toBe(0);
});
