import { expect } from "bun:test";
import type { Vendor } from "../support/vendors/vendor.ts";
import { COST, fetchRecord, KEY_A, KEY_B, PROMPT, type TwoVendors } from "./two-vendors.ts";

/** What a client gets. Each row of the matrix expects one. */
export type Outcome =
  /** A complete answer of one vendor. */
  | {
      readonly kind: "answer";
      readonly by: "vendor-a" | "vendor-b";
      readonly attempts: number;
      readonly text: string;
      /** The vendor reported no usage, so the gateway counted. */
      readonly estimated?: boolean;
      /** The error in the record of its attempt. */
      readonly attemptError?: string;
    }
  /** An error with its own status. */
  | {
      readonly kind: "rejection";
      readonly status: number;
      readonly type: string;
      readonly attempts: number;
      readonly metadata: Readonly<Record<string, unknown>>;
      /** Seconds; `null` if there is no such header. */
      readonly retryAfter: number | null;
    }
  /** An answer that breaks off: status 200, then an error event. */
  | {
      readonly kind: "break";
      readonly code: number;
      readonly type: string;
      /** The text before the break. */
      readonly text: string;
    };

/** What the client received. */
export interface Received {
  readonly response: Response;
  readonly body: string;
}

interface Chunk {
  readonly id: string;
  readonly object: string;
  readonly model: string;
  readonly choices: readonly {
    readonly index: number;
    readonly delta: {
      readonly content?: string;
      readonly tool_calls?: readonly { readonly function: { readonly arguments: string } }[];
    };
    readonly finish_reason: string | null;
  }[];
  readonly usage?: Readonly<Record<string, unknown>>;
  readonly error?: Readonly<Record<string, unknown>>;
}

/** Describes an outcome for the test's name. */
export function describeOutcome(outcome: Outcome): string {
  switch (outcome.kind) {
    case "answer":
      return `the client gets the answer of ${outcome.by}`;
    case "rejection":
      return `the client gets ${outcome.status} ${outcome.type}`;
    case "break":
      return `the answer ends with an error event, ${outcome.type}`;
  }
}

/** Compares the answer, its headers, the generation record and the log with the expected outcome. */
export async function expectOutcome(
  vendors: TwoVendors,
  received: Received,
  outcome: Outcome,
  request: { readonly model: string; readonly stream: boolean },
): Promise<void> {
  const { response, body } = received;
  const { headers } = response;
  expect(headers.get("x-request-id")).toMatch(/^req_/);
  const id = headers.get("x-gateway-generation-id") ?? "";
  expect(id).toMatch(/^gen_/);
  const record = await fetchRecord(vendors.gateway, id);
  switch (outcome.kind) {
    case "answer":
      if (request.stream) expectWholeStream(body, id, request.model, outcome);
      else expectDocument(body, id, request.model, outcome);
      expectAnswerHeaders(response, outcome.by, outcome.attempts, request);
      expectAnswerRecord(record, outcome);
      break;
    case "rejection":
      expectRejection(response, body, outcome);
      expectFailedRecord(record, outcome);
      break;
    case "break":
      expectBrokenStream(body, id, request.model, outcome);
      expectAnswerHeaders(response, "vendor-a", 1, request);
      expectBrokenRecord(record, outcome);
      break;
  }
  expectNoSecrets(vendors, { headers: [...headers], body, record });
}

function expectAnswerHeaders(
  response: Response,
  provider: string,
  attempts: number,
  request: { readonly model: string; readonly stream: boolean },
): void {
  const { headers, status } = response;
  expect(status).toBe(200);
  expect(headers.get("x-gateway-provider")).toBe(provider);
  expect(headers.get("x-gateway-model")).toBe(request.model);
  expect(headers.get("x-gateway-attempts")).toBe(String(attempts));
  expect(headers.get("content-type")).toBe(
    request.stream ? "text/event-stream; charset=utf-8" : "application/json",
  );
}

function expectDocument(
  body: string,
  id: string,
  model: string,
  outcome: Extract<Outcome, { kind: "answer" }>,
): void {
  const answer = JSON.parse(body);
  expect(answer).toMatchObject({ id, object: "chat.completion", model });
  expect(answer.choices).toHaveLength(1);
  expect(answer.choices[0].message.content).toBe(outcome.text);
  expect(answer.choices[0].finish_reason).toBe("stop");
  expect(answer.usage.estimated ?? false).toBe(outcome.estimated ?? false);
}

function expectWholeStream(
  body: string,
  id: string,
  model: string,
  outcome: Extract<Outcome, { kind: "answer" }>,
): void {
  const { chunks, isDone } = readStream(body);
  expectOneAnswer(chunks, id, model);
  expect(isDone).toBe(true);
  expect(joinText(chunks)).toBe(outcome.text);
  expect(finishesOf(chunks)).toEqual(["stop"]);
  expect(chunks.map((chunk) => chunk.usage !== undefined).indexOf(true)).toBe(chunks.length - 1);
  expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe("stop");
  expect(chunks.at(-1)?.usage?.["estimated"] ?? false).toBe(outcome.estimated ?? false);
}

