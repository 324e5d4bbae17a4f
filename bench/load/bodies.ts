import { shapeAsMessages, shapeAsResponses } from "./body-shapes.ts";
import type { ChatMessage, ChatRequest, ChatTool } from "./chat-request.ts";
import type { BodyKind, ClientApi } from "./messages.ts";

/** An agent's conversation grows by whole steps until it has at least this many bytes. */
const AGENT_BYTES = { "24kB": 20_000, "150kB": 150_000, large: 200_000 } as const;
const TOOL_COUNT = 14;

const RULES = [
  "You are a coding agent. You work in the user's repository through tools; you never guess at a file's content.",
  'Read before you write. Quote paths exactly, like "src/app/wire-up.ts"; a path with a space stays in quotes.',
  "Keep every change small enough to review. Run the tests after each one and say what you saw, not what you hoped.",
  "If a command fails, read its output to the end — the cause is mostly above the last line.",
  "Never print secrets. Never run `rm -rf`, `git push --force` or anything that reaches outside the workspace.",
];

const CODE = [
  "import { readFile } from \"node:fs/promises\";\nimport type { Config } from './config.ts';\n",
  'export async function load(path: string): Promise<Config> {\n\tconst text = await readFile(path, "utf8");\n',
  '\tif (!/^\\s*\\{/.test(text)) throw new Error("not JSON: \\\\" + path);\n\treturn JSON.parse(text) as Config;\n}\n',
  '    at processTicksAndRejections (node:internal/process/task_queues:105:5) {\n  code: "ENOENT"\n',
  "diff --git a/src/index.ts b/src/index.ts\n@@ -14,7 +14,9 @@\n-  return a \\ b;\n+  return a / b; // naïve → exact\n",
  '✓ adds two keys (3 ms)\n✗ refuses a third\n  Expected: "rate_limit"\n  Received: undefined\n',
  "<div class=\"row\" data-id='42'>\n  <span>Größe: 12 µm — “ok”</span>\n</div>\n",
  'C:\\Users\\dev\\project\\node_modules\\.bin\\tsc.cmd --project "tsconfig.json" & exit /b 0\r\n',
];

const SHAPES: Readonly<Record<ClientApi, (request: ChatRequest, stream: boolean) => object>> = {
  chat: (request, stream) =>
    stream ? { ...request, stream, stream_options: { include_usage: true } } : request,
  messages: shapeAsMessages,
  responses: shapeAsResponses,
};

/** Returns the bytes of a request body. The same arguments always give the same bytes. */
export function makeBody(kind: BodyKind, api: ClientApi, model: string, stream: boolean): Buffer {
  const request = kind === "small" ? smallRequest() : agentRequest(AGENT_BYTES[kind]);
  return Buffer.from(JSON.stringify({ model, ...SHAPES[api](request, stream) }));
}

/** About 1 kB: one question, as a chat window sends it. */
function smallRequest(): ChatRequest {
  const question = "Say in two sentences what stands between a caller and a model, and why. ".repeat(7);
  return {
    messages: [
      { role: "system", content: RULES.slice(0, 3).join("\n") },
      { role: "user", content: `${question}\nAnswer "briefly".` },
    ],
    temperature: 0.2,
    max_tokens: 256,
  };
}

/** An agent at its work, with every tool call answered; of 200 kB after forty steps. */
function agentRequest(leastBytes: number): ChatRequest {
  const random = makeRandom(20_260_212);
  const messages: ChatMessage[] = [{ role: "system", content: systemPrompt() }];
  const tools = Array.from({ length: TOOL_COUNT }, (_, i) => tool(i));
  let bytes = JSON.stringify(messages).length + JSON.stringify(tools).length;
  for (let step = 0; bytes < leastBytes; step++) {
    const turn = agentStep(step, random);
    messages.push(...turn);
    bytes += Buffer.byteLength(JSON.stringify(turn));
  }
  messages.push({ role: "user", content: 'Now fix the failing test and explain the "why" in one line.\n' });
  return { messages, tools, tool_choice: "auto", parallel_tool_calls: true, temperature: 0 };
}

function systemPrompt(): string {
  return Array.from({ length: 12 }, (_, i) => `## Part ${i + 1}\n${RULES.join("\n- ")}`).join("\n\n");
}

function agentStep(step: number, random: () => number): ChatMessage[] {
  const asked: ChatMessage[] =
    step % 5 === 0 ? [{ role: "user", content: `Step ${step}: why does "load" fail?` }] : [];
  const ids = [`call_${step}aQ7xKd0mZ`, `call_${step}bW2pLr9nY`];
  const tool_calls = ids.map((id, i) => ({
    id,
    type: "function" as const,
    function: { name: `read_file_${(step + i) % TOOL_COUNT}`, arguments: toolArguments(step + i) },
  }));
  const results = ids.map(
    (id): ChatMessage => ({ role: "tool", tool_call_id: id, content: toolResult(random) }),
  );
  return [...asked, { role: "assistant", content: "I will look at the file.", tool_calls }, ...results];
}

function toolArguments(step: number): string {
  const edit = { old: 'return "a\\b";\n', new: "return `a/b`;\n" };
  return JSON.stringify({ path: `src/core/step-${step}.ts`, lines: [1, 80], pattern: '^\\s+"id":\\s', edit });
}

function toolResult(random: () => number): string {
  const lines = Array.from({ length: 24 }, (_, i) => `${i + 1}\t${pick(CODE, random)}`);
  return `$ cat "file.ts"\n${lines.join("")}`;
}

function tool(index: number): ChatTool {
  const text = { type: "string", description: 'Path from the workspace\'s root, without a leading "/".' };
  const parameters = {
    type: "object",
    properties: {
      path: text,
      lines: { type: "array", items: { type: "integer", minimum: 1 }, description: "First and last line." },
      pattern: { type: "string", description: "A regular expression such as \\bfoo\\b; optional." },
      edit: { type: "object", properties: { old: text, new: text }, required: ["old", "new"] },
    },
    required: ["path"],
    additionalProperties: false,
  };
  const description = "Reads lines of a text file. Use it before any edit; it never changes anything.";
  return { type: "function", function: { name: `read_file_${index}`, description, parameters } };
}

function pick<T>(from: readonly T[], random: () => number): T {
  return from[Math.floor(random() * from.length)] as T;
}

/** mulberry32: small and the same on every machine. */
function makeRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
