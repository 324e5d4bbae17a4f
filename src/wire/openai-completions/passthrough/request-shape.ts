import { allFields, fields, items, LEAF, type NodeOf } from "../../../base/json/scan.ts";

/** The fields of a text completion request that the gateway reads; everything else is forwarded unchanged. */
export const COMPLETION_SHAPE = allFields({
  model: LEAF,
  prompt: LEAF,
  messages: LEAF,
  suffix: LEAF,
  stream: LEAF,
  stream_options: fields({ include_usage: LEAF }),
  max_tokens: LEAF,
  n: LEAF,
  best_of: LEAF,
  echo: LEAF,
  temperature: LEAF,
  top_p: LEAF,
  frequency_penalty: LEAF,
  presence_penalty: LEAF,
  logit_bias: LEAF,
  seed: LEAF,
  stop: items(LEAF),
  user: LEAF,
  models: LEAF,
  provider: LEAF,
  preset: LEAF,
});

/** A scanned request. */
export type CompletionBody = NodeOf<typeof COMPLETION_SHAPE>;
