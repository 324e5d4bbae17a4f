import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { appendFileSync, readFileSync } from "node:fs";
import type { UsageRecord } from "../../src/core/usage/records/records.ts";
import { postRawChat } from "../support/clients/raw-client.ts";
import { queryTables } from "../support/databases/test-tables.ts";
import {
  fetchGeneration,
  type GatewayProcess,
  postChatTo,
  type Site,
} from "../support/gateway/gateway-process.ts";
import { RUNS_SLOW_TESTS, shareOf } from "../support/long-run.ts";
import { closing, healthy, opening, textOf, type Vendor } from "../support/vendors/vendor.ts";
import { makeVendorSite, type VendorSite } from "./vendor-site.ts";

let place: VendorSite;
let vendor: Vendor;
let site: Site;

const ANONYMOUS_REQUESTS = 3;

function prepare(): void {
  place = makeVendorSite(`limits: {anonymous_requests_per_hour: ${ANONYMOUS_REQUESTS}}`);
  ({ vendor, site } = place);
}

const start = (key?: string): Promise<GatewayProcess> => place.start(key);

/** The cost of a complete answer of the vendor. Nanodollars. */
const COST = 20_000;
const messages = [{ role: "user", content: "Hello!" }];
const GENERATION_ID = /x-gateway-generation-id: (gen_\w+)/i;

/** Reads all generation records. */
async function readRecords(): Promise<{ id: string; outcome: string; cost: number }[]> {
  const rows = await queryTables<{ record: string }>(site.dataDir, "SELECT record FROM generations");
  return rows.map(({ record }) => {
    const { id, outcome, costNanodollars: cost } = JSON.parse(record) as UsageRecord;
    return { id, outcome, cost };
  });
}

describe("the start after kill -9", () => {
  /** The records of a stream and of a whole answer, as the next gateway shows them. */
  let ofStream: Readonly<Record<string, unknown>> | null;
  let ofWhole: Readonly<Record<string, unknown>> | null;
  /** The status of a request without a key after the first kill. */
  let anonymousStatus: number;
  let last: GatewayProcess;

  const askAnonymously = async ({ url }: GatewayProcess): Promise<number> =>
    (await postChatTo({ url, key: "anonymous" }, { model: "acme/model:free", messages })).status;

  /** Sends a request, kills the gateway when the client has received `text`, and returns the record that the next gateway shows. */
  async function killAt(gateway: GatewayProcess, stream: boolean, text: string) {
    const client = await postRawChat(gateway, { model: "acme/model", stream, messages, tags: ["team-a"] });
    await client.waitForText(text);
    await gateway.kill();
    const id = GENERATION_ID.exec(client.received)?.[1] as string;
    const next = await start(gateway.key);
    return { next, record: await fetchGeneration(next, id) };
  }

  beforeAll(async () => {
    prepare();
    const first = await start();
    expect(first.key).toStartWith("gw_");
    for (let i = 0; i < ANONYMOUS_REQUESTS; i++) expect(await askAnonymously(first)).toBe(200);
    vendor.perform(async (call) => {
      await call.begin();
      await call.events(...opening("Alpha"));
      await call.gate();
    });
    const second = await killAt(first, true, "\r\n\r\n");
    ofStream = second.record;
    anonymousStatus = await askAnonymously(second.next);
    vendor.perform(healthy("Alpha"));
    const third = await killAt(second.next, false, "HTTP/1.1 200");
    ofWhole = third.record;
    last = third.next;
  });
  afterAll(() => place.clear());

  test("a stream that was killed after its first byte has a record, interrupted and estimated", () => {
    expect(ofStream).toMatchObject({
      outcome: "interrupted",
      streamed: true,
      estimated: true,
      model: "acme/model",
      provider_name: "vendor-a",
    });
  });

  test("a whole answer that was killed after its first byte has a record with exact tokens and cost", () => {
    expect(ofWhole).toMatchObject({
      outcome: "completed",
      estimated: false,
      tokens_prompt: 10,
      tokens_completion: 5,
      total_cost_nanodollars: COST,
    });
  });

  test("the tags of requests are in their records and in the sums of usage, once", async () => {
    expect([ofStream?.["tags"], ofWhole?.["tags"]]).toEqual([["team-a"], ["team-a"]]);
    const sums = await queryTables<{ outcome: string; requests: number }>(
      site.dataDir,
      `SELECT outcome, CAST(sum(requests) AS integer) AS requests FROM usage_tags
       WHERE tag = 'team-a' GROUP BY outcome ORDER BY outcome`,
    );
    expect(sums).toEqual([
      { outcome: "completed", requests: 1 },
      { outcome: "interrupted", requests: 1 },
    ]);
  });

  test("API keys are still valid, and no secret is printed again", async () => {
    expect(last.printed()).not.toContain("gw_");
    expect((await postChatTo(last, { model: "acme/model", messages })).status).toBe(200);
  });

  test("the limit on anonymous requests still counts earlier requests", () => {
    expect(anonymousStatus).toBe(429);
  });
});