function expectBrokenStream(
  body: string,
  id: string,
  model: string,
  outcome: Extract<Outcome, { kind: "break" }>,
): void {
  const { chunks: events, isDone } = readStream(body);
  const chunks = events.slice(0, -1);
  expectOneAnswer(chunks, id, model);
  expect(isDone).toBe(false);
  expect(joinText(chunks)).toBe(outcome.text);
  expect(finishesOf(chunks)).toEqual([]);
  // The event has no other field: client libraries would read an event with choices as a chunk.
  const { code, type } = outcome;
  const error = { code, type, message: expect.any(String), metadata: expect.any(Object) };
  expect(events.at(-1) as unknown).toEqual({ error });
}

/** Checks that a stream is one answer of one model, without parts of another. */
function expectOneAnswer(chunks: readonly Chunk[], id: string, model: string): void {
  expect([...new Set(chunks.map((chunk) => chunk.id))]).toEqual([id]);
  expect([...new Set(chunks.map((chunk) => chunk.model))]).toEqual([model]);
  expect(chunks.every((chunk) => chunk.choices.length === 1)).toBe(true);
}

function expectRejection(
  response: Response,
  body: string,
  outcome: Extract<Outcome, { kind: "rejection" }>,
): void {
  const { headers, status } = response;
  expect({ status, body: JSON.parse(body) }).toEqual({
    status: outcome.status,
    body: {
      error: {
        message: expect.any(String),
        code: outcome.status,
        type: outcome.type,
        metadata: { code: outcome.type, ...outcome.metadata },
      },
      error_type: outcome.type,
    },
  });
  expect(headers.get("content-type")).toBe("application/json");
  expect(headers.get("retry-after")).toBe(outcome.retryAfter === null ? null : String(outcome.retryAfter));
  expect(headers.get("x-gateway-attempts")).toBe(String(outcome.attempts));
  expect(headers.get("x-gateway-provider")).toBeNull();
}

function expectAnswerRecord(
  record: Readonly<Record<string, unknown>>,
  outcome: Extract<Outcome, { kind: "answer" }>,
): void {
  expect(record).toMatchObject({
    outcome: "completed",
    status: 200,
    error_type: null,
    finish_reason: "stop",
    provider_name: outcome.by,
    estimated: outcome.estimated ?? false,
  });
  const attempts = record["attempts"] as Record<string, unknown>[];
  expect(attempts).toHaveLength(outcome.attempts);
  expect(attempts.at(-1)).toMatchObject({
    provider_name: outcome.by,
    upstream_status: 200,
    error_type: outcome.attemptError ?? null,
  });
  if (outcome.estimated) expect(record["total_cost_nanodollars"]).toBeGreaterThan(0);
  else expect(record["total_cost_nanodollars"]).toBe(COST[outcome.by]);
}

/** A failure before the first token costs nothing. */
function expectFailedRecord(
  record: Readonly<Record<string, unknown>>,
  outcome: Extract<Outcome, { kind: "rejection" }>,
): void {
  expect(record).toMatchObject({
    outcome: "failed",
    status: outcome.status,
    error_type: outcome.type,
    finish_reason: null,
    total_cost_nanodollars: 0,
  });
  expect(record["attempts"]).toHaveLength(outcome.attempts);
}

/** An answer that breaks off is charged for the output so far. */
function expectBrokenRecord(
  record: Readonly<Record<string, unknown>>,
  outcome: Extract<Outcome, { kind: "break" }>,
): void {
  expect(record).toMatchObject({
    outcome: "failed",
    status: 200,
    error_type: outcome.type,
    provider_name: "vendor-a",
    estimated: true,
  });
  expect(record["tokens_completion"]).toBeGreaterThan(0);
  expect(record["total_cost_nanodollars"]).toBeGreaterThan(0);
  expect(record["attempts"]).toHaveLength(1);
}

/** Checks that answers contain no provider keys, and the log neither prompts nor API keys. */
function expectNoSecrets(vendors: TwoVendors, answered: unknown): void {
  const { gateway } = vendors;
  const log = JSON.stringify(gateway.log);
  const answer = JSON.stringify(answered);
  for (const secret of [KEY_A, KEY_B]) {
    expect(answer).not.toContain(secret);
    expect(log).not.toContain(secret);
  }
  expect(log).not.toContain(gateway.key);
  expect(log).not.toContain(PROMPT);
}

/** Checks that a vendor was called as often as expected, with its own platform key. */
export function expectCalls(vendor: Vendor, count: number, key: string, gatewayKey: string): void {
  expect(vendor.calls).toHaveLength(count);
  for (const { head } of vendor.calls) {
    expect(head).toContain(`Bearer ${key}`);
    expect(head).not.toContain(gatewayKey);
  }
}

function readStream(body: string): { chunks: Chunk[]; isDone: boolean } {
  const blocks = body.split("\n\n").filter((block) => block !== "" && !block.startsWith(":"));
  const data = blocks.map((block) => block.replace(/^data: /, ""));
  const isDone = data.at(-1) === "[DONE]";
  return { chunks: (isDone ? data.slice(0, -1) : data).map((event) => JSON.parse(event)), isDone };
}

/** Returns the text, followed by the arguments of tool calls. */
function joinText(chunks: readonly Chunk[]): string {
  const deltas = chunks.flatMap((chunk) => chunk.choices.map((choice) => choice.delta));
  const calls = deltas.flatMap((delta) => delta.tool_calls ?? []);
  return [
    ...deltas.map((delta) => delta.content ?? ""),
    ...calls.map((call) => call.function.arguments),
  ].join("");
}

function finishesOf(chunks: readonly Chunk[]): string[] {
  return chunks.flatMap((chunk) => chunk.choices.flatMap((choice) => choice.finish_reason ?? []));
}
