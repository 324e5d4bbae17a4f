import { expect, test } from "bun:test";
import { soleApiOf } from "../../../src/console/screens/models/model-format.ts";

test.each([
  [["text"], null],
  [["text", "image"], null],
  [["embedding"], "embeddings"],
  [["image"], "images"],
  [["transcription"], "transcriptions"],
] as const)("a model whose outputs are %p is called with the API %p only", (output_modalities, api) => {
  expect(soleApiOf({ output_modalities })).toBe(api);
});
