import type { FormatName } from "../../../src/wire/conversation/traits/format-name.ts";
import { times } from "../../growth/dimension.ts";
import { expectStatus, type HostileCase } from "../hostile-case.ts";

/* Bodies of the largest size that is accepted, of whatever costs most to read. */

const BYTES = 33_554_432 - 1_000;

const TEXTS: Readonly<Record<string, string>> = {
  letters: "x",
  "escaped quotes": '\\"',
  "escaped quotes far apart": `${"x".repeat(40)}\\"`,
  backslashes: "\\\\",
  "escaped characters": "\\u4e2d",
  "another script": "中",
  emoji: "😀",
};

/** A request as text around `inner`, which is repeated up to the largest size. */
function fill(before: string, inner: string, after: string): Buffer {
  const room = BYTES - Buffer.byteLength(before) - Buffer.byteLength(after);
  return Buffer.from(before + inner.repeat(Math.floor(room / Buffer.byteLength(inner))) + after);
}

const SENT: readonly {
  readonly format: FormatName;
  readonly path: string;
  readonly text: (model: string, inner: string) => Buffer;
}[] = [
  {
    format: "openai-chat",
    path: "/v1/chat/completions",
    text: (model, inner) => fill(`{"model":"${model}","messages":[{"role":"user","content":"`, inner, '"}]}'),
  },
  {
    format: "anthropic-messages",
    path: "/v1/chat/completions",
    text: (model, inner) =>
      fill(
        `{"model":"${model}","messages":[{"role":"user","content":"a"},{"role":"assistant","content":"`,
        inner,
        '"},{"role":"user","content":"b"}]}',
      ),
  },
  {
    format: "gemini",
    path: "/v1/messages",
    text: (model, inner) =>
      fill(`{"model":"${model}","max_tokens":9,"messages":[{"role":"user","content":"`, inner, '"}]}'),
  },
  {
    format: "openai-chat",
    path: "/v1/responses",
    text: (model, inner) => fill(`{"model":"${model}","input":"`, inner, '"}'),
  },
];

const texts = Object.entries(TEXTS).map(
  ([name, inner]): HostileCase => ({
    name: `A2 32 MB of ${name}, forwarded and translated`,
    maxMemoryMb: 700,
    async run(bed) {
      for (const { format, path, text } of SENT) {
        await expectStatus(await bed.post(path, text(bed.modelOf(format), inner)), 200);
      }
      return "200";
    },
  }),
);

const blanks: HostileCase = {
  name: "A2 32 MB of blanks between two fields",
  maxMemoryMb: 700,
  async run(bed) {
    const model = bed.modelOf("openai-chat");
    const body = fill(`{"model":"${model}",`, " ", '"messages":[{"role":"user","content":"a"}]}');
    return expectStatus(await bed.post("/v1/chat/completions", body), 200);
  },
};

const values: HostileCase = {
  name: "A2 as many values as are accepted, in an unknown field",
  maxMemoryMb: 700,
  async run(bed) {
    for (const format of ["openai-chat", "gemini", "openai-responses"] as const) {
      const body = {
        model: bed.modelOf(format),
        messages: [{ role: "user", content: "a" }],
        unknown: times(240_000, () => []),
      };
      await expectStatus(await bed.post("/v1/chat/completions", body), 200);
    }
    return "200";
  },
};

export default [...texts, blanks, values];
