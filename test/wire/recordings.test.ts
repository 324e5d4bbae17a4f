import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { RelayIdentity } from "../../src/wire/canonical/answer/relay.ts";
import { RelayReader } from "../../src/wire/canonical/answer/relay-reader.ts";
import type { AnswerEnd } from "../../src/wire/canonical/model/format.ts";
import { NO_TOKENS } from "../../src/wire/conversation/usage.ts";
import { relayChatAnswer } from "../../src/wire/openai-chat/passthrough/relay-response.ts";
import { ChatRelay } from "../../src/wire/openai-chat/passthrough/relay-stream.ts";
import { cutStep } from "../support/long-run.ts";
import { OPENAI_CHAT_FOLDERS, readAnswers, readStreams } from "../support/vendors/recordings.ts";

const IDENTITY: RelayIdentity = {
  id: "gen_test",
  model: "acme/model",
  created: 1_700_000_000,
  originalIds: null,
  makeCallId: () => "call_made",
  onTurn: () => {},
};

const END: AnswerEnd = {
  report: {
    usage: { ...NO_TOKENS, promptTokens: 1 },
    cost: 0,
    upstreamInferenceCost: 0,
    upstreamPromptCost: 0,
    upstreamCompletionCost: 0,
    isByok: false,
  },
  metadata: null,
};

const streams = OPENAI_CHAT_FOLDERS.flatMap(readStreams);
const answers = OPENAI_CHAT_FOLDERS.flatMap(readAnswers);

/** Runs a stream through the relay in the given pieces. */
function relay(pieces: Iterable<string>): { out: string; state: ChatRelay } {
  const state = new ChatRelay(IDENTITY, false);
  const reader = new RelayReader(state);
  let out = "";
  for (const piece of pieces) out += reader.read(Buffer.from(piece, "latin1")).toString("latin1");
  return { out: out + reader.end().toString("latin1"), state };
}

function* cutAt(text: string, cuts: readonly number[]): Generator<string> {
  let from = 0;
  for (const cut of cuts) {
    yield text.slice(from, cut);
    from = cut;
  }
  yield text.slice(from);
}

interface Folded {
  content: string;
  reasoning: string;
  calls: { name: string; arguments: string }[];
}

interface Delta {
  content?: unknown;
  reasoning?: string | null;
  reasoning_content?: string | null;
  tool_calls?: { index?: number; id?: string; function?: { name?: string; arguments?: string } }[];
}

interface Chunk {
  id?: string;
  object?: string;
  model?: string;
  created?: number;
  choices?: { delta?: Delta; finish_reason?: string | null }[];
  usage?: unknown;
}

function parseEvents(text: string): Chunk[] {
  return text
    .split("\n\n")
    .map((block) => block.trim())
    .filter((block) => block.startsWith("data: ") && block !== "data: [DONE]")
    .map((block) => JSON.parse(block.slice(6)) as Chunk);
}

/** Reads a stream of the vendor or the gateway as a simple client does. */
function fold(chunks: readonly Chunk[]): Folded {
  const folded: Folded = { content: "", reasoning: "", calls: [] };
  for (const delta of chunks.map((chunk) => chunk.choices?.[0]?.delta ?? {})) {
    folded.content += textOf(delta.content, "text");
    folded.reasoning += delta.reasoning_content ?? delta.reasoning ?? textOf(delta.content, "thinking");
    for (const piece of delta.tool_calls ?? []) {
      const index = piece.index ?? 0;
      folded.calls[index] ??= { name: "", arguments: "" };
      const call = folded.calls[index] as Folded["calls"][number];
      call.name ||= piece.function?.name ?? "";
      call.arguments += piece.function?.arguments ?? "";
    }
  }
  const calls = folded.calls.filter(Boolean);
  for (const call of calls) call.arguments ||= "{}";
  return { ...folded, calls };
}

function textOf(content: unknown, kind: "text" | "thinking"): string {
  if (typeof content === "string") return kind === "text" ? content : "";
  if (!Array.isArray(content)) return "";
  return content
    .map((part: { type: string; text?: string; thinking?: { text: string }[] }) =>
      part.type !== kind ? "" : (part.text ?? part.thinking?.map(({ text }) => text).join("") ?? ""),
    )
    .join("");
}

