import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { nextTurn } from "../../../src/base/time/next-turn.ts";
import { FEED_PLACES } from "../../../src/core/usage/generations/feed-places.ts";
import { type OpenStream, openEventStream } from "../../support/clients/read-event-stream.ts";
import { eventually } from "../../support/eventually.ts";
import { postChat, startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { callAdmin, createAccountTools } from "../../support/gateway/management.ts";
import { createTestClock } from "../../support/test-clock.ts";

interface Line {
  readonly id: string;
  readonly outcome: string;
  readonly [field: string]: unknown;
}

let gateway: TestGateway;
const opened: OpenStream[] = [];

beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(async () => {
  for (const stream of opened) stream.close();
  await gateway.stop();
});

async function open(
  query = "",
  headers: Readonly<Record<string, string>> = {},
  { url, adminKey }: Pick<TestGateway, "url" | "adminKey"> = gateway,
): Promise<OpenStream> {
  const stream = await openEventStream(`${url}/api/admin/generations/stream${query}`, {
    authorization: `Bearer ${adminKey}`,
    ...headers,
  });
  opened.push(stream);
  return stream;
}

const linesOf = ({ events }: OpenStream): Line[] =>
  events.flatMap(({ data }) => (data as { data?: Line[] }).data ?? []);

async function chat(content = "hello", model = "sandbox/echo", to = gateway): Promise<string> {
  const response = await postChat(to, { model, messages: [{ role: "user", content }] });
  await response.text();
  return response.headers.get("x-gateway-generation-id") ?? "";
}

const endOf = (stream: OpenStream, id: string) =>
  eventually("the end of a generation", () =>
    linesOf(stream).find((line) => line.id === id && line.outcome !== "open"),
  );

describe("GET /api/admin/generations/stream", () => {
  test("sends the generations of requests as lines of the list", async () => {
    const stream = await open();
    expect([stream.status, stream.headers.get("content-type")]).toEqual([
      200,
      "text/event-stream; charset=utf-8",
    ]);
    const id = await chat();
    const line = await endOf(stream, id);
    const list = await callAdmin(gateway, gateway.adminKey, "GET", `/generations?id=${id}`);
    expect(line).toEqual(list.rows[0] as unknown as Line);
    expect(stream.events.at(-1)).toMatchObject({ event: "generations", data: { dropped: 0 } });
    stream.close();
  });

  test("sends only what matches the filter", async () => {
    const stream = await open("?outcome=failed&model=sandbox/echo:free");
    await chat();
    const id = await chat("[sandbox:error=400]", "sandbox/echo:free");
    await endOf(stream, id);
    expect(linesOf(stream).map((line) => line.id)).toEqual([id]);
    stream.close();
  });

  test("sends an account's management key nothing of other accounts", async () => {
    const create = createAccountTools(gateway);
    const adminKey = await create.key(await create.user("stranger"), { kind: "management" });
    const [all, own] = [await open(), await open("", {}, { ...gateway, adminKey })];
    await endOf(all, await chat());
    expect(own.events).toEqual([]);
    expect((await open("?account_id=acct_default", {}, { ...gateway, adminKey })).status).toBe(404);
    for (const stream of [all, own]) stream.close();
  });

  test("sends again what came while the client was away, or says that the list must be read again", async () => {
    const first = await open();
    await endOf(first, await chat());
    const seen = first.events.at(-1)?.id ?? "";
    first.close();
    const id = await chat();
    const second = await open("", { "last-event-id": seen });
    await endOf(second, id);
    expect(second.events.map(({ event }) => event)).not.toContain("reset");
    second.close();
    const third = await open("", { "last-event-id": "1" });
    await eventually("an event", () => third.events[0]);
    expect(third.events[0]?.event).toBe("reset");
    third.close();
  });

  test("one member's key can take neither the streams of other members, other accounts or the operator", async () => {
    const create = createAccountTools(gateway);
    const [member, other] = [await create.user("greedy"), await create.user("colleague")];
    const organization = await create.organization(member);
    await create.member(organization, other, "member");
    const keyOf = (user_id: string) => create.key(organization, { kind: "management", user_id });
    const [greedy, colleague] = [await keyOf(member), await keyOf(other)];
    const stranger = await create.key(await create.user("third"), { kind: "management" });
    const taken: OpenStream[] = [];
    for (let count = 0; count < FEED_PLACES.accounts + 1; count++)
      taken.push(await open("", {}, { ...gateway, adminKey: greedy }));
    const statuses = taken.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(FEED_PLACES.caller);
    expect(taken.at(-1)?.status).toBe(503);
    for (const adminKey of [colleague, stranger, gateway.adminKey]) {
      const stream = await open("", {}, { ...gateway, adminKey });
      expect(stream.status).toBe(200);
      stream.close();
    }
    for (const stream of taken) stream.close();
  });

  test("rejects more streams than its bound, until a client leaves", async () => {
    const streams: OpenStream[] = [];
    const rejected = await eventually("a rejected stream", async () => {
      const stream = await open();
      streams.push(stream);
      return stream.status === 503 ? stream : null;
    });
    expect(streams.length).toBeLessThanOrEqual(FEED_PLACES.operator + 1);
    await rejected.ended;
    expect(rejected.text()).toContain("streams of generations");
    for (const stream of streams) stream.close();
    const again = await eventually("a stream", async () => {
      const stream = await open();
      return stream.status === 200 ? stream : null;
    });
    again.close();
  });

  test.each(["?limit=5", "?from=2026-01-01T00:00:00Z", "?outcome=lost"])(
    "rejects the query %s",
    async (query) => {
      expect((await open(query)).status).toBe(400);
    },
  );
});

describe("a stream of generations", () => {
  test("ends soon after its key is revoked", async () => {
    const clock = createTestClock();
    const timed = await startTestGateway({ clock });
    try {
      const made = await callAdmin(timed, timed.adminKey, "POST", "/keys", {
        name: "watcher",
        kind: "management",
      });
      const [id, adminKey] = [made.data.id, String(made.body["key"])];
      const stream = await open("", {}, { url: timed.url, adminKey });
      let isEnded = false;
      void stream.ended.then(() => {
        isEnded = true;
      });
      // In steps in which the gateway can read its store, which otherwise counts as unavailable.
      const pass = async () => {
        for (let step = 0; step < 60; step++) {
          clock.advance(250);
          for (let turn = 0; turn < 3; turn++) await nextTurn();
        }
      };
      await pass();
      await eventually("a ping", () => stream.text().includes(": ping"));
      expect(isEnded).toBe(false);
      const revoked = await callAdmin(timed, timed.adminKey, "DELETE", `/keys/${id}`);
      expect(revoked.status).toBe(200);
      // A ping may come before this gateway has read the change.
      while (!isEnded) await pass();
    } finally {
      await timed.stop();
    }
  });

  test("ends at once when the gateway stops, and does not hold it up", async () => {
    const clock = createTestClock();
    const timed = await startTestGateway({ clock });
    const stream = await open("", {}, timed);
    expect(stream.status).toBe(200);
    // No timer of the gateway can expire: the clock stands still.
    await timed.stop();
    await stream.ended;
  });
});
