import { describe, expect, test } from "bun:test";
import type { Leases } from "../../../../src/base/time/lease.ts";
import { createTestClock, type TestClock } from "../../../support/test-clock.ts";

/** Connects a process to the leases of the running test, of which none is in force when the test begins. */
export type ConnectLeases = (clock: TestClock) => Leases | Promise<Leases>;

const requestOf = (owner: string, name = "refresh") => ({ name, owner, durationMs: 1_000 });

/** The contract of `Leases`. */
export function testLeases(connect: ConnectLeases): void {
  describe("the leases", () => {
    /** Two processes that share the leases. */
    async function connectTwo() {
      const clock = createTestClock();
      return { clock, here: await connect(clock), there: await connect(clock) };
    }

    test("go to one process at a time, and to the next after a release", async () => {
      const { clock, here, there } = await connectTwo();
      const lease = await here.acquire(requestOf("gateway_a"));
      expect(lease).toMatchObject({ name: "refresh", owner: "gateway_a", endsAt: clock.now() + 1_000 });
      expect(await there.acquire(requestOf("gateway_b"))).toBeNull();
      await lease?.release();
      const next = await there.acquire(requestOf("gateway_b"));
      expect(next?.owner).toBe("gateway_b");
      await next?.release();
    });

    test("go to one request at a time, also among requests of one owner", async () => {
      const { here } = await connectTwo();
      const lease = await here.acquire(requestOf("gateway_a"));
      expect(await here.acquire(requestOf("gateway_a"))).toBeNull();
      await lease?.release();
    });

    test("of different names do not exclude each other", async () => {
      const { here, there } = await connectTwo();
      const leases = [
        await here.acquire(requestOf("gateway_a", "refresh")),
        await there.acquire(requestOf("gateway_b", "rotation")),
      ];
      expect(leases.map((lease) => lease?.name)).toEqual(["refresh", "rotation"]);
      for (const lease of leases) await lease?.release();
    });

    test("end at their time without a renewal, and cannot be renewed then", async () => {
      const { clock, here, there } = await connectTwo();
      const first = await here.acquire(requestOf("gateway_a"));
      clock.advance(999);
      expect(await there.acquire(requestOf("gateway_b"))).toBeNull();
      clock.advance(1);
      const second = await there.acquire(requestOf("gateway_b"));
      expect(second?.owner).toBe("gateway_b");
      expect(await first?.renew(1_000)).toBe(false);
      // The release of a lease that has ended does not end the lease of another owner.
      await first?.release();
      expect(await here.acquire(requestOf("gateway_a"))).toBeNull();
      await second?.release();
    });

    test("last longer when they are renewed", async () => {
      const { clock, here, there } = await connectTwo();
      const lease = await here.acquire(requestOf("gateway_a"));
      clock.advance(900);
      expect(await lease?.renew(1_000)).toBe(true);
      expect(lease?.endsAt).toBe(clock.now() + 1_000);
      clock.advance(999);
      expect(await there.acquire(requestOf("gateway_b"))).toBeNull();
      await lease?.release();
    });

    test("cannot be renewed after their release", async () => {
      const { here } = await connectTwo();
      const lease = await here.acquire(requestOf("gateway_a"));
      await lease?.release();
      expect(await lease?.renew(1_000)).toBe(false);
    });
  });
}
