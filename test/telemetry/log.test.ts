import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { closeSync, constants, createReadStream, openSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createLog, createStdoutWriter } from "../../src/telemetry/log.ts";
import { turnEventLoop } from "../support/event-loop.ts";
import { makeTempFolder } from "../support/temp-folder.ts";
import { createTestClock } from "../support/test-clock.ts";

let dir: string;
let pipe: string;

beforeEach(() => {
  dir = makeTempFolder("gateway-log-");
  pipe = join(dir, "pipe");
  Bun.spawnSync(["mkfifo", pipe]);
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const LINE = `${JSON.stringify({ level: "info", message: "request", filler: "x".repeat(950) })}\n`;
/** Sixteen times the number of lines that may wait. */
const LINES = 65_536;

/** Reads the pipe until all `LINES` were received or reported as dropped. Returns both numbers. */
async function countLines(): Promise<{ kept: number; dropped: number }> {
  const count = { kept: 0, dropped: 0 };
  let rest = "";
  for await (const piece of createReadStream(pipe, { encoding: "utf8" })) {
    const lines = (rest + piece).split("\n");
    rest = lines.pop() as string;
    for (const line of lines) {
      if (`${line}\n` === LINE) count.kept++;
      else count.dropped += JSON.parse(line).dropped;
    }
    if (count.kept + count.dropped >= LINES) break;
  }
  return count;
}

describe.skipIf(process.platform === "win32")("a log whose reader is slow", () => {
  test.each([
    ["that blocks", 0],
    ["that does not block", constants.O_NONBLOCK],
  ])(
    "does not block, stays within its bound, and counts the dropped lines: a pipe %s",
    async (_what, flags) => {
      // Opened for reading too, because opening it for writing alone would wait for a reader.
      const descriptor = openSync(pipe, constants.O_RDWR | flags);
      const write = createStdoutWriter(descriptor);
      // If the log waited for the reader, this would never end.
      for (let line = 0; line < LINES; line++) {
        write(LINE);
        // The event loop continues while the pipe is not read.
        if (line % 1_024 === 0) await turnEventLoop(1);
      }
      const { kept, dropped } = await countLines();
      closeSync(descriptor);
      expect(kept + dropped).toBe(LINES);
      expect(kept * LINE.length).toBeLessThan(10 * 1024 * 1024);
    },
  );
});

test("a log writes lines in batches, errors at once, and nothing below its level", () => {
  const clock = createTestClock(0);
  const written: string[] = [];
  const log = createLog("info", clock, (lines) => written.push(lines));
  log.debug("not this");
  log.info("one", { a: 1 });
  log.warn("two");
  expect(written).toEqual([]);
  clock.advance(200);
  const time = "1970-01-01T00:00:00.000Z";
  expect(written.splice(0)).toEqual([
    `{"level":"info","time":"${time}","message":"one","a":1}\n{"level":"warn","time":"${time}","message":"two"}\n`,
  ]);
  log.error("three");
  expect(written).toHaveLength(1);
});
