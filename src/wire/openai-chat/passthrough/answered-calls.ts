import { isFilled, isPlainString, isSameText, type JsonNode } from "../../../base/json/scan.ts";

/**
 * Follows the tool calls of a conversation while its messages are read, and finds out whether the results of each message's calls
 * stand directly behind it, in the order of the calls. Most conversations are so, and no host that takes any id needs them repaired;
 * `isValidHistory` decides about all others. It compares ids where they stand, because copying them out of a text takes longer than
 * everything else that is done with them.
 */
export class AnsweredCalls {
  /** False once it is not certain. */
  areInOrder = true;
  /** The ids of the last message's calls. */
  private readonly ids: JsonNode[] = [];
  private answered = 0;

  constructor(private readonly text: string) {}

  /** Begins a message that is not a result. */
  beginMessage(): void {
    if (this.answered !== this.ids.length) this.areInOrder = false;
    if (this.ids.length === 0) return;
    this.ids.length = 0;
    this.answered = 0;
  }

  /** Adds a call to the message. */
  addCall(id: JsonNode | undefined): void {
    if (!this.areInOrder) return;
    if (id === undefined || !this.isNew(id)) this.areInOrder = false;
    else this.ids.push(id);
  }

  /** Adds a message that is a result. */
  addResult(callId: JsonNode | undefined): void {
    if (!this.areInOrder) return;
    const id = this.ids[this.answered++];
    if (id === undefined || callId === undefined || !isSameText(this.text, id, callId))
      this.areInOrder = false;
  }

  /** Ends the conversation. */
  end(): void {
    this.beginMessage();
  }

  /** Whether each host accepts the id, and no other call of the message has it. */
  private isNew(id: JsonNode): boolean {
    const { text, ids } = this;
    if (ids.length >= MAX_CALLS || id.end - id.start > MAX_BYTES) return false;
    if (!isFilled(id) || !isPlainString(text, id)) return false;
    for (const other of ids) if (isSameText(text, id, other)) return false;
    return true;
  }
}

/** More calls of one message are compared in other ways, because all pairs are compared here. */
const MAX_CALLS = 16;
/** What OpenAI accepts, and two quotes. */
const MAX_BYTES = 64 + 2;
