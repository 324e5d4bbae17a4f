/** Characters per tokenizer call: its time grows with the square of a run without a break. */
const PIECE_CHARS = 512;

/** Counts the tokens of text in pieces, cut before spaces if possible, as the tokenizer does. */
export function countText(text: string, countPiece: (piece: string) => number): number {
  let tokens = 0;
  for (let start = 0; start < text.length; ) {
    const end = findCut(text, start);
    tokens += countPiece(text.slice(start, end));
    start = end;
  }
  return tokens;
}

function findCut(text: string, start: number): number {
  const end = start + PIECE_CHARS;
  if (end >= text.length) return text.length;
  const space = text.lastIndexOf(" ", end);
  if (space > start + PIECE_CHARS / 2) return space;
  const isInPair = (text.charCodeAt(end - 1) & 0xfc00) === 0xd800;
  return isInPair ? end - 1 : end;
}
