import { expect, test } from "bun:test";
import { rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { turnEventLoop } from "../support/event-loop.ts";
import { postChat, startTestGateway } from "../support/gateway/gateway.ts";
import { createTestClock } from "../support/test-clock.ts";

test("an unreadable imported catalog is logged once, and the served models stay", async () => {
  const clock = createTestClock();
  const gateway = await startTestGateway({ clock });
  const file = join(gateway.dataDir, "catalog.json");
  // A link to itself cannot be read.
  symlinkSync(file, file);
  for (let second = 0; second < 5; second++) {
    clock.advance(1_000);
    await turnEventLoop(2);
  }
  const told = gateway.log.filter(({ level }) => level === "warn");
  expect(told.map(({ event }) => event)).toEqual([
    "the imported catalog is not used; the current one stays in use",
  ]);
  expect(told[0]?.fields["detail"]).toContain("ELOOP");
  const messages = [{ role: "user", content: "Hello!" }];
  expect((await postChat(gateway, { model: "sandbox/echo", messages })).status).toBe(200);
  rmSync(file);
  clock.advance(1_000);
  await turnEventLoop(2);
  expect(gateway.log.at(-1)?.event).toBe("catalog refreshed");
  await gateway.stop();
});

test("an imported catalog that is unreadable from the beginning does not prevent the start", async () => {
  const first = await startTestGateway();
  await first.stop({ keepData: true });
  const file = join(first.dataDir, "catalog.json");
  symlinkSync(file, file);
  const second = await startTestGateway({ dataDir: first.dataDir, key: first.key });
  expect(second.log.map(({ event }) => event)).toEqual(["the imported catalog is not used"]);
  await second.stop();
});
