import type { Failure } from "../../base/failures/errors.ts";
import type { Fields } from "../../base/json/fields.ts";
import type { CountRequest } from "./count-request.ts";
import type { ClientApi, InferenceRequest } from "./request/inference-request.ts";
import type { ReadHeader } from "./request/session-hints.ts";
import type { SocketFormat } from "./socket-format.ts";

/**
 * A client API: where its requests arrive, how they are read and how failures are written. Routes are made from the declarations of
 * `CLIENT_APIS`. How answers and their streams are written is up to the `InferenceRequest` that `parse` returns.
 */
export interface ClientApiDeclaration {
  /** The name that records use. */
  readonly name: ClientApi;
  /** Who may call it: also callers without a key (`open_inference`), or only those with one. */
  readonly access: "open_inference" | "inference";
  /** The operations that call models, the usual one first. */
  readonly operations: readonly [ApiOperation, ...ApiOperation[]];
  /** Its body is a form (`multipart/form-data`) instead of JSON. */
  readonly takesForm?: true;
  /** Parses a body, as it was sent or as the operation made it. @throws GatewayError `invalid_request` and others for an invalid request. */
  readonly parse: ParseRequest;
  /** How the tokens of a request are counted. Absent: there is no operation for that. */
  readonly counting?: CountOperation;
  /** Returns the body of an error response. Absent: that of the gateway's own format. */
  readonly encodeError?: (failure: Failure, context: ErrorContext) => Fields;
  /** An additional response header with the id of the request. */
  readonly requestIdHeader?: string;
  /** Where it has the parameters that presets set and warnings name. */
  readonly parameters: ParameterFields;
  /** Where the system text of a preset goes, before the request's own. Absent: nowhere. */
  readonly system?: SystemPlace;
}

/** The method and the path of an operation. */
export interface ApiOperation {
  readonly method: "POST";
  /**
   * The path under every gateway prefix. `{model}`, the last segment or its beginning, stands for the id of a model, with or without its
   * author: `/models/{model}:generate`.
   */
  readonly path: string;
  /** A path without a prefix at which it is served too. */
  readonly fixedPath?: string;
  /**
   * Returns the body that `parse` reads, with what path, query and headers say: the model, for example. Everything behind it reads only this
   * body, which presets and guardrails change and other threads parse. Absent: the body as it was sent.
   */
  readonly readBody?: (body: Buffer, target: SentTarget) => Buffer;
  /** Returns the body of a whole answer in the form of this operation. Absent: as it is. */
  readonly presentBody?: (answer: Buffer) => Buffer;
  /** How it is called over a WebSocket at the same path. Absent: only over HTTP. */
  readonly socket?: SocketFormat;
}

/** The parts of a client's request besides the body. */
export interface SentTarget {
  /** The parameters of the path, decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: Pick<URLSearchParams, "get">;
  readonly headers: ReadHeader;
}

/** The operation that counts tokens. */
export interface CountOperation extends ApiOperation {
  readonly parse: (body: Buffer, rename: (id: string) => string) => CountRequest;
  /** Returns the body of the response. `isEstimated`: no vendor has counted. */
  readonly encodeCount: (tokens: number, isEstimated: boolean) => Fields;
}

/** Parses a request. `rename` resolves the operator's aliases of model ids. @throws GatewayError `invalid_request` and others. */
type ParseRequest = (body: Buffer, rename: (id: string) => string, headers?: ReadHeader) => InferenceRequest;

/** The facts about a request in its error response. */
interface ErrorContext {
  readonly requestId: string;
  /** The HTTP status. */
  readonly status: number;
}

/** Parameters in the terms of chat completions. */
export interface PresetParameters {
  readonly temperature?: number | undefined;
  readonly top_p?: number | undefined;
  readonly max_tokens?: number | undefined;
  readonly stop?: readonly string[] | undefined;
  readonly seed?: number | undefined;
  readonly frequency_penalty?: number | undefined;
  readonly presence_penalty?: number | undefined;
  readonly reasoning_effort?: string | undefined;
}

type ParameterFields = Readonly<Partial<Record<keyof PresetParameters, ParameterField>>>;

/** Where a client API has a parameter: the field to add, and further fields of a request that stand for the same. */
interface ParameterField {
  readonly field: string;
  readonly others?: readonly string[];
  readonly encode?: (value: unknown) => unknown;
}

interface SystemPlace {
  readonly field: string;
  /** Returns an element to put before the others, where the field is a list. Absent: the field is always a text. */
  readonly toItem?: (text: string) => Fields;
}

/** Parameters with the names of chat completions that most APIs have. */
export const SAMPLING: ParameterFields = {
  temperature: { field: "temperature" },
  top_p: { field: "top_p" },
};
