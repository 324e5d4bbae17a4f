import type { JsonNode } from "../json/scan.ts";

/** Where the text of a prompt stands in its body. */
export interface PromptNodes {
  /** What every vendor puts before its model as it is. */
  readonly texts: readonly JsonNode[];
  /** Bytes of what vendors rewrite, shorten or leave out: tools, reasoning of earlier turns. */
  readonly otherBytes: number;
  /** Some of its parts may be images, files, audio or video. */
  readonly mayHaveMedia: boolean;
}

/** Bytes of all of it, media left out. */
export function countPromptBytes({ texts, otherBytes }: Pick<PromptNodes, "texts" | "otherBytes">): number {
  return texts.reduce((sum, node) => sum + sizeOf(node), otherBytes);
}

/** The texts as they stand in the body, views of it. What is no string is no text. */
export function sliceTexts(body: Buffer, { texts }: PromptNodes): Uint8Array[] {
  return texts.filter(({ kind }) => kind === "string").map(({ start, end }) => body.subarray(start, end));
}

/** Bytes of a value, 0 where there is none. */
export function sizeOf(node: JsonNode | undefined): number {
  return node === undefined ? 0 : node.end - node.start;
}
