import { createSeededRandom, type SeededRandom } from "../support/seeded-random.ts";

/** One request of a conversation, in the terms of a client API. */
export interface Step {
  readonly path: "/chat/completions" | "/messages" | "/responses";
  /** Without the model. */
  readonly body: Readonly<Record<string, unknown>>;
  /** The time since the request before. Milliseconds. */
  readonly afterMs: number;
}

/** Conversations of one kind, one after the other. */
export interface ConversationClass {
  readonly name: string;
  /** It is what agents do, for which the cache is made. */
  readonly isAgent: boolean;
  readonly steps: readonly Step[];
}

const SECOND_MS = 1_000;
const CHARS_PER_TOKEN = 4;
const WORDS = "the gateway reads a file and finds that its test fails where no one has looked ".split(" ");

function write(chance: SeededRandom, tokens: number): string {
  let text = "";
  while (text.length < tokens * CHARS_PER_TOKEN) text += `${chance.pick(WORDS)} `;
  return text;
}

/** Returns the kinds of conversations that are always measured. */
export function makeClasses(seed: number): readonly ConversationClass[] {
  const chance = createSeededRandom(seed);
  const many = (count: number, make: () => readonly Step[]) => Array.from({ length: count }, make).flat();
  return [
    { name: "coding agents", isAgent: true, steps: many(6, () => agent(chance, 40, 20 * SECOND_MS)) },
    { name: "short agents", isAgent: true, steps: many(20, () => agent(chance, 6, 15 * SECOND_MS)) },
    { name: "chats", isAgent: false, steps: many(20, () => chat(chance, 6, 60 * SECOND_MS)) },
    { name: "single questions", isAgent: false, steps: many(60, () => [ask(chance, 3_000, 1_000)]) },
    { name: "classifications", isAgent: false, steps: classifications(chance, 60) },
  ];
}

/** An agent that calls a tool in each turn. Those of one kind have the same instructions and tools. */
function agent(chance: SeededRandom, turns: number, afterMs: number): readonly Step[] {
  const shared = createSeededRandom(1);
  const system = write(shared, 5_000);
  const tools = Array.from({ length: 12 }, (_, at) => ({
    type: "function",
    function: { name: `tool_${at}`, description: write(shared, 200), parameters: { type: "object" } },
  }));
  const messages: unknown[] = [
    { role: "system", content: system },
    { role: "user", content: write(chance, 300) },
  ];
  return Array.from({ length: turns }, (_, turn) => {
    if (turn > 0) {
      const id = `call_${turn}`;
      const call = { id, type: "function", function: { name: "tool_1", arguments: '{"path":"a"}' } };
      messages.push(
        { role: "assistant", content: write(chance, 60), tool_calls: [call] },
        { role: "tool", tool_call_id: id, content: write(chance, 400 + chance.below(2_000)) },
      );
    }
    return { path: "/chat/completions", body: { messages: [...messages], tools }, afterMs } as const;
  });
}

function chat(chance: SeededRandom, turns: number, afterMs: number): readonly Step[] {
  const messages: unknown[] = [{ role: "system", content: write(createSeededRandom(2), 1_500) }];
  return Array.from({ length: turns }, (_, turn) => {
    if (turn > 0) messages.push({ role: "assistant", content: write(chance, 300) });
    messages.push({ role: "user", content: write(chance, 60) });
    return { path: "/chat/completions", body: { messages: [...messages] }, afterMs } as const;
  });
}

function ask(chance: SeededRandom, systemTokens: number, tokens: number): Step {
  const body = {
    system: write(chance, systemTokens),
    messages: [{ role: "user", content: write(chance, tokens) }],
  };
  return { path: "/messages", body, afterMs: 30 * SECOND_MS };
}

/** Requests with the same instructions and another text each. */
function classifications(chance: SeededRandom, count: number): readonly Step[] {
  const instructions = write(createSeededRandom(3), 2_500);
  return Array.from({ length: count }, () => ({
    path: "/responses" as const,
    body: { instructions, input: write(chance, 200) },
    afterMs: 10 * SECOND_MS,
  }));
}
