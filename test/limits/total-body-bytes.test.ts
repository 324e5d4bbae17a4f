import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { ABORT_WATCH_DELAY_MS } from "../support/clients/raw-client.ts";
import { ON_POSTGRES } from "../support/databases/test-databases.ts";
import { eventually } from "../support/eventually.ts";
import { postChat, startTestGateway, type TestGateway } from "../support/gateway/gateway.ts";
import { createTestClock, type TestClock } from "../support/test-clock.ts";
import { healthy, opening, type Play, startVendor, type Vendor } from "../support/vendors/vendor.ts";

/** One body may take the whole budget, and then fits only if no other body is held. */
const TOTAL = 600_000;

let vendor: Vendor;
let clock: TestClock;
let gateway: TestGateway;

beforeEach(async () => {
  vendor = startVendor(healthy("Alpha"));
  clock = createTestClock();
  gateway = await startTestGateway({
    clock,
    yaml: `
providers:
  vendor-a:
    base_url: "${vendor.baseUrl}"
    models: [{id: acme/model, context_length: 1000000}, {id: "acme/gift:free", context_length: 1000000}]
limits: {body_bytes: ${TOTAL}, total_body_bytes: ${TOTAL}, anonymous_requests_per_hour: 1}
`,
  });
});
afterEach(async () => {
  await gateway.stop();
  vendor.stop();
});

/** Returns a valid request of exactly so many bytes. */
function requestOf(bytes: number, rest: Readonly<Record<string, unknown>> = {}): string {
  const empty = JSON.stringify({ model: "acme/model", ...rest, messages: [{ role: "user", content: "" }] });
  return empty.replace('"content":""', `"content":"${"x".repeat(bytes - empty.length)}"`);
}

async function expectNoRoom(response: Response): Promise<void> {
  expect(response.status).toBe(503);
  expect(response.headers.get("retry-after")).toBe("5");
  expect(await response.json()).toMatchObject({ error: { type: "unavailable" } });
}

/** Expects that the whole budget is available again. */
async function expectAllGivenBack(): Promise<void> {
  vendor.perform(healthy("Alpha"));
  const hasRoom = eventually("room for the largest body", async () => {
    const response = await postChat(gateway, requestOf(TOTAL));
    await response.text();
    return response.status === 200;
  });
  expect(await hasRoom).toBe(true);
}

/** Opens a connection and sends the head of a request without its body. */
function dial(head: string): { socket: Socket; text: () => string } {
  const socket = connect(Number(new URL(gateway.url).port), "127.0.0.1");
  let text = "";
  socket.on("data", (piece) => {
    text += piece;
  });
  socket.on("error", () => {});
  socket.write(
    `POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${gateway.key}\r\n${head}\r\n\r\n`,
  );
  return { socket, text: () => text };
}

const waitAtGate: Play = (call) => call.gate();

/**
 * Bytes held for other purposes than the body, at most. A large body counts twice while it is read, as bytes and as decoded text, and
 * once while its upstream answers.
 */
const BESIDE = 2_000;

/** Makes a request hold all but about `left` bytes while its upstream does not answer. */
async function holdAllBut(left: number): Promise<{ answer: Promise<Response>; end: () => void }> {
  vendor.perform(waitAtGate);
  const answer = postChat(gateway, requestOf(TOTAL - left));
  const call = await vendor.call(0);
  await call.atGate;
  return {
    answer,
    end() {
      call.openGate();
      call.connection.end();
    },
  };
}

