import type { z } from "zod";
import type { ErrorCode } from "../../base/errors.ts";
import type { Role } from "../../core/accounts/records.ts";

/** Who may call an operation. `freely`: a key is optional for free models. `narrowed`: a key is optional and restricts the response. */
export type Callers =
  | { readonly kind: "anyone" | "narrowed" | "freely" | "inference" | "operator" | "signed" }
  | { readonly kind: "account"; readonly roles: readonly Role[] };

/** A request header. */
export interface RequestHeader {
  readonly name: string;
  readonly description: string;
}

/** A successful response. */
export interface SuccessAnswer {
  readonly status: number;
  readonly description: string;
  /** Null for text of the media type. */
  readonly schema: z.ZodType | null;
  /** Default: JSON. */
  readonly mediaType?: string;
}

/** A documented method of a path. */
export interface Operation {
  readonly method: string;
  /** The full path, with `:name` for parameters. */
  readonly path: string;
  readonly tag: string;
  /** A short imperative sentence without a full stop. */
  readonly summary: string;
  readonly description?: string;
  readonly callers: Callers;
  readonly params: z.ZodType | null;
  readonly query: z.ZodType | null;
  readonly headers: readonly RequestHeader[];
  /** Null if the operation has no body. */
  readonly body: z.ZodType | null;
  readonly answers: readonly SuccessAnswer[];
  /** Names of `components.headers` that responses have besides the request id. */
  readonly answerHeaders: readonly string[];
  readonly errors: readonly ErrorCode[];
  /** The schema of error responses. */
  readonly errorSchema: z.ZodType;
  /** The operation accepts an `Idempotency-Key`. */
  readonly takesIdempotencyKey: boolean;
}
