import type { JsonNode } from "../../base/json/scan.ts";
import type { OutlineMessage } from "./calls/outline.ts";
import type { RoutingParameters } from "./preferences.ts";
import type { PromptNodes } from "./prompt-nodes.ts";

/**
 * A conversation request that was scanned and checked, of any client API. Its bytes are unchanged; the nodes are the positions of
 * its values.
 */
export interface ScannedRequest extends RoutingParameters {
  readonly bytes: Buffer;
  /** The bytes as a Latin-1 string. */
  readonly text: string;
  readonly root: JsonNode;
  /** The approximate number of values in the body. */
  readonly values: number;
  /** The number of values that have a node. */
  readonly nodes: number;
  readonly model: string;
  readonly stream: boolean;
  /** The maximum number of tokens per answer; null if the client sets none. */
  readonly maxTokens: number | null;
  readonly outline: RequestOutline;
  /** Bytes of text in the conversation without media; the upper bound of the prompt's tokens is computed from it. */
  readonly promptTextBytes: number;
  readonly prompt: PromptNodes;
}

/** The outline of a request's conversation, which most requests never need. */
export interface RequestOutline {
  /** Returns the messages for tool-call repair; none if none has calls or results. */
  read(): readonly OutlineMessage[];
}