describe("the bodies of all requests", () => {
  test("are bounded in total: a request that does not fit gets 503, and one that fits is served", async () => {
    const { answer, end } = await holdAllBut(300_000);
    await expectNoRoom(await postChat(gateway, requestOf(151_000)));
    vendor.perform(healthy("Alpha"));
    expect((await postChat(gateway, requestOf(150_000 - BESIDE))).status).toBe(200);
    end();
    await answer;
    await expectAllGivenBack();
  });

  test("are bounded if they are small too", async () => {
    const { answer, end } = await holdAllBut(10_000);
    await expectNoRoom(await postChat(gateway, requestOf(5_000)));
    vendor.perform(healthy("Alpha"));
    expect((await postChat(gateway, requestOf(2_000))).status).toBe(200);
    end();
    await answer;
  });

  test("are rejected by their content-length before a byte is received", async () => {
    const { answer, end } = await holdAllBut(300_000);
    const { socket, text } = dial("Content-Length: 300001");
    await eventually("the rejection", () => text().includes('"unavailable"'));
    expect(text()).toStartWith("HTTP/1.1 503 ");
    socket.destroy();
    end();
    await answer;
  });

  test("are counted while they are received if they have no content-length, and rejected long before their end", async () => {
    const { answer, end } = await holdAllBut(300_000);
    const { socket, text } = dial("Transfer-Encoding: chunked");
    const piece = Buffer.from(`4000\r\n${" ".repeat(0x4000)}\r\n`);
    for (let sent = 0; sent <= 300_000; sent += 0x4000) socket.write(piece);
    await eventually("the rejection", () => text().includes('"unavailable"'));
    expect(text()).toStartWith("HTTP/1.1 503 ");
    socket.destroy();
    end();
    await answer;
    await expectAllGivenBack();
  });

  test("are counted by their decompressed size", async () => {
    const { answer, end } = await holdAllBut(300_000);
    const packed = gzipSync(requestOf(310_000));
    expect(packed.length).toBeLessThan(1_000);
    await expectNoRoom(
      await fetch(`${gateway.base}/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${gateway.key}`, "content-encoding": "gzip" },
        body: packed,
      }),
    );
    end();
    await answer;
    await expectAllGivenBack();
  });

  test("are not counted for a client that announces a large body and sends nothing", async () => {
    const idle = Array.from({ length: 5 }, () => dial(`Content-Length: ${TOTAL}`));
    await Promise.all(idle.map(({ socket }) => new Promise((resolve) => socket.once("ready", resolve))));
    await expectAllGivenBack();
    for (const { socket } of idle) socket.destroy();
  });

  test("are released once a stream has begun, because no other provider can continue it", async () => {
    vendor.perform(async (call) => {
      await call.begin();
      await call.events(...opening("Alpha"));
      await call.gate();
      await healthyEnd(call);
    });
    const response = await postChat(gateway, requestOf(TOTAL, { stream: true }));
    expect(response.status).toBe(200);
    const call = await vendor.call(0);
    vendor.perform(healthy("Alpha"));
    expect((await postChat(gateway, requestOf(TOTAL))).status).toBe(200);
    call.openGate();
    expect(await response.text()).toEndWith("[DONE]\n\n");
    await expectAllGivenBack();
  });
});

const healthyEnd: Play = async (call) => {
  await call.events({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] }, "[DONE]");
  await call.end();
};

/** The ways in which a request of the whole budget ends. */
type Course = () => Promise<void>;

async function ask(body: string, headers: Readonly<Record<string, string>> = {}): Promise<number> {
  const response = await postChat(gateway, body, headers);
  await response.text();
  return response.status;
}

