import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { listProfiles, PROFILES_FILE } from "./list-profiles.ts";

test("the golden file has every entry of the shipped profiles, so that none is lost unnoticed (npx bun test/profiles/list-profiles.ts writes it)", () => {
  expect(readFileSync(PROFILES_FILE, "utf8")).toBe(listProfiles());
});