describe("a recorded stream that is relayed", () => {
  test.each(streams.map((stream) => [stream.name, stream.text] as const))(
    "has all of its text, reasoning and tool calls for the client: %s",
    (_name, text) => {
      const { out, state } = relay([Buffer.from(text, "utf8").toString("latin1")]);
      expect(state.classifyEnd()).toBe("complete");
      const whole = Buffer.from(out + state.encodeEnd(END), "latin1").toString("utf8");
      expect(whole.endsWith("data: [DONE]\n\n")).toBeTrue();
      const chunks = parseEvents(whole);
      expect(fold(chunks)).toEqual(fold(parseEvents(text)));
      for (const chunk of chunks) {
        expect(chunk).toMatchObject({
          id: "gen_test",
          object: "chat.completion.chunk",
          model: "acme/model",
          created: 1_700_000_000,
        });
        expect(chunk.choices?.length).toBe(1);
      }
      const finishes = chunks.filter((chunk) => chunk.choices?.[0]?.finish_reason);
      expect(finishes).toHaveLength(1);
      expect(chunks.filter((chunk) => "usage" in chunk)).toEqual([chunks.at(-1) as Chunk]);
      // Counters of zero are ignored; the gateway then estimates the usage.
      const counted = /"prompt_tokens":\s*[1-9]/.test(text);
      expect(state.usage !== null && state.usage.promptTokens > 0).toBe(counted);
      expect(state.usage !== null && state.usage.completionTokens > 0).toBe(counted);
    },
  );

  test.each(streams.map((stream) => [stream.name, stream.text] as const))(
    "has the same events if it arrives byte by byte: %s",
    (_name, text) => {
      const latin1 = Buffer.from(text, "utf8").toString("latin1");
      expect(relay(latin1).out).toBe(relay([latin1]).out);
    },
  );

  test("has the same events if it is split at any byte", () => {
    const wrong: number[] = [];
    for (const { text } of streams) {
      const latin1 = Buffer.from(text, "utf8").toString("latin1");
      const whole = relay([latin1]).out;
      // Every byte of short streams; about two hundred bytes of long ones.
      const step = cutStep(latin1.length < 3_000 ? 1 : Math.ceil(latin1.length / 200));
      for (let cut = 1; cut < latin1.length; cut += step) {
        if (relay(cutAt(latin1, [cut])).out !== whole) wrong.push(cut);
      }
    }
    expect(wrong).toEqual([]);
  });

  test("has the same events if CRLF is split between CR and LF", () => {
    const wrong: (number | undefined)[] = [];
    for (const { text } of streams) {
      const plain = Buffer.from(text, "utf8").toString("latin1");
      const sent = plain.replaceAll("\n", "\r\n");
      const whole = relay([plain]).out;
      const ends = [...sent.matchAll(/\r/g)].map(({ index }) => index + 1);
      for (let at = 0; at < ends.length; at += Math.ceil(ends.length / 40))
        if (relay(cutAt(sent, ends.slice(at, at + 2))).out !== whole) wrong.push(ends[at]);
    }
    expect(wrong).toEqual([]);
  });

  test("has the same events in random pieces, with LF or CRLF, and with comments between events", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...streams),
        fc.array(fc.nat(120_000), { maxLength: 40 }),
        fc.boolean(),
        fc.boolean(),
        ({ text }, places, crlf, comments) => {
          const plain = Buffer.from(text, "utf8").toString("latin1");
          const commented = comments ? plain.replaceAll("\n\n", "\n\n: still here\n\n") : plain;
          const sent = crlf ? commented.replaceAll("\n", "\r\n") : commented;
          const cuts = places.filter((place) => place < sent.length).sort((a, b) => a - b);
          expect(relay(cutAt(sent, cuts)).out === relay([plain]).out).toBe(true);
        },
      ),
      { numRuns: 300 },
    );
  });

  test("is not complete if it breaks off before its finish", () => {
    for (const { text } of streams) {
      const latin1 = Buffer.from(text, "utf8").toString("latin1");
      const finish = latin1.search(/"finish_reason":\s*"/);
      const step = Math.max(1, Math.floor(finish / 50));
      for (let cut = 1; cut < finish; cut += step) {
        expect(relay([latin1.slice(0, cut)]).state.classifyEnd()).not.toBe("complete");
      }
    }
  });
});

describe("a recorded answer that is relayed", () => {
  test.each(answers.map((answer) => [answer.name, answer.text] as const))(
    "has all of its text, reasoning, tool calls and usage for the client: %s",
    (_name, text) => {
      const reading = relayChatAnswer(text, IDENTITY);
      const sent = JSON.parse(text) as { error?: unknown; choices: { message: Delta }[] };
      if (sent.error) {
        expect(reading.kind).toBe("error");
        return;
      }
      if (reading.kind !== "answer") throw new Error(reading.error.message);
      const body = JSON.parse(reading.encode(END));
      expect(body).toMatchObject({ id: "gen_test", object: "chat.completion", model: "acme/model" });
      const [ours] = body.choices as { message: Delta }[];
      const asChunk = (message: Delta | undefined): Chunk => ({
        choices: [
          {
            delta: {
              ...message,
              tool_calls: message?.tool_calls?.map((call, index) => ({ ...call, index })) ?? [],
            },
          },
        ],
      });
      expect(fold([asChunk(ours?.message)])).toEqual(fold([asChunk(sent.choices[0]?.message)]));
      expect(reading.usage?.promptTokens).toBeGreaterThan(0);
      expect(reading.usage?.completionTokens).toBeGreaterThan(0);
    },
  );
});
