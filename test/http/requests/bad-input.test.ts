import { afterAll, beforeAll, expect, test } from "bun:test";
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { shareOf } from "../../support/long-run.ts";
import { createSeededRandom, type SeededRandom } from "../../support/seeded-random.ts";

const ALL_BODIES = 10_000;
const BODIES = shareOf(ALL_BODIES, 1 / 8);
const CONCURRENCY = 16;
/** The seed of the bodies. A failure names the seed that repeats it. */
const SEED = Number(process.env["BAD_INPUT_SEED"] ?? 20_260_101);
/** The timeout of a request, which turns a hang into an abort. Milliseconds. */
const PATIENCE_MS = 60_000;

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.stop());

const TOOL = { type: "function", function: { name: "f", description: "d", parameters: { type: "object" } } };

/** Makes a valid request with every field, which the bad ones are derived from. */
function wholeRequest(random: SeededRandom): Record<string, unknown> {
  return {
    model: "sandbox/echo",
    messages: [
      { role: "system", content: "Be brief." },
      {
        role: "user",
        content: [
          { type: "text", text: "Hi" },
          { type: "image_url", image_url: { url: "data:," } },
        ],
      },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "call_1", type: "function", function: { name: "f", arguments: "{}" } }],
      },
      { role: "tool", tool_call_id: "call_1", content: "done" },
      { role: "user", content: "Grüße 🦉" },
    ],
    stream: random.oneIn(4),
    max_tokens: 5,
    temperature: 1,
    top_p: 1,
    stop: ["x"],
    frequency_penalty: 0,
    presence_penalty: 0,
    tools: [TOOL],
    tool_choice: "auto",
    response_format: { type: "text" },
    user: "u",
    seed: 1,
    n: 1,
    models: ["sandbox/echo:free"],
    provider: { order: ["sandbox"], allow_fallbacks: true },
    stream_options: { include_usage: true },
    session_id: "s",
    usage: { include: true },
  };
}

const ODD_KEYS = [
  "__proto__",
  "constructor",
  "toString",
  "",
  "model",
  "messages",
  "a\u0000b",
  "\ud800",
  "é",
  "0",
];

function oddValue(random: SeededRandom, depth = 0): unknown {
  const leaves: (() => unknown)[] = [
    () => null,
    () => true,
    () => false,
    () => 0,
    () => -1,
    () => random.next() * 1e300,
    () => Number.MAX_SAFE_INTEGER + 2,
    () => "",
    () => "x".repeat(random.below(2_000)),
    () => "\u0000\u001f\u007f",
    () => "\ud83e",
    () => "🦉é世界",
    () => "sandbox/echo",
    () => "[sandbox:unknown] [sandbox:tools] [sandbox:error=200]",
    () => "__proto__",
  ];
  if (depth >= 4 || random.oneIn(2)) return random.pick(leaves)();
  const length = random.below(5);
  if (random.oneIn(2)) return Array.from({ length }, () => oddValue(random, depth + 1));
  const entries = Array.from({ length }, () => [random.pick(ODD_KEYS), oddValue(random, depth + 1)] as const);
  return Object.fromEntries(entries);
}

/** Replaces a random part of a value by an odd value, by nothing, or by a copy of a neighbour. */
function mutate(random: SeededRandom, value: unknown): unknown {
  if (typeof value !== "object" || value === null || random.oneIn(6)) return oddValue(random);
  const copy: unknown = Array.isArray(value) ? [...value] : { ...value };
  const members = copy as Record<string, unknown>;
  const keys = Object.keys(members);
  const key = random.pick(keys);
  if (key === undefined) return oddValue(random);
  const kind = random.below(8);
  if (kind === 0) delete members[key];
  else if (kind === 1) members[key] = members[random.pick(keys)];
  else if (kind === 2) members[random.pick(ODD_KEYS)] = oddValue(random);
  else members[key] = mutate(random, members[key]);
  return copy;
}

/** Mangles text: truncates it, repeats or removes some of it, or inserts bytes that do not belong. */
function mangle(random: SeededRandom, text: string): Buffer {
  const bytes = Buffer.from(text);
  const at = random.below(bytes.length + 1);
  const to = Math.min(bytes.length, at + random.below(30));
  const insert = random.pick([
    [0],
    [0xff],
    [0xc3],
    [0xed, 0xa0, 0x80],
    [0xf4, 0x90, 0x80, 0x80],
    [0xef, 0xbb, 0xbf],
    [0x5c],
    [0x22],
    [0x7b],
    [0x5d],
    [0x2c],
    [0x0a],
    [random.below(256)],
  ]);
  switch (random.below(4)) {
    case 0:
      return bytes.subarray(0, at);
    case 1:
      return Buffer.concat([bytes.subarray(0, to), bytes.subarray(at)]);
    case 2:
      return Buffer.concat([bytes.subarray(0, at), bytes.subarray(to)]);
    default:
      return Buffer.concat([bytes.subarray(0, at), Buffer.from(insert), bytes.subarray(at)]);
  }
}

/** Encodes a value as JSON in which some members occur twice. */
function writeTwice(random: SeededRandom, value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => writeTwice(random, item)).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).flatMap(([key, member]) => {
    const written = `${JSON.stringify(key)}:${writeTwice(random, member)}`;
    return random.oneIn(8)
      ? [written, `${JSON.stringify(key)}:${JSON.stringify(oddValue(random))}`]
      : [written];
  });
  return `{${members.join(",")}}`;
}

