import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
} from "node:zlib";
import { BOUNDS } from "../../base/numbers/bounds.ts";
import { TransportError, type UpstreamResponse } from "../../core/deployments/transport.ts";

type Decoder = ReturnType<typeof createGunzip>;

/** Decoders by content coding; each is given the first bytes of the body. */
const DECODERS: Readonly<Record<string, (first: Uint8Array) => Decoder>> = {
  gzip: () => createGunzip(),
  "x-gzip": () => createGunzip(),
  // Some servers send deflate without the zlib header that RFC 9110 asks for.
  deflate: ([first = 0]) => ((first & 0x0f) === ZLIB_METHOD ? createInflate() : createInflateRaw()),
  br: () => createBrotliDecompress(),
  zstd: () => createZstdDecompress({ params: { [constants.ZSTD_d_windowLogMax]: BOUNDS.zstdWindowLog } }),
};

/** The low half of the first byte of zlib's header. */
const ZLIB_METHOD = 8;

/** The maximum number of a header's characters in an error. */
const NAMED_CHARS = 40;

/**
 * Returns a response whose body is decompressed as it is read, so that the reader's bounds apply to the decompressed bytes. Returns the
 * response itself if it is not compressed. Some servers compress although requests ask for `identity`. If the coding is unknown, or there
 * are several, the first read rejects.
 */
export function decodeResponse(response: UpstreamResponse): UpstreamResponse {
  const coding = response.header("content-encoding")?.trim().toLowerCase() ?? "";
  if (coding === "" || coding === "identity") return response;
  return new DecodedResponse(response, coding);
}

class DecodedResponse implements UpstreamResponse {
  readonly status: number;
  private readonly source: UpstreamResponse;
  private readonly coding: string;
  private decoder: Decoder | null = null;
  private decoderError: Error | null = null;
  /** The error of the first failed read, which all later reads repeat. */
  private failure: Error | null = null;
  private isInputOver = false;
  /** Whether the decoder is still processing its input. */
  private isBusy = false;
  private isOver = false;
  /** Resolves when the decoder has made progress. */
  private progress = Promise.withResolvers<void>();

  constructor(source: UpstreamResponse, coding: string) {
    this.status = source.status;
    this.source = source;
    this.coding = coding;
  }

  header(name: string): string | null {
    return this.source.header(name);
  }

  bufferedBytes(): number {
    return (this.source.bufferedBytes?.() ?? 0) + (this.decoder?.readableLength ?? 0);
  }

  async read(): Promise<Uint8Array | null> {
    if (this.failure !== null) throw this.failure;
    try {
      return await this.readDecoded();
    } catch (error) {
      this.failure = error as Error;
      this.decoder?.destroy();
      throw error;
    }
  }

  private async readDecoded(): Promise<Uint8Array | null> {
    for (;;) {
      const piece: Buffer | null = this.decoder?.read() ?? null;
      if (piece !== null) return piece;
      if (this.decoderError !== null) throw this.describe(this.decoderError);
      if (this.isOver) return this.drain();
      if (this.isBusy || this.isInputOver) await this.nextProgress();
      else await this.feed();
    }
  }

  /** Passes the next piece of the body, or its end, to the decoder. */
  private async feed(): Promise<void> {
    const piece = await this.source.read();
    if (piece !== null) {
      this.decoder ??= this.openDecoder(piece);
      this.isBusy = true;
      this.decoder.write(piece, () => {
        this.isBusy = false;
        this.progress.resolve();
      });
      return;
    }
    this.isInputOver = true;
    // An empty body is accepted as uncompressed.
    if (this.decoder === null) this.isOver = true;
    else this.decoder.end();
  }

  private openDecoder(first: Uint8Array): Decoder {
    const open = Object.hasOwn(DECODERS, this.coding) ? DECODERS[this.coding] : undefined;
    if (open === undefined) {
      const named = JSON.stringify(this.coding.slice(0, NAMED_CHARS));
      throw new TransportError("encoding", `unknown content-encoding ${named}`);
    }
    const decoder = open(first);
    const onProgress = (): void => this.progress.resolve();
    decoder.on("readable", onProgress);
    decoder.on("end", () => {
      this.isOver = true;
      onProgress();
    });
    decoder.on("error", (error) => {
      this.decoderError = error;
      onProgress();
    });
    return decoder;
  }

  private nextProgress(): Promise<void> {
    this.progress = Promise.withResolvers();
    return this.progress.promise;
  }

  /** Reads the bytes after the compressed text, so that the connection can be reused. */
  private async drain(): Promise<null> {
    while (!this.isInputOver) this.isInputOver = (await this.source.read()) === null;
    return null;
  }

  private describe({ message }: Error): TransportError {
    return this.isInputOver
      ? new TransportError("truncated", `the compressed body ended early: ${message}`)
      : new TransportError("encoding", `the body is not ${this.coding}, which its content-encoding names`);
  }
}
