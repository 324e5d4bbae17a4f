import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { makeAnswer } from "../../bench/load/answers.ts";
import { makeBody } from "../../bench/load/bodies.ts";
import { FLOOR_LEVELS, type FloorLevel } from "../../bench/targets/floor/levels.ts";
import { type FloorServer, serveFloor } from "../../bench/targets/floor/serve-floor.ts";
import { decodeJournalEntry } from "../../src/core/usage/journal/journal-entry.ts";
import { openDatabase } from "../../src/storage/sqlite/connection/database.ts";
import { turnEventLoop } from "../support/event-loop.ts";
import { makeTempFolder } from "../support/temp-folder.ts";
import { createTestClock, type TestClock } from "../support/test-clock.ts";
import { type RecordingVendor, startRecordingVendor } from "../support/vendors/recording-vendor.ts";

const BODY = makeBody("24kB", "chat", "gpt-4o-mini", false);
const SETTING = { intervalMs: 0, latencyMs: 0, marker: "größer" };

let dataDir: string;
let clock: TestClock;
let vendor: RecordingVendor;
let lines: string;
let floor: FloorServer;

beforeEach(() => {
  dataDir = makeTempFolder("gateway-floor-");
  clock = createTestClock();
  vendor = startRecordingVendor();
  lines = "";
});
afterEach(async () => {
  await floor.stop();
  await vendor.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

function start(level: FloorLevel): void {
  floor = serveFloor({
    level,
    port: 0,
    upstream: vendor.baseUrl,
    dataDir,
    clock,
    writeLines: (more) => {
      lines += more;
    },
    onError(error) {
      throw error;
    },
  });
}

async function ask(
  stream: boolean,
  events: number,
): Promise<{ readonly sent: string; readonly got: string }> {
  const [answer = Buffer.alloc(0)] = makeAnswer({ ...SETTING, stream, events }, "chat");
  const chunked = answer.toString().split("\r\n\r\n").slice(1).join("\r\n\r\n");
  const sent = stream ? chunked.replaceAll(/(^|\r\n)[0-9a-f]+\r\n/g, "").replaceAll("\r\n", "") : chunked;
  const type = stream ? "text/event-stream" : "application/json";
  vendor.reset(() => new Response(sent, { headers: { "content-type": type } }));
  const response = await fetch(`http://127.0.0.1:${floor.port}/v1/chat/completions`, {
    method: "POST",
    body: BODY,
  });
  expect(response.headers.get("content-type")).toStartWith(type);
  return { sent, got: await response.text() };
}

function readJournal(): unknown[] {
  const folder = join(dataDir, "journal");
  const text = readdirSync(folder)
    .map((file) => readFileSync(join(folder, file), "utf8"))
    .join("");
  return text
    .trim()
    .split("\n")
    .map((line) => {
      expect(line.length).toBeWithin(1_350, 1_500);
      const entry = decodeJournalEntry(line.slice(line.indexOf("{")));
      return entry.kind === "usage" ? entry.record.outcome : entry.name;
    });
}

describe.each(FLOOR_LEVELS)("A floor of the level %s", (level) => {
  test.each([
    ["an answer", false, 0],
    ["a short stream", true, 2],
    ["a long stream", true, 300],
  ] as const)("passes %s and its request on unchanged", async (_, stream, events) => {
    start(level);
    const { sent, got } = await ask(stream, events);
    expect(got).toBe(sent);
    expect(vendor.last().bytes.equals(BODY)).toBe(true);
  });
});

describe("A floor that writes a journal", () => {
  test.each(["journal", "records"] as const)(
    "of the level %s has both records in it when a request is answered, and its log line",
    async (level) => {
      start(level);
      await ask(false, 0);
      expect(readJournal()).toEqual(["open", "completed"]);
      clock.advance(200);
      expect(lines).toContain('"cost_nanodollars":100000');
    },
  );
});

test("A floor of the level records saves the record of a request in SQLite", async () => {
  start("records");
  await ask(true, 100);
  clock.advance(100);
  await turnEventLoop();
  const database = openDatabase(dataDir);
  expect(database.query("SELECT outcome, cost FROM generations").all()).toEqual([
    { outcome: "completed", cost: 100_000 },
  ]);
  database.close();
});
