import { describe, expect, test } from "bun:test";
import { GatewayError } from "../../src/base/failures/errors.ts";
import { parseChatRequest } from "../../src/wire/client-apis/chat-request.ts";
import { parseCompletionsRequest } from "../../src/wire/client-apis/completions-request.ts";
import { parseEmbeddingsRequest } from "../../src/wire/client-apis/embeddings-request.ts";
import { parseFimRequest } from "../../src/wire/client-apis/fim-request.ts";
import { parseMessagesRequest } from "../../src/wire/client-apis/messages-request.ts";
import type { InferenceRequest } from "../../src/wire/client-apis/request/inference-request.ts";
import { parseResponsesRequest } from "../../src/wire/client-apis/responses-request.ts";
import type { FormatName } from "../../src/wire/conversation/traits/format-name.ts";
import { FORMATS } from "../fidelity/formats.ts";
import { makeTarget } from "../fidelity/targets.ts";
import { isInRun } from "../support/long-run.ts";
import { CHAT_DIMENSIONS } from "./chat-dimensions.ts";
import type { Dimension } from "./dimension.ts";
import { growsLinearly, LARGER, type Work } from "./measure-growth.ts";
import { MESSAGES_DIMENSIONS } from "./messages-dimensions.ts";
import { RESPONSES_DIMENSIONS } from "./responses-dimensions.ts";
import { COMPLETION_DIMENSIONS, EMBEDDINGS_DIMENSIONS, FIM_DIMENSIONS } from "./small-dimensions.ts";

/** The smaller of the two compared sizes. Most bounds are above the larger one. */
const SIZE = 100;

interface Api {
  readonly name: string;
  readonly open: (bytes: Buffer, rename: (id: string) => string) => InferenceRequest;
  readonly dimensions: readonly Dimension[];
  /** The upstream formats in which its requests are encoded. */
  readonly formats: readonly FormatName[];
}

const APIS: readonly Api[] = [
  { name: "chat completions", open: parseChatRequest, dimensions: CHAT_DIMENSIONS, formats: FORMATS },
  { name: "Messages", open: parseMessagesRequest, dimensions: MESSAGES_DIMENSIONS, formats: FORMATS },
  { name: "Responses", open: parseResponsesRequest, dimensions: RESPONSES_DIMENSIONS, formats: FORMATS },
  {
    name: "embeddings",
    open: parseEmbeddingsRequest,
    dimensions: EMBEDDINGS_DIMENSIONS,
    formats: ["openai-chat", "gemini", "cohere-chat"],
  },
  {
    name: "text completions",
    open: parseCompletionsRequest,
    dimensions: COMPLETION_DIMENSIONS,
    formats: ["openai-chat"],
  },
  {
    name: "fill in the middle",
    open: parseFimRequest,
    dimensions: FIM_DIMENSIONS,
    formats: ["openai-chat"],
  },
];

/** Runs work that may be rejected; a rejection is work as well. */
function attempt(work: Work): void {
  try {
    work();
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
  }
}

/** Reads everything of a request that is read before it is encoded. */
function askFacts(request: InferenceRequest): void {
  request.demands.listNeeds();
  request.demands.listCharges();
  request.prompt.hashPrefix();
  request.prompt.countChars();
  request.prompt.listTexts();
}

/** Returns the work for a request: reading it, and those of its encodings that this run selects for the dimension. */
function* listWorks({ open, formats }: Api, index: number): Generator<[string, (bytes: Buffer) => Work]> {
  const openCopy = (bytes: Buffer) => open(Buffer.from(bytes), (id) => id);
  yield ["read", (bytes) => () => attempt(() => askFacts(openCopy(bytes)))];
  for (const [formatIndex, format] of formats.entries()) {
    if (!isInRun(FORMATS.length, index, formatIndex)) continue;
    yield [
      `encoded for ${format}`,
      (bytes) => () => attempt(() => openCopy(bytes).encoding.encode(makeTarget(format))),
    ];
  }
}

describe("doubling a dimension of a request at most triples its work", () => {
  for (const api of APIS) {
    test.each(api.dimensions.map((dimension, index) => [dimension.name, dimension, index] as const))(
      `${api.name}: %s`,
      (_name, { body }, index) => {
        const [small, large] = [SIZE, LARGER * SIZE].map((n) => Buffer.from(JSON.stringify(body(n))));
        for (const [what, makeWork] of listWorks(api, index)) {
          const isLinear = growsLinearly(makeWork(small as Buffer), makeWork(large as Buffer));
          expect([what, isLinear]).toEqual([what, true]);
        }
      },
    );
  }
});
