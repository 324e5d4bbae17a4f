import { type Dimension, members, times } from "./dimension.ts";

type Body = Readonly<Record<string, unknown>>;

const listDimensions = (bodies: Readonly<Record<string, (n: number) => Body>>): readonly Dimension[] =>
  Object.entries(bodies).map(([name, body]) => ({ name, body }));

const embed = (input: unknown, more: Body = {}): Body => ({ model: "acme/embed", input, ...more });

/** Dimensions of an embeddings request. */
export const EMBEDDINGS_DIMENSIONS = listDimensions({
  "characters of a text": (n) => embed("word ".repeat(n)),
  "escaped characters of a text": (n) => embed('\\"\n'.repeat(n)),
  tokens: (n) => embed(times(n, (at) => at)),
  "tokens of a text among others": (n) => embed([times(n, (at) => at), [1]]),
  "unknown fields": (n) =>
    embed(
      "a",
      members(n, () => 1),
    ),
  "values of an unknown field": (n) => embed("a", { unknown: times(n, () => []) }),
});

const fill = (prompt: string, more: Body = {}): Body => ({ model: "mistralai/code", prompt, ...more });

/** Dimensions of a text completion request. */
export const COMPLETION_DIMENSIONS = listDimensions({
  "characters of the prompt": (n) => fill("word ".repeat(n)),
  "characters of the suffix": (n) => fill("a", { suffix: "word ".repeat(n) }),
  prompts: (n) => fill("a", { prompt: times(n, (at) => `prompt ${at}`) }),
  "token ids": (n) => fill("a", { prompt: times(n, (at) => at) }),
  "stop sequences": (n) => fill("a", { stop: times(n, (at) => `stop ${at}`) }),
  "unknown fields": (n) =>
    fill(
      "a",
      members(n, () => 1),
    ),
});

/** Dimensions of a fill-in-the-middle request. */
export const FIM_DIMENSIONS = listDimensions({
  "characters of the prompt": (n) => fill("word ".repeat(n)),
  "characters of the suffix": (n) => fill("a", { suffix: "word ".repeat(n) }),
  "stop sequences": (n) => fill("a", { stop: times(n, (at) => `stop ${at}`) }),
  "unknown fields": (n) =>
    fill(
      "a",
      members(n, () => 1),
    ),
});
