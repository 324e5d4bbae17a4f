import { rejectField } from "../../../base/failures/errors.ts";
import { BOUNDS } from "../../../base/numbers/bounds.ts";
import { checkFieldCount } from "../../conversation/check-amounts.ts";
import {
  checkModel,
  checkNodes,
  isAbsent,
  type NodeCheck,
  numberFrom,
  ofKind,
  wholeNumberFrom,
} from "../../conversation/check-nodes.ts";
import { type JsonNode, memberOf, numberOf } from "../../json/scan.ts";

/**
 * Checks a scanned text completion request except for its prompts (docs/api/completions.md). Null stands for absent, and unknown
 * fields are accepted.
 * @throws GatewayError `invalid_request`, which names the field and the remedy; `invalid_model` for a malformed model id.
 */
export function checkCompletionRequest(text: string, root: JsonNode): void {
  if (root.kind !== "object") rejectField("body", "must be a JSON object");
  checkFieldCount(root);
  checkModel(memberOf(root, "model"), "openai/gpt-3.5-turbo-instruct");
  if (isAbsent(memberOf(root, "prompt")) && !isAbsent(memberOf(root, "messages")))
    rejectField("prompt", "is required; send messages to POST /api/gateway/chat/completions");
  checkNodes(text, root, CHECKS);
}

/** The checks of the optional fields. */
const CHECKS: ReadonlyMap<string, NodeCheck> = new Map<string, NodeCheck>(
  Object.entries({
    temperature: numberFrom(0, 2),
    top_p: numberFrom(0, 1),
    frequency_penalty: numberFrom(-2, 2),
    presence_penalty: numberFrom(-2, 2),
    // 0 with `echo` asks for the log probabilities of the prompt.
    max_tokens: wholeNumberFrom(0),
    n: checkChoiceCount,
    best_of: checkChoiceCount,
    seed: ofKind("number", "a number"),
    echo: ofKind("boolean", "true or false"),
    suffix: ofKind("string", "a string"),
    stream: ofKind("boolean", "true or false"),
    stream_options: ofKind("object", "an object"),
    logit_bias: ofKind("object", "an object"),
    user: ofKind("string", "a string"),
    stop: checkStop,
  } satisfies Record<string, NodeCheck>),
);

function checkChoiceCount(text: string, node: JsonNode, field: string): void {
  wholeNumberFrom(1)(text, node, field);
  if ((numberOf(text, node) ?? 1) > BOUNDS.answers)
    rejectField(field, `must be at most ${BOUNDS.answers}; send several requests`);
}

function checkStop(_text: string, node: JsonNode, field: string): void {
  const isStrings = node.items?.every((item) => item.kind === "string") ?? false;
  if (node.kind !== "string" && !isStrings) rejectField(field, "must be a string or an array of strings");
}
