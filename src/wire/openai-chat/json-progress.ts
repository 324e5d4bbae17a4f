/** Follows the text of a JSON object that arrives in pieces, to know when it is complete. */
export class JsonProgress {
  private depth = 0;
  private hasBegun = false;
  private isInString = false;
  private isEscaped = false;

  /** Whether an object has begun and ended. */
  get isComplete(): boolean {
    return this.hasBegun && this.depth === 0;
  }

  /** Reads the next piece. */
  push(text: string): void {
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (this.isInString) this.stepInString(code);
      else if (code === QUOTE) this.isInString = true;
      else if (code === OPEN_BRACE || code === OPEN_BRACKET) this.open();
      else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) this.depth--;
    }
  }

  private open(): void {
    this.hasBegun = true;
    this.depth++;
  }

  private stepInString(code: number): void {
    if (this.isEscaped) this.isEscaped = false;
    else if (code === BACKSLASH) this.isEscaped = true;
    else if (code === QUOTE) this.isInString = false;
  }
}

const QUOTE = 34;
const BACKSLASH = 92;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;
const OPEN_BRACKET = 91;
const CLOSE_BRACKET = 93;
