import { describe, expect, test } from "bun:test";
import type { AuditEntry, Setting } from "../../../src/console/api/schema.ts";
import {
  filterEntries,
  pageOf,
  printChanges,
  shortenAction,
} from "../../../src/console/screens/audit/audit-rows.ts";
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

const entry = (place: number, changes: Partial<AuditEntry> = {}): AuditEntry => ({
  place,
  at: "2026-11-23T10:00:00.000Z",
  key_id: "key_operator",
  user_id: null,
  action: "POST /api/admin/users",
  account_id: null,
  target: null,
  request_id: null,
  changes: {},
  previous_hash: "",
  hash: "",
  ...changes,
});

describe("the audit screen", () => {
  test("entries are found by action, resource and the values that were set", () => {
    const all = [entry(2, { target: "org_1" }), entry(1, { changes: { name: "Ada", limits: [1] } })];
    const places = (typed: string) => filterEntries(all, typed).map(({ place }) => place);
    expect(places("")).toEqual([2, 1]);
    expect(places("org_1")).toEqual([2]);
    expect(places("post ADA")).toEqual([1]);
    expect(places("nothing")).toEqual([]);
  });

  test("an action is shortened to what tells it apart, and a command stays as it is", () => {
    expect(shortenAction("PATCH /api/admin/users/:id")).toBe("PATCH users/:id");
    expect(shortenAction("gateway users close")).toBe("gateway users close");
  });

  test("a resource leads to its page if the console has one", () => {
    expect(pageOf("gen_1")).toBe("/console/requests/gen_1");
    expect(pageOf("org_1")).toBe("/console/people/org_1");
    expect(pageOf("gateway-auto/fast")).toBe("/console/routing?tier=gateway-auto%2Ffast");
    expect([null, "sess_1", "catalog"].map(pageOf)).toEqual([null, null, null]);
  });

  test("fields that were set are printed in one line", () => {
    expect(printChanges({ name: "Ada", limits: [1, null] })).toBe("name: Ada, limits: [1,null]");
  });
});