const HUGE_NUMBERS = [
  "1e999",
  "-1e999",
  "1e-999",
  "9".repeat(400),
  `0.${"0".repeat(400)}1`,
  "-0",
  "1E+2",
  "NaN",
  "1.",
  "0x1",
];

function withRaw(random: SeededRandom, field: string, json: string): string {
  const body = wholeRequest(random);
  delete body[field];
  return `{${JSON.stringify(field)}:${json},${JSON.stringify(body).slice(1)}`;
}

function nest(random: SeededRandom): string {
  const depth = random.pick([100, 1_000, 100_000]);
  const [open, close] = random.pick([
    ["[", "]"],
    ['{"a":', "}"],
  ] as const);
  const nested =
    open.repeat(depth) + (random.oneIn(2) ? "1" : "") + (random.oneIn(4) ? "" : close.repeat(depth));
  const fields = [...Object.keys(wholeRequest(random)), "metadata", "x"];
  const text = random.oneIn(5) ? nested : withRaw(random, random.pick(fields), nested);
  // A line break turns off the scan of compact JSON.
  return random.oneIn(2) ? `${text}\n` : text;
}

function makeHuge(random: SeededRandom): string {
  const many = random.pick([1_000, 30_000]);
  const item = random.pick(['""', "{}", "[]", "null", '{"role":"user","content":"x"}']);
  return withRaw(
    random,
    random.pick(["messages", "tools", "stop", "models"]),
    `[${Array(many).fill(item).join(",")}]`,
  );
}

/** Makes one body: mostly small ones, rarely a large one. */
function makeBody(random: SeededRandom): Buffer {
  const kind = random.below(100);
  const text = (value: unknown): string => JSON.stringify(value) ?? "";
  if (kind < 40) return Buffer.from(text(mutate(random, wholeRequest(random))));
  if (kind < 55)
    return Buffer.from(text(mutate(random, mutate(random, mutate(random, wholeRequest(random))))));
  if (kind < 75) return mangle(random, text(wholeRequest(random)));
  if (kind < 85) return Buffer.from(writeTwice(random, wholeRequest(random)));
  if (kind < 90) return Buffer.from(text(oddValue(random)));
  if (kind < 94) {
    const field = random.pick([
      "temperature",
      "top_p",
      "max_tokens",
      "seed",
      "n",
      "x",
      "user",
      "presence_penalty",
    ]);
    return Buffer.from(withRaw(random, field, random.pick(HUGE_NUMBERS)));
  }
  if (kind < 96) return Buffer.from(nest(random));
  if (kind < 97 && random.oneIn(4)) return Buffer.from(makeHuge(random));
  if (kind < 98) return Buffer.alloc(random.below(40), random.below(256));
  return Buffer.from(Array.from({ length: random.below(200) }, () => random.below(256)));
}

/** Sends a body and returns what is wrong with the response, or `null`. */
async function findFault(body: Buffer): Promise<string | null> {
  const response = await fetch(`${gateway.base}/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
    body,
    signal: AbortSignal.timeout(PATIENCE_MS),
  });
  const text = await response.text();
  const { status, headers } = response;
  if (!headers.get("x-request-id")?.startsWith("req_")) return `no request id with ${status}`;
  if (status === 200) return text.includes('"choices"') ? null : `200 with ${text.slice(0, 200)}`;
  if (status !== 400 && status !== 413) return `${status} ${text.slice(0, 300)}`;
  const answer = JSON.parse(text) as { error?: Record<string, unknown>; error_type?: unknown };
  const { message, code, type } = answer.error ?? {};
  const isShaped =
    typeof message === "string" && message !== "" && code === status && type === answer.error_type && !!type;
  if (!isShaped) return `error in another format: ${text.slice(0, 300)}`;
  return /\/src\/|node_modules|\bat \w+ \(/.test(text) ? `reveals internals: ${text.slice(0, 300)}` : null;
}

test(`${BODIES} bad bodies get no 5xx, no hang and no error in another format`, async () => {
  const counts = new Map<string, number>();
  const faults: string[] = [];
  let nextBody = 0;
  const work = async (): Promise<void> => {
    while (nextBody < BODIES && faults.length < 5) {
      const index = nextBody++;
      const body = makeBody(createSeededRandom(SEED + index));
      const fault = await findFault(body).catch((error) => `no answer: ${error}`);
      if (fault === null) continue;
      faults.push(`BAD_INPUT_SEED=${SEED + index}: ${fault}\n  ${body.subarray(0, 300).toString("latin1")}`);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
  expect(faults).toEqual([]);
  const requests = gateway.log.filter(({ event }) => event === "request");
  for (const { fields } of requests) {
    const status = String(fields["status"]);
    counts.set(status, (counts.get(status) ?? 0) + 1);
  }
  // Both results must occur, or nothing would have been tested.
  expect(counts.get("400")).toBeGreaterThan(BODIES / 2);
  expect(counts.get("200")).toBeGreaterThan(BODIES / 20);
  expect(requests).toHaveLength(BODIES);
}, 120_000);
