import type { Failure } from "../../base/failures/errors.ts";
import type { ClientApi } from "../../wire/client-apis/request/inference-request.ts";

/** The parsed part of an inference request. */
interface ObservedRequest {
  readonly api: ClientApi;
  /** The model as the client sent it; null if the request was not parsed. */
  readonly model: string | null;
}

/** Observes what extensions of generations do not see of inference requests. */
export interface RequestObserver {
  /** Called when a request that became no generation is answered with an error, `durationMs` after it arrived. */
  onRejected(request: ObservedRequest, failure: Failure, durationMs: number): void;
  /** Called when a token count is answered with an error, or a request that no client API takes: at an unknown path, or with a wrong method. */
  onRefused(failure: Failure): void;
  /** Called with the first byte of an answer for which a provider was called, with the time that the gateway added. */
  onAnswered(api: ClientApi, addedMs: number): void;
}
