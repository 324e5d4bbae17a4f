import { describe, expect, test } from "bun:test";
import { StoreError } from "../../src/base/failures/store-error.ts";
import { StoreHealth } from "../../src/base/failures/store-health.ts";
import { memoize } from "../../src/core/accounts/stores/memoize.ts";
import { turnEventLoop } from "../support/event-loop.ts";
import { createTestClock } from "../support/test-clock.ts";

const MAX_STALENESS_MS = 60_000;

/** A lookup in a store that can be away or silent. */
function createSite() {
  const clock = createTestClock();
  const health = new StoreHealth({ clock, maxStalenessMs: MAX_STALENESS_MS });
  const stored = new Map<string, string>();
  const site = {
    clock,
    health,
    stored,
    loads: 0,
    state: "there" as "there" | "away" | "silent",
    memory: memoize<string>(async (id) => {
      site.loads += 1;
      if (site.state === "away") throw new StoreError("away");
      if (site.state === "silent") await new Promise(() => {});
      return stored.get(id) ?? null;
    }, health),
    /** Lets a poll report what it would find. */
    poll() {
      if (site.state === "there") health.succeeded(clock.now());
      else health.failed();
    },
  };
  return site;
}

describe("a value that was looked up", () => {
  test("is returned while the store is away, until the maximum staleness has passed; then a StoreError is thrown", async () => {
    const { clock, health, stored, memory } = createSite();
    stored.set("a", "1");
    expect(await memory.get("a")).toBe("1");
    clock.advance(MAX_STALENESS_MS);
    health.failed();
    expect(await memory.get("a")).toBe("1");
    clock.advance(1);
    health.failed();
    expect(memory.get("a")).rejects.toThrow(StoreError);
    health.succeeded(clock.now());
    expect(await memory.get("a")).toBe("1");
  });

  test("is returned while the store is away even if it may be outdated, but not longer than the maximum staleness", async () => {
    const site = createSite();
    site.stored.set("a", "1");
    await site.memory.get("a");
    site.poll();
    site.memory.expire();
    site.state = "away";
    site.poll();
    expect(await site.memory.get("a")).toBe("1");
    expect(site.loads).toBe(1);
    // Polls succeed in between, and the value is not needed.
    site.state = "there";
    site.clock.advance(MAX_STALENESS_MS + 1);
    site.poll();
    site.state = "away";
    site.poll();
    expect(site.memory.get("a")).rejects.toThrow(StoreError);
  });

  test("is loaded again after a change by another process, and forgotten after one by this process", async () => {
    const site = createSite();
    site.stored.set("a", "1");
    await site.memory.get("a");
    site.stored.set("a", "2");
    expect(await site.memory.get("a")).toBe("1");
    site.memory.expire();
    expect(await site.memory.get("a")).toBe("2");
    site.memory.forget("a");
    site.state = "away";
    site.poll();
    expect(site.memory.get("a")).rejects.toThrow(StoreError);
  });

  test("is returned if the store does not answer a second lookup of it within two seconds", async () => {
    const site = createSite();
    site.stored.set("a", "1");
    await site.memory.get("a");
    site.memory.expire();
    site.state = "silent";
    const value = site.memory.get("a");
    await turnEventLoop(2);
    site.clock.advance(2_000);
    expect(await value).toBe("1");
  });

  test("is not returned any more if it is changed while the lookup that would tell so fails", async () => {
    const site = createSite();
    site.stored.set("a", "1");
    await site.memory.get("a");
    site.memory.expire();
    site.state = "silent";
    const value = Promise.resolve(site.memory.get("a")).catch((error) => error);
    await turnEventLoop(2);
    site.memory.forget("a");
    site.clock.advance(2_000);
    expect(await value).toBeInstanceOf(StoreError);
  });

  test("is not evicted by ids that the store does not have", async () => {
    const site = createSite();
    site.stored.set("a", "1");
    await site.memory.get("a");
    for (let i = 0; i < 51_000; i++) await site.memory.get(`made up ${i}`);
    site.loads = 0;
    expect(await site.memory.get("a")).toBe("1");
    expect(site.loads).toBe(0);
  });
});

describe("an id that the store does not have", () => {
  test("is looked up once, and again after a change", async () => {
    const site = createSite();
    for (let i = 0; i < 3; i++) expect(await site.memory.get("a")).toBeNull();
    expect(site.loads).toBe(1);
    site.stored.set("a", "1");
    site.memory.expire();
    expect(await site.memory.get("a")).toBe("1");
  });

  test("is a StoreError while the store is away, because another process may have added it", async () => {
    const site = createSite();
    expect(await site.memory.get("a")).toBeNull();
    site.state = "away";
    site.poll();
    expect(site.memory.get("a")).rejects.toThrow(StoreError);
    expect(site.memory.get("b")).rejects.toThrow(StoreError);
    expect(site.loads).toBe(1);
  });
});

describe("lookups in a store that does not answer", () => {
  test("at most 32 are in progress, the others wait for two seconds, and beyond 1,000 waiting ones they fail at once", async () => {
    const site = createSite();
    site.state = "silent";
    const failures: string[] = [];
    const looks = Array.from({ length: 1_100 }, (_, index) =>
      Promise.resolve(site.memory.get(`id ${index}`)).catch((error: Error) => failures.push(error.message)),
    );
    await turnEventLoop();
    expect(site.loads).toBe(32);
    expect(failures).toHaveLength(1_100 - 32 - 1_000);
    site.clock.advance(2_000);
    await Promise.all(looks);
    expect(failures).toHaveLength(1_100);
    expect(site.loads).toBe(32);
  });

  test("concurrent lookups of one id are one lookup", async () => {
    const site = createSite();
    site.stored.set("a", "1");
    expect(await Promise.all([site.memory.get("a"), site.memory.get("a")])).toEqual(["1", "1"]);
    expect(site.loads).toBe(1);
  });
});
