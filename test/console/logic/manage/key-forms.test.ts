import { describe, expect, test } from "bun:test";
import { describeBounds, lastDayOf } from "../../../../src/console/screens/keys/key-bounds.ts";
import {
  findDefaultsProblem,
  readDefaults,
  toDefaults,
} from "../../../../src/console/state/accounts/key-defaults.ts";
import {
  findProblem,
  NEW_KEY,
  readKey,
  toChanges,
  toSettings,
} from "../../../../src/console/state/accounts/key-input.ts";

const KEY = {
  name: "laptop",
  kind: "inference",
  account_id: "org_1",
  user_id: "user_ada",
  team_id: "team_1",
  models: null,
  spend_limit: 20,
  spend_limit_period: "month",
  rate_limit: { requests_per_minute: null, tokens_per_minute: 5_000, concurrent: null },
  prompt_log: null,
  cache: 0,
  tags: ["nightly job", "b:c"],
  expires_at: "2027-02-27T10:00:00Z",
} as const;

describe("the form of a key", () => {
  test("sends nothing for a key that is shown and not changed", () => {
    expect(toChanges(readKey(KEY), readKey(KEY))).toEqual({});
  });

  test("keeps a tag with a blank when another tag is added", () => {
    const input = readKey(KEY);
    expect(toChanges(input, { ...input, tags: `${input.tags}, c` })).toEqual({
      tags: ["nightly job", "b:c", "c"],
    });
  });

  test("sends only what was changed, because a member may not set the rest", () => {
    const input = { ...readKey(KEY), spendLimit: "10", expires: "2027-01-31" };
    expect(toChanges(readKey(KEY), input)).toEqual({ spend_limit: 10, expires_at: "2027-01-31T23:59:59Z" });
  });

  test("tells 0, which stores nothing, from an empty field, which leaves it to the team or account", () => {
    const settings = toSettings({ ...NEW_KEY, name: "x", cache: "0", tags: "a, b:c" });
    expect(settings).toMatchObject({ cache: 0, prompt_log: null, tags: ["a", "b:c"] });
    expect(findProblem({ ...NEW_KEY, name: "x", promptLog: "soon" })).toEqual({
      field: "promptLog",
      problem: "seconds",
    });
    expect(findProblem({ ...NEW_KEY, name: "x", concurrent: "0" })).toMatchObject({ problem: "whole" });
  });
});

describe("the form of defaults for keys", () => {
  test("is the same when it is shown and not changed", () => {
    const defaults = { prompt_log: 3_600, cache: 0, tags: ["team:search", "nightly job"] };
    expect(toDefaults(readDefaults(defaults))).toEqual(defaults);
    const none = { prompt_log: null, cache: null, tags: null };
    expect(toDefaults(readDefaults(none))).toEqual(none);
  });

  test("names the duration that is no whole number", () => {
    expect(findDefaultsProblem({ promptLog: "", cache: "1.5", tags: "" })).toBe("cache");
    expect(findDefaultsProblem({ promptLog: "0", cache: "60", tags: "x" })).toBe(null);
  });
});

describe("the bounds of a member's keys", () => {
  test("are sentences, of which those without a bound are left out", () => {
    expect(describeBounds({ used: 1, count: 5, days: 90, spend_limit: 50 })).toEqual([
      "You have 1 of 5 keys.",
      "A key may spend at most $50.00 a month.",
      "It ends after 90 days at the latest.",
    ]);
    expect(describeBounds({ used: 2, count: null, days: null, spend_limit: null })).toEqual([
      "You have 2 keys.",
    ]);
  });

  test("allow a last day whose end is within the longest life", () => {
    const now = Date.parse("2026-11-29T20:00:00Z");
    const end = Date.parse(`${lastDayOf(90, now)}T23:59:59Z`);
    expect(end).toBeLessThanOrEqual(now + 90 * 86_400_000);
    expect(end).toBeGreaterThan(now + 88 * 86_400_000);
  });
});
