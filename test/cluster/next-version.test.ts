import { expect, test } from "bun:test";
import { dirname, join } from "node:path";
import type { MIGRATIONS } from "../../src/storage/postgres/migrations.ts";
import { makeNextVersion } from "./next-version.ts";

test("the next version of the program has the steps of this one and one more", async () => {
  const next = makeNextVersion();
  try {
    const folder = join(dirname(next.command[0] as string), "..");
    const { MIGRATIONS: steps }: { MIGRATIONS: typeof MIGRATIONS } = await import(
      join(folder, "src/storage/postgres/migrations.ts")
    );
    expect(steps.map((step) => step?.name)).toEqual([...next.steps]);
  } finally {
    next.remove();
  }
});
