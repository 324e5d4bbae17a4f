/** Characters that are given to the tokenizer at once: what it takes for a run without a break grows with its square. */
const PIECE_CHARS = 512;

/** Counts text in pieces, cut before a space where there is one, which is where the tokenizer cuts too. */
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
