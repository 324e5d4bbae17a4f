import { describe, expect, test } from "bun:test";
import type { Setting } from "../../../src/console/api/schema.ts";
import { pageOf, toAuditQuery } from "../../../src/console/screens/audit/audit-rows.ts";
import {
  filterSettings,
  printJumps,
  printPlace,
  printValue,
} from "../../../src/console/screens/settings/setting-rows.ts";

const setting = (name: string, changes: Partial<Setting> = {}): Setting => ({
  name,
  value: null,
  source: "default",
  file: null,
  line: null,
  variable: null,
  references: [],
  needs_restart: false,
  awaits_restart: false,
  is_secret: false,
  description: "",
  ...changes,
});

describe("the settings screen", () => {
  test("settings are found by all words of a text in name, value or description", () => {
    const all = [
      setting("server.port", { value: 8080, description: "Port to listen on." }),
      setting("server.host", { value: "127.0.0.1", source: "environment" }),
    ];
    const names = (typed: string, changedOnly = false) =>
      filterSettings(all, typed, changedOnly).map(({ name }) => name);
    expect(names("")).toEqual(["server.port", "server.host"]);
    expect(names("LISTEN server")).toEqual(["server.port"]);
    expect(names("127.0")).toEqual(["server.host"]);
    expect(names("", true)).toEqual(["server.host"]);
  });

  test("a value is printed as in the configuration, and its place as file and line or as the variable", () => {
    expect([null, "text", 0, false, ["a"]].map(printValue)).toEqual(["", "text", "0", "false", '["a"]']);
    expect(printPlace(setting("a"))).toBeNull();
    expect(printPlace(setting("a", { file: "/etc/gateway.yaml", line: 4 }))).toBe("gateway.yaml:4");
    expect(printPlace(setting("a", { file: "g.yaml", line: 4, references: ["KEY"] }))).toBe("g.yaml:4, KEY");
    expect(printPlace(setting("a", { variable: "GATEWAY_PORT" }))).toBe("GATEWAY_PORT");
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
