import { describe, expect, test } from "bun:test";
import { compareSurface, findUnnamed } from "../../scripts/surface/compare-surface.ts";
import { flattenSchema } from "../../scripts/surface/flatten-schema.ts";
import { listForms } from "../../scripts/surface/list-forms.ts";
import { renderSurface } from "../../scripts/surface/list-surface.ts";

const BEFORE = [
  "GET /api/keys > 200 > application/json: KeyList",
  "GET /api/keys: key managementKey",
  "Key > name: string",
  "Key: object",
  "keys create > --name <text>",
  "keys create: <account>",
  "server > port: integer, default 8080",
];

/** Returns the lines that a text does not name, after some were taken away and others added. */
function unnamed(removed: readonly string[], added: readonly string[], text: string): readonly string[] {
  const after = [...BEFORE.filter((line) => !removed.includes(line)), ...added];
  return findUnnamed(compareSurface(BEFORE, after), text).map(({ kind, line }) => `${kind} ${line}`);
}

describe("a line of the public surface that is not as in the last release", () => {
  test("is reported if the changelog does not name it in code", () => {
    const added = ["Key > color: string"];
    expect(unnamed([], added, "")).toEqual(["new Key > color: string"]);
    expect(unnamed([], added, "- Keys have a color.")).toEqual(["new Key > color: string"]);
    expect(unnamed([], added, "- Keys have a `color`.")).toEqual([]);
    expect(unnamed([], added, "- Keys have `key.color`.")).toEqual([]);
  });

  test("is reported if it is removed or promises something else", () => {
    const removed = ["server > port: integer, default 8080"];
    const changed = ["server > port: integer, default 80"];
    expect(unnamed(removed, [], "")).toEqual(["removed server > port: integer, default 8080"]);
    expect(unnamed(removed, changed, "")).toEqual(["changed server > port: integer, default 80"]);
    expect(unnamed(removed, changed, "- `server.port` is 80 by default.")).toEqual([]);
  });

  test("is named with the whole that is new with it, but not with a whole that was there", () => {
    const operation = ["GET /api/colors: key managementKey", "GET /api/colors > 200: headers x-request-id"];
    expect(unnamed([], operation, "- `GET colors` lists colors.")).toEqual([]);
    const option = ["keys create > --color <name>"];
    expect(unnamed([], option, "- `keys create` is better.")).toEqual(["new keys create > --color <name>"]);
    expect(unnamed([], option, "- `keys create` has `--color`.")).toEqual([]);
  });
});

test("a schema is listed with its parts, and without its descriptions", () => {
  const schema = {
    type: "object",
    description: "A key.",
    properties: {
      name: { type: "string", maxLength: 5, description: "Its name." },
      closed_at: { anyOf: [{ type: "string", format: "date-time" }, { type: "null" }] },
      tags: { type: "array", items: { type: "object", properties: { text: { type: "string" } } } },
      owner: { $ref: "#/components/schemas/Account" },
    },
    required: ["name"],
    additionalProperties: false,
  };
  expect(
    renderSurface(flattenSchema(schema, ["Key"]))
      .trimEnd()
      .split("\n"),
  ).toEqual([
    'Key > closed_at: anyOf string, format "date-time" | null, optional',
    "Key > name: string, maxLength 5",
    "Key > owner: Account, optional",
    "Key > tags > [] > text: string, optional",
    "Key > tags > []: object",
    "Key > tags: array, optional",
    "Key: object, no other members",
  ]);
});

test("what commands print is listed with all types of each member, and without those of open members", () => {
  const printed = [
    {
      command: "keys list",
      json: {
        data: [
          { id: "a", limit: null },
          { id: "b", limit: 5 },
        ],
      },
    },
    { command: "audit list", json: { data: [{ changes: { name: "b" } }] } },
  ];
  expect(renderSurface(listForms(printed)).trimEnd().split("\n")).toEqual([
    "audit list > data > [] > changes: object",
    "audit list > data > []: object",
    "audit list > data: list",
    "audit list: object",
    "keys list > data > [] > id: string",
    "keys list > data > [] > limit: null or number",
    "keys list > data > []: object",
    "keys list > data: list",
    "keys list: object",
  ]);
});
