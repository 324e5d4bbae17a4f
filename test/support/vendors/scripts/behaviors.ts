import { type Speech, type SpokenFormat, speak, speakAsAgent } from "../speaking-vendor.ts";
import type { Play } from "../vendor.ts";
import type { VendorScript } from "./vendor-script.ts";

/** The formats in which a vendor behaves. */
export const SPOKEN_FORMATS: readonly SpokenFormat[] = [
  "openai-chat",
  "openai-responses",
  "anthropic-messages",
  "gemini",
];

/** How the model answers: `agent` calls the first tool, and answers its result with text; the others do not. */
export type Behavior =
  | "agent"
  | "reasoning"
  /** The answer is cut off at its limit of tokens: in its text, or in a call. */
  | "cut"
  | "cut-call"
  /** An error in the middle of the stream. */
  | "late-failure"
  | "failure"
  | "limited"
  /** The conversation is longer than the context of the model. */
  | "overflow";

/** The pieces of the text of each answer of a vendor. */
export const SPOKEN: readonly string[] = ["Alpha ", "one ", "two"];
const CALL = ['{"q":', '"x"}'];
const REASONING = ["Let me ", "think."];

/** The name of the function that a vendor calls when its answer is cut off. */
export const CUT_FUNCTION = "look";

type MakePlay = (script: VendorScript) => Play;

const AGENT: Speech = { text: SPOKEN, call: CALL };

/** The plays of a vendor that behaves like this, by the script of its format. */
export const PLAYS: Readonly<Record<Behavior, MakePlay>> = {
  agent: () => speakAsAgent(AGENT),
  reasoning: () => speak({ reasoning: REASONING, text: SPOKEN }),
  cut: () => speak({ text: ["Alpha ", "one"], isCut: true }),
  "cut-call": (script) => {
    if (script.format === "openai-responses")
      return speak({ call: ['{"q":'], name: CUT_FUNCTION, isCut: true });
    return (call) => playPieces(call, script, [script.beginCall(), script.close("length")]);
  },
  "late-failure": (script) => async (call) => {
    await call.begin(200, { "content-type": script.contentType });
    await call.piece(script.begin("Alpha"));
    // A failure before the first token would be an error response.
    await call.gate();
    await call.piece(script.fail(script.errors.failed));
    await call.end();
  },
  failure: (script) => (call) => call.respond(script.errors.failed.status, script.errors.failed.body),
  limited: (script) => (call) => call.respond(script.errors.limited.status, script.errors.limited.body),
  overflow: () => (call) => call.respond(400, OVERFLOW),
};

/** OpenAI's error, by its code. */
const OVERFLOW = {
  error: {
    message: "Your input exceeds the context window of this model. Please adjust your input and try again.",
    type: "invalid_request_error",
    param: "input",
    code: "context_length_exceeded",
  },
};

type Call = Parameters<Play>[0];

async function playPieces(call: Call, script: VendorScript, pieces: readonly Buffer[]): Promise<void> {
  await call.begin(200, { "content-type": script.contentType });
  for (const piece of pieces) await call.piece(piece);
  await call.end();
}
