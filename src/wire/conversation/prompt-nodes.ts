import type { JsonNode } from "../../base/json/scan.ts";

/** The nodes of a prompt's text in its body. */
export interface PromptNodes {
  /** Texts that every vendor gives to its model unchanged. */
  readonly texts: readonly JsonNode[];
  /** Bytes of what vendors rewrite, shorten or omit: tools, and the reasoning of earlier turns. */
  readonly otherBytes: number;
  /** It may have images, files, audio or video. */
  readonly mayHaveMedia: boolean;
  /** It has tools or a schema of the answer, to which vendors add instructions of their own. */
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

/** Returns the bytes of a value; 0 where there is none. */
export function sizeOf(node: JsonNode | undefined): number {
  return node === undefined ? 0 : node.end - node.start;
}
