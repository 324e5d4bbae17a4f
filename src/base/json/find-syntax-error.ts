import {
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  isSpace,
  JsonSyntaxError,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
} from "./scan.ts";

const SPACE = 32;

/** A literal. A letter or digit directly after it makes it invalid. */
const LITERAL = /(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.+-])/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

/**
 * Finds the first syntax error in a text that the runtime's parser rejected; null if there is none. `text` is the body, bytes as
 * Latin-1. Takes linear time and does not recurse.
 */
export function findSyntaxError(text: string): JsonSyntaxError | null {
  try {
    new Validator(text).run();
    return null;
  } catch (error) {
    if (error instanceof JsonSyntaxError) return error;
    throw error;
  }
}

/** Walks over a text and throws a `JsonSyntaxError` at the first error. */
class Validator {
  private at = 0;
  /** The closing brackets of the open objects and arrays, the innermost last. */
  private readonly open: number[] = [];

  constructor(private readonly text: string) {}

  run(): void {
    do this.passValue();
    while (this.findNext());
    this.passSpace();
    if (this.at < this.text.length) this.fail("unexpected text after the value");
  }

  /** Moves past a string or literal, with the opening brackets and names before it, or past the opening bracket of an empty container. */
  private passValue(): void {
    let code = this.passSpace();
    while (code === OPEN_BRACE || code === OPEN_BRACKET) {
      const close = code === OPEN_BRACE ? CLOSE_BRACE : CLOSE_BRACKET;
      this.open.push(close);
      this.at++;
      if (this.passSpace() === close) return;
      if (close === CLOSE_BRACE) this.passName();
      code = this.passSpace();
    }
    if (code === QUOTE) this.passString();
    else this.passLiteral();
  }

  /** Moves past a comma, or past the closing brackets after a value. Returns whether another value follows. */
  private findNext(): boolean {
    for (let close = this.open.at(-1); close !== undefined; close = this.open.at(-1)) {
      const code = this.passSpace();
      if (code === COMMA) {
        const comma = this.at++;
        if (this.passSpace() === close) this.fail("a comma with nothing after it", comma);
        if (close === CLOSE_BRACE) this.passName();
        return true;
      }
      if (code !== close) this.fail(`expected "," or "${String.fromCharCode(close)}"`);
      this.at++;
      this.open.pop();
    }
    return false;
  }

  private passName(): void {
    if (this.passSpace() !== QUOTE) this.fail("expected a name in double quotes");
    this.passString();
    if (this.passSpace() !== COLON) this.fail('expected ":"');
    this.at++;
  }

  private passString(): void {
    const { text } = this;
    const start = this.at++;
    for (;;) {
      const code = text.charCodeAt(this.at);
      if (code === QUOTE) break;
      if (Number.isNaN(code)) this.fail("a string without its closing quote", start);
      if (code < SPACE) this.fail("a line break or control character in a string, which must be escaped");
      this.at = code === BACKSLASH ? this.match(ESCAPE, "a broken escape") : this.at + 1;
    }
    this.at++;
  }

  private passLiteral(): void {
    const isOver = this.at >= this.text.length;
    this.at = this.match(LITERAL, isOver ? "the text ends too early" : "expected a value");
  }

  private match(pattern: RegExp, problem: string): number {
    pattern.lastIndex = this.at;
    if (!pattern.test(this.text)) this.fail(problem);
    return pattern.lastIndex;
  }

  /** Moves past whitespace. Returns the character code after it; NaN at the end of the text. */
  private passSpace(): number {
    while (isSpace(this.text.charCodeAt(this.at))) this.at++;
    return this.text.charCodeAt(this.at);
  }

  private fail(problem: string, position = this.at): never {
    throw new JsonSyntaxError(problem, Math.min(position, this.text.length));
  }
}
