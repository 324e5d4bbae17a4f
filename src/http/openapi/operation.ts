import type { z } from "zod";
import type { ErrorCode } from "../../base/failures/errors.ts";
import type { Access } from "../middleware/authorize.ts";

/** Who may call an operation. `anyone`: the response is the same for every caller, so no caller is identified. */
export type Callers = Access | { readonly kind: "anyone" };

/** A request header. */
export interface RequestHeader {
  readonly name: string;
  readonly description: string;
}

/** A successful response. */
export interface SuccessResponse {
  readonly status: number;
  readonly description: string;
  /** Null for text of the media type. */
  readonly schema: z.ZodType | null;
  /** Default: JSON. */
  readonly mediaType?: string;
}

/** Returns the response with status 200. `schema` is null for text of the media type, which is JSON by default. */
export function ok(description: string, schema: z.ZodType | null, mediaType?: string): SuccessResponse {
  return { status: 200, description, schema, ...(mediaType === undefined ? {} : { mediaType }) };
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
  /** The media type of the body. Default: JSON. */
  readonly bodyType?: "multipart/form-data";
  readonly responses: readonly SuccessResponse[];
  /** Names of `components.headers` in responses, in addition to the request id. */
  readonly responseHeaders: readonly string[];
  readonly errors: readonly ErrorCode[];
  /** The schema of error responses. */
  readonly errorSchema: z.ZodType;
  /** The operation accepts an `Idempotency-Key`. */
  readonly takesIdempotencyKey: boolean;
}