describe("a gateway that is killed", () => {
  beforeEach(prepare);
  afterEach(() => place.clear());

  test.skipIf(!RUNS_SLOW_TESTS)(
    "an incomplete and a damaged line at the end of the journal are ignored",
    async () => {
      const first = await start();
      const response = await postChatTo(first, { model: "acme/model", messages });
      const id = response.headers.get("x-gateway-generation-id") as string;
      await first.kill();
      const journal = site.journalFiles().at(-1) as string;
      const line = readFileSync(journal, "utf8").trimEnd().split("\n").at(-1) as string;
      const forged = `gen_${"0".repeat(id.length - 4)}`;
      appendFileSync(journal, `${line.replaceAll(id, forged)}\n${line.slice(0, line.length / 2)}`);
      const second = await start(first.key);
      expect(await fetchGeneration(second, id)).toMatchObject({ outcome: "completed" });
      expect(await fetchGeneration(second, forged)).toBeNull();
      expect(await readRecords()).toHaveLength(1);
    },
  );
});

/** What a client has seen of one of its requests. */
interface Seen {
  readonly id: string;
  readonly isStream: boolean;
  /** The client has received the whole answer. */
  isWhole: boolean;
}

/** Creates a reproducible source of integers below `limit`. */
function createDice(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

/** `npm run suite -- chaos` kills far more often. */
const KILLS = shareOf(12, 1 / 6);
/** The number of clients that send one request after the other, and of those whose stream does not end before the kill. */
const BUSY = 4;
const HELD = 3;
const HOLD = "Do not end.";
/** The gateway is killed at one of the first `PIECES` pieces that clients receive. */
const PIECES = 60;

describe.skipIf(!RUNS_SLOW_TESTS)("a gateway under load", () => {
  beforeEach(prepare);
  afterEach(() => place.clear());

  test(`${KILLS} kills at random times under load lose no record and duplicate none`, async () => {
    const roll = createDice(7391);
    vendor.perform(async (call) => {
      if (!call.isStream) return healthy("Alpha")(call);
      await call.begin();
      await call.events(...opening("Alpha"));
      if (JSON.stringify(call.body).includes(HOLD)) return call.gate();
      for (let i = 0; i < 4; i++) await call.events(textOf(" on"));
      await call.events(...closing());
      await call.end();
    });
    const all: Seen[] = [];
    let requests = 0;
    let gateway = await start();
    for (let kill = 0; kill < KILLS; kill++) {
      let piecesLeft = 1 + roll(PIECES);
      let killed: Promise<void> | null = null;
      const onPiece = (): void => {
        piecesLeft -= 1;
        if (piecesLeft === 0) killed = gateway.kill();
      };
      const ask = (isStream: boolean, content: string): Promise<boolean> => {
        requests += 1;
        return requestOnce(gateway, isStream, content, all, onPiece).then(
          () => true,
          () => false,
        );
      };
      // The loop ends if the gateway dies before its kill; otherwise it would fill the memory with failures.
      const busy = async (): Promise<void> => {
        while (killed === null) if (!(await ask(roll(3) > 0, "Hello!"))) break;
      };
      const held = (): Promise<boolean> => ask(true, HOLD);
      await Promise.all<unknown>([
        ...Array.from({ length: BUSY }, busy),
        ...Array.from({ length: HELD }, held),
      ]);
      await killed;
      gateway = await start(gateway.key);
    }
    for (const seen of all) expectRecorded(seen, await fetchGeneration(gateway, seen.id));
    await gateway.terminate();
    const records = await readRecords();
    // Some kills must have happened during streams, or the test proves nothing.
    expect(all.filter((seen) => !seen.isWhole).length).toBeGreaterThan(KILLS);
    expect(records.length).toBeGreaterThanOrEqual(all.length);
    expect(records.length).toBeLessThanOrEqual(requests);
    expect(new Set(records.map(({ outcome }) => outcome))).toEqual(new Set(["completed", "interrupted"]));
    expect(records.filter(({ outcome, cost }) => outcome === "completed" && cost !== COST)).toEqual([]);
    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
  }, 120_000);
});

async function requestOnce(
  gateway: GatewayProcess,
  isStream: boolean,
  content: string,
  all: Seen[],
  onPiece: () => void,
): Promise<void> {
  const body = { model: "acme/model", stream: isStream, messages: [{ role: "user", content }] };
  const response = await postChatTo(gateway, body);
  const seen = {
    id: response.headers.get("x-gateway-generation-id") as string,
    isStream,
    isWhole: false,
  };
  all.push(seen);
  let text = "";
  for await (const piece of response.body as ReadableStream<Uint8Array>) {
    text += Buffer.from(piece).toString("latin1");
    onPiece();
  }
  seen.isWhole = isStream ? text.endsWith("[DONE]\n\n") : text.endsWith("}");
}

function expectRecorded(seen: Seen, record: Readonly<Record<string, unknown>> | null): void {
  expect(record).toMatchObject({ id: seen.id, streamed: seen.isStream });
  // The record of a whole answer is written before its first byte is sent.
  if (seen.isWhole || !seen.isStream || record?.["outcome"] === "completed") {
    expect(record).toMatchObject({
      outcome: "completed",
      estimated: false,
      tokens_prompt: 10,
      tokens_completion: 5,
      total_cost_nanodollars: COST,
    });
  } else {
    expect(record).toMatchObject({ outcome: "interrupted", estimated: true });
  }
}
