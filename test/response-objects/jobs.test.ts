import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import type { Stores } from "../../src/app/stores/stores.ts";
import { createSystemRandom } from "../../src/base/secrets/random.ts";
import { EventLog } from "../../src/core/response-objects/jobs/event-log.ts";
import type { EventGroup, ObjectContent } from "../../src/core/response-objects/records/response-object.ts";
import { ObjectSeal } from "../../src/core/response-objects/records/seal-object.ts";
import { AT, idAt, runningAt } from "../storage/contracts/response-store.ts";
import { dropDatabases } from "../support/databases/test-databases.ts";
import { openTestStores } from "../support/databases/test-stores.ts";
import { turnEventLoop } from "../support/event-loop.ts";
import { ENDLESS, makeMasterKey, openResponses, vaultOf } from "../support/kept-responses.ts";
import { makeTempFolder } from "../support/temp-folder.ts";
import { createTestClock, type TestClock } from "../support/test-clock.ts";

const random = createSystemRandom();
const vault = vaultOf(makeMasterKey());
const GATEWAY = "gateway_a";
const OWNER = { accountId: "org_a", userId: "user_a", keyId: "key_a" };
const eventOf = (sequence: number, type = "response.output_text.delta", more: object = {}) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: sequence, ...more })}\n\n`;

describe("the events of a background response", () => {
  let clock: TestClock;
  let log: EventLog;
  let written: EventGroup[];
  let losses: number;
  /** What the store does with the next write. */
  let answers: ((isHere: boolean) => void)[];
  let failures: number;
  beforeEach(() => {
    clock = createTestClock(AT);
    [written, answers, losses, failures] = [[], [], 0, 0];
    const seal = ObjectSeal.create(vault, random, { id: idAt(AT), accountId: "org_a" });
    log = new EventLog({
      ...{ clock, seal, run: { id: idAt(AT), gatewayId: GATEWAY }, onWritten() {} },
      onLost: () => {
        losses += 1;
      },
      store: {
        addEvents(_run, groups) {
          if (failures-- > 0) return Promise.reject(new Error("away"));
          return new Promise((resolve) => {
            answers.push((isHere) => {
              written.push(...groups);
              resolve(isHere);
            });
          });
        },
      },
    });
  });
  const gather = async () => {
    clock.advance(250);
    await turnEventLoop(2);
  };
  const placesOf = () => written.map(({ first, last }) => [first, last]);

  test("that arrive while others are written are written next, without waiting for another one", async () => {
    log.add(eventOf(0));
    await gather();
    log.add(eventOf(1) + eventOf(2));
    await gather();
    expect(answers).toHaveLength(1);
    answers[0]?.(true);
    await turnEventLoop(2);
    answers[1]?.(true);
    await turnEventLoop(2);
    expect(placesOf()).toEqual([
      [0, 0],
      [1, 2],
    ]);
  });

  test("are written a second later if the store has failed", async () => {
    failures = 1;
    log.add(eventOf(0));
    await gather();
    expect(answers).toHaveLength(0);
    clock.advance(1_000);
    await turnEventLoop(2);
    answers[0]?.(true);
    await turnEventLoop(2);
    expect(placesOf()).toEqual([[0, 0]]);
  });

  test("are told to be lost if the response does not run here any more", async () => {
    log.add(eventOf(0));
    await gather();
    answers[0]?.(false);
    await log.flush();
    expect([losses, log.lastSequence]).toEqual([1, 0]);
  });
});

describe("the responses of a gateway that is gone", () => {
  let dataDir: string;
  let stores: Stores;
  beforeEach(async () => {
    dataDir = makeTempFolder("gateway-jobs-");
    stores = await openTestStores(dataDir);
  });
  afterEach(async () => {
    await stores.close();
    rmSync(dataDir, { recursive: true, force: true });
    await dropDatabases(dataDir);
  });

  const CONTENT: ObjectContent = {
    ...{ input: ['{"id":"msg_1","type":"message"}'], output: [], handovers: {} },
    response: '{"object":"response","status":"in_progress"}',
  };

  /** Adds a running response with events, and returns its id. */
  async function addRunning(ms: number, { isDamaged = false, events = "" } = {}): Promise<string> {
    const id = idAt(AT + ms);
    const seal = ObjectSeal.create(vault, random, { id, accountId: "org_a" });
    const ciphertext = isDamaged ? Uint8Array.of(1, 2, 3) : seal.sealContent(CONTENT);
    const running = runningAt(ms, { id, sealed: seal.sealed, ciphertext, gatewayId: GATEWAY });
    await stores.responses.addObject(running, [], 1e9);
    if (events !== "")
      await stores.responses.addEvents(running, [{ first: 0, last: 1, ciphertext: seal.sealLatin1(events) }]);
    return id;
  }
  const open = (gatewayId: string) =>
    openResponses(stores, { vault, gatewayId, clock: createTestClock(AT + 10_000) });
  const find = (id: string) => open(GATEWAY).responses.find({ caller: OWNER, id, memory: ENDLESS });

  test("end all, also if the contents of one are damaged", async () => {
    const damaged = await addRunning(1, { isDamaged: true });
    const ids = [damaged, await addRunning(2), await addRunning(3)];
    expect(await open(GATEWAY).responses.jobs.failOwn()).toBe(3);
    for (const id of ids) expect((await find(id)).head).toMatchObject({ status: "failed", gatewayId: null });
  });

  test("keep an answer whose end was written before they stopped", async () => {
    const response = { status: "completed", output: [{ id: "msg_2", type: "message" }], object: "response" };
    const id = await addRunning(1, {
      events: eventOf(0) + eventOf(1, "response.completed", { response }),
    });
    await open(GATEWAY).responses.jobs.failOwn();
    const { head, content } = await find(id);
    expect(head.status).toBe("completed");
    expect(content.output).toEqual(['{"id":"msg_2","type":"message"}']);
    expect(await stores.responses.readEvents(id, 0, 9)).toHaveLength(1);
  });

  test("end at another gateway once two consecutive looks have missed theirs", async () => {
    const id = await addRunning(1);
    const { jobs } = open("gateway_b").responses;
    await jobs.failLost(new Set(["gateway_b", GATEWAY]));
    await jobs.failLost(new Set(["gateway_b"]));
    await jobs.failLost(new Set(["gateway_b", GATEWAY]));
    await jobs.failLost(new Set(["gateway_b"]));
    expect((await find(id)).head.status).toBe("in_progress");
    await jobs.failLost(new Set(["gateway_b"]));
    expect((await find(id)).head.status).toBe("failed");
  });

  test("are not ended by their own gateway, which other gateways may have missed", async () => {
    const id = await addRunning(1);
    const { jobs } = open(GATEWAY).responses;
    for (const _look of [1, 2, 3]) await jobs.failLost(new Set());
    expect((await find(id)).head.status).toBe("in_progress");
  });
});
