import { expect, test } from "bun:test";
import { countVersions } from "../../../src/console/screens/usage/count-versions.ts";

const line = (id: string, client: "curl" | "codex" | null, client_version: string | null) => ({
  id,
  created_at: `2026-11-29T10:00:0${id.at(-1)}.000Z`,
  client,
  client_version,
});

test("versions of clients are counted with their newest request, and requests of unknown clients are left out", () => {
  const lines = [
    line("gen_5", "codex", null),
    line("gen_4", "curl", "8.14.1"),
    line("gen_3", null, null),
    line("gen_2", "curl", "8.14.1"),
    line("gen_1", "curl", "8.0.0"),
  ];
  const found = countVersions(lines).map((one) => [one.client, one.version, one.requests, one.last.id]);
  expect(found).toEqual([
    ["curl", "8.14.1", 2, "gen_4"],
    ["codex", null, 1, "gen_5"],
    ["curl", "8.0.0", 1, "gen_1"],
  ]);
});
