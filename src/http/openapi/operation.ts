import type { z } from "zod";
import type { ErrorCode } from "../../base/errors.ts";
import type { Role } from "../../core/accounts/records.ts";

/** Who may call: by what they send. `freely`: without a key too, for free models. `narrowed`: a key is looked at, and not needed. */
export type Callers =
  | { readonly kind: "anyone" | "narrowed" | "freely" | "inference" | "operator" | "signed" }
  | { readonly kind: "account"; readonly roles: readonly Role[] };

/** A header that a request may carry. */
export interface RequestHeader {
  readonly name: string;
  readonly description: string;
}

/** What an operation answers with when all goes well. */
export interface SuccessAnswer {
  readonly status: number;
  readonly description: string;
  /** Null: text of the media type. */
  readonly schema: z.ZodType | null;
  /** Left out: JSON. */
  readonly mediaType?: string;
}

/** A method of a path, as the document needs to know it; everything that is served is described by one. */
export interface Operation {
  readonly method: string;
  /** Whole, with `:name` for what varies. */
  readonly path: string;
  readonly tag: string;
  /** One sentence, without a full stop. */
  readonly summary: string;
  readonly description?: string;
  readonly callers: Callers;
  readonly params: z.ZodType | null;
  readonly query: z.ZodType | null;
  readonly headers: readonly RequestHeader[];
  /** Null: it takes none. */
  readonly body: z.ZodType | null;
  readonly answers: readonly SuccessAnswer[];
  /** Names of `components.headers` that its answers have besides the request's id. */
  readonly answerHeaders: readonly string[];
  readonly errors: readonly ErrorCode[];
  /** The schema of its errors. */
  readonly errorSchema: z.ZodType;
  /** A repeated request is done once. */
  readonly takesIdempotencyKey: boolean;
}
