import { describe, expect, test } from "bun:test";
import { pageOf, toAuditQuery } from "../../../src/console/screens/audit/audit-rows.ts";
import { printJumps, printValue } from "../../../src/console/screens/settings/setting-rows.ts";

describe("the settings screen", () => {
  test("a value is printed as in the configuration", () => {
    expect([null, "text", 0, false, ["a", "b"], [1]].map(printValue)).toEqual([
      "",
      "text",
      "0",
      "false",
      "a, b",
      "[1]",
    ]);
  });

  test("a price change says which price changes, from when, and by how much", () => {
    const jumps = [
      { kind: "prompt", before: "0.000001", after: "0.000005", min_prompt_tokens: null, from: null },
      { kind: "cache_read", before: null, after: "0.1", min_prompt_tokens: 200000, from: "2027-01-01" },
    ];
    expect(printJumps(jumps, "unknown")).toEqual([
      "prompt: $0.000001 → $0.000005",
      "cache read from 200000 tokens on 2027-01-01: unknown → $0.1",
    ]);
  });
});

describe("the audit screen", () => {
  test("its address becomes the filters of the API, and values that are not valid count as absent", () => {
    const now = Date.parse("2026-11-23T10:00:00Z");
    expect(toAuditQuery({ last: "7d", kind: "keyChanged", actor: "user_1", target: "key_1" }, now)).toEqual({
      from: "2026-11-16T10:00:00.000Z",
      action: "PATCH /api/admin/keys/:id,gateway keys update",
      actor: "user_1",
      target: "key_1",
    });
    expect(toAuditQuery({ last: "toString", kind: "constructor", actor: "" }, now)).toEqual({});
  });

  test("a resource leads to its page if the console has one", () => {
    expect(pageOf("gen_1")).toBe("/console/requests/gen_1");
    expect(pageOf("key_1")).toBe("/console/keys/key_1");
    expect(pageOf("key_operator")).toBeNull();
    expect(pageOf("org_1")).toBe("/console/people/org_1");
    expect(pageOf("gateway-auto/fast")).toBe("/console/routing?tier=gateway-auto%2Ffast");
    expect([null, "sess_1", "catalog"].map(pageOf)).toEqual([null, null, null]);
  });
});
