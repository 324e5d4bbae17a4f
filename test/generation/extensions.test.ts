import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { ExtensionPoints } from "../../src/core/generation/call/extension.ts";
import type { AttemptRecord, UsageRecord } from "../../src/core/usage/records/records.ts";
import { postChat, startTestGateway, type TestGateway } from "../support/gateway/gateway.ts";

let gateway: TestGateway;
/** What the extension under test does in the next generations. */
let points: ExtensionPoints | null;

beforeAll(async () => {
  gateway = await startTestGateway({
    extensions: [{ name: "under-test", attach: () => points }],
    yaml: "timers: { total_ms: 1000, failover_ms: 1000 }",
  });
});
afterAll(() => gateway.stop());
beforeEach(() => {
  points = null;
});

function ask(more: Record<string, unknown> = {}): Promise<Response> {
  return postChat(gateway, {
    model: "sandbox/echo",
    messages: [{ role: "user", content: "Hello!" }],
    ...more,
  });
}

async function findGeneration(response: Response): Promise<unknown> {
  const id = response.headers.get("x-gateway-generation-id");
  const found = await fetch(`${gateway.base}/generation?id=${id}`, {
    headers: { authorization: `Bearer ${gateway.key}` },
  });
  return ((await found.json()) as { data: unknown }).data;
}

describe("the gate beforeRoute", () => {
  test("a rejection by a gate is answered as its failure and recorded as a generation without a provider", async () => {
    const records: [UsageRecord, unknown][] = [];
    const failure = { code: "permission_denied", message: "This prompt is not allowed." } as const;
    points = {
      beforeRoute: async () => ({ kind: "reject", failure }),
      onSettled: (record, failed) => void records.push([record, failed]),
    };
    const response = await ask();
    expect(response.status).toBe(403);
    expect(await response.json()).toMatchObject({ error: { message: failure.message } });
    expect(records).toMatchObject([[{ outcome: "failed", error: "permission_denied" }, failure]]);
    expect(await findGeneration(response)).toMatchObject({
      outcome: "failed",
      status: 403,
      error_type: "permission_denied",
      provider_name: null,
      total_cost: 0,
      attempts: [],
    });
  });

  test("a replacement by a gate is the client's answer and is recorded as completed at no cost", async () => {
    points = { beforeRoute: async () => ({ kind: "replace", body: '{"replaced":true}' }) };
    const response = await ask();
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toContain("application/json");
    expect(response.headers.get("x-gateway-attempts")).toBe("0");
    expect(await response.json()).toEqual({ replaced: true });
    expect(await findGeneration(response)).toMatchObject({
      outcome: "completed",
      status: 200,
      provider_name: null,
      tokens_prompt: 0,
      total_cost: 0,
      attempts: [],
    });
  });

  test("a replacement of a streamed answer is sent as server-sent events", async () => {
    points = { beforeRoute: async () => ({ kind: "replace", body: "data: [DONE]\n\n" }) };
    const response = await ask({ stream: true });
    expect(response.headers.get("content-type")).toContain("text/event-stream");
    expect(await response.text()).toBe("data: [DONE]\n\n");
  });

  test("warnings of a gate are in the answer's gateway_metadata", async () => {
    const warning = { field: "messages", message: "An e-mail address was masked." };
    points = { beforeRoute: async () => ({ kind: "continue", warnings: [warning] }) };
    expect(await (await ask()).json()).toMatchObject({ gateway_metadata: { warnings: [warning] } });
  });

  test("a gate that throws fails the generation with status 500", async () => {
    points = { beforeRoute: () => Promise.reject(new Error("out of order")) };
    const response = await ask();
    expect(response.status).toBe(500);
    expect(await response.text()).not.toContain("out of order");
    expect(await findGeneration(response)).toMatchObject({ outcome: "failed", error_type: "internal" });
  });

  test("a gate that never decides fails the generation when its total time is over", async () => {
    points = { beforeRoute: () => new Promise(() => {}) };
    const response = await ask();
    expect(response.status).toBe(503);
    expect(await findGeneration(response)).toMatchObject({ outcome: "failed", error_type: "unavailable" });
  });
});

describe("observers", () => {
  for (const stream of [false, true]) {
    test(`the text that onText sees is the answer that the client gets, with stream: ${stream}`, async () => {
      const seen: Buffer[] = [];
      let settledAfter = -1;
      points = {
        onText: (delta) => void seen.push(Buffer.from(delta)),
        onSettled: () => {
          settledAfter = seen.length;
        },
      };
      const text = await (await ask({ stream })).text();
      expect(text).toContain("Hello!");
      expect(Buffer.concat(seen).toString()).toBe(text);
      expect(settledAfter).toBe(seen.length);
    });
  }

  test("onAttempt is called once for each attempt, with its outcome", async () => {
    const attempts: AttemptRecord[] = [];
    points = { onAttempt: (attempt) => void attempts.push(attempt) };
    await (await ask()).text();
    expect(attempts).toMatchObject([{ provider: "sandbox", upstreamStatus: 200, error: null }]);
  });

  test("an observer that throws is logged and does not change the answer", async () => {
    points = {
      onText() {
        throw new Error("observer broke");
      },
    };
    const response = await ask();
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ object: "chat.completion" });
    const line = gateway.log.find(({ event }) => event === "an extension failed");
    expect(line?.fields).toMatchObject({ extension: "under-test" });
    expect(String(line?.fields["detail"])).toContain("observer broke");
  });
});