const COURSES: readonly (readonly [string, Course])[] = [
  ["has its whole answer", async () => expect(await ask(requestOf(TOTAL))).toBe(200)],
  [
    "has its whole stream in one piece",
    async () => expect(await ask(requestOf(TOTAL, { stream: true }))).toBe(200),
  ],
  [
    "is rejected by the upstream",
    async () => {
      vendor.perform((call) => call.respond(400, { error: { message: "No." } }));
      expect(await ask(requestOf(TOTAL))).toBe(400);
    },
  ],
  [
    "has an upstream that resets the connection",
    async () => {
      vendor.perform((call) => call.connection.reset());
      expect(await ask(requestOf(TOTAL))).toBe(502);
    },
  ],
  [
    "has a stream that is truncated",
    async () => {
      vendor.perform(async (call) => {
        await call.begin();
        await call.events(...opening("Alpha"));
        call.connection.reset();
      });
      expect(await ask(requestOf(TOTAL, { stream: true }))).toBe(200);
    },
  ],
  [
    "gets no first token in time",
    async () => {
      vendor.perform(waitAtGate);
      const answer = ask(requestOf(TOTAL, { stream: true }));
      await (await vendor.call(0)).atGate;
      clock.advance(120_000);
      expect(await answer).toBe(503);
    },
  ],
  [
    "loses its client before the answer",
    async () => {
      vendor.perform(waitAtGate);
      const leaving = new AbortController();
      const answer = fetch(`${gateway.base}/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${gateway.key}` },
        body: requestOf(TOTAL),
        signal: leaving.signal,
      });
      await (await vendor.call(0)).atGate;
      clock.advance(ABORT_WATCH_DELAY_MS);
      leaving.abort();
      await expect(answer).rejects.toThrow();
    },
  ],
  [
    "loses its client in the middle of the stream",
    async () => {
      vendor.perform(async (call) => {
        await call.begin();
        await call.events(...opening("Alpha"));
        await call.gate();
      });
      const response = await postChat(gateway, requestOf(TOTAL, { stream: true }));
      const reader = response.body!.getReader();
      await reader.read();
      await reader.cancel();
    },
  ],
  [
    "has a stream that its client does not read until the deadline",
    async () => {
      vendor.perform(async (call) => {
        await call.begin();
        await call.events(...opening("Alpha"));
        await call.gate();
      });
      const { socket, text } = dial(`Content-Length: ${TOTAL}`);
      socket.write(requestOf(TOTAL, { stream: true }));
      await eventually("the stream's begin", () => text().includes("Alpha"));
      socket.pause();
      clock.advance(900_000);
      await eventually("the end", () => gateway.log.some(({ fields }) => fields["outcome"] === "failed"));
      socket.destroy();
    },
  ],
  ["is not JSON", async () => expect(await ask(" ".repeat(TOTAL))).toBe(400)],
  ["names an unknown model", async () => expect(await ask(requestOf(TOTAL, { model: "acme/no" }))).toBe(400)],
  [
    "needs a key and has none",
    async () => expect(await ask(requestOf(TOTAL), { authorization: "" })).toBe(401),
  ],
  ["is too large", async () => expect(await ask(requestOf(TOTAL + 1))).toBe(413)],
  [
    "is too large and has no content-length",
    async () => {
      const response = await fetch(`${gateway.base}/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${gateway.key}` },
        body: new Blob([requestOf(TOTAL + 1)]).stream(),
      });
      expect(response.status).toBe(413);
    },
  ],
  [
    "is not compressed as it declares",
    async () => expect(await ask(requestOf(TOTAL), { "content-encoding": "gzip" })).toBe(400),
  ],
  [
    "is truncated",
    async () => {
      const { socket } = dial(`Content-Length: ${TOTAL}`);
      const before = gateway.log.length;
      socket.end("x".repeat(TOTAL - 1));
      await eventually("the request's line", () => gateway.log[before]);
    },
  ],
  [
    "creates a key",
    async () => {
      const response = await fetch(`${gateway.url}/api/admin/keys`, {
        method: "POST",
        headers: { authorization: `Bearer ${gateway.adminKey}` },
        body: `{"name": "x"${" ".repeat(TOTAL - 13)}}`,
      });
      expect(response.status).toBe(201);
    },
  ],
];

describe("many large bodies of one key", () => {
  // With Redis a request waits for its limits after it was read, so that all of them may be read at once and count twice.
  test.skipIf(ON_POSTGRES)(
    "are all answered at once if its share has room for each of them once, and for half of them again",
    async () => {
      const count = 20;
      const body = requestOf(100_000);
      const room = await startTestGateway({
        yaml: `
providers:
  vendor-a:
    base_url: "${vendor.baseUrl}"
    models: [{id: acme/model, context_length: 1000000}]
limits: {body_bytes: ${TOTAL}, total_body_bytes: ${2 * 1.5 * count * body.length}}
`,
      });
      // The first request loads the account. Later ones do not wait between their reading and their scan.
      vendor.perform(healthy("Alpha"));
      await (await postChat(room, requestOf(1_000))).text();
      const all = Promise.withResolvers<void>();
      let arrived = 0;
      vendor.perform(async (call) => {
        arrived += 1;
        if (arrived === count) all.resolve();
        await all.promise;
        await healthy("Alpha")(call);
      });
      const answers = await Promise.all(Array.from({ length: count }, () => postChat(room, body)));
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
      await room.stop();
    },
  );
});

describe("the bytes of a body are released when its request", () => {
  test.each(COURSES)("%s", async (_name, course) => {
    await course();
    await expectAllGivenBack();
  });
});
