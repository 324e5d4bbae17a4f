import type { JsonNode } from "../../base/json/scan.ts";

/** The nodes of a prompt's text in its body. */
export interface PromptNodes {
  /** Texts that every vendor passes to its model unchanged. */
  readonly texts: readonly JsonNode[];
  /** Bytes of the parts that vendors rewrite, shorten or omit: tools, and the reasoning of earlier turns. */
  readonly otherBytes: number;
  /** Whether it may contain images, files, audio or video. */
  readonly mayHaveMedia: boolean;
  /** Whether it has tools or a schema of the answer. Vendors add their own instructions for these. */
  readonly hasSchemas: boolean;
}

/** Returns the bytes of the prompt without media. */
export function countPromptBytes({ texts, otherBytes }: Pick<PromptNodes, "texts" | "otherBytes">): number {
  let bytes = otherBytes;
  for (const node of texts) bytes += sizeOf(node);
  return bytes;
}

/** Returns the texts as views of the body. Values that are not strings are skipped. */
export function sliceTexts(body: Buffer, { texts }: PromptNodes): Uint8Array[] {
  return texts.filter(({ kind }) => kind === "string").map(({ start, end }) => body.subarray(start, end));
}

/** Returns the bytes of a value; 0 if there is none. */
export function sizeOf(node: JsonNode | undefined): number {
  return node === undefined ? 0 : node.end - node.start;
}
