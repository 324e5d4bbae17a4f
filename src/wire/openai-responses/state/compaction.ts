import { asFields, asList, asText, type Fields, tryParseFields } from "../../../base/json/fields.ts";
import { encodeLatin1 } from "../../../base/json/scan.ts";
import { encodeEvent } from "../stream-events.ts";
import type { AnswerShaper, EndedResponse, LastEvent, StateFields, StatePiece } from "./answer-state.ts";

/** How the encrypted content of the gateway's own compactions begins. */
export const OWN_COMPACTION = "gwc1.";

/** What the model is asked in place of an answer, as an item of the input. */
export const COMPACTION_PROMPT = JSON.stringify({
  type: "message",
  role: "user",
  content: `The conversation above will be removed, and another model continues from what you write now. It sees nothing else. Write a complete handover in plain text, in the language of the conversation:
- what the user wants, with every requirement, constraint and preference, quoted where the wording matters;
- what was done so far and what each step found, with the names of files, functions, commands, URLs and ids that are still needed;
- decisions and their reasons, and approaches that failed;
- the present state, open questions, and the exact next step.
Leave out pleasantries and what no longer matters. Do not call tools and do not continue the task.`,
});

/** Returns the item of a later input that a compaction stands for, as JSON. */
export function encodeHandover(summary: string): string {
  const content = `The conversation before was removed to save space. This is the handover that was written of it:\n\n${summary}`;
  return JSON.stringify({ type: "message", role: "user", content });
}

/** Returns the text of an answer: the handover. "" if there is none. */
function readSummary(output: readonly string[]): string {
  return output
    .flatMap((item) => asList(tryParseFields(item)?.["content"]))
    .map((part) => asText(asFields(part)?.["text"]) ?? "")
    .join("")
    .trim();
}

/** An answer with a handover becomes one with a compaction item. */
export class CompactionAnswer implements AnswerShaper {
  /** The number of events that were sent. */
  private sent = 0;

  /** `seal` returns the compaction item of a handover, as JSON. */
  constructor(private readonly seal: (summary: string) => string) {}

  /** Returns a whole answer with the compaction as its only item; null if there is no handover. */
  shapeWhole({ ended: found }: LastEvent): LastEvent | null {
    const ended = this.shapeEnded(found);
    if (ended.status === "failed") return null;
    const output = ended.output.map((item) => tryParseFields(item));
    const encode = (state: StateFields) =>
      encodeLatin1(JSON.stringify({ ...tryParseFields(ended.response), output, ...state }));
    return { ended, encode };
  }

  /** Returns a response that has ended with the compaction as its only item, or as a failure if there is no handover. */
  private shapeEnded({ status, output, response }: EndedResponse): EndedResponse {
    // The error of the provider says more.
    if (status === "failed") return { status, output: [], response };
    const summary = status === "completed" ? readSummary(output) : "";
    if (summary !== "") return { status, output: [this.seal(summary)], response };
    const failed = {
      ...tryParseFields(response),
      status: "failed",
      error: NO_HANDOVER,
      incomplete_details: null,
    };
    return { status: "failed", output: [], response: JSON.stringify(failed) };
  }

  /** Keeps the events of a stream that do not belong to items, and shapes its end. */
  shape({ out, last, after }: StatePiece): StatePiece {
    const kept = out.split("\n\n").filter((event) => !OF_ITEMS.test(event));
    this.sent += kept.filter((event) => event.startsWith("event: ")).length;
    return { out: kept.join("\n\n"), last: last === null ? null : this.shapeLast(last.ended), after };
  }

  private shapeLast(found: EndedResponse): LastEvent {
    const ended = this.shapeEnded(found);
    const output = ended.output.map((item) => tryParseFields(item) as Fields);
    return {
      ended,
      encode: (state: StateFields) => {
        let sequence_number = this.sent;
        const events = output.flatMap((item) =>
          ["response.output_item.added", "response.output_item.done"].map((type) =>
            encodeEvent({ type, sequence_number: sequence_number++, output_index: 0, item }),
          ),
        );
        const response = { ...tryParseFields(ended.response), output, ...state };
        events.push(encodeEvent({ type: `response.${ended.status}`, sequence_number, response }));
        return events.join("");
      },
    };
  }
}

/** The events of items and their parts. */
const OF_ITEMS = /^event: response\.(?!created\n|queued\n|in_progress\n|completed\n|incomplete\n|failed\n)/;

export const NO_HANDOVER_MESSAGE =
  "The model wrote no handover, so the conversation was not compacted. Try again, or choose another model.";

const NO_HANDOVER = { code: "server_error", message: NO_HANDOVER_MESSAGE };
