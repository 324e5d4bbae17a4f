import { BOUNDS } from "../../../base/numbers/bounds.ts";
import { answerTooLarge } from "../../conversation/errors/broken-answers.ts";
import { CompletionRelay } from "./relay-stream.ts";

/** Relays the JSON document of an upstream that was asked for a stream. It has the same fields as one event of a stream. */
export class CompletionDocumentRelay extends CompletionRelay {
  private readonly pieces: string[] = [];
  private size = 0;

  override step(piece: string): string {
    this.size += piece.length;
    if (this.size > BOUNDS.answerBytes) this.error = answerTooLarge(BOUNDS.answerBytes);
    else this.pieces.push(piece);
    return "";
  }

  override end(): string {
    const text = this.pieces.splice(0).join("");
    if (this.error === null) this.readEvent({ text, start: 0, end: text.length, name: "" });
    return super.end();
  }
}
