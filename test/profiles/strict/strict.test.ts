import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createSeededRandom } from "../../support/seeded-random.ts";
import { listDistinctProfiles, pickServed } from "./distinct-profiles.ts";
import { coverPairs } from "./pairwise.ts";
import { runProfiles } from "./run-profiles.ts";
import { DOCUMENTED_HOSTS, findRefusal } from "./strict-host.ts";
import { startStrictSite } from "./strict-site.ts";

test("every pair of values of two axes has its row", () => {
  const sizes = [3, 4, 2, 5, 3];
  const rows = coverPairs(sizes, createSeededRandom(7));
  const seen = new Set(
    rows.flatMap((row) =>
      row.flatMap((a, at) => row.slice(at + 1).map((b, next) => `${at} ${a} ${at + 1 + next} ${b}`)),
    ),
  );
  let pairs = 0;
  for (const [at, size] of sizes.entries()) for (const other of sizes.slice(at + 1)) pairs += size * other;
  expect(seen.size).toBe(pairs);
  expect(rows.length).toBeLessThan(40);
});

describe("a strict host", () => {
  const reached = { host: "groq", format: "openai-chat", model: "openai/gpt-oss-120b" } as const;
  const body = { model: "m", messages: [{ role: "user", content: "Hello!" }] };

  test("answers a request if its document names every field of it", () => {
    expect(findRefusal({ ...body, temperature: 0.3, n: 1 }, reached)).toBeNull();
  });

  test.each([
    [{ prompt_cache_key: "k" }, "unknown", ["prompt_cache_key"]],
    [{ temperature: "hot" }, "type", ["temperature"]],
    [{ reasoning_effort: "huge" }, "value", ["reasoning_effort"]],
    [{ messages: [{ role: "user", content: "Hello!", mood: "good" }] }, "unknown", ["messages", 0, "mood"]],
    [{ n: 2 }, "model", ["n"]],
  ])("refuses %j", (more, kind, path) => {
    expect(findRefusal({ ...body, ...more }, reached)).toMatchObject({ kind, path });
  });
});

describe("requests with all pairs of parameters", () => {
  const hosts = new Set(["groq"]);
  let site: Awaited<ReturnType<typeof startStrictSite>>;
  beforeAll(async () => {
    site = await startStrictSite(hosts);
  });
  afterAll(() => site.stop());

  test.each([...hosts])(
    "are not refused by %s, and what it does not take is named (npm run suite -- profiles tries all hosts)",
    async (host) => {
      expect(DOCUMENTED_HOSTS).toContain(host);
      const profiles = pickServed(listDistinctProfiles(new Set([host])));
      const { requests, found } = await runProfiles(profiles, site.ask, 1);
      expect(requests).toBeGreaterThan(100);
      expect(found).toEqual([]);
    },
  );
});
