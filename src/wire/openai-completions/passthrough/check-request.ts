import { rejectField } from "../../../base/failures/errors.ts";
import { type JsonNode, numberOf } from "../../../base/json/scan.ts";
import { BOUNDS } from "../../../base/numbers/bounds.ts";
import { checkFieldCount } from "../../conversation/check-amounts.ts";
import {
  checkModel,
  isAbsent,
  nodeChecker,
  numberFrom,
  ofKind,
  wholeNumberFrom,
} from "../../conversation/check-nodes.ts";
import type { CompletionBody } from "./request-shape.ts";

/**
 * Checks a scanned text completion request except for its prompts (docs/api/completions.md). Null stands for absent, and unknown
 * fields are accepted.
 * @throws GatewayError `invalid_request`, which names the field and the remedy; `invalid_model` for a malformed model id.
 */
export function checkCompletionRequest(text: string, root: CompletionBody): void {
  if (root.kind !== "object") rejectField("body", "must be a JSON object");
  checkFieldCount(root);
  checkModel(root.fields.model, "openai/gpt-3.5-turbo-instruct");
  if (isAbsent(root.fields.prompt) && !isAbsent(root.fields.messages))
    rejectField("prompt", "is required; send messages to POST /api/gateway/chat/completions");
  checkFields(text, root);
}

/** The checks of the optional fields. */
const checkFields = nodeChecker<CompletionBody>({
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
});

function checkChoiceCount(text: string, node: JsonNode, field: string): void {
  wholeNumberFrom(1)(text, node, field);
  if ((numberOf(text, node) ?? 1) > BOUNDS.answers)
    rejectField(field, `must be at most ${BOUNDS.answers}; send several requests`);
}

function checkStop(_text: string, node: JsonNode, field: string): void {
  const isStrings = node.items?.every((item) => item.kind === "string") ?? false;
  if (node.kind !== "string" && !isStrings) rejectField(field, "must be a string or an array of strings");
}
