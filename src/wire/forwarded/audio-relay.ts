import { tryParseLatin1 } from "../../base/json/fields.ts";
import { BOUNDS } from "../../base/numbers/bounds.ts";
import type { AnswerRelay, RelayEnding } from "../canonical/answer/relay.ts";
import { brokenAnswer, findVendorError, type VendorError } from "../conversation/errors/vendor-error.ts";
import type { TokenUsage } from "../conversation/usage.ts";
import { findByteRate } from "./audio-duration.ts";

/** The media type of audio whose vendor names none. */
const UNKNOWN_TYPE = "application/octet-stream";
/** The first bytes, which tell how many bytes a second has. */
const HEAD_BYTES = 8_192;

/**
 * Forwards audio byte for byte. Its end is that of the connection, because the formats have no end mark that all have in common. An answer
 * that is JSON is an error of the vendor.
 */
export class AudioRelay implements AnswerRelay {
  readonly mediaType: string;
  sawToken = false;
  readonly isDone = false;
  readonly isFinished = false;
  error: VendorError | null = null;
  readonly searches = 0;
  /** Audio is no text from which tokens are estimated. */
  readonly producedBytes = 0;
  private readonly isJson: boolean;
  private head = "";
  private bytes = 0;
  private hasEnded = false;

  /** `estimate` returns the usage for a duration in seconds. For null, it derives the duration from the text. */
  constructor(
    contentType: string | null,
    private readonly estimate: (seconds: number | null) => TokenUsage,
  ) {
    this.mediaType = contentType ?? UNKNOWN_TYPE;
    this.isJson = /^\s*application\/([\w.-]+\+)?json\b/i.test(this.mediaType);
  }

  get usage(): TokenUsage {
    const rate = findByteRate(Buffer.from(this.head, "latin1"));
    return this.estimate(rate === null ? null : this.bytes / rate);
  }

  step(piece: string): string {
    this.bytes += piece.length;
    const most = this.isJson ? BOUNDS.errorBodyBytes : HEAD_BYTES;
    if (this.head.length < most) this.head += piece.slice(0, most - this.head.length);
    if (this.isJson) return "";
    this.sawToken ||= piece !== "";
    return piece;
  }

  end(): string {
    this.hasEnded = true;
    if (this.isJson) this.error = readError(this.head);
    return "";
  }

  classifyEnd(): RelayEnding {
    if (this.error !== null) return "failed";
    return this.hasEnded && this.sawToken ? "complete" : "unfinished";
  }

  finish(): null {
    return null;
  }

  stopShort(): string {
    return "";
  }

  encodeEnd(): string {
    return "";
  }

  encodeError(): string {
    return "";
  }
}

function readError(body: string): VendorError {
  const fields = tryParseLatin1(body) ?? {};
  return findVendorError(fields) ?? brokenAnswer("the upstream answered with JSON instead of audio");
}
